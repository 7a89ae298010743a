//! A trained tokenizer: text to ids and back, exactly as its `tokenizer.json` does in any other program.

use crate::config::{Boundary, Kind, TokenizerConfig};
use crate::counts::WordCounts;
use crate::error::{Error, Result, library};
use crate::provenance::{Provenance, fingerprint};
use crate::special::{MARK, SpecialTokens};
use crate::{learn, pipeline};
use invitro_files::caught;
use invitro_language::{Languages, MixtureConfig};
use tokenizers::Model;

/// A tokenizer of the `tokenizers` crate with its kind, its boundary and where it came from.
pub struct Tokenizer {
    inner: tokenizers::Tokenizer,
    kind: Kind,
    boundary: Boundary,
    special: SpecialTokens,
    provenance: Option<Provenance>,
}

impl Tokenizer {
    /// A tokenizer of a language, trained on the sample its regime takes.
    pub fn train(languages: &Languages, config: &TokenizerConfig, mixture: &MixtureConfig) -> Result<Tokenizer> {
        config.validate()?;
        mixture.validate()?;
        let counts = WordCounts::training(languages, config, mixture)?;
        let model = learn::learn(languages, config, &counts)?;
        let reached = model.get_vocab_size();
        if config.kind.is_trained() && reached < config.vocab && !config.allow_shortfall {
            return Err(Error::Shortfall { asked: config.vocab, reached, sentences: config.sentences });
        }
        let special = SpecialTokens::of(languages);
        let inner = pipeline::build(model, config.kind, config.boundary, &special)?;
        let language = fingerprint(languages);
        let provenance = Provenance { config: config.clone(), lambda: mixture.lambda, vocab: reached, language };
        Ok(Tokenizer { inner, kind: config.kind, boundary: config.boundary, special, provenance: Some(provenance) })
    }

    pub(crate) fn from_parts(
        inner: tokenizers::Tokenizer,
        provenance: Option<Provenance>,
    ) -> Result<Tokenizer, String> {
        let (kind, boundary, special) = pipeline::recognise(&inner)?;
        if let Some(p) = &provenance
            && (p.config.kind, p.config.boundary) != (kind, boundary)
        {
            return Err(format!(
                "tokenizer_config.json speaks of kind {} and boundary {}, tokenizer.json of {} and {}",
                p.config.kind.name(),
                p.config.boundary.name(),
                kind.name(),
                boundary.name()
            ));
        }
        Ok(Tokenizer { inner, kind, boundary, special, provenance })
    }

    /// Refuses a tokenizer whose word boundary is not the one asked for.
    pub fn expect(&self, config: &TokenizerConfig) -> Result<()> {
        if self.boundary == config.boundary {
            return Ok(());
        }
        Err(Error::Mismatch(format!(
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

    /// How it splits words.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// How it marks where words end.
    pub fn boundary(&self) -> Boundary {
        self.boundary
    }

    /// How the tokenizer came about; unknown where only `tokenizer.json` was found.
    pub fn provenance(&self) -> Option<&Provenance> {
        self.provenance.as_ref()
    }

    /// How many pieces fewer than asked for there are.
    pub fn shortfall(&self) -> usize {
        let asked = |p: &Provenance| if p.config.kind.is_trained() { p.config.vocab } else { 0 };
        self.provenance.as_ref().map_or(0, |p| asked(p).saturating_sub(self.vocab_size()))
    }

    /// Its special tokens.
    pub fn special(&self) -> &SpecialTokens {
        &self.special
    }

    /// A token as `tokenizer.json` writes it.
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

    /// The pieces of a word as they stand in running text, each of its morphemes taken apart by itself.
    pub fn morphemes<const N: usize>(&self, morphemes: [&str; N]) -> Result<Vec<u32>> {
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

    /// The pieces of one word, as the model alone takes it apart.
    pub(crate) fn word(&self, word: &str) -> Result<Vec<u32>> {
        // Of a damaged file, the library may find out as late as this.
        let tokens = caught(|| self.inner.get_model().tokenize(word)).map_err(library)?.map_err(library)?;
        Ok(tokens.into_iter().map(|t| t.id).collect())
    }
}
