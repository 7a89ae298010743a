//! A list of words that somebody has: concepts with their forms in languages, as a table.
//!
//! ```text
//! concept   A      B               Language_ID,Parameter_ID,Form
//! hand      Hand   hand            deu,hand,Hand
//! water     Wasser water           nld,hand,hand
//! ```
//!
//! Left a row for each concept, right CLDF's `forms.csv`, a row for each form, of which the first of a concept counts. Fields
//! lie between tabs if the first line has one, else between commas, and may then stand in quotation marks.

use std::collections::HashMap;
use unicode_normalization::UnicodeNormalization;

/// The columns of `forms.csv` that are read.
const CLDF: [&str; 3] = ["Language_ID", "Parameter_ID", "Form"];

/// Concepts, in the order of the table, with their forms in the languages asked for; empty where there is none.
#[derive(Debug, PartialEq)]
pub struct Wordlist(pub Vec<(String, Vec<String>)>);

impl Wordlist {
    /// The columns, or in CLDF the languages, of these names; or what is wrong.
    pub fn parse(text: &str, languages: &[&str]) -> Result<Wordlist, String> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let rows = fields(text)?;
        let Some(((_, head), rows)) = rows.split_first() else { return Err("it is empty".into()) };
        let column = |name: &str| head.iter().position(|field| field.trim() == name);
        for (line, row) in rows {
            if row.len() != head.len() {
                return Err(format!("line {line} has {} fields, the first one {}", row.len(), head.len()));
            }
        }
        let rows = rows.iter().map(|(_, row)| row);
        let mut list: Vec<(String, Vec<String>)> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut put = |concept: &str, language: usize, form: &str| {
            let place = *places.entry(concept.to_owned()).or_insert_with(|| {
                list.push((concept.to_owned(), vec![String::new(); languages.len()]));
                list.len() - 1
            });
            let kept = &mut list[place].1[language];
            if kept.is_empty() {
                *kept = form.trim().nfc().collect();
            }
        };
        if let [Some(language), Some(concept), Some(form)] = CLDF.map(column) {
            let known: Vec<&str> = rows.clone().map(|row| row[language].trim()).collect();
            if let Some(missing) = languages.iter().find(|name| !known.contains(name)) {
                return Err(lacks(missing, "Language_ID", known.into_iter()));
            }
            for row in rows {
                if let Some(at) = languages.iter().position(|name| *name == row[language].trim()) {
                    put(row[concept].trim(), at, &row[form]);
                }
            }
        } else {
            let Some(concept) = column("concept") else {
                return Err(format!(
                    "its first line names neither `concept` nor {}, but {}",
                    CLDF.map(|name| format!("`{name}`")).join(", "),
                    head.join(", ")
                ));
            };
            let columns = languages
                .iter()
                .map(|name| column(name).ok_or_else(|| lacks(name, "columns", head.iter().map(String::as_str))))
                .collect::<Result<Vec<usize>, String>>()?;
            for row in rows {
                columns.iter().enumerate().for_each(|(at, &column)| put(row[concept].trim(), at, &row[column]));
            }
        }
        Ok(Wordlist(list))
    }
}

/// What is said of a language that is not there.
fn lacks<'a>(name: &str, place: &str, known: impl Iterator<Item = &'a str>) -> String {
    let mut known: Vec<&str> = known.collect();
    known.sort_unstable();
    known.dedup();
    format!(
        "it has no words of `{name}`; its {place}: {} (`language.lexicon_languages` says which are those of the languages, in \
         order)",
        known.join(", ")
    )
}

/// The fields of every line that has any, with its number.
fn fields(text: &str) -> Result<Vec<(usize, Vec<String>)>, String> {
    if text.lines().next().is_some_and(|head| head.contains('\t')) {
        let split = |line: &str| line.split('\t').map(str::to_owned).collect();
        let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
        return Ok(lines.map(|(number, line)| (number, split(line))).collect());
    }
    let mut rows = Vec::new();
    let (mut row, mut field, mut quoted) = (Vec::new(), String::new(), false);
    let (mut line, mut start) = (1, 1);
    let mut letters = text.chars().filter(|&c| c != '\r').peekable();
    while let Some(c) = letters.next() {
        line += usize::from(c == '\n');
        match c {
            '"' if quoted && letters.peek() == Some(&'"') => field.extend(letters.next()),
            '"' if quoted || field.is_empty() => quoted = !quoted,
            _ if quoted => field.push(c),
            ',' => row.push(std::mem::take(&mut field)),
            '\n' => {
                row.push(std::mem::take(&mut field));
                rows.push((start, std::mem::take(&mut row)));
                start = line;
            }
            _ => field.push(c),
        }
    }
    if quoted {
        return Err(format!("the quotation mark of line {start} is never closed"));
    }
    row.push(field);
    rows.push((start, row));
    rows.retain(|(_, row)| row.iter().any(|field| !field.trim().is_empty()));
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str, languages: &[&str]) -> Vec<(String, Vec<String>)> {
        Wordlist::parse(text, languages).unwrap().0
    }

    #[test]
    fn both_tables_say_the_same() {
        let told = |concept: &str, forms: [&str; 2]| (concept.to_owned(), forms.map(str::to_owned).to_vec());
        let wide = "concept\tA\tnote\tB\nhand\tHand\tx\thand\n\nu\u{308}ber\tu\u{308}ber\t\tover\n";
        let wanted = [told("hand", ["Hand", "hand"]), told("u\u{308}ber", ["über", "over"])];
        assert_eq!(list(wide, &["A", "B"]), wanted);
        let long = "ID,Language_ID,Parameter_ID,Form\r\n1,deu,hand,Hand\r\n2,nld,hand,\"hand\"\r\n3,nld,hand,poot\r\n\
                    4,deu,u\u{308}ber,u\u{308}ber\r\n5,eng,hand,\"a \"\"hand\"\", or\ntwo\"\r\n6,nld,u\u{308}ber,over";
        assert_eq!(list(long, &["deu", "nld"]), wanted);
        assert_eq!(list(long, &["eng"])[0].1, ["a \"hand\", or\ntwo"]);
        assert_eq!(list("concept,A\nx,y", &["A"]), [("x".to_owned(), vec!["y".to_owned()])]);
    }

    #[test]
    fn faults_are_told_where_they_are() {
        let fault = |text: &str| Wordlist::parse(text, &["A", "B"]).unwrap_err();
        assert_eq!(fault(""), "it is empty");
        assert_eq!(fault("concept\tA\tB\nx\ty"), "line 2 has 2 fields, the first one 3");
        assert!(fault("concept\tA\tC\n").starts_with("it has no words of `B`; its columns: A, C, concept ("));
        assert!(
            fault("Language_ID,Parameter_ID,Form\nA,x,y").starts_with("it has no words of `B`; its Language_ID: A (")
        );
        assert!(fault("word\tA\tB").starts_with("its first line names neither `concept` nor `Language_ID`"));
        assert_eq!(fault("concept,A,B\nx,\"y,z"), "the quotation mark of line 2 is never closed");
    }
}
