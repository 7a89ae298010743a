//! Trains a model of the `tokenizers` crate from word counts, by kind.
//!
//! Ids in every kind: special tokens, the boundary mark, sorted letters, sorted letters with the mark, then learned pieces
//! in the order of learning.

use crate::error::{Result, library};
use crate::special::SpecialTokens;
use crate::train::counts::WordCounts;
use crate::train::merges::{self, Merges};
use crate::train::vocabulary::{TrainingVocabulary, spelled};
use crate::train::{alphabet, unigram};
use invitro_base::settings::{Boundary, Kind, Regime, TokenizerConfig, require};
use invitro_language::{Language, Languages};
use tokenizers::ModelWrapper;
use tokenizers::models::bpe::{BPE, Vocab};
use tokenizers::models::wordpiece::WordPiece;

/// The model of a kind, trained on the languages.
pub fn learn(languages: &Languages, config: &TokenizerConfig, counts: &WordCounts<Language>) -> Result<ModelWrapper> {
    let vocabulary = TrainingVocabulary::new(languages, config, counts);
    let smallest = vocabulary.initial().len();
    require(
        !config.kind.is_trained() || config.vocab >= smallest,
        "tokenizer.vocab",
        config.vocab,
        format!(
            "at least {smallest}: {} special tokens, the word boundary and {} letters",
            SpecialTokens::for_languages(languages).count(),
            vocabulary.letters.len()
        ),
    )?;
    // On one thread: merges are too small to parallelise, and sums of probabilities would depend on the threads.
    let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build().map_err(library)?;
    one_thread.install(|| learn_kind(languages, &vocabulary))
}

fn learn_kind(languages: &Languages, vocabulary: &TrainingVocabulary) -> Result<ModelWrapper> {
    let (config, boundary) = (vocabulary.config, vocabulary.config.boundary);
    Ok(match config.kind {
        Kind::Bpe if config.regime == Regime::Parity => {
            let parallel = spelled(languages, config, &WordCounts::parallel(languages, config)?);
            ModelWrapper::BPE(merges::learn_parity(vocabulary, &parallel)?.model(boundary)?)
        }
        Kind::Bpe => ModelWrapper::BPE(merges::learn(vocabulary)?.model(boundary)?),
        Kind::Wordpiece => ModelWrapper::WordPiece(wordpiece(&merges::learn(vocabulary)?, boundary)?),
        Kind::Unigram => ModelWrapper::Unigram(unigram::learn(vocabulary)?),
        Kind::Character => ModelWrapper::BPE(Merges::none(vocabulary).model(boundary)?),
        Kind::Byte => ModelWrapper::BPE(bytes(vocabulary)?),
    })
}

/// WordPiece with the pieces of BPE, and without a continuation prefix: the boundary marks words.
fn wordpiece(merges: &Merges, boundary: Boundary) -> Result<WordPiece> {
    let vocab: Vocab = merges.pieces.iter().map(|p| alphabet::write_out(p, boundary)).zip(0..).collect();
    WordPiece::builder().vocab(vocab).continuing_subword_prefix(String::new()).build().map_err(library)
}

/// BPE without letters in the vocabulary, so that every letter falls back to its bytes. A byte cannot carry a mark, so
/// `first` and `last` put a separate mark before or after the word.
fn bytes(vocabulary: &TrainingVocabulary) -> Result<BPE> {
    let pieces = vocabulary.reserved().into_iter().chain((0..=255u8).map(|b| format!("<0x{b:02X}>")));
    let vocab: Vocab = pieces.zip(0..).collect();
    BPE::builder().vocab_and_merges(vocab, Vec::new()).byte_fallback(true).cache_capacity(0).build().map_err(library)
}
