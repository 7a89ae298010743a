//! The notation of sound laws: a law or a class per line, comments after `;`.
//!
//! ```text
//! F = e i                         ; a class of its own; V (vowels) and C (consonants) are there
//! p > f / #_                      ; at the beginning of a word
//! {p t k} > {b d g} / V_V, n_     ; a set in parallel, in either of two contexts
//! k > c / _F // s_                ; but not after s
//! 0 > e / #_sC                    ; inserted
//! V > 0 / _#                      ; deleted; ∅ is 0
//! kt > it / _(r)V                 ; several letters; an optional one in the context
//! ```

use super::law::{Context, Element, Law, Laws, Outcome, SoundOrEdge};
use crate::error::{Error, Result};
use crate::lexicon::phonology::{CONSONANTS, VOWELS};
use std::collections::BTreeMap;

type Sounds = Box<[u8]>;

/// The letters of each class.
type Classes = BTreeMap<char, Vec<Sounds>>;

/// A token of a line.
#[derive(Clone, Debug)]
struct LawToken {
    text: String,
    /// Its place in the line, counted from 1.
    column: usize,
    is_spaced: bool,
}

/// A fault at a token.
struct Fault {
    column: usize,
    text: String,
}

type Parsed<T> = std::result::Result<T, Fault>;

impl Laws {
    /// Loads a file: its path, or its name in [`invitro_base::named_files`].
    pub fn load(given: &str) -> Result<Laws> {
        let wrong = |why: String| Error::LawsFile { given: given.into(), why };
        let content = match invitro_base::named_files::content(given) {
            Some(content) => content.to_vec(),
            None => invitro_base::limits::read_file(given.as_ref()).map_err(|error| wrong(error.to_string()))?,
        };
        let text = String::from_utf8(content).map_err(|_| wrong("it is not text".into()))?;
        let path = invitro_base::named_files::path(given).map(|path| path.display().to_string());
        Laws::parse(path.as_deref().unwrap_or(given), &text)
    }

    /// Parses laws; `name` is for error messages.
    pub fn parse(name: &str, text: &str) -> Result<Laws> {
        let members = |letters: &[u8]| letters.iter().map(|&letter| vec![letter].into()).collect();
        let mut classes: Classes = [('V', members(VOWELS)), ('C', members(CONSONANTS))].into();
        let (mut laws, mut lines) = (Vec::new(), Vec::new());
        for (at, line) in text.lines().enumerate() {
            let line = line.split(';').next().unwrap_or_default();
            let parsed = tokens(line).and_then(|tokens| {
                let parser =
                    LawParser { tokens: &tokens, at: 0, classes: &classes, end: line.trim_end().chars().count() + 1 };
                parser.line(line.trim())
            });
            if !line.trim().is_empty() {
                lines.push(line.trim().to_owned());
            }
            match parsed {
                Ok(None) => {}
                Ok(Some(Line::Class(class, members))) => drop(classes.insert(class, members)),
                Ok(Some(Line::Law(law))) => laws.push(law),
                Err(Fault { column, text }) => {
                    return Err(Error::Laws { name: name.into(), line: at + 1, column, fault: text });
                }
            }
        }
        Ok(Laws { laws: laws.into(), lines: lines.into() })
    }
}

enum Line {
    Class(char, Vec<Sounds>),
    Law(Law),
}

fn tokens(line: &str) -> Parsed<Vec<LawToken>> {
    let letters: Vec<char> = line.chars().collect();
    let mut tokens = Vec::new();
    let (mut at, mut is_spaced) = (0, false);
    while at < letters.len() {
        if letters[at].is_whitespace() {
            (at, is_spaced) = (at + 1, true);
            continue;
        }
        let pair: String = letters[at..].iter().take(2).collect();
        let (text, length) = match letters[at] {
            _ if pair == "//" => ("//".to_owned(), 2),
            _ if pair == "->" => (">".to_owned(), 2),
            '→' => (">".to_owned(), 1),
            '∅' => ("0".to_owned(), 1),
            c if c.is_ascii_alphabetic() || "0#_/>={}(),".contains(c) => (c.to_string(), 1),
            c => {
                let text = format!(
                    "`{c}` is not of the notation, which has the letters a to z, the classes A to Z, 0 or ∅, and > / // _ # = {{ }} ( ) ,"
                );
                return Err(Fault { column: at + 1, text });
            }
        };
        tokens.push(LawToken { text, column: at + 1, is_spaced });
        (at, is_spaced) = (at + length, false);
    }
    Ok(tokens)
}

/// An element of a target or an outcome.
struct Part {
    alternatives: Vec<Sounds>,
    column: usize,
    /// Whether it is a set or a class.
    is_set: bool,
}

struct LawParser<'a> {
    tokens: &'a [LawToken],
    at: usize,
    classes: &'a Classes,
    /// The column behind the line.
    end: usize,
}

impl LawParser<'_> {
    fn line(mut self, text: &str) -> Parsed<Option<Line>> {
        if self.tokens.is_empty() {
            return Ok(None);
        }
        if self.tokens.get(1).is_some_and(|token| token.text == "=") {
            return self.class().map(|(class, members)| Some(Line::Class(class, members)));
        }
        let target = self.parts("a target: letters, a class, a set, or 0 for an insertion", false)?;
        self.expect(">", "`>` after the target")?;
        let outcome = self.parts("an outcome: letters, a class, a set, or 0 for a deletion", true)?;
        let outcome = self.outcome(&target, outcome)?;
        let contexts = if self.takes("/") { self.contexts()? } else { vec![Context::default()] };
        let exceptions = if self.takes("//") { self.contexts()? } else { Vec::new() };
        if let Some(token) = self.tokens.get(self.at) {
            return Err(self.fault(token.column, "the end of the law, `/` and contexts, or `//` and exceptions"));
        }
        let target = target.into_iter().map(|part| part.alternatives).collect();
        Ok(Some(Line::Law(Law { text: text.to_owned(), target, outcome, contexts, exceptions })))
    }

    /// `K = p t k`
    fn class(&mut self) -> Parsed<(char, Vec<Sounds>)> {
        let name = self.tokens[0].text.chars().next().filter(char::is_ascii_uppercase);
        let name = name.ok_or_else(|| self.fault(self.tokens[0].column, "a class: one letter, A to Z"))?;
        self.at = 2;
        let mut members = Vec::new();
        while self.at < self.tokens.len() {
            members.extend(self.alternative(false)?.into_iter().flatten());
            self.takes(",");
        }
        if members.is_empty() {
            return Err(self.fault(self.end, "the letters of the class, such as `p t k`"));
        }
        Ok((name, members))
    }

    fn peek(&self) -> Option<&str> {
        self.tokens.get(self.at).map(|token| token.text.as_str())
    }

    fn takes(&mut self, text: &str) -> bool {
        let found = self.peek() == Some(text);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, text: &str, wanted: &str) -> Parsed<()> {
        if self.takes(text) { Ok(()) } else { Err(self.fault(self.column(), wanted)) }
    }

    fn column(&self) -> usize {
        self.tokens.get(self.at).map_or(self.end, |token| token.column)
    }

    fn fault(&self, column: usize, wanted: &str) -> Fault {
        let found = self.tokens.iter().find(|token| token.column == column);
        let found = found.map_or_else(|| "the line ends".to_owned(), |token| format!("there is `{}`", token.text));
        Fault { column, text: format!("{found}, but here must be {wanted}") }
    }

    /// The elements of a target or an outcome; none for `0`.
    fn parts(&mut self, wanted: &str, may_delete: bool) -> Parsed<Vec<Part>> {
        let start = self.column();
        if self.takes("0") {
            return Ok(Vec::new());
        }
        let mut parts = Vec::new();
        while let Some(text) = self.peek() {
            let column = self.column();
            let first = text.chars().next().unwrap_or_default();
            if text == "{" {
                let alternatives = self.set(may_delete, false)?.into_iter().flatten().collect();
                parts.push(Part { alternatives, column, is_set: true });
            } else if first.is_ascii_alphabetic() {
                let alternatives = self.letter()?;
                parts.push(Part { alternatives, column, is_set: first.is_ascii_uppercase() });
            } else {
                break;
            }
        }
        if parts.is_empty() { Err(self.fault(start, wanted)) } else { Ok(parts) }
    }

    /// One letter, or the members of a class.
    fn letter(&mut self) -> Parsed<Vec<Sounds>> {
        let LawToken { text, column, .. } = &self.tokens[self.at];
        self.at += 1;
        match text.chars().next().unwrap_or_default() {
            class if class.is_ascii_uppercase() => self.classes.get(&class).cloned().ok_or_else(|| {
                let known = self.classes.keys().map(char::to_string).collect::<Vec<_>>().join(", ");
                let text = format!("there is no class `{class}`; the classes above this line are {known}");
                Fault { column: *column, text }
            }),
            _ => Ok(vec![text.as_bytes().into()]),
        }
    }

    /// An alternative of a set or a class: letters that stand together, the members of a class, `0`, or `#`.
    fn alternative(&mut self, may_delete: bool) -> Parsed<Vec<SoundOrEdge>> {
        let mut run = Vec::new();
        let start = self.at;
        while let Some(token) = self.tokens.get(self.at) {
            let is_apart = self.at > start && token.is_spaced;
            let first = token.text.chars().next().unwrap_or_default();
            if is_apart || !first.is_ascii_alphabetic() {
                break;
            }
            if first.is_ascii_uppercase() {
                if !run.is_empty() {
                    return Err(self.fault(token.column, "a space before a class"));
                }
                return Ok(self.letter()?.into_iter().map(Some).collect());
            }
            run.push(first as u8);
            self.at += 1;
        }
        if run.is_empty() {
            let column = self.column();
            if may_delete && self.takes("0") {
                return Ok(vec![Some([].into())]);
            }
            return Err(self.fault(column, "letters a to z or a class"));
        }
        Ok(vec![Some(run.into())])
    }

    /// `{a b}`, spaces or commas between the alternatives.
    fn set(&mut self, may_delete: bool, may_edge: bool) -> Parsed<Vec<SoundOrEdge>> {
        let start = self.column();
        self.expect("{", "`{`")?;
        let mut all = Vec::new();
        while !self.takes("}") {
            if self.at >= self.tokens.len() {
                return Err(Fault { column: start, text: "the set `{` has no `}`".into() });
            }
            if may_edge && self.takes("#") {
                all.push(None);
            } else {
                all.extend(self.alternative(may_delete)?);
            }
            self.takes(",");
        }
        if all.is_empty() { Err(self.fault(start, "a set with letters in it")) } else { Ok(all) }
    }

    /// Pairs the sets of an outcome with those of the target, in order.
    fn outcome(&self, target: &[Part], parts: Vec<Part>) -> Parsed<Vec<Outcome>> {
        let mut sets = target.iter().enumerate().filter(|(_, part)| part.is_set);
        let outcome = |part: Part| {
            if !part.is_set {
                return Ok(Outcome::Letters(part.alternatives.into_iter().next().unwrap_or_default()));
            }
            let paired = sets.next();
            let (at, of) =
                paired.ok_or_else(|| self.fault(part.column, "letters: the target has no set for this one"))?;
            let (count, wanted) = (part.alternatives.len(), of.alternatives.len());
            if count != wanted {
                let text = format!("this set has {count} alternatives, but the target's has {wanted}");
                return Err(Fault { column: part.column, text });
            }
            Ok(Outcome::Parallel(at, part.alternatives))
        };
        parts.into_iter().map(outcome).collect()
    }

    /// Contexts with commas between them.
    fn contexts(&mut self) -> Parsed<Vec<Context>> {
        let mut all = vec![self.context()?];
        while self.takes(",") {
            all.push(self.context()?);
        }
        Ok(all)
    }

    fn context(&mut self) -> Parsed<Context> {
        let mut left = self.elements(true)?;
        self.expect("_", "`_`, the place of the target, or what stands around it")?;
        let right = self.elements(false)?;
        if let Some(again) = self.tokens.get(self.at).filter(|token| token.text == "_") {
            return Err(self.fault(again.column, "one `_` in a context"));
        }
        left.reverse();
        for letters in left.iter_mut().flat_map(|element| &mut element.alternatives).flatten() {
            letters.reverse();
        }
        Ok(Context { left, right })
    }

    /// What stands on one side of the target. A word's edge has nothing beyond it.
    fn elements(&mut self, are_before: bool) -> Parsed<Vec<Element>> {
        let mut all: Vec<Element> = Vec::new();
        while let Some(token) = self.tokens.get(self.at) {
            let optional_from = token.column;
            let is_optional = self.takes("(");
            let Some(text) = self.peek() else {
                return Err(Fault { column: optional_from, text: "`(` has no `)`".into() });
            };
            let alternatives = match text {
                "#" => {
                    self.at += 1;
                    vec![None]
                }
                "{" => self.set(false, true)?,
                text if text.starts_with(|c: char| c.is_ascii_alphabetic()) => {
                    self.letter()?.into_iter().map(Some).collect()
                }
                _ if is_optional => return Err(self.fault(self.column(), "a letter, a class or a set")),
                _ => break,
            };
            let has_edge = |alternatives: &[SoundOrEdge]| alternatives.contains(&None);
            let is_beyond = if are_before {
                !all.is_empty() && has_edge(&alternatives)
            } else {
                all.last().is_some_and(|last| has_edge(&last.alternatives))
            };
            if is_beyond {
                let text = "`#`, a word's edge, must be the first or the last in a context: nothing stands beyond it";
                return Err(Fault { column: optional_from, text: text.into() });
            }
            if is_optional {
                self.expect(")", "`)` after one optional letter, class or set")?;
            }
            all.push(Element { alternatives, is_optional });
        }
        Ok(all)
    }
}
