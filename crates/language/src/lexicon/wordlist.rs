//! Lists of words that somebody has: meanings with their forms in languages, as a table, and which of them are cognates.
//!
//! ```text
//! concept   A      B               ID,Language_ID,Parameter_ID,Form
//! hand      Hand   hand            1,deu,hand,Hand
//! water     Wasser water           2,nld,hand,hand
//! ```
//!
//! Left a row for each meaning, which is the column `concept` or else the first; right CLDF's `forms.csv`, a row for each form.
//! Fields lie between tabs if the first line has one, else between commas, and may then stand in quotation marks.

use std::collections::{BTreeSet, HashMap};

/// Words by meaning and language.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wordlist {
    /// In the order in which they come, or were asked for.
    pub languages: Vec<String>,
    /// Meanings that have a word, in the order in which they come.
    pub concepts: Vec<String>,
    /// All words.
    pub forms: Vec<ListedForm>,
    /// Whether it is known which words are cognates.
    pub has_cognates: bool,
}

/// A word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedForm {
    /// Its place in [`Wordlist::languages`].
    pub language: usize,
    /// Its place in [`Wordlist::concepts`].
    pub concept: usize,
    /// As written.
    pub text: String,
    /// Words of one set are cognates.
    pub sets: BTreeSet<String>,
}

impl Wordlist {
    /// Reads a table, and cognate sets: a table of `Form_ID` and `Cognateset_ID`. Or what is wrong.
    pub fn parse(text: &str, cognates: Option<&str>) -> Result<Wordlist, String> {
        let table = TextTable::parse(text)?;
        let sets = cognates.map(sets_by_form).transpose()?;
        let words = if table.is_cldf() { cldf(&table, sets)? } else { wide(&table, sets.is_some())? };
        if words.forms.is_empty() {
            return Err("it has no words".into());
        }
        Ok(words)
    }

    /// Whether a table is CLDF's: only then cognate sets can be told of its forms.
    pub fn is_cldf(text: &str) -> bool {
        text.lines().next().is_some_and(|head| head.contains(CLDF[0]))
    }

    /// Keeps some languages, in their order; or says which is not there.
    pub fn keep(&mut self, asked: &[String]) -> Result<(), String> {
        let find = |name: &String| {
            self.languages.iter().position(|known| known == name).ok_or_else(|| {
                let known = self.languages.join(", ");
                format!("it has no words of `{name}`; its languages: {known}")
            })
        };
        let kept = asked.iter().map(find).collect::<Result<Vec<usize>, String>>()?;
        let renumbered = |form: &mut ListedForm| {
            let place = kept.iter().position(|&language| language == form.language);
            form.language = place.unwrap_or(usize::MAX);
            place.is_some()
        };
        self.forms.retain_mut(renumbered);
        self.languages = asked.to_vec();
        Ok(())
    }

    /// Every meaning with its first form in each language, empty where there is none.
    pub fn by_concept(&self) -> Vec<(String, Vec<String>)> {
        let empty = || vec![String::new(); self.languages.len()];
        let mut list: Vec<_> = self.concepts.iter().map(|concept| (concept.clone(), empty())).collect();
        for form in &self.forms {
            let kept = &mut list[form.concept].1[form.language];
            if kept.is_empty() {
                kept.clone_from(&form.text);
            }
        }
        list
    }
}

/// A row per form: `Language_ID`, `Parameter_ID`, `Form`; its sets by `ID` from another table, or in a column of its own.
fn cldf(table: &TextTable, sets: Option<HashMap<String, BTreeSet<String>>>) -> Result<Wordlist, String> {
    let [language, concept, text] = CLDF.map(|name| table.need(name));
    let (language, concept, text) = (language?, concept?, text?);
    let own_set = ["Cognateset_ID", "Cognacy"].iter().find_map(|name| table.column(name));
    let id = table.column("ID");
    if sets.is_some() && id.is_none() {
        return Err("it has no column `ID`, by which cognate sets name its forms".into());
    }
    let mut words = Wordlist { has_cognates: sets.is_some() || own_set.is_some(), ..Wordlist::default() };
    let (mut languages, mut concepts) = (Places::default(), Places::default());
    for row in &table.rows {
        let form = row[text].trim();
        if form.is_empty() {
            continue;
        }
        let mut of_form = BTreeSet::new();
        if let (Some(sets), Some(id)) = (&sets, id) {
            of_form.extend(sets.get(&row[id]).into_iter().flatten().cloned());
        } else if let Some(set) = own_set.map(|column| row[column].trim()).filter(|set| !set.is_empty()) {
            of_form.insert(set.to_owned());
        }
        let (language, concept) = (languages.of(row[language].trim()), concepts.of(row[concept].trim()));
        words.forms.push(ListedForm { language, concept, text: form.to_owned(), sets: of_form });
    }
    words.languages = languages.names;
    words.concepts = concepts.names;
    Ok(words)
}

/// A row per meaning: its name, and its word in each language.
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
    let mut concepts = Places::default();
    for row in &table.rows {
        let forms = columns.iter().map(|&column| row[column].trim()).enumerate();
        for (language, form) in forms.filter(|(_, form)| !form.is_empty()) {
            let concept = concepts.of(row[meaning].trim());
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

/// Names by the order in which they first come.
#[derive(Default)]
struct Places {
    names: Vec<String>,
    places: HashMap<String, usize>,
}

impl Places {
    fn of(&mut self, name: &str) -> usize {
        *self.places.entry(name.to_owned()).or_insert_with(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        })
    }
}

/// The columns of `forms.csv` that are read.
const CLDF: [&str; 3] = ["Language_ID", "Parameter_ID", "Form"];

/// A table with a head.
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
        let head: Vec<String> = reader.headers().map_err(told)?.iter().map(|name| name.trim().to_owned()).collect();
        if head.is_empty() {
            return Err("it is empty".into());
        }
        let rows = reader.records().map(|row| Ok(row.map_err(told)?.iter().map(str::to_owned).collect()));
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

/// What is wrong with a table.
fn told(error: csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::UnequalLengths { pos: Some(place), expected_len, len } => {
            format!("line {} has {len} fields, the first one {expected_len}", place.line())
        }
        _ => error.to_string(),
    }
}
