//! Other people's tokenizers, on other people's texts and wordlists: what can be measured without knowing the truth.
//!
//! Words are what stands between spaces. A line is encoded whole, as its users would, and every piece counts for the first word it
//! says a letter of; pieces that are a mark alone (`▁`, `Ġ`, `</w>`) count for none. So invitro's own languages, written as
//! text and read back, have the measures they had.
//!
//! - [`text`]: parallel texts
//! - [`wordlist`]: words by meaning and language, with or without cognate sets, and how far apart languages are

pub(crate) mod adopt;
mod forms;
pub(crate) mod renumber;
mod tally;
pub mod text;
pub mod wordlist;

use crate::error::{Error, Result, library};
use crate::external::renumber::unknown;
use crate::segment::spelling::Spelling;
use invitro_base::catch_panic;
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::collections::HashSet;
use std::path::Path;

/// A tokenizer of the `tokenizers` library, whoever made it.
pub struct External {
    inner: tokenizers::Tokenizer,
    /// Of every id, what it is.
    kinds: Vec<Piece>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece {
    Letters,
    /// A mark of a word's beginning or end alone, or a space.
    Mark,
    Unknown,
    /// A token for other purposes than text, or an id without a token.
    Special,
}

/// A word of a line, and the pieces that begin in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LineWord {
    pub pieces: Vec<u32>,
    /// Its characters.
    pub letters: u64,
    /// Those that no piece says: of an unknown token, or left out.
    pub unknown: u64,
}

impl LineWord {
    /// As one, of a form that has spaces.
    fn and(mut self, other: LineWord) -> LineWord {
        self.pieces.extend(other.pieces);
        self.letters += other.letters;
        self.unknown += other.unknown;
        self
    }
}

/// A list of names and what belongs to each, as a map that keeps their order.
fn by_name<T: Serialize, S: Serializer>(all: &[(String, T)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(all.iter().map(|(name, value)| (name, value)))
}

impl External {
    /// Reads a `tokenizer.json`, or the one in a folder.
    pub fn load(path: &Path) -> Result<External> {
        let file = if path.is_dir() { path.join("tokenizer.json") } else { path.to_owned() };
        let fault = |why: String| Error::File { path: file.clone(), verb: "read", why };
        let text = std::fs::read_to_string(&file).map_err(|e| fault(e.to_string()))?;
        let refused = |why: String| fault(format!("it is no tokenizer.json of the tokenizers library: {why}"));
        let parse = || text.parse::<tokenizers::Tokenizer>().map_err(|e| e.to_string());
        let mut inner = catch_panic(parse).and_then(|read| read).map_err(refused)?;
        // They would cut or lengthen what is measured.
        inner.with_truncation(None).map_err(library)?;
        inner.with_padding(None);
        let json: Value = serde_json::from_str(&text).map_err(|e| refused(e.to_string()))?;
        let unknown = unknown(&json["model"]).and_then(|token| inner.token_to_id(token));
        let spelling = Spelling::of_json(&json);
        let special: HashSet<u32> = inner
            .get_added_tokens_decoder()
            .into_iter()
            .filter_map(|(id, token)| token.special.then_some(id))
            .collect();
        let ids = inner.get_vocab(true).into_values().max().map_or(0, |id| id + 1);
        let kind = |id: u32| match inner.id_to_token(id) {
            _ if Some(id) == unknown => Piece::Unknown,
            Some(token) if !special.contains(&id) => {
                if spelling.read(&token).0.is_empty() {
                    Piece::Mark
                } else {
                    Piece::Letters
                }
            }
            _ => Piece::Special,
        };
        Ok(External { kinds: (0..ids).map(kind).collect(), inner })
    }

    /// |V|, special tokens included.
    pub fn vocab_size(&self) -> usize {
        self.inner.get_vocab_size(true)
    }

    /// How many of its pieces words can be made of: all but marks, unknown and special tokens.
    pub fn available(&self) -> u64 {
        self.kinds.iter().filter(|&&kind| kind == Piece::Letters).count() as u64
    }

    fn is_known(&self, id: u32) -> bool {
        self.kinds.get(id as usize) == Some(&Piece::Letters)
    }

    fn ids(&self) -> usize {
        self.kinds.len()
    }

    /// The words of a line with their pieces.
    pub(crate) fn words(&self, line: &str) -> Result<Vec<LineWord>> {
        let encoding = catch_panic(|| self.inner.encode(line, false)).map_err(library)?.map_err(library)?;
        let places = places(line);
        let mut words: Vec<LineWord> = places
            .iter()
            .map(|&(from, to)| LineWord { letters: count(&line[from..to]), ..LineWord::default() })
            .collect();
        // Bytes of the line that some piece says.
        let mut said = vec![false; line.len()];
        for (&id, &(from, to)) in encoding.get_ids().iter().zip(encoding.get_offsets()) {
            let kind = self.kinds.get(id as usize).copied().unwrap_or(Piece::Special);
            let to = to.min(line.len());
            if kind == Piece::Mark || from >= to {
                continue;
            }
            let first = places.partition_point(|&(_, end)| end <= from);
            if places.get(first).is_some_and(|&(start, _)| start < to) {
                words[first].pieces.push(id);
            }
            if kind != Piece::Unknown {
                said[from..to].fill(true);
            }
        }
        for (word, &(from, to)) in words.iter_mut().zip(&places) {
            word.unknown = line[from..to].char_indices().filter(|(i, _)| !said[from + i]).count() as u64;
        }
        Ok(words)
    }
}

/// Where the words of a line stand, in bytes.
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
