//! Wordlists on disk: a table with a column per language, or the `forms.csv` of a CLDF dataset with its cognate sets.

use crate::error::{Error, Result};
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

/// Words by meaning and language.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wordlist {
    /// In the order in which they come, or were asked for.
    pub languages: Vec<String>,
    /// Meanings, in the order in which they come.
    pub concepts: Vec<String>,
    /// All words.
    pub forms: Vec<Form>,
    /// Whether it is known which words are cognates.
    pub has_cognates: bool,
}

/// A word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
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
    /// Reads a table (.tsv, .csv) or the folder of a CLDF dataset. `cognates` is a table of forms and their sets, by default the
    /// `cognates.csv` beside `forms.csv`; of all languages only those asked for are kept.
    pub fn load(path: &Path, cognates: Option<&Path>, languages: Option<&[String]>) -> Result<Wordlist> {
        let file = match path.is_dir() {
            true => ["forms.csv", "cldf/forms.csv"].map(|name| path.join(name)).into_iter().find(|file| file.exists()),
            false => Some(path.to_owned()),
        };
        let file = file.unwrap_or_else(|| path.join("forms.csv"));
        let table = Table::read(&file)?;
        let beside = file.with_file_name("cognates.csv");
        let is_cldf = table.column("Language_ID").is_some();
        let cognates = cognates.map(PathBuf::from).or_else(|| (is_cldf && beside.exists()).then_some(beside));
        let sets = cognates.map(|path| sets_by_form(&path)).transpose()?;
        let mut words = if is_cldf { cldf(&table, sets)? } else { wide(&table, sets.is_some())? };
        if let Some(asked) = languages {
            words.keep(asked)?;
        }
        if words.forms.is_empty() {
            return Err(table.refuse("it has no words"));
        }
        Ok(words)
    }

    fn language(&mut self, name: &str) -> usize {
        place(&mut self.languages, name)
    }

    /// Keeps some languages, in their order.
    fn keep(&mut self, asked: &[String]) -> Result<()> {
        let find = |name: &String| {
            self.languages.iter().position(|known| known == name).ok_or_else(|| {
                let known = self.languages.join(", ");
                Error::Mismatch(format!("the wordlist has no language {name}: it has {known}"))
            })
        };
        let kept = asked.iter().map(find).collect::<Result<Vec<usize>>>()?;
        let renumbered = |form: &mut Form| {
            let place = kept.iter().position(|&language| language == form.language);
            form.language = place.unwrap_or(usize::MAX);
            place.is_some()
        };
        self.forms.retain_mut(renumbered);
        self.languages = asked.to_vec();
        Ok(())
    }
}

/// A row per form: `Language_ID`, `Parameter_ID`, `Form`; its sets by `ID` from another table, or in a column of its own.
fn cldf(table: &Table, sets: Option<HashMap<String, BTreeSet<String>>>) -> Result<Wordlist> {
    let [language, concept, text] = ["Language_ID", "Parameter_ID", "Form"].map(|name| table.need(name));
    let (language, concept, text) = (language?, concept?, text?);
    let own_set = ["Cognateset_ID", "Cognacy"].iter().find_map(|name| table.column(name));
    let id = table.column("ID");
    if sets.is_some() && id.is_none() {
        return Err(table.refuse("it has no column `ID`, by which cognate sets name its forms"));
    }
    let mut words = Wordlist { has_cognates: sets.is_some() || own_set.is_some(), ..Wordlist::default() };
    let mut concepts = Places::default();
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
        let (language, concept) = (words.language(row[language].trim()), concepts.of(row[concept].trim()));
        words.forms.push(Form { language, concept, text: form.to_owned(), sets: of_form });
    }
    words.concepts = concepts.names;
    Ok(words)
}

/// A row per meaning: its name, then its word in each language.
fn wide(table: &Table, sets: bool) -> Result<Wordlist> {
    if table.head.len() < 2 {
        return Err(table.refuse(
            "it has neither the columns Language_ID, Parameter_ID, Form of CLDF nor a column of meanings and one per \
             language, separated by tabs in a .tsv and by commas in a .csv",
        ));
    }
    if sets {
        return Err(table.refuse("cognate sets go with the forms.csv of CLDF, whose forms have an `ID`"));
    }
    let mut words = Wordlist { languages: table.head[1..].to_vec(), ..Wordlist::default() };
    let mut concepts = Places::default();
    for row in &table.rows {
        let concept = concepts.of(row[0].trim());
        for (language, form) in row[1..].iter().map(|form| form.trim()).enumerate().filter(|(_, form)| !form.is_empty())
        {
            words.forms.push(Form { language, concept, text: form.to_owned(), sets: BTreeSet::new() });
        }
    }
    words.concepts = concepts.names;
    Ok(words)
}

/// Cognate sets by the `ID` of a form.
fn sets_by_form(path: &Path) -> Result<HashMap<String, BTreeSet<String>>> {
    let table = Table::read(path)?;
    let (form, set) = (table.need("Form_ID")?, table.need("Cognateset_ID")?);
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

fn place(names: &mut Vec<String>, name: &str) -> usize {
    names.iter().position(|known| known == name).unwrap_or_else(|| {
        names.push(name.to_owned());
        names.len() - 1
    })
}

/// A table with a head.
struct Table {
    path: PathBuf,
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    fn read(path: &Path) -> Result<Table> {
        let fault = |why: String| Error::File { path: path.to_owned(), verb: "read", why };
        let delimiter = if path.extension().is_some_and(|e| e == "tsv" || e == "txt") { b'\t' } else { b',' };
        let mut reader = csv::ReaderBuilder::new()
            .delimiter(delimiter)
            .quoting(delimiter == b',')
            .from_path(path)
            .map_err(|e| fault(e.to_string()))?;
        let head = reader.headers().map_err(|e| fault(e.to_string()))?;
        let head: Vec<String> = head.iter().map(|name| name.trim_start_matches('\u{feff}').trim().to_owned()).collect();
        let rows = reader.records().map(|row| Ok(row?.iter().map(str::to_owned).collect()));
        let rows: Vec<Vec<String>> = rows.collect::<Result<_, csv::Error>>().map_err(|e| fault(e.to_string()))?;
        Ok(Table { path: path.to_owned(), head, rows })
    }

    fn column(&self, name: &str) -> Option<usize> {
        self.head.iter().position(|head| head == name)
    }

    fn need(&self, name: &str) -> Result<usize> {
        self.column(name)
            .ok_or_else(|| self.refuse(&format!("it has no column `{name}`, but {}", self.head.join(", "))))
    }

    fn refuse(&self, why: &str) -> Error {
        Error::File { path: self.path.clone(), verb: "used as a wordlist", why: why.to_owned() }
    }
}
