//! Recuts a word into the same number of pieces, with the most or the fewest pieces in common with its form in the first
//! language.
//!
//! ```text
//! A          fe koc        learned
//! B          fek oce       learned: nothing in common
//!            fe koce       alike: `fe`
//! ```
//!
//! Both numbers of pieces are fixed, so the largest Jaccard index is the largest number of common pieces. Dynamic
//! programming finds it: the best number for a suffix depends on its start, the pieces left, and the pieces of the other
//! form that are already matched. A word has few pieces, so there are few states.

use invitro_base::settings::{Boundary, Cut};
use std::collections::HashMap;

/// The pieces of a vocabulary by their letters.
pub struct Pieces {
    /// By letters: the id without the boundary's mark, and with it.
    ids: HashMap<Box<[u8]>, [Option<u32>; 2]>,
    longest: usize,
}

impl Pieces {
    /// From tokens with ids, letters and whether they carry the mark; tokens without letters are skipped.
    pub fn new<'a>(tokens: impl Iterator<Item = (u32, &'a [u8], bool)>) -> Pieces {
        let mut ids: HashMap<Box<[u8]>, [Option<u32>; 2]> = HashMap::new();
        for (id, letters, marked) in tokens.filter(|(_, letters, _)| !letters.is_empty()) {
            ids.entry(letters.into()).or_default()[usize::from(marked)] = Some(id);
        }
        let longest = ids.keys().map(|letters| letters.len()).max().unwrap_or(0);
        Pieces { ids, longest }
    }

    /// The pieces that can continue a word at byte `at`, each with its end, by id.
    fn next_pieces(&self, word: &[u8], mark: Boundary, at: usize) -> Vec<(u32, usize)> {
        let ends = at + 1..=word.len().min(at + self.longest);
        let piece = |end: usize| {
            let is_marked = match mark {
                Boundary::Token => false,
                Boundary::First => at == 0,
                Boundary::Last => end == word.len(),
            };
            Some((self.ids.get(&word[at..end])?[usize::from(is_marked)]?, end))
        };
        let mut pieces: Vec<(u32, usize)> = ends.filter_map(piece).collect();
        pieces.sort_unstable();
        pieces
    }

    /// The cut of a word with the most (`alike`) or the fewest (`apart`) pieces in common with `other`, among those with
    /// the number of pieces of `learned`. Returns `learned` unless another is better, else the first by ids. Neither
    /// contains the boundary's token; `mark` says which piece carries the mark.
    pub fn recut(&self, word: &str, mark: Boundary, learned: &[u32], other: &[u32], cut: Cut) -> Vec<u32> {
        let word = word.as_bytes();
        let mut kinds: Vec<(u32, usize)> = Vec::new();
        for &piece in other {
            match kinds.iter_mut().find(|(kind, _)| *kind == piece) {
                Some((_, count)) => *count += 1,
                None => kinds.push((piece, 1)),
            }
        }
        let nexts = (0..word.len()).map(|at| self.next_pieces(word, mark, at)).collect();
        let mut search = Search { nexts, end: word.len(), kinds, cut, known: HashMap::new() };
        let unmatched = vec![0; search.kinds.len()];
        let Some(best) = search.best(0, learned.len(), &unmatched) else { return learned.to_vec() };
        if search.common(learned) == best {
            return learned.to_vec();
        }
        search.first(learned.len(), best)
    }
}

/// The search for one word.
struct Search {
    /// By position in the word.
    nexts: Vec<Vec<(u32, usize)>>,
    end: usize,
    /// The distinct pieces of the other form, with their counts.
    kinds: Vec<(u32, usize)>,
    cut: Cut,
    /// By position, pieces left, and matches of each of the other's pieces.
    known: HashMap<(usize, usize, Vec<usize>), Option<usize>>,
}

impl Search {
    /// The number of pieces that a cut has in common with the other form.
    fn common(&self, pieces: &[u32]) -> usize {
        let count = |kind: u32| pieces.iter().filter(|&&piece| piece == kind).count();
        self.kinds.iter().map(|&(kind, most)| most.min(count(kind))).sum()
    }

    /// The matches after another piece, and 1 if it is a new match.
    fn meet(&self, met: &[usize], piece: u32) -> (Vec<usize>, usize) {
        let mut met = met.to_vec();
        match self.kinds.iter().position(|&(kind, _)| kind == piece) {
            Some(place) if met[place] < self.kinds[place].1 => {
                met[place] += 1;
                (met, 1)
            }
            _ => (met, 0),
        }
    }

    /// The best number in common from a position on; `None` if `left` pieces cannot complete the word.
    fn best(&mut self, at: usize, left: usize, met: &[usize]) -> Option<usize> {
        if at == self.end || left == 0 {
            return (at == self.end && left == 0).then_some(0);
        }
        let key = (at, left, met.to_vec());
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let mut best: Option<usize> = None;
        for (piece, end) in self.nexts[at].clone() {
            let (met, more) = self.meet(met, piece);
            let Some(later) = self.best(end, left - 1, &met) else { continue };
            let whole = later + more;
            best =
                Some(best.map_or(whole, |best| if self.cut == Cut::Alike { best.max(whole) } else { best.min(whole) }));
        }
        self.known.insert(key, best);
        best
    }

    /// The first cut by ids with the best number in common.
    fn first(&mut self, pieces: usize, best: usize) -> Vec<u32> {
        let (mut at, mut wanted, mut met) = (0, best, vec![0; self.kinds.len()]);
        let mut cut = Vec::with_capacity(pieces);
        for left in (0..pieces).rev() {
            let next = self.nexts[at].clone().into_iter().find_map(|(piece, end)| {
                let (met, more) = self.meet(&met, piece);
                let later = self.best(end, left, &met)?;
                (later + more == wanted).then_some((piece, end, met, later))
            });
            let Some((piece, end, now, later)) = next else { break };
            cut.push(piece);
            (at, met, wanted) = (end, now, later);
        }
        cut
    }
}
