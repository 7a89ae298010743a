//! Word lists: concepts with their forms in languages, as a table, with optional cognate sets.
//!
//! ```text
//! concept   A      B               ID,Language_ID,Parameter_ID,Form
//! hand      Hand   hand            1,deu,hand,Hand
//! water     Wasser water           2,nld,hand,hand
//! ```
//!
//! Left, a row per concept, which is the column `concept` or else the first. Right, CLDF's `forms.csv`, a row per form.
//! Fields are tab-separated if the first line has a tab, else comma-separated, with optional quotation marks.

use std::collections::{BTreeSet, HashMap};

/// Words by concept and language.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wordlist {
    /// The languages, in file order or as selected.
    pub languages: Vec<String>,
    /// The concepts with a word, in file order.
    pub concepts: Vec<String>,
    /// All words.
    pub forms: Vec<ListedForm>,
    /// Whether cognate sets are known.
    pub has_cognates: bool,
}

/// A word of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedForm {
    /// The index of its language.
    pub language: usize,
    /// The index of its concept.
    pub concept: usize,
    /// Its form.
    pub text: String,
    /// Its cognate sets.
    pub sets: BTreeSet<String>,
}

impl Wordlist {
    /// Parses a table and, optionally, a table of cognate sets with `Form_ID` and `Cognateset_ID`.
    pub fn parse(text: &str, cognates: Option<&str>) -> Result<Wordlist, String> {
        let table = TextTable::parse(text)?;
        let sets = cognates.map(sets_by_form).transpose()?;
        let words = if table.is_cldf() { cldf(&table, sets)? } else { wide(&table, sets.is_some())? };
        if words.forms.is_empty() {
            return Err("it has no words".into());
        }
        Ok(words)
    }

    /// Whether a table is CLDF's; only CLDF forms can have cognate sets.
    pub fn is_cldf(text: &str) -> bool {
        text.lines().next().is_some_and(|head| head.contains(CLDF[0]))
    }

    /// Restricts the list to these languages, in this order; an error names a missing language.
    pub fn select_languages(&mut self, names: &[String]) -> Result<(), String> {
        let find = |name: &String| {
            self.languages.iter().position(|known| known == name).ok_or_else(|| {
                let known = self.languages.join(", ");
                format!("it has no words of `{name}`; its languages: {known}")
            })
        };
        let selected = names.iter().map(find).collect::<Result<Vec<usize>, String>>()?;
        let renumbered = |form: &mut ListedForm| {
            let place = selected.iter().position(|&language| language == form.language);
            form.language = place.unwrap_or(usize::MAX);
            place.is_some()
        };
        self.forms.retain_mut(renumbered);
        self.languages = names.to_vec();
        Ok(())
    }

    /// Every concept with its first form in each language, or an empty string.
    pub fn by_concept(&self) -> Vec<(String, Vec<String>)> {
        let empty = || vec![String::new(); self.languages.len()];
        let mut list: Vec<_> = self.concepts.iter().map(|concept| (concept.clone(), empty())).collect();
        for form in &self.forms {
            let first = &mut list[form.concept].1[form.language];
            if first.is_empty() {
                first.clone_from(&form.text);
            }
        }
        list
    }
}

/// Parses a row per form: `Language_ID`, `Parameter_ID`, `Form`. Cognate sets come from another table or from a column.
fn cldf(table: &TextTable, sets: Option<HashMap<String, BTreeSet<String>>>) -> Result<Wordlist, String> {
    let [language, concept, text] = CLDF.map(|name| table.need(name));
    let (language, concept, text) = (language?, concept?, text?);
    let own_set = ["Cognateset_ID", "Cognacy"].iter().find_map(|name| table.column(name));
    let id = table.column("ID");
    if sets.is_some() && id.is_none() {
        return Err("it has no column `ID`, by which cognate sets name its forms".into());
    }
    let mut words = Wordlist { has_cognates: sets.is_some() || own_set.is_some(), ..Wordlist::default() };
    let (mut languages, mut concepts) = (NameIndex::default(), NameIndex::default());
    for row in &table.rows {
        let form = row[text].trim();
        if form.is_empty() {
            continue;
        }
        let mut form_sets = BTreeSet::new();
        if let (Some(sets), Some(id)) = (&sets, id) {
            form_sets.extend(sets.get(&row[id]).into_iter().flatten().cloned());
        } else if let Some(set) = own_set.map(|column| row[column].trim()).filter(|set| !set.is_empty()) {
            form_sets.insert(set.to_owned());
        }
        let (language, concept) = (languages.index(row[language].trim()), concepts.index(row[concept].trim()));
        words.forms.push(ListedForm { language, concept, text: form.to_owned(), sets: form_sets });
    }
    words.languages = languages.names;
    words.concepts = concepts.names;
    Ok(words)
}

/// Parses a row per concept: its name, and its word in each language.
fn wide(table: &TextTable, sets: bool) -> Result<Wordlist, String> {
    if table.head.len() < 2 {
        return Err(
            "it has neither the columns Language_ID, Parameter_ID, Form of CLDF nor a column of meanings and one per \
                    language, between tabs or commas"
                .into(),
        );
    }
    if sets {
        return Err("cognate sets go with the forms.csv of CLDF, whose forms have an `ID`".into());
    }
    let meaning = table.column("concept").unwrap_or(0);
    let columns: Vec<usize> = (0..table.head.len()).filter(|&column| column != meaning).collect();
    let languages = columns.iter().map(|&column| table.head[column].clone()).collect();
    let mut words = Wordlist { languages, ..Wordlist::default() };
    let mut concepts = NameIndex::default();
    for row in &table.rows {
        let forms = columns.iter().map(|&column| row[column].trim()).enumerate();
        for (language, form) in forms.filter(|(_, form)| !form.is_empty()) {
            let concept = concepts.index(row[meaning].trim());
            words.forms.push(ListedForm { language, concept, text: form.to_owned(), sets: BTreeSet::new() });
        }
    }
    words.concepts = concepts.names;
    Ok(words)
}

/// Cognate sets by the `ID` of a form.
fn sets_by_form(text: &str) -> Result<HashMap<String, BTreeSet<String>>, String> {
    let of_sets = |why: String| format!("in its cognate sets: {why}");
    let table = TextTable::parse(text).map_err(of_sets)?;
    let (form, set) = (table.need("Form_ID").map_err(of_sets)?, table.need("Cognateset_ID").map_err(of_sets)?);
    let mut sets: HashMap<String, BTreeSet<String>> = HashMap::new();
    for row in table.rows.iter().filter(|row| !row[set].trim().is_empty()) {
        sets.entry(row[form].clone()).or_default().insert(row[set].trim().to_owned());
    }
    Ok(sets)
}

/// Names, numbered by first occurrence.
#[derive(Default)]
struct NameIndex {
    names: Vec<String>,
    places: HashMap<String, usize>,
}

impl NameIndex {
    fn index(&mut self, name: &str) -> usize {
        *self.places.entry(name.to_owned()).or_insert_with(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        })
    }
}

/// The columns of `forms.csv` that are read.
const CLDF: [&str; 3] = ["Language_ID", "Parameter_ID", "Form"];

/// A table with a header.
struct TextTable {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl TextTable {
    fn parse(text: &str) -> Result<TextTable, String> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let has_tabs = text.lines().next().is_some_and(|head| head.contains('\t'));
        let mut reader = csv::ReaderBuilder::new()
            .delimiter(if has_tabs { b'\t' } else { b',' })
            .quoting(!has_tabs)
            .from_reader(text.as_bytes());
        let head: Vec<String> = reader.headers().map_err(describe)?.iter().map(|name| name.trim().to_owned()).collect();
        if head.is_empty() {
            return Err("it is empty".into());
        }
        let rows = reader.records().map(|row| Ok(row.map_err(describe)?.iter().map(str::to_owned).collect()));
        Ok(TextTable { head, rows: rows.collect::<Result<_, String>>()? })
    }

    fn is_cldf(&self) -> bool {
        self.column(CLDF[0]).is_some()
    }

    fn column(&self, name: &str) -> Option<usize> {
        self.head.iter().position(|head| head == name)
    }

    fn need(&self, name: &str) -> Result<usize, String> {
        self.column(name).ok_or_else(|| format!("it has no column `{name}`, but {}", self.head.join(", ")))
    }
}

/// The error message for a table.
fn describe(error: csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::UnequalLengths { pos: Some(place), expected_len, len } => {
            format!("line {} has {len} fields, the first one {expected_len}", place.line())
        }
        _ => error.to_string(),
    }
}
