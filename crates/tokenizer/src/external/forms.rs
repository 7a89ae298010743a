//! Wordlists on disk: a table with a column per language, or the `forms.csv` of a CLDF dataset with its cognate sets.

use crate::error::{Error, Result};
use invitro_base::limits;
use invitro_language::lexicon::wordlist::{ListedForm, Wordlist};
use std::path::{Path, PathBuf};

/// Reads a table (.tsv, .csv) or the folder of a CLDF dataset. `cognates` is a table of forms and their sets, by default the
/// `cognates.csv` beside `forms.csv`. `languages` selects languages.
pub fn load(path: &Path, cognates: Option<&Path>, languages: Option<&[String]>) -> Result<Wordlist> {
    let file = match path.is_dir() {
        true => ["forms.csv", "cldf/forms.csv"].map(|name| path.join(name)).into_iter().find(|file| file.exists()),
        false => Some(path.to_owned()),
    };
    let file = file.unwrap_or_else(|| path.join("forms.csv"));
    let text = read(&file)?;
    let cognates_file = file.with_file_name("cognates.csv");
    let found = || (Wordlist::is_cldf(&text) && cognates_file.exists()).then_some(cognates_file);
    let sets = cognates.map(PathBuf::from).or_else(found).map(|path| read(&path)).transpose()?;
    let wrong = |why| Error::File { path: file.clone(), verb: "used as a wordlist", why };
    let mut words = Wordlist::parse(&text, sets.as_deref()).map_err(wrong)?;
    if let Some(names) = languages {
        words.select_languages(names).map_err(wrong)?;
    }
    if words.forms.len() > limits::WORDLIST_ROWS {
        let (given, most) = (words.forms.len(), limits::WORDLIST_ROWS);
        return Err(wrong(format!("it has {given} words; at most {most} can be measured at once: select --languages")));
    }
    let letters = |form: &ListedForm| form.text.chars().count();
    if let Some(form) = words.forms.iter().find(|form| letters(form) > limits::WORD_LETTERS) {
        let (language, start) = (&words.languages[form.language], form.text.chars().take(20).collect::<String>());
        let (given, most) = (letters(form), limits::WORD_LETTERS);
        return Err(wrong(format!(
            "`{start}…`, a word of {language}, has {given} letters; a word may have at most {most}"
        )));
    }
    Ok(words)
}

fn read(path: &Path) -> Result<String> {
    limits::read_text_file(path).map_err(|why| Error::File {
        path: path.to_owned(),
        verb: "read",
        why: why.to_string(),
    })
}
