//! From counted words to a model of the `tokenizers` crate: one way per kind.
//!
//! Ids in every kind: special tokens, the boundary mark, letters in order, letters with the mark in order, then what was
//! learned in the order it was learned.

use crate::alphabet;
use crate::config::{Boundary, Kind, Regime, TokenizerConfig};
use crate::corpus::Counts;
use crate::error::{Error, Result, library};
use crate::merges::{self, Merges};
use crate::special::{self, MARK};
use crate::unigram;
use invitro_language::{Language, Languages};
use tokenizers::ModelWrapper;
use tokenizers::models::bpe::{BPE, Vocab};
use tokenizers::models::wordpiece::WordPiece;

/// What every kind starts from.
pub struct Ground<'a> {
    pub config: &'a TokenizerConfig,
    /// The letters as the trainer spells them, marked ones after plain ones.
    pub letters: Vec<char>,
    /// Spelled words with their counts, by language.
    pub words: [Vec<(String, u64)>; 2],
}

impl<'a> Ground<'a> {
    pub fn new(languages: &Languages, config: &'a TokenizerConfig, counts: &Counts) -> Ground<'a> {
        let plain = alphabet::letters(languages);
        let marked = plain.iter().map(|&c| alphabet::marked(c)).filter(|_| config.boundary != Boundary::Token);
        let letters = plain.iter().copied().chain(marked).collect();
        Ground { config, letters, words: Language::BOTH.map(|language| spelled(languages, config, counts, language)) }
    }

    /// The special tokens and the mark: what comes before the letters.
    pub fn head(&self) -> Vec<String> {
        special::tokens().into_iter().map(str::to_owned).chain([MARK.to_string()]).collect()
    }

    pub fn smallest(&self) -> usize {
        self.head().len() + self.letters.len()
    }
}

fn spelled(languages: &Languages, config: &TokenizerConfig, counts: &Counts, language: Language) -> Vec<(String, u64)> {
    counts.words(languages, language).map(|(word, n)| (alphabet::spell(word, config.boundary), n)).collect()
}

/// The model of a kind, trained on a language.
pub fn learn(languages: &Languages, config: &TokenizerConfig, counts: &Counts) -> Result<ModelWrapper> {
    let ground = Ground::new(languages, config, counts);
    let smallest = ground.smallest();
    if config.kind.is_trained() && config.vocab < smallest {
        return Err(Error::Range {
            key: "tokenizer.vocab",
            given: config.vocab.to_string(),
            allowed: format!(
                "at least {smallest}: {} special tokens, the word boundary and {} letters",
                special::COUNT,
                ground.letters.len()
            ),
        });
    }
    // On one thread: a merge is too little work to share, and sums of probabilities would depend on how they are shared.
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().map_err(library)?;
    alone.install(|| of_kind(languages, &ground))
}

fn of_kind(languages: &Languages, ground: &Ground) -> Result<ModelWrapper> {
    let (config, boundary) = (ground.config, ground.config.boundary);
    Ok(match config.kind {
        Kind::Bpe if config.regime == Regime::Parity => {
            let parallel = Counts::parallel(languages, config)?;
            let parallel = Language::BOTH.map(|language| spelled(languages, config, &parallel, language));
            ModelWrapper::BPE(merges::learn_parity(ground, &parallel)?.model(boundary)?)
        }
        Kind::Bpe => ModelWrapper::BPE(merges::learn(ground)?.model(boundary)?),
        Kind::Wordpiece => ModelWrapper::WordPiece(wordpiece(&merges::learn(ground)?, boundary)?),
        Kind::Unigram => ModelWrapper::Unigram(unigram::learn(ground)?),
        Kind::Character => ModelWrapper::BPE(Merges::none(ground).model(boundary)?),
        Kind::Byte => ModelWrapper::BPE(bytes(ground)?),
    })
}

/// The pieces of BPE, matched from the left, the longest first. No prefix sets pieces inside a word apart: that is
/// what the boundary is for.
fn wordpiece(merges: &Merges, boundary: Boundary) -> Result<WordPiece> {
    let vocab: Vocab = merges.pieces.iter().map(|p| alphabet::write_out(p, boundary)).zip(0..).collect();
    WordPiece::builder().vocab(vocab).continuing_subword_prefix(String::new()).build().map_err(library)
}

/// No letter is in the vocabulary, so every letter falls back to its bytes. A byte cannot carry a mark: `first` and
/// `last` say on which side of the word the mark stands.
fn bytes(ground: &Ground) -> Result<BPE> {
    let pieces = ground.head().into_iter().chain((0..=255u8).map(|b| format!("<0x{b:02X}>")));
    let vocab: Vocab = pieces.zip(0..).collect();
    BPE::builder().vocab_and_merges(vocab, Vec::new()).byte_fallback(true).build().map_err(library)
}
