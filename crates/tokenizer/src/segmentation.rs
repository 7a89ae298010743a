//! The table of pieces: every symbol in every language, taken apart once. The lexicon is closed, so encoding a sequence
//! is copying, and equals encoding its text with `tokenizer.json`.
//!
//! ```text
//! boundary   pieces of `fekoc`     core
//! token      fe koc ▁              fe koc
//! first      ▁fe koc               ▁fe koc
//! last       fe koc▁               fe koc▁
//! ```

use crate::config::Boundary;
use crate::error::{Error, Result};
use crate::provenance::fingerprint;
use crate::special::{self, MARK, SpecialTokens};
use crate::tokenizer::Tokenizer;
use crate::{alphabet, config::Kind};
use invitro_language::{Language, Languages, Sequence, Symbol, Task};
use rayon::prelude::*;

/// The pieces of every word.
#[derive(Clone, Debug)]
pub struct Segmentation {
    pub(crate) boundary: Boundary,
    pub(crate) special: SpecialTokens,
    /// All words' pieces end to end, one language after the other.
    ids: Vec<u32>,
    /// Where each word's pieces begin, by language and symbol, and where the last one's end.
    starts: Vec<u32>,
    symbols: usize,
    /// Each token's letters, without its mark.
    pub(crate) letters: Vec<Box<[u8]>>,
    /// Whether a token carries, or is, the word boundary.
    pub(crate) marked: Vec<bool>,
}

impl Segmentation {
    /// The pieces of every word of all languages, by a tokenizer that was trained on them.
    pub fn new(tokenizer: &Tokenizer, languages: &Languages) -> Result<Segmentation> {
        let ours = SpecialTokens::of(languages);
        if *tokenizer.special() != ours {
            let names = |special: &SpecialTokens| special.languages().join(", ");
            return Err(Error::Mismatch(format!(
                "the tokenizer was trained on other languages: it has task tokens of {}, but the languages are {}",
                names(tokenizer.special()),
                names(&ours)
            )));
        }
        if let Some(provenance) = tokenizer.provenance() {
            let (theirs, ours) = (&provenance.language, fingerprint(languages));
            if *theirs != ours {
                return Err(Error::Mismatch(format!(
                    "the tokenizer was trained on another language: its words have the fingerprint {theirs}, those of \
                     this language {ours}; the settings under `language`, `languages` and `seeds.data` must be the same"
                )));
            }
        }
        let missing =
            |c: &char| tokenizer.kind() != Kind::Byte && tokenizer.word(&c.to_string()).map_or(0, |w| w.len()) != 1;
        if let Some(letter) = alphabet::letters(languages).into_iter().find(missing) {
            return Err(Error::Mismatch(format!(
                "the tokenizer was trained on another language: it does not know the letter `{letter}`"
            )));
        }
        let words = languages.all().iter().flat_map(|&language| languages.world.symbols().map(move |s| (s, language)));
        let words: Vec<Vec<u32>> = words
            .collect::<Vec<_>>()
            .into_par_iter()
            .map(|(symbol, language)| with_boundary(tokenizer, languages.form(symbol, language)))
            .collect::<Result<_>>()?;
        let mut ids = Vec::with_capacity(words.len() * 4);
        let mut starts = Vec::with_capacity(words.len() + 1);
        for word in &words {
            starts.push(ids.len() as u32);
            ids.extend_from_slice(word);
        }
        starts.push(ids.len() as u32);
        let tokens: Vec<String> =
            (0..tokenizer.vocab_size() as u32).map(|id| tokenizer.token(id).unwrap_or_default()).collect();
        if let Some(id) = ids.iter().find(|&&id| id as usize >= tokens.len()) {
            let vocab = tokens.len();
            return Err(Error::Mismatch(format!(
                "the tokenizer is damaged: a word has the piece {id}, but |V| is {vocab}"
            )));
        }
        Ok(Segmentation {
            boundary: tokenizer.boundary(),
            ids,
            starts,
            symbols: languages.world.len(),
            letters: tokens
                .iter()
                .enumerate()
                .map(|(id, t)| letters((id as u32) < ours.count(), t, tokenizer.kind()))
                .collect(),
            marked: tokens.iter().map(|t| t.contains(MARK)).collect(),
            special: ours,
        })
    }

    fn range(&self, symbol: Symbol, language: Language) -> std::ops::Range<usize> {
        let at = language.index() * self.symbols + symbol.index();
        self.starts[at] as usize..self.starts[at + 1] as usize
    }

    /// A word's pieces as they stand in running text, with the boundary's token where words have one.
    #[inline]
    pub fn pieces(&self, symbol: Symbol, language: Language) -> &[u32] {
        &self.ids[self.range(symbol, language)]
    }

    /// A word's pieces without a boundary that is a token of its own.
    #[inline]
    pub fn core(&self, symbol: Symbol, language: Language) -> &[u32] {
        let pieces = self.pieces(symbol, language);
        let boundary = self.special.boundary();
        match pieces {
            [core @ .., last] if *last == boundary => core,
            [first, core @ ..] if *first == boundary => core,
            core => core,
        }
    }

    /// The special tokens.
    pub fn special(&self) -> &SpecialTokens {
        &self.special
    }

    /// |V|
    pub fn vocab_size(&self) -> usize {
        self.letters.len()
    }

    /// A token's letters, without a mark; none for special tokens and the boundary.
    pub fn letters(&self, id: u32) -> &[u8] {
        &self.letters[id as usize]
    }

    /// The ids of a sequence, appended.
    pub fn encode(&self, sequence: &Sequence, out: &mut Vec<u32>) {
        self.encode_prompt(sequence, out);
        for &symbol in &sequence.sentence.symbols {
            out.extend_from_slice(self.pieces(symbol, sequence.language));
        }
        out.push(special::EOS);
    }

    /// The ids of what is given: up to `<out>`, or of T0 the task alone.
    pub fn encode_prompt(&self, sequence: &Sequence, out: &mut Vec<u32>) {
        out.push(self.special.task(sequence.task, sequence.language));
        for &symbol in &sequence.prompt {
            out.extend_from_slice(self.pieces(symbol, sequence.language));
        }
        if sequence.task != Task::T0 {
            out.push(special::OUT);
        }
    }

    /// How many ids [`Segmentation::encode`] appends.
    pub fn length(&self, sequence: &Sequence) -> usize {
        let words = sequence.prompt.iter().chain(&sequence.sentence.symbols);
        let pieces: usize = words.map(|&s| self.range(s, sequence.language).len()).sum();
        pieces + 2 + usize::from(sequence.task != Task::T0)
    }
}

fn with_boundary(tokenizer: &Tokenizer, form: &str) -> Result<Vec<u32>> {
    match tokenizer.boundary() {
        Boundary::Token => Ok([tokenizer.word(form)?, vec![tokenizer.special().boundary()]].concat()),
        Boundary::First => tokenizer.word(&format!("{MARK}{form}")),
        Boundary::Last => tokenizer.word(&format!("{form}{MARK}")),
    }
}

fn letters(is_special: bool, token: &str, kind: Kind) -> Box<[u8]> {
    if is_special {
        return Box::default();
    }
    let byte = token.strip_prefix("<0x").and_then(|t| u8::from_str_radix(t.trim_end_matches('>'), 16).ok());
    match byte {
        Some(byte) if kind == Kind::Byte => [byte].into(),
        _ => token.replace(MARK, "").into_bytes().into(),
    }
}
