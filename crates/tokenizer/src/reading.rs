//! The way back: what words a model has written.
//!
//! A word counts by how it is spelled, however it was taken apart. What is not a word of the language is `None`: letters
//! that spell none, a word without its boundary, a boundary without a word, a special token among words.

use crate::config::Boundary;
use crate::segmentation::Segmentation;
use crate::special::{BOUNDARY, EOS};
use crate::tokenizer::Tokenizer;
use invitro_language::{Language, Languages, Symbol};

/// Words read from ids.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Reading {
    pub words: Vec<Option<Symbol>>,
    /// Whether `<eos>` was found. What follows it is not read.
    pub ended: bool,
}

impl Segmentation {
    /// The words that ids spell in a language, up to `<eos>`.
    pub fn read(&self, ids: &[u32], languages: &Languages, language: Language) -> Reading {
        let mut reading = Reading::default();
        let mut word = Vec::new();
        // Whether the word at hand has begun: at once, or with its mark where that comes first.
        let mut begun = self.boundary != Boundary::First;
        let symbol = |word: &[u8]| std::str::from_utf8(word).ok().and_then(|w| languages.lexicon.symbol(w, language));
        for &id in ids {
            if id == EOS {
                reading.ended = true;
                break;
            }
            let foreign = Tokenizer::is_special(id) || id as usize >= self.letters.len();
            if foreign || (self.boundary == Boundary::First && self.marked[id as usize]) {
                // Ends the word before it: whole if words end where the next begins, and cut short otherwise.
                match self.boundary {
                    Boundary::First if begun => reading.words.push(symbol(&word)),
                    _ if !word.is_empty() => reading.words.push(None),
                    _ => {}
                }
                word.clear();
                begun = !foreign || self.boundary != Boundary::First;
            }
            if foreign {
                reading.words.push(None);
                continue;
            }
            word.extend_from_slice(&self.letters[id as usize]);
            if self.boundary != Boundary::First && self.marked[id as usize] {
                reading.words.push(symbol(&word));
                word.clear();
            }
        }
        match self.boundary {
            Boundary::First if begun => reading.words.push(symbol(&word)),
            _ if !word.is_empty() => reading.words.push(None),
            _ => {}
        }
        reading
    }

    /// Ids as text, special tokens included, as `tokenizer.json` decodes them.
    pub fn text(&self, ids: &[u32]) -> String {
        let special = crate::special::tokens();
        let mut out: Vec<u8> = Vec::new();
        for &id in ids {
            let first = self.boundary == Boundary::First;
            if Tokenizer::is_special(id) {
                let token = special[id as usize].as_bytes();
                out.extend(if first { [b" ", token] } else { [token, b" "] }.concat());
            } else if let Some(letters) = self.letters.get(id as usize) {
                let mark: &[u8] = if self.marked[id as usize] { b" " } else { b"" };
                out.extend(if first && id != BOUNDARY { [mark, letters] } else { [letters, mark] }.concat());
            }
        }
        let text = String::from_utf8_lossy(&out);
        let trimmed = match self.boundary {
            Boundary::First => text.strip_prefix(' '),
            _ => text.strip_suffix(' '),
        };
        trimmed.unwrap_or(&text).to_owned()
    }
}
