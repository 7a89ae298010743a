//! Somebody else's tokenizer in our languages: `tokenizer.file`.
//!
//! Any `tokenizer.json` will do whose words can be told from each other by their pieces, and that have the same pieces
//! whatever stands beside them: the table of pieces is then all there is to it. Both are tried out here, on every word, and
//! what does not hold is told of the word it does not hold of.
//!
//! Ids are assigned anew, so that they are where ours are: special tokens first, then the token that is a mark and nothing
//! else (or one in its place that is never used), then the file's tokens in their order. A tokenizer that was made
//! here, for languages of the same names and tasks, has them so and stays as it is.

use crate::error::{Error, Result, library};
use crate::external::renumber::{Strip, renumber, tokens};
use crate::provenance::{Provenance, fingerprint};
use crate::segment::spelling::Spelling;
use crate::special::SpecialTokens;
use crate::tokenizer::Tokenizer;
use crate::train::pipeline;
use invitro_base::settings::{Boundary, TokenizerConfig};
use invitro_base::{catch_panic, named_files};
use invitro_language::{Language, Languages, MixtureConfig, Stream, Symbol};
use rayon::prelude::*;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};
use tokenizers::{
    NormalizedString, Normalizer, OffsetReferential, OffsetType, PreTokenizedString, PreTokenizer, Tokenizer as Inner,
};

/// How often every word is put beside others, and among how many.
const ROUNDS: u64 = 3;
const ROW: usize = 8;

/// A word, its language, and its pieces when it stands alone.
struct WordAlone<'a> {
    form: &'a str,
    language: Language,
    pieces: Vec<u32>,
}

impl Tokenizer {
    /// The tokenizer that the settings ask for: the one of their file if they name one, else trained on the languages.
    pub fn new(languages: &Languages, config: &TokenizerConfig, mixture: &MixtureConfig) -> Result<Tokenizer> {
        config.validate()?;
        mixture.validate()?;
        match config.file.is_empty() {
            true => Tokenizer::train(languages, config, mixture),
            false => adopt(languages, config, mixture),
        }
    }
}

/// The tokenizer of the file that the settings name.
fn adopt(languages: &Languages, config: &TokenizerConfig, mixture: &MixtureConfig) -> Result<Tokenizer> {
    let path = named_files::path(&config.file).unwrap_or_else(|| (&config.file).into());
    let wrong = |why: String| Error::Own { path: path.clone(), why };
    let read = read(&config.file).map_err(wrong)?;
    let special = SpecialTokens::of(languages);
    let provenance = |boundary, vocab| {
        let config = TokenizerConfig { boundary, vocab, ..config.clone() };
        Provenance { config, lambda: mixture.lambda, vocab, language: fingerprint(languages) }
    };
    if let Ok((kind, boundary, found)) = pipeline::recognise(&read)
        && found == special
    {
        let provenance = provenance(boundary, read.get_vocab_size(true));
        let tokenizer = Tokenizer::of_kind(read, kind, boundary, special, Some(provenance));
        Trial(&tokenizer).words(languages).map_err(wrong)?;
        return Ok(tokenizer);
    }
    let json: Value = serde_json::from_str(&read.to_string(false).map_err(library)?).map_err(library)?;
    if json["model"]["dropout"].as_f64().is_some_and(|dropout| dropout > 0.0) {
        return Err(wrong("its model has dropout, so that a word has other pieces every time: set it to null".into()));
    }
    let spelling = Spelling::of_json(&json);
    // Whether the space between a special token and a word is the word's depends on the file: what fits is taken.
    let mut fault = None;
    for strip in Strip::ALL {
        let json = renumber(json.clone(), &special, &spelling, strip).map_err(wrong)?;
        let inner = parse(&json.to_string()).map_err(wrong)?;
        let vocab = inner.get_vocab_size(true);
        let made = |boundary| Tokenizer::of_file(inner.clone(), &json, special.clone(), provenance(boundary, vocab));
        match Trial(&made(Boundary::First)).all(languages) {
            Ok(boundary) => return Ok(made(boundary)),
            Err(why) => fault.get_or_insert(why),
        };
    }
    Err(wrong(fault.expect("one was tried")))
}

/// The tokenizer of a file: its path, or the name that `named` gave it.
fn read(file: &str) -> std::result::Result<Inner, String> {
    let content = match named_files::content(file) {
        Some(content) => content.to_vec(),
        None => std::fs::read(file).map_err(|error| error.to_string())?,
    };
    parse(&String::from_utf8(content).map_err(|_| "it is not text")?)
}

fn parse(text: &str) -> std::result::Result<Inner, String> {
    catch_panic(|| text.parse().map_err(|error: tokenizers::Error| error.to_string())).and_then(|read| read)
}

/// |V| by the settings: that of the file, ours not counted, if there is one.
pub fn asked_vocab(config: &TokenizerConfig) -> usize {
    size(&config.file).unwrap_or(config.vocab)
}

/// How many tokens a file has, ours not counted; none if it cannot be read.
fn size(file: &str) -> Option<usize> {
    /// A name stands for what the file holds.
    static KNOWN: LazyLock<Mutex<HashMap<String, Option<usize>>>> = LazyLock::new(Mutex::default);
    let mut known = KNOWN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let count = || {
        let json: Value = serde_json::from_slice(&named_files::content(file)?).ok()?;
        Some(tokens(&json).ok()?.len())
    };
    *known.entry(file.to_owned()).or_insert_with(count)
}

/// A tokenizer that is tried out. What is wrong is told in words.
struct Trial<'a>(&'a Tokenizer);

impl Trial<'_> {
    /// All that must hold, and how words are told from each other.
    fn all(&self, languages: &Languages) -> std::result::Result<Boundary, String> {
        let words = self.words(languages)?;
        let boundary = self.boundary(&words)?;
        self.neighbours(words, languages.seed)?;
        self.joins(languages)?;
        Ok(boundary)
    }

    /// Every word of every language, which its pieces spell, and which they are decoded to.
    fn words<'a>(&self, languages: &'a Languages) -> std::result::Result<Vec<WordAlone<'a>>, String> {
        let all = languages.all().iter().flat_map(|&language| languages.world.symbols().map(move |s| (s, language)));
        let all: Vec<(Symbol, Language)> = all.collect();
        let word = |&(symbol, language): &(Symbol, Language)| {
            let form = languages.form(symbol, language);
            let pieces = self.0.in_text(form).map_err(|error| error.to_string())?;
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

    /// Whether some token has a letter.
    fn knows(&self, letter: char) -> bool {
        let letter = letter.to_string().into_bytes();
        let has = |id: u32| self.0.spelled(id).0.windows(letter.len()).any(|part| part == letter);
        (self.0.special().count()..self.0.vocab_size() as u32).any(has)
    }

    /// Pieces in words.
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

    /// How words are told from each other: by a mark on the first piece of each alone, or on the last.
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
                "of `{}`, a word of {}, the pieces ({}) do not tell where it begins or ends: a mark on the first piece of \
                 every word alone, or on the last, or a token of its own must say so",
                word.form,
                word.language.name(),
                self.shown(&word.pieces)
            )),
        }
    }

    /// Words have the same pieces beside others.
    fn neighbours(&self, mut words: Vec<WordAlone>, seed: u64) -> std::result::Result<(), String> {
        let stream = Stream::new(seed, "tokenizer/file");
        for round in 0..ROUNDS {
            stream.at(0, round).shuffle(&mut words);
            let differs = |row: &&[WordAlone]| {
                let text = row.iter().map(|word| word.form).collect::<Vec<_>>().join(" ");
                let alone: Vec<u32> = row.iter().flat_map(|word| &word.pieces).copied().collect();
                self.0.in_text(&text).map_or(true, |pieces| pieces != alone)
            };
            if let Some(row) = words.par_chunks(ROW).find_first(differs) {
                let text = row.iter().map(|word| word.form).collect::<Vec<_>>().join(" ");
                let pieces = self.0.in_text(&text).map_err(|error| error.to_string())?;
                return Err(format!(
                    "in `{text}` words have other pieces ({}) than each alone: what stands beside a word must not change it",
                    self.shown(&pieces)
                ));
            }
        }
        Ok(())
    }

    /// No token is of several words, unless the pre-tokenizer keeps words apart.
    fn joins(&self, languages: &Languages) -> std::result::Result<(), String> {
        let copula = languages.form(languages.world.copula(), languages.all()[0]);
        let mut split = PreTokenizedString::from(self.normalized(&format!("{copula} {copula} {copula}")));
        if let Some(pre_tokenizer) = self.0.inner().get_pre_tokenizer() {
            pre_tokenizer.pre_tokenize(&mut split).map_err(|error| error.to_string())?;
        }
        let spelling = self.0.spelling();
        let parts = split.get_splits(OffsetReferential::Original, OffsetType::None);
        if !parts.iter().any(|(part, ..)| spelling.is_of_words(part)) {
            return Ok(());
        }
        let tokens = (self.0.special().count()..self.0.vocab_size() as u32).filter_map(|id| self.0.token(id));
        match tokens.into_iter().find(|token| spelling.is_of_words(token)) {
            Some(token) => Err(format!("its token `{token}` is of several words, which nothing keeps apart")),
            None => Ok(()),
        }
    }
}
