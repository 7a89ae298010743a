//! Adopts an external tokenizer: `tokenizer.file`.
//!
//! Any `tokenizer.json` can be used if pieces show where words begin or end, and if a word's pieces do not depend on its
//! neighbours. Then the table of pieces is all that is needed. Both conditions are checked on every word; an error names
//! the word that violates one.
//!
//! Ids are renumbered to match ours: special tokens first, then the token that is only a mark (or an unused one), then the
//! file's tokens in their order. A tokenizer trained by invitro for the same language names and tasks is not changed.

use crate::error::{Error, Result, library};
use crate::external::oversize::{check_gap, check_size};
use crate::external::renumber::{Strip, renumber, tokens};
use crate::provenance::{Provenance, fingerprint};
use crate::segment::spelling::Spelling;
use crate::special::SpecialTokens;
use crate::tokenizer::Tokenizer;
use crate::train::pipeline;
use invitro_base::settings::{Boundary, TokenizerConfig};
use invitro_base::{catch_panic, limits, named_files};
use invitro_language::{Language, Languages, MixtureConfig, Stream, Symbol};
use rayon::prelude::*;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};
use tokenizers::{
    NormalizedString, Normalizer, OffsetReferential, OffsetType, PreTokenizedString, PreTokenizer, Tokenizer as Inner,
};

/// Rounds in which every word gets new neighbours.
const ROUNDS: u64 = 3;
/// Words per row of neighbours.
const ROW: usize = 8;

/// A word, its language, and its pieces without neighbours.
struct WordAlone<'a> {
    form: &'a str,
    language: Language,
    pieces: Vec<u32>,
}

impl Tokenizer {
    /// The configured tokenizer: adopted from `tokenizer.file`, or trained on the languages.
    pub fn new(languages: &Languages, config: &TokenizerConfig, mixture: &MixtureConfig) -> Result<Tokenizer> {
        config.validate()?;
        mixture.validate()?;
        match config.file.is_empty() {
            true => Tokenizer::train(languages, config, mixture),
            false => adopt(languages, config, mixture),
        }
    }
}

/// The tokenizer of `tokenizer.file`.
fn adopt(languages: &Languages, config: &TokenizerConfig, mixture: &MixtureConfig) -> Result<Tokenizer> {
    let path = named_files::path(&config.file).unwrap_or_else(|| (&config.file).into());
    let wrong = |why: String| Error::Own { path: path.clone(), why };
    let read = read(&config.file).map_err(wrong)?;
    let special = SpecialTokens::for_languages(languages);
    let provenance = |boundary, vocab| {
        let config = TokenizerConfig { boundary, vocab, ..config.clone() };
        Provenance { config, lambda: mixture.lambda, vocab, language: fingerprint(languages) }
    };
    if let Ok((kind, boundary, found)) = pipeline::recognise(&read)
        && found == special
    {
        check_gap(&read).map_err(wrong)?;
        let provenance = provenance(boundary, read.get_vocab_size(true));
        let tokenizer = Tokenizer::from_kind(read, kind, boundary, special, Some(provenance));
        Checks(&tokenizer).words(languages).map_err(wrong)?;
        return Ok(tokenizer);
    }
    let json: Value = serde_json::from_str(&read.to_string(false).map_err(library)?).map_err(library)?;
    if json["model"]["dropout"].as_f64().is_some_and(|dropout| dropout > 0.0) {
        return Err(wrong("its model has dropout, so that a word has other pieces every time: set it to null".into()));
    }
    let spelling = Spelling::from_json(&json);
    // Files differ in the owner of a space between a special token and a word: takes the first that passes.
    let mut fault = None;
    for strip in Strip::ALL {
        let json = renumber(json.clone(), &special, &spelling, strip).map_err(wrong)?;
        let inner = parse(&json.to_string()).map_err(wrong)?;
        let vocab = inner.get_vocab_size(true);
        let with_boundary =
            |boundary| Tokenizer::from_file(inner.clone(), &json, special.clone(), provenance(boundary, vocab));
        match Checks(&with_boundary(Boundary::First)).all(languages) {
            Ok(boundary) => return Ok(with_boundary(boundary)),
            Err(why) => fault.get_or_insert(why),
        };
    }
    Err(wrong(fault.expect("one was tried")))
}

/// Reads a tokenizer by the path or the name of its file.
fn read(file: &str) -> std::result::Result<Inner, String> {
    let content = match named_files::content(file) {
        Some(content) => content.to_vec(),
        None => limits::read_file(file.as_ref()).map_err(|error| error.to_string())?,
    };
    let text = String::from_utf8(content).map_err(|_| "it is not text")?;
    check_size(&text)?;
    parse(&text)
}

fn parse(text: &str) -> std::result::Result<Inner, String> {
    catch_panic(|| text.parse().map_err(|error: tokenizers::Error| error.to_string())).and_then(|read| read)
}

/// The configured |V|: that of `tokenizer.file` without our special tokens, or `tokenizer.vocab`.
pub fn configured_vocab(config: &TokenizerConfig) -> usize {
    token_count(&config.file).unwrap_or(config.vocab)
}

/// The number of tokens of a file; `None` if it cannot be read.
fn token_count(file: &str) -> Option<usize> {
    // By name, which identifies the content.
    static KNOWN: LazyLock<Mutex<HashMap<String, Option<usize>>>> = LazyLock::new(Mutex::default);
    let mut known = KNOWN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let count = || {
        let json: Value = serde_json::from_slice(&named_files::content(file)?).ok()?;
        Some(tokens(&json).ok()?.len())
    };
    *known.entry(file.to_owned()).or_insert_with(count)
}

/// The checks of an external tokenizer. Errors are messages.
struct Checks<'a>(&'a Tokenizer);

impl Checks<'_> {
    /// Runs all checks and returns the word boundary.
    fn all(&self, languages: &Languages) -> std::result::Result<Boundary, String> {
        let words = self.words(languages)?;
        let boundary = self.boundary(&words)?;
        self.neighbours(words, languages.seed)?;
        self.joins(languages)?;
        Ok(boundary)
    }

    /// Every word of every language; checks that its pieces spell it and decode to it.
    fn words<'a>(&self, languages: &'a Languages) -> std::result::Result<Vec<WordAlone<'a>>, String> {
        let all = languages.all().iter().flat_map(|&language| languages.world.symbols().map(move |s| (s, language)));
        let all: Vec<(Symbol, Language)> = all.collect();
        let word = |&(symbol, language): &(Symbol, Language)| {
            let form = languages.form(symbol, language);
            let pieces = self.0.pieces_in_text(form).map_err(|error| error.to_string())?;
            self.check(form, &pieces)
                .map_err(|why| format!("of `{form}`, a word of {}, {why}", language.name()))
                .map(|()| WordAlone { form, language, pieces })
        };
        all.par_iter().map(word).collect::<Vec<_>>().into_iter().collect()
    }

    fn check(&self, form: &str, pieces: &[u32]) -> std::result::Result<(), String> {
        let shown = || self.shown(pieces);
        if self.0.unknown().is_some_and(|unknown| pieces.contains(&unknown)) {
            return Err(match form.chars().find(|&letter| !self.knows(letter)) {
                Some(letter) => format!("it does not know the letter `{letter}`"),
                None => format!("it does not know a part ({})", shown()),
            });
        }
        if self.0.letters(pieces) != form.as_bytes() {
            let normalized = self.normalized(form);
            return Err(match normalized.trim_matches(|c: char| c.is_whitespace() || !c.is_alphabetic()) {
                other if !other.is_empty() && other != form => format!("its normalizer makes `{other}`"),
                _ => format!("the pieces ({}) spell something else", shown()),
            });
        }
        let decoded = self.0.decode(pieces).map_err(|error| error.to_string())?;
        match decoded.trim() == form {
            true => Ok(()),
            false => Err(format!("its decoder makes `{}` of the pieces ({})", decoded.trim(), shown())),
        }
    }

    /// Whether some token contains a letter.
    fn knows(&self, letter: char) -> bool {
        let letter = letter.to_string().into_bytes();
        let has = |id: u32| self.0.spelled(id).0.windows(letter.len()).any(|part| part == letter);
        (self.0.special().count()..self.0.vocab_size() as u32).any(has)
    }

    /// Pieces as text, for messages.
    fn shown(&self, pieces: &[u32]) -> String {
        let token = |&id: &u32| self.0.token(id).unwrap_or_default();
        pieces.iter().map(token).collect::<Vec<_>>().join(" ")
    }

    fn normalized(&self, text: &str) -> String {
        let mut normalized = NormalizedString::from(text);
        if let Some(normalizer) = self.0.inner().get_normalizer() {
            let _ = normalizer.normalize(&mut normalized);
        }
        normalized.get().to_owned()
    }

    /// The word boundary: a mark on only the first piece of each word, or on only the last.
    fn boundary(&self, words: &[WordAlone]) -> std::result::Result<Boundary, String> {
        let is_marked = |piece: &u32| self.0.spelled(*piece).1;
        let is_at = |pieces: &[u32], place: usize| {
            pieces.iter().enumerate().all(|(at, piece)| is_marked(piece) == (at == place)) && !pieces.is_empty()
        };
        let first = |word: &&WordAlone| !is_at(&word.pieces, 0);
        let last = |word: &&WordAlone| !is_at(&word.pieces, word.pieces.len().saturating_sub(1));
        let boundary = self.0.special().boundary();
        match (words.iter().find(first), words.iter().find(last)) {
            (None, _) => Ok(Boundary::First),
            (_, None) if words.iter().all(|word| word.pieces.last() == Some(&boundary)) => Ok(Boundary::Token),
            (_, None) => Ok(Boundary::Last),
            (Some(word), _) => Err(format!(
                "of `{}`, a word of {}, the pieces ({}) do not show where it begins or ends: a mark on only the first piece of \
                 every word, on only the last, or a separate token must show it",
                word.form,
                word.language.name(),
                self.shown(&word.pieces)
            )),
        }
    }

    /// Checks that neighbours do not change the pieces of a word.
    fn neighbours(&self, mut words: Vec<WordAlone>, seed: u64) -> std::result::Result<(), String> {
        let stream = Stream::new(seed, "tokenizer/file");
        for round in 0..ROUNDS {
            stream.at(0, round).shuffle(&mut words);
            let differs = |row: &&[WordAlone]| {
                let text = row.iter().map(|word| word.form).collect::<Vec<_>>().join(" ");
                let alone: Vec<u32> = row.iter().flat_map(|word| &word.pieces).copied().collect();
                self.0.pieces_in_text(&text).map_or(true, |pieces| pieces != alone)
            };
            if let Some(row) = words.par_chunks(ROW).find_first(differs) {
                let text = row.iter().map(|word| word.form).collect::<Vec<_>>().join(" ");
                let pieces = self.0.pieces_in_text(&text).map_err(|error| error.to_string())?;
                return Err(format!(
                    "in `{text}` words have other pieces ({}) than each alone: neighbours must not change a word's pieces",
                    self.shown(&pieces)
                ));
            }
        }
        Ok(())
    }

    /// Checks that no token spans several words, unless the pre-tokenizer separates words.
    fn joins(&self, languages: &Languages) -> std::result::Result<(), String> {
        let copula = languages.form(languages.world.copula(), languages.all()[0]);
        let mut split = PreTokenizedString::from(self.normalized(&format!("{copula} {copula} {copula}")));
        if let Some(pre_tokenizer) = self.0.inner().get_pre_tokenizer() {
            pre_tokenizer.pre_tokenize(&mut split).map_err(|error| error.to_string())?;
        }
        let spelling = self.0.spelling();
        let parts = split.get_splits(OffsetReferential::Original, OffsetType::None);
        if !parts.iter().any(|(part, ..)| spelling.spans_words(part)) {
            return Ok(());
        }
        let tokens = (self.0.special().count()..self.0.vocab_size() as u32).filter_map(|id| self.0.token(id));
        match tokens.into_iter().find(|token| spelling.spans_words(token)) {
            Some(token) => {
                Err(format!("its token `{token}` spans several words, and its pre-tokenizer does not separate words"))
            }
            None => Ok(()),
        }
    }
}
