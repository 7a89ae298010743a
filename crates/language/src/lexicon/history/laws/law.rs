//! Sound laws and their application to words.
//!
//! A law applies everywhere at once: every place is compared with the word as it was before the law. Of overlapping targets
//! the leftmost changes, of several targets at one place the longest. Laws apply in their order, each to the outcome of the
//! one before.

use std::sync::Arc;

/// What can stand at a place: a run of letters, or `None`, the edge of the word.
pub(super) type SoundOrEdge = Option<Box<[u8]>>;

/// One element of a context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Element {
    pub alternatives: Vec<SoundOrEdge>,
    pub is_optional: bool,
}

/// The surroundings of a target, both read away from it: the letters on its left stand in reverse order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Context {
    pub left: Vec<Element>,
    pub right: Vec<Element>,
}

/// A part of a law's outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Letters(Box<[u8]>),
    /// By alternative of an element of the target.
    Parallel(usize, Vec<Box<[u8]>>),
}

/// A sound law.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Law {
    /// As written, without its comment.
    pub(super) text: String,
    /// The alternatives of each element; empty for an insertion.
    pub(super) target: Vec<Vec<Box<[u8]>>>,
    pub(super) outcome: Vec<Outcome>,
    /// The target changes in any of these.
    pub(super) contexts: Vec<Context>,
    /// It stays in these.
    pub(super) exceptions: Vec<Context>,
}

/// Which edges of a run of letters are edges of a word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edges {
    pub left: bool,
    pub right: bool,
}

impl Edges {
    /// Those of a whole word.
    pub const WORD: Edges = Edges { left: true, right: true };
}

impl Law {
    /// The law in its notation.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The word after the law.
    pub fn apply(&self, word: &str) -> String {
        let changed = self.apply_to(word.as_bytes(), Edges::WORD);
        changed.map_or_else(|| word.to_owned(), |letters| String::from_utf8_lossy(&letters).into_owned())
    }

    /// The letters after the law; `None` if it changes nothing.
    pub(crate) fn apply_to(&self, word: &[u8], edges: Edges) -> Option<Vec<u8>> {
        if self.target.first().is_some_and(|first| !word.iter().any(|letter| begins(first, *letter))) {
            return None;
        }
        let reversed: Vec<u8> = word.iter().rev().copied().collect();
        let mut out = Vec::with_capacity(word.len() + 4);
        let (mut at, mut changed) = (0, false);
        let mut chosen = Vec::new();
        while at <= word.len() {
            let mut best = None;
            self.longest(word, &reversed, edges, at, at, &mut chosen, &mut best);
            if let Some((end, chosen)) = best {
                self.outcome.iter().for_each(|part| out.extend(part.letters(&chosen)));
                changed = true;
                if end > at {
                    at = end;
                    continue;
                }
            }
            out.extend(word.get(at));
            at += 1;
        }
        changed.then_some(out).filter(|out| out != word)
    }

    /// Finds the end and the alternatives of the longest target from `start`, of which the part before `at` is chosen.
    #[allow(clippy::too_many_arguments)]
    fn longest(
        &self,
        word: &[u8],
        reversed: &[u8],
        edges: Edges,
        start: usize,
        at: usize,
        chosen: &mut Vec<usize>,
        best: &mut Option<(usize, Vec<usize>)>,
    ) {
        let Some(alternatives) = self.target.get(chosen.len()) else {
            let is_in = |context: &Context| {
                fits(&context.right, &word[at..], edges.right)
                    && fits(&context.left, &reversed[word.len() - start..], edges.left)
            };
            let is_longer = best.as_ref().is_none_or(|(end, _)| at > *end);
            if is_longer && self.contexts.iter().any(is_in) && !self.exceptions.iter().any(is_in) {
                *best = Some((at, chosen.clone()));
            }
            return;
        };
        for (number, letters) in alternatives.iter().enumerate() {
            if word[at..].starts_with(letters) {
                chosen.push(number);
                self.longest(word, reversed, edges, start, at + letters.len(), chosen, best);
                chosen.pop();
            }
        }
    }
}

impl Outcome {
    fn letters(&self, chosen: &[usize]) -> &[u8] {
        match self {
            Outcome::Letters(letters) => letters,
            Outcome::Parallel(element, letters) => &letters[chosen[*element]],
        }
    }
}

/// Whether some alternative begins with a letter.
fn begins(alternatives: &[Box<[u8]>], letter: u8) -> bool {
    alternatives.iter().any(|letters| letters.first() == Some(&letter))
}

/// Whether letters begin with these elements; they end at a word's edge or somewhere inside it.
fn fits(elements: &[Element], letters: &[u8], ends_at_edge: bool) -> bool {
    let Some((first, rest)) = elements.split_first() else { return true };
    let continues = |alternative: &SoundOrEdge| match alternative {
        Some(run) => letters.starts_with(run) && fits(rest, &letters[run.len()..], ends_at_edge),
        None => letters.is_empty() && ends_at_edge && fits(rest, letters, ends_at_edge),
    };
    first.alternatives.iter().any(continues) || (first.is_optional && fits(rest, letters, ends_at_edge))
}

/// The sound laws of one language, in their order.
///
/// ```
/// use invitro_language::Laws;
/// let laws = Laws::parse("lenition", "{p t k} > {b d g} / V_V\nV > 0 / _#").unwrap();
/// assert_eq!(laws.apply("mapato"), "mabad");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Laws {
    pub(super) laws: Arc<Vec<Law>>,
    /// The laws and the classes that they use, as written.
    pub(super) lines: Arc<Vec<String>>,
}

impl Laws {
    /// The laws, the earliest first.
    pub fn laws(&self) -> &[Law] {
        &self.laws
    }

    /// The laws and a later one.
    pub(crate) fn with(&self, law: Law) -> Laws {
        let (mut laws, mut lines) = (self.laws.to_vec(), self.lines.to_vec());
        lines.push(law.text.clone());
        laws.push(law);
        Laws { laws: laws.into(), lines: lines.into() }
    }

    /// The laws in their notation, with the classes that they use.
    pub fn text(&self) -> String {
        self.lines.iter().map(|line| format!("{line}\n")).collect()
    }

    /// A word after all laws.
    pub fn apply(&self, word: &str) -> String {
        String::from_utf8_lossy(&self.apply_to(word.as_bytes(), Edges::WORD)).into_owned()
    }

    /// Letters after all laws.
    pub(crate) fn apply_to(&self, word: &[u8], edges: Edges) -> Vec<u8> {
        self.laws.iter().fold(word.to_vec(), |word, law| law.apply_to(&word, edges).unwrap_or(word))
    }
}
