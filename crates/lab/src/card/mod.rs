//! What goes along with a model or a corpus that leaves its maker: a `README.md` as the Hugging Face Hub reads it, with the
//! experiment, who made it, the licence and what to cite.

mod data;
mod model;

pub use data::{SplitFile, data_card};
pub use model::model_card;

use crate::experiment::Experiment;
use invitro_language::{Exposure, Languages, Tags};
use invitro_results::commit;

const CITATION: &str = include_str!("citation.md");

/// What the publisher says of a card.
#[derive(Clone, Copy, Debug)]
pub struct Published<'a> {
    /// The folder's name.
    pub name: &'a str,
    /// As the Hub abbreviates it, such as `cc0-1.0`.
    pub licence: Option<&'a str>,
}

/// A licence as a card's head can name it.
pub fn parse_licence(text: &str) -> Result<String, String> {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "-.+_".contains(char);
    if text.is_empty() || !text.chars().all(is_plain) {
        return Err("a licence is letters, digits, `-`, `.`, `+` and `_`, such as cc0-1.0".into());
    }
    Ok(text.to_owned())
}

impl Published<'_> {
    /// A template with its `{keys}` filled in: those given, and those that all cards have.
    fn fill(&self, template: &str, experiment: &Experiment, languages: &Languages, given: &[(&str, String)]) -> String {
        let version = match commit() {
            "unknown" => env!("CARGO_PKG_VERSION").to_owned(),
            commit => format!("{} ({commit})", env!("CARGO_PKG_VERSION")),
        };
        let common = [
            // First, since it speaks of the version.
            ("citation", CITATION.trim_end().to_owned()),
            ("name", experiment.name.clone()),
            ("folder", self.name.to_owned()),
            ("languages", among(languages)),
            ("version", version),
            ("data_seed", experiment.seeds.data.first().to_string()),
            ("config", experiment.to_toml().trim_end().to_owned()),
            ("licence_line", self.licence_line()),
            ("licence", self.licence_text()),
        ];
        let keys = given.iter().chain(&common);
        keys.fold(template.to_owned(), |card, (key, value)| card.replace(&format!("{{{key}}}"), value))
    }

    /// Of the card's head.
    fn licence_line(&self) -> String {
        match self.licence {
            Some(licence) => format!("license: {licence}"),
            None => "license: other\nlicense_name: not-named".into(),
        }
    }

    fn licence_text(&self) -> String {
        let theirs = match self.licence {
            Some(licence) => format!("Its publisher gives it out under {licence}."),
            None => "Its publisher has named no licence (`--license`).".into(),
        };
        format!("{theirs} invitro itself, MIT or Apache-2.0, claims no rights in what it generates.")
    }
}

/// "two artificial languages, A and B".
fn among(languages: &Languages) -> String {
    let names: Vec<&str> = languages.all().iter().map(|language| language.name()).collect();
    match &names[..] {
        [only] => format!("one artificial language, {only}"),
        [first, second] => format!("two artificial languages, {first} and {second}"),
        [others @ .., last] => format!("{} artificial languages, {} and {last}", names.len(), others.join(", ")),
        [] => "no language".into(),
    }
}

/// What a sequence's first token tells beside the task, and the forms that sequences have, in words for a card.
fn forms(experiment: &Experiment, languages: &Languages) -> (String, String) {
    let name = languages.all()[0].name();
    let (and_language, tag) = match languages.tags {
        Tags::Task => ("", String::new()),
        Tags::TaskLanguage => (" and the language", format!(":{name}")),
    };
    let mut forms = vec![
        format!("`<T0{tag}> sentence <eos>`"),
        format!("`<T1{tag}> shuffled words <out> sentence <eos>`"),
        format!("`<T2{tag}> some words <out> sentence <eos>`"),
    ];
    let mixture = &experiment.mixture;
    if mixture.translation > 0.0 {
        forms.push("`<T3…> sentence <out> its translation <eos>`".into());
    }
    forms.extend(match mixture.exposure {
        Exposure::None => None,
        Exposure::Bare => Some(format!("`<T0{tag}> word <eos>` (in training, of masked words)")),
        Exposure::Dictionary => Some("`<T3…> word <out> its translation <eos>` (in training, of masked words)".into()),
    });
    (and_language.into(), forms.join(", "))
}
