//! A tokenizer, trained or read from a file: text to ids and back, as its `tokenizer.json` does in any other program.

use crate::error::{Error, Result, library};
use crate::external::oversize::check_gap;
use crate::external::renumber::{self, NO_BOUNDARY};
use crate::provenance::{Provenance, fingerprint};
use crate::segment::spelling::Spelling;
use crate::special::{EOS, MARK, OUT, SpecialTokens};
use crate::train::counts::WordCounts;
use crate::train::{learn, pipeline};
use invitro_base::catch_panic;
use invitro_base::settings::{Boundary, Kind, TokenizerConfig};
use invitro_language::{Languages, MixtureConfig};
use serde_json::Value;
use std::collections::HashSet;
use tokenizers::Model;

/// A tokenizer of the `tokenizers` crate with its kind, boundary and provenance.
pub struct Tokenizer {
    inner: tokenizers::Tokenizer,
    /// `None` for an external tokenizer.
    kind: Option<Kind>,
    boundary: Boundary,
    spelling: Spelling,
    special: SpecialTokens,
    /// Other tokens that spell nothing.
    silent: HashSet<u32>,
    /// The unknown token of an external tokenizer.
    unknown: Option<u32>,
    provenance: Option<Provenance>,
}

impl Tokenizer {
    /// Trains a tokenizer on the sample of its regime.
    pub fn train(languages: &Languages, config: &TokenizerConfig, mixture: &MixtureConfig) -> Result<Tokenizer> {
        config.validate()?;
        mixture.validate()?;
        let counts = WordCounts::training(languages, config, mixture)?;
        let model = learn::learn(languages, config, &counts)?;
        let reached = model.get_vocab_size();
        if config.kind.is_trained() && reached < config.vocab && !config.allow_shortfall {
            return Err(Error::Shortfall { wanted: config.vocab, reached, sentences: config.sentences });
        }
        let special = SpecialTokens::for_languages(languages);
        let inner = pipeline::build(model, config.kind, config.boundary, &special)?;
        let language = fingerprint(languages);
        let provenance = Provenance { config: config.clone(), lambda: mixture.lambda, vocab: reached, language };
        Ok(Tokenizer::from_kind(inner, config.kind, config.boundary, special, Some(provenance)))
    }

    pub(crate) fn from_kind(
        inner: tokenizers::Tokenizer,
        kind: Kind,
        boundary: Boundary,
        special: SpecialTokens,
        provenance: Option<Provenance>,
    ) -> Tokenizer {
        let (spelling, silent) = (Spelling::from_kind(kind), HashSet::new());
        Tokenizer { inner, kind: Some(kind), boundary, spelling, special, silent, unknown: None, provenance }
    }

    /// An external tokenizer with our ids.
    pub(crate) fn from_file(
        inner: tokenizers::Tokenizer,
        json: &Value,
        special: SpecialTokens,
        provenance: Provenance,
    ) -> Tokenizer {
        let id = |token: &str| inner.token_to_id(token);
        let (boundary, spelling) = (provenance.config.boundary, Spelling::from_json(json));
        let unknown = renumber::unknown(&json["model"]).and_then(id);
        let added = inner.get_added_tokens_decoder().into_keys();
        let silent = added.chain(unknown).chain(id(NO_BOUNDARY)).collect();
        Tokenizer { inner, kind: None, boundary, spelling, special, silent, unknown, provenance: Some(provenance) }
    }

    pub(crate) fn from_parts(
        inner: tokenizers::Tokenizer,
        provenance: Option<Provenance>,
    ) -> Result<Tokenizer, String> {
        check_gap(&inner)?;
        let recognised = pipeline::recognise(&inner);
        if let (Err(_), Some(p)) = (&recognised, provenance.clone().filter(|p| !p.config.file.is_empty())) {
            let special = SpecialTokens::recognise(|id| inner.id_to_token(id), |token| inner.token_to_id(token))?;
            let json = serde_json::to_value(&inner).map_err(|e| e.to_string())?;
            return Ok(Tokenizer::from_file(inner, &json, special, p));
        }
        let (kind, boundary, special) = recognised?;
        if let Some(p) = &provenance
            && p.config.file.is_empty()
            && (p.config.kind, p.config.boundary) != (kind, boundary)
        {
            return Err(format!(
                "tokenizer_config.json says kind {} and boundary {}, tokenizer.json {} and {}",
                p.config.kind.name(),
                p.config.boundary.name(),
                kind.name(),
                boundary.name()
            ));
        }
        Ok(Tokenizer::from_kind(inner, kind, boundary, special, provenance))
    }

    /// Returns an error if the word boundary differs from the configured one.
    pub fn expect(&self, config: &TokenizerConfig) -> Result<()> {
        if self.boundary == config.boundary || !config.file.is_empty() {
            return Ok(());
        }
        Err(Error::mismatch(format!(
            "the tokenizer has its word boundary as `{}`, but `tokenizer.boundary` is {}",
            self.boundary.name(),
            config.boundary.name()
        )))
    }

    /// The bytes of `tokenizer.json`.
    pub fn to_json(&self) -> Result<String> {
        self.inner.to_string(true).map_err(library)
    }

    /// |V|, special tokens included.
    pub fn vocab_size(&self) -> usize {
        self.inner.get_vocab_size(true)
    }

    /// How it splits words; `None` for an external tokenizer.
    pub fn kind(&self) -> Option<Kind> {
        self.kind
    }

    /// How it marks word boundaries.
    pub fn boundary(&self) -> Boundary {
        self.boundary
    }

    /// Its provenance; `None` if only `tokenizer.json` was found.
    pub fn provenance(&self) -> Option<&Provenance> {
        self.provenance.as_ref()
    }

    /// The number of pieces missing from the configured |V|.
    pub fn shortfall(&self) -> usize {
        let trained = self.provenance.as_ref().filter(|p| p.config.file.is_empty() && p.config.kind.is_trained());
        trained.map_or(0, |p| p.config.vocab.saturating_sub(self.vocab_size()))
    }

    /// Its special tokens.
    pub fn special(&self) -> &SpecialTokens {
        &self.special
    }

    /// A token as in `tokenizer.json`.
    pub fn token(&self, id: u32) -> Option<String> {
        self.inner.id_to_token(id)
    }

    /// The ids of a text.
    pub fn encode(&self, text: &str) -> Result<Vec<u32>> {
        Ok(self.inner.encode(text, false).map_err(library)?.get_ids().to_vec())
    }

    /// The ids of many texts, on all cores.
    pub fn encode_batch(&self, texts: &[String]) -> Result<Vec<Vec<u32>>> {
        let texts = texts.iter().map(String::as_str).collect();
        let encodings = self.inner.encode_batch(texts, false).map_err(library)?;
        Ok(encodings.into_iter().map(|e| e.get_ids().to_vec()).collect())
    }

    /// The text of ids, special tokens included.
    pub fn decode(&self, ids: &[u32]) -> Result<String> {
        self.inner.decode(ids, false).map_err(library)
    }

    /// The pieces of words, separated by spaces, in running text.
    pub fn pieces_in_text(&self, words: &str) -> Result<Vec<u32>> {
        let tokens = self.special.tokens();
        let text = format!("{} {words} {}", tokens[OUT as usize + 1], tokens[EOS as usize]);
        let encoding = catch_panic(|| self.inner.encode(text, false)).map_err(library)?.map_err(library)?;
        match encoding.get_ids() {
            [first, pieces @ .., EOS] if *first == OUT + 1 => Ok(pieces.to_vec()),
            _ => Err(library(format!("the special tokens around `{words}` are not recognised"))),
        }
    }

    /// A token's letters without its mark, and whether it has one; empty for special tokens.
    pub(crate) fn spelled(&self, id: u32) -> (Box<[u8]>, bool) {
        match self.token(id) {
            Some(token) if id >= self.special.count() && !self.silent.contains(&id) => self.spelling.read(&token),
            _ => (Box::default(), false),
        }
    }

    /// The letters of pieces.
    pub(crate) fn letters(&self, pieces: &[u32]) -> Vec<u8> {
        pieces.iter().flat_map(|&piece| self.spelled(piece).0).collect()
    }

    pub(crate) fn unknown(&self) -> Option<u32> {
        self.unknown
    }

    pub(crate) fn spelling(&self) -> &Spelling {
        &self.spelling
    }

    pub(crate) fn inner(&self) -> &tokenizers::Tokenizer {
        &self.inner
    }

    /// The pieces of a word in running text, each morpheme segmented separately.
    pub fn morphemes<const N: usize>(&self, morphemes: [&str; N]) -> Result<Vec<u32>> {
        if self.kind.is_none() {
            return self.external_morphemes(&morphemes.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>());
        }
        let mut texts: Vec<String> =
            morphemes.into_iter().filter(|morpheme| !morpheme.is_empty()).map(str::to_owned).collect();
        match (self.boundary, texts.first_mut()) {
            (Boundary::First, Some(first)) => first.insert(0, MARK),
            (Boundary::Last, _) => texts.last_mut().into_iter().for_each(|last| last.push(MARK)),
            _ => {}
        }
        let pieces = texts.iter().map(|text| self.word(text)).collect::<Result<Vec<_>>>()?;
        let boundary = (self.boundary == Boundary::Token).then(|| self.special.boundary());
        Ok(pieces.into_iter().flatten().chain(boundary).collect())
    }

    /// The same for an external tokenizer: a whole word in text, several morphemes each by the model alone.
    fn external_morphemes(&self, parts: &[&str]) -> Result<Vec<u32>> {
        let [_, _, ..] = parts else { return self.pieces_in_text(&parts.concat()) };
        let (word, last) = (parts.concat(), parts.len() - 1);
        let wrong = || {
            Error::mismatch(format!(
                "`tokenizer.cut` is morpheme, but the tokenizer of `tokenizer.file` cannot split the morphemes of \
                 `{word}` one by one"
            ))
        };
        let is_first = self.boundary == Boundary::First;
        let piece = |(at, part): (usize, &&str)| {
            self.word(&self.spelling.write(part, at == 0, at == last, is_first).ok_or_else(wrong)?)
        };
        let pieces = parts.iter().enumerate().map(piece).collect::<Result<Vec<_>>>()?.concat();
        let marks: Vec<usize> = (0..pieces.len()).filter(|&at| self.spelled(pieces[at]).1).collect();
        let place = if is_first { 0 } else { pieces.len().saturating_sub(1) };
        if self.letters(&pieces) != word.as_bytes() || marks != [place] {
            return Err(wrong());
        }
        Ok(pieces)
    }

    /// The pieces of one word by the model alone.
    pub(crate) fn word(&self, word: &str) -> Result<Vec<u32>> {
        // The library may detect a damaged file only here.
        let tokens = catch_panic(|| self.inner.get_model().tokenize(word)).map_err(library)?.map_err(library)?;
        Ok(tokens.into_iter().map(|t| t.id).collect())
    }
}
