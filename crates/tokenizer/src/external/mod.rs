//! Measures of external tokenizers on external texts and wordlists.
//!
//! Words are separated by white space. A line is encoded whole, without the special tokens that a tokenizer adds. A piece is
//! attributed to the word that contains its first letter. A piece that is only a mark (`▁`, `Ġ`, `</w>`) is counted for the
//! word beside it, so that pieces are as many as the tokenizer gives, but it is not compared between languages. With
//! [`External::without_marks`] marks are not counted: then invitro's own languages, written as text and read back, have the
//! same measures.
//!
//! - [`text`]: parallel texts
//! - [`wordlist`]: words by concept and language, with or without cognate sets, and lexical distances

pub(crate) mod adopt;
mod forms;
pub(crate) mod oversize;
pub(crate) mod renumber;
mod tally;
pub mod text;
pub mod wordlist;

use crate::error::{Error, Result, library};
use crate::external::oversize::check_size;
use crate::external::renumber::unknown;
use crate::segment::spelling::Spelling;
use invitro_base::{catch_panic, limits};
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::collections::HashSet;
use std::path::Path;

/// Any tokenizer of the `tokenizers` library.
pub struct External {
    inner: tokenizers::Tokenizer,
    /// The kind of every id.
    kinds: Vec<Piece>,
    counts_marks: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece {
    Letters,
    /// Only a mark of a word's beginning or end, or a space.
    Mark,
    Unknown,
    /// A special token, or an id without a token.
    Special,
}

/// A word of a line, and the pieces that begin in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LineWord {
    /// All but marks.
    pub pieces: Vec<u32>,
    /// Pieces that are only a mark, if they are counted.
    pub marks: u64,
    /// The number of its characters.
    pub letters: u64,
    /// The number of characters that no piece covers: of an unknown token, or omitted.
    pub unknown: u64,
}

impl LineWord {
    /// Joins two words of a form that contains spaces.
    fn join(mut self, other: LineWord) -> LineWord {
        self.pieces.extend(other.pieces);
        self.marks += other.marks;
        self.letters += other.letters;
        self.unknown += other.unknown;
        self
    }
}

/// Serialises a list of names and values as a map in the same order.
fn by_name<T: Serialize, S: Serializer>(all: &[(String, T)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(all.iter().map(|(name, value)| (name, value)))
}

impl External {
    /// Reads a `tokenizer.json`, or the one in a folder.
    pub fn load(path: &Path) -> Result<External> {
        let file = if path.is_dir() { path.join("tokenizer.json") } else { path.to_owned() };
        let fault = |why: String| Error::File { path: file.clone(), verb: "read", why };
        let text = limits::read_text_file(&file).map_err(|e| fault(e.to_string()))?;
        check_size(&text).map_err(fault)?;
        let refused = |why: String| fault(format!("it is no tokenizer.json of the tokenizers library: {why}"));
        let parse = || text.parse::<tokenizers::Tokenizer>().map_err(|e| e.to_string());
        let mut inner = catch_panic(parse).and_then(|read| read).map_err(refused)?;
        // Truncation and padding would change the measured text.
        inner.with_truncation(None).map_err(library)?;
        inner.with_padding(None);
        let json: Value = serde_json::from_str(&text).map_err(|e| refused(e.to_string()))?;
        let unknown = unknown(&json["model"]).and_then(|token| inner.token_to_id(token));
        let spelling = Spelling::from_json(&json);
        let special: HashSet<u32> = inner
            .get_added_tokens_decoder()
            .into_iter()
            .filter_map(|(id, token)| token.special.then_some(id))
            .collect();
        let ids = inner.get_vocab(true).into_values().max().map_or(0, |id| id + 1);
        let kind = |id: u32| match inner.id_to_token(id) {
            _ if Some(id) == unknown => Piece::Unknown,
            Some(token) if !special.contains(&id) && spelling.read(&token).0.is_empty() => Piece::Mark,
            Some(_) if !special.contains(&id) => Piece::Letters,
            _ => Piece::Special,
        };
        Ok(External { kinds: (0..ids).map(kind).collect(), inner, counts_marks: true })
    }

    /// The same, but pieces that are only a mark are not counted.
    pub fn without_marks(self) -> External {
        External { counts_marks: false, ..self }
    }

    /// |V|, special tokens included.
    pub fn vocab_size(&self) -> usize {
        self.inner.get_vocab_size(true)
    }

    /// The number of pieces that words can contain: all but marks, unknown and special tokens.
    pub fn available(&self) -> u64 {
        self.kinds.iter().filter(|&&kind| kind == Piece::Letters).count() as u64
    }

    fn is_known(&self, id: u32) -> bool {
        self.kinds.get(id as usize) == Some(&Piece::Letters)
    }

    fn ids(&self) -> usize {
        self.kinds.len()
    }

    /// The words of a line with their pieces, and the number of marks if there are no words.
    pub(crate) fn words(&self, line: &str) -> Result<(Vec<LineWord>, u64)> {
        let encoding = catch_panic(|| self.inner.encode(line, false)).map_err(library)?.map_err(library)?;
        let places = places(line);
        let mut words: Vec<LineWord> = places
            .iter()
            .map(|&(from, to)| LineWord { letters: count(&line[from..to]), ..LineWord::default() })
            .collect();
        let mut alone = 0;
        // Bytes of the line that some piece covers.
        let mut covered = vec![false; line.len()];
        for (&id, &(from, to)) in encoding.get_ids().iter().zip(encoding.get_offsets()) {
            let kind = self.kinds.get(id as usize).copied().unwrap_or(Piece::Special);
            let to = to.min(line.len());
            let first = places.partition_point(|&(_, end)| end <= from);
            let is_in_word = kind != Piece::Mark && from < to;
            if is_in_word && places.get(first).is_some_and(|&(start, _)| start < to) {
                words[first].pieces.push(id);
            } else if self.counts_marks {
                // A mark that stands for no character of the line belongs to the word that it touches.
                let beside = if from < to { first } else { places.partition_point(|&(_, end)| end < from) };
                match words.len().checked_sub(1) {
                    Some(last) => words[beside.min(last)].marks += 1,
                    None => alone += 1,
                }
            }
            if is_in_word && kind != Piece::Unknown {
                covered[from..to].fill(true);
            }
        }
        for (word, &(from, to)) in words.iter_mut().zip(&places) {
            word.unknown = line[from..to].char_indices().filter(|(i, _)| !covered[from + i]).count() as u64;
        }
        Ok((words, alone))
    }
}

/// The byte ranges of the words of a line.
fn places(line: &str) -> Vec<(usize, usize)> {
    line.split_whitespace()
        .map(|word| {
            let from = word.as_ptr() as usize - line.as_ptr() as usize;
            (from, from + word.len())
        })
        .collect()
}

fn count(text: &str) -> u64 {
    text.chars().count() as u64
}
