//! Real words in the lexicons: `language.lexicon`.
//!
//! Every concept of a word list with a form in all languages is assigned to a symbol of an open category except names, by
//! the data seed. Its forms become the symbol's stems; the symbol keeps its affixes. Other symbols keep their generated
//! stems. The rules of all lexicons hold: no two symbols share a form, and a word that is masked in one language has
//! another form in all others. Concepts that violate a rule are left out and reported.

use crate::error::{Error, Result};
use crate::lexicon::word::Word;
use crate::lexicon::wordlist::Wordlist;
use crate::world::World;
use crate::world::mask::Mask;
use crate::world::symbol::Symbol;
use invitro_base::random::Stream;
use invitro_base::settings::{LanguageConfig, require};
use std::collections::{BTreeMap, HashMap};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// The most letters of a form.
const LONGEST: usize = 50;

const PARTIAL: &str = "without a form in every language";
const NO_WORD: &str = "a form is not one word of 1 to 50 letters";
const TAKEN: &str = "a form is also one of another concept";
const UNFIT: &str = "no symbol is left that it could be a word of";

/// The concepts of a word list that became words, and those left out.
#[derive(Clone, Debug)]
pub struct Borrowed {
    /// The concept of each symbol.
    concepts: Vec<Option<String>>,
    listed: usize,
    /// Symbols that concepts could be assigned to.
    candidates: usize,
    /// By reason, the concepts left out.
    left_out: BTreeMap<&'static str, Vec<String>>,
}

impl Borrowed {
    /// Replaces words of all languages by those of the configured list, if any. `names` and `masks` are by language.
    pub(crate) fn assign(
        world: &World,
        config: &LanguageConfig,
        names: &[&str],
        masks: &[&Mask],
        words: &mut [Vec<Word>],
        seed: u64,
    ) -> Result<Option<Borrowed>> {
        if config.lexicon.is_empty() {
            return Ok(None);
        }
        let list = read(config, names)?;
        let mut free: Vec<Symbol> = world.symbols().filter(|&s| world.category(s).is_compared()).collect();
        let mut borrowed = Borrowed {
            concepts: vec![None; world.len()],
            listed: list.len(),
            candidates: free.len(),
            left_out: BTreeMap::new(),
        };
        let mut list = borrowed.usable(list);
        let stream = Stream::new(seed, "lexicon/borrowed");
        stream.at(0, 0).shuffle(&mut list);
        stream.at(0, 1).shuffle(&mut free);
        let all = words.iter().flat_map(|words| words.iter().map(Word::form).map(str::to_owned).zip(world.symbols()));
        let mut owner: HashMap<String, Symbol> = all.collect();
        for (concept, forms) in list {
            let replaced = |symbol: Symbol, words: &[Vec<Word>]| -> Vec<Word> {
                words.iter().zip(&forms).map(|(words, form)| words[symbol.index()].with_stem(form)).collect()
            };
            let fits = |&&symbol: &&Symbol| {
                let new = replaced(symbol, words);
                let is_free = |word: &Word| owner.get(word.form()).is_none_or(|&other| other == symbol);
                let is_masked = masks.iter().any(|mask| mask.contains(symbol));
                let differ = |at: usize| !new[..at].iter().any(|word| word.form() == new[at].form());
                new.iter().all(is_free) && (!is_masked || (0..new.len()).all(differ))
            };
            let Some(at) = free.iter().position(|symbol| fits(&symbol)) else {
                borrowed.leave_out(UNFIT, concept);
                continue;
            };
            let symbol = free.remove(at);
            let new = replaced(symbol, words);
            for (words, new) in words.iter_mut().zip(new) {
                let word = &mut words[symbol.index()];
                owner.remove(word.form());
                *word = new;
            }
            owner.extend(words.iter().map(|words| (words[symbol.index()].form().to_owned(), symbol)));
            borrowed.concepts[symbol.index()] = Some(concept);
        }
        Ok(Some(borrowed))
    }

    /// The concepts that can be assigned; records the others as left out.
    fn usable(&mut self, list: Vec<(String, Vec<String>)>) -> Vec<(String, Vec<String>)> {
        let mut taken: HashMap<String, usize> = HashMap::new();
        let mut usable = Vec::new();
        for (number, (concept, forms)) in list.into_iter().enumerate() {
            let is_taken = |form: &String| taken.get(form).is_some_and(|&other| other != number);
            let why = match () {
                () if forms.iter().any(String::is_empty) => Some(PARTIAL),
                () if !forms.iter().all(|form| is_word(form)) => Some(NO_WORD),
                () if forms.iter().any(is_taken) => Some(TAKEN),
                () => None,
            };
            if let Some(why) = why {
                self.leave_out(why, concept);
                continue;
            }
            taken.extend(forms.iter().map(|form| (form.clone(), number)));
            usable.push((concept, forms));
        }
        usable
    }

    fn leave_out(&mut self, why: &'static str, concept: String) {
        self.left_out.entry(why).or_default().push(concept);
    }

    /// The concept whose forms a symbol has.
    pub fn concept(&self, symbol: Symbol) -> Option<&str> {
        self.concepts[symbol.index()].as_deref()
    }

    /// The number of concepts that became words.
    pub fn assigned(&self) -> usize {
        self.concepts.iter().flatten().count()
    }

    /// A report of the assignment, one sentence each.
    pub fn report(&self) -> Vec<String> {
        let counted = |concepts: usize| format!("{concepts} concept{}", if concepts == 1 { "" } else { "s" });
        let mut sentences = vec![format!(
            "{} of {} symbols have words of `language.lexicon`, which has {}; `language.distance` is that of the others",
            self.assigned(),
            self.candidates,
            counted(self.listed)
        )];
        for (why, concepts) in &self.left_out {
            let examples = concepts.iter().take(3).map(String::as_str).collect::<Vec<_>>().join(", ");
            let more = if concepts.len() > 3 { ", …" } else { "" };
            sentences
                .push(format!("`language.lexicon`: {} left out, {why}: {examples}{more}", counted(concepts.len())));
        }
        sentences
    }
}

/// Whether a form is one word of letters, which every tokenizer can represent.
fn is_word(form: &str) -> bool {
    let is_letter = |c: char| (c.is_alphabetic() || is_combining_mark(c)) && (c as u32) < 0x1_0000;
    form.chars().all(is_letter) && form.starts_with(char::is_alphabetic) && form.chars().count() <= LONGEST
}

/// The concepts of the configured file, with their forms in the languages.
fn read(config: &LanguageConfig, names: &[&str]) -> Result<Vec<(String, Vec<String>)>> {
    let path = invitro_base::named_files::path(&config.lexicon).unwrap_or_else(|| (&config.lexicon).into());
    let wrong = |why: String| Error::WordList { path: path.clone(), why };
    let content = match invitro_base::named_files::content(&config.lexicon) {
        Some(content) => content.to_vec(),
        None => invitro_base::limits::read_file(config.lexicon.as_ref()).map_err(|error| wrong(error.to_string()))?,
    };
    let text = String::from_utf8(content).map_err(|_| wrong("it is not text".into()))?;
    let columns: Vec<&str> = config.lexicon_languages.iter().map(String::as_str).collect();
    require(
        columns.is_empty() || columns.len() == names.len(),
        "language.lexicon_languages",
        format!("[{}]", columns.join(", ")),
        format!("one for each of the languages {}, or empty", names.join(", ")),
    )?;
    let columns: Vec<String> = if columns.is_empty() { names } else { &columns }.iter().map(|&c| c.into()).collect();
    let mut list = Wordlist::parse(&text, None).map_err(wrong)?;
    list.select_languages(&columns).map_err(|why| {
        wrong(format!("{why} (`language.lexicon_languages` says which are those of the languages, in order)"))
    })?;
    let normal = |forms: Vec<String>| forms.iter().map(|form| form.nfc().collect()).collect();
    Ok(list.by_concept().into_iter().map(|(concept, forms)| (concept, normal(forms))).collect())
}
