//! BPE dropout (Provilkov et al. 2020, arXiv 1910.13267): a word is cut by its merges, and whenever the next merge is
//! chosen, each that is possible is left out with probability p.
//!
//! ```text
//! fe koc        the plain cut, which evaluation uses
//! f e koc       cuts that training may read instead
//! fe k o c
//! ```
//!
//! [`DRAWN_CUTS`] cuts are drawn once for each word of each language; the same cut may be among them several times. Training
//! draws one of them at every occurrence. A boundary mark always stays with its letter.

use crate::error::{Result, library};
use crate::segment::words::{Words, core};
use crate::special::MARK;
use crate::tokenizer::Tokenizer;
use invitro_base::settings::Boundary;
use invitro_language::{Language, Languages, Rng, Stream, Symbol};
use rayon::prelude::*;
use std::collections::HashMap;

/// Cuts drawn for a word.
pub const DRAWN_CUTS: usize = 32;

/// The merges of a BPE tokenizer: of two pieces, the rank of their merge and the piece that they become.
struct MergeRanks(HashMap<(u32, u32), (usize, u32)>);

impl MergeRanks {
    fn new(tokenizer: &Tokenizer) -> Result<MergeRanks> {
        // Only the serialised form shows the library's merges.
        let mut model = serde_json::to_value(tokenizer.inner().get_model()).map_err(library)?;
        let pairs: Vec<(String, String)> = serde_json::from_value(model["merges"].take()).map_err(library)?;
        let id = |token: &str| {
            tokenizer
                .inner()
                .token_to_id(token)
                .ok_or_else(|| library(format!("there is a merge of `{token}`, but no such token")))
        };
        let rank = |(rank, (one, other)): (usize, (String, String))| {
            Ok(((id(&one)?, id(&other)?), (rank, id(&format!("{one}{other}"))?)))
        };
        Ok(MergeRanks(pairs.into_iter().enumerate().map(rank).collect::<Result<_>>()?))
    }

    /// A cut of a word that is given by its letters.
    fn cut(&self, letters: &[u32], p: f64, rng: &mut Rng) -> Vec<u32> {
        let mut pieces = letters.to_vec();
        loop {
            let merge = |at: usize| self.0.get(&(pieces[at - 1], pieces[at])).map(|&(rank, piece)| (rank, at, piece));
            let Some((_, at, piece)) = (1..pieces.len()).filter_map(merge).filter(|_| !rng.chance(p)).min() else {
                return pieces;
            };
            pieces[at - 1] = piece;
            pieces.remove(at);
        }
    }
}

/// The drawn cuts of every word.
#[derive(Clone, Debug)]
pub(crate) struct DrawnCuts {
    /// The distinct cuts, one after the other.
    ids: Vec<u32>,
    /// The start and end of each drawn cut, by language, symbol and draw.
    cuts: Vec<(u32, u32)>,
    symbols: usize,
    /// Selects the cut of each occurrence, by step and row.
    stream: Stream,
}

impl DrawnCuts {
    /// Draws the cuts of words whose plain cuts are `words`; `id` is the id of a piece in a word of a language.
    pub fn new(
        tokenizer: &Tokenizer,
        languages: &Languages,
        words: &Words,
        p: f64,
        id: impl Fn(u32, Symbol, Language) -> u32,
    ) -> Result<DrawnCuts> {
        let merges = MergeRanks::new(tokenizer)?;
        let stream = Stream::new(languages.seed, "dropout");
        let boundary = tokenizer.special().boundary();
        let symbols: Vec<Symbol> = languages.world.symbols().collect();
        let (mut ids, mut cuts) = (Vec::new(), Vec::with_capacity(words.len() * symbols.len() * DRAWN_CUTS));
        for (&language, words) in languages.all().iter().zip(words) {
            let draw = |(&symbol, word): (&Symbol, &Vec<u32>)| -> Result<Vec<Vec<u32>>> {
                let plain = core(word, |id| id == boundary);
                let (letters, after) = (letters(tokenizer, plain)?, &word[plain.len()..]);
                let mut rng = stream.at(language.index() as u64, symbol.index() as u64);
                let mut cut = || [&merges.cut(&letters, p, &mut rng)[..], after].concat();
                Ok((0..DRAWN_CUTS).map(|_| cut()).collect())
            };
            let drawn: Vec<Vec<Vec<u32>>> = symbols.par_iter().zip(words).map(draw).collect::<Result<_>>()?;
            for (&symbol, drawn) in symbols.iter().zip(drawn) {
                let mut places: HashMap<Vec<u32>, (u32, u32)> = HashMap::new();
                for cut in drawn {
                    let place = *places.entry(cut).or_insert_with_key(|cut| {
                        let start = ids.len() as u32;
                        ids.extend(cut.iter().map(|&piece| id(piece, symbol, language)));
                        (start, ids.len() as u32)
                    });
                    cuts.push(place);
                }
            }
        }
        let stream = Stream::new(languages.seed, "train/dropout");
        Ok(DrawnCuts { ids, cuts, symbols: symbols.len(), stream })
    }

    /// The generator of a training row.
    pub fn at(&self, step: u64, row: u64) -> Rng {
        self.stream.at(step, row)
    }

    /// One of a word's cuts by its number.
    pub fn cut(&self, symbol: Symbol, language: Language, number: usize) -> &[u32] {
        let word = language.index() * self.symbols + symbol.index();
        let (start, end) = self.cuts[word * DRAWN_CUTS + number];
        &self.ids[start as usize..end as usize]
    }
}

/// The letters of a word, its mark with the letter that carries it.
fn letters(tokenizer: &Tokenizer, pieces: &[u32]) -> Result<Vec<u32>> {
    let text: String = pieces.iter().filter_map(|&piece| tokenizer.token(piece)).collect();
    let marks_first = tokenizer.boundary() == Boundary::First;
    let mut letters: Vec<String> = Vec::new();
    for letter in text.chars() {
        match letters.last_mut() {
            Some(last) if letter == MARK || (marks_first && last.ends_with(MARK)) => last.push(letter),
            _ => letters.push(letter.to_string()),
        }
    }
    let id = |letter: &String| {
        tokenizer.inner().token_to_id(letter).ok_or_else(|| library(format!("the letter `{letter}` is no token")))
    };
    letters.iter().map(id).collect()
}
