//! Decodes ids to words and to text.
//!
//! Only the spelling of a word counts, not its pieces. `None` marks anything else: letters that spell no word, a word
//! without its boundary, a boundary without a word, a special token among words.

use crate::segment::segmentation::Segmentation;
use crate::special::EOS;
use invitro_base::settings::Boundary;
use invitro_language::{Language, Languages, Symbol};

/// Words decoded from ids.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct DecodedWords {
    /// Each word's symbol; `None` for anything that is not a word of the language.
    pub words: Vec<Option<Symbol>>,
    /// Whether `<eos>` was found. Later ids are ignored.
    pub ended: bool,
}

impl Segmentation {
    /// The words that ids spell in a language, up to `<eos>`.
    pub fn decode_words(&self, ids: &[u32], languages: &Languages, language: Language) -> DecodedWords {
        let mut decoded = DecodedWords::default();
        let mut word = Vec::new();
        // Whether the current word has begun: at once, or with its mark if the mark comes first.
        let mut begun = self.boundary != Boundary::First;
        let symbol = |word: &[u8]| std::str::from_utf8(word).ok().and_then(|w| languages.lexicon.symbol(w, language));
        // Ends a word: complete if words end where the next begins, else incomplete.
        let end = |words: &mut Vec<Option<Symbol>>, word: &[u8], begun: bool| match self.boundary {
            Boundary::First if begun => words.push(symbol(word)),
            _ if !word.is_empty() => words.push(None),
            _ => {}
        };
        for &id in ids {
            if id == EOS {
                decoded.ended = true;
                break;
            }
            let foreign = self.is_foreign(id);
            if foreign || (self.boundary == Boundary::First && self.marked[id as usize]) {
                end(&mut decoded.words, &word, begun);
                word.clear();
                begun = !foreign || self.boundary != Boundary::First;
            }
            if foreign {
                decoded.words.push(None);
                continue;
            }
            word.extend_from_slice(&self.letters[id as usize]);
            if self.boundary != Boundary::First && self.marked[id as usize] {
                decoded.words.push(symbol(&word));
                word.clear();
            }
        }
        end(&mut decoded.words, &word, begun);
        decoded
    }

    /// Whether an id is not part of any word: a special token, a token that spells nothing, or an invalid id.
    fn is_foreign(&self, id: u32) -> bool {
        let spells = |letters: &[u8]| !letters.is_empty() || self.marked[id as usize];
        id < self.special.count() || !self.letters.get(id as usize).is_some_and(|letters| spells(letters))
    }

    /// Ids as text, special tokens included, as `tokenizer.json` decodes them.
    pub fn decode(&self, ids: &[u32]) -> String {
        let special = self.special.tokens();
        let mut out: Vec<u8> = Vec::new();
        for &id in ids {
            let first = self.boundary == Boundary::First;
            if id < self.special.count() {
                let token = special[id as usize].as_bytes();
                out.extend(if first { [b" ", token] } else { [token, b" "] }.concat());
            } else if let Some(letters) = self.letters.get(id as usize) {
                let mark: &[u8] = if self.marked[id as usize] { b" " } else { b"" };
                out.extend(if first && !self.is_boundary(id) { [mark, letters] } else { [letters, mark] }.concat());
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
