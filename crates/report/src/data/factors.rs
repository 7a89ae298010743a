//! Words for factors: the paper's notation for its own, the last part of the key for others.

use invitro_results::Factor;

/// How factors and their levels are written. `*` stands around what is italic.
pub trait FactorWords: Copy {
    /// The paper's notation; the last part of another setting's key, or what it says of a language.
    fn symbol(self) -> String;
    /// What its levels are levels of, inside a sentence.
    fn noun(self) -> String;
    /// The factor at a level: `|V| = 2048`; a regime is its own name, and a language is spoken or not.
    fn with_level(self, level: &str) -> String;
    /// A name for file names, tables and controls.
    fn name(self) -> &'static str;
}

impl FactorWords for Factor {
    fn symbol(self) -> String {
        match self {
            Factor::VOCAB => "|*V*|".into(),
            Factor::REGIME => "regime".into(),
            Factor::LAMBDA => "*λ*".into(),
            Factor::DISTANCE => "*d*".into(),
            Factor::SPOKEN => "also spoken".into(),
            other => {
                let last = other.key().rsplit('.').next().unwrap_or(other.key());
                of_language(other.key()).unwrap_or_else(|| last.to_owned())
            }
        }
    }

    fn noun(self) -> String {
        match spoken_language(self.key()) {
            _ if self == Factor::SPOKEN => "further languages".into(),
            Some(name) => format!("use of {name}"),
            None => self.symbol(),
        }
    }

    fn with_level(self, level: &str) -> String {
        match (self, spoken_language(self.key()), level) {
            (Factor::REGIME, _, level) => level.to_owned(),
            (Factor::SPOKEN, _, level) => format!("{}: {level}", self.symbol()),
            (_, Some(name), "true") => format!("{name} spoken"),
            (_, Some(name), "false") => format!("{name} not spoken"),
            (_, _, level) => format!("{} = {level}", self.symbol()),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Factor::VOCAB => "vocab",
            Factor::REGIME => "regime",
            Factor::LAMBDA => "lambda",
            Factor::DISTANCE => "d",
            other => other.key(),
        }
    }
}

/// A setting as tables have it: its key, or what it says of a language.
pub fn setting_name(key: &str) -> String {
    of_language(key).unwrap_or_else(|| key.to_owned())
}

/// The language that a setting gives text or not.
fn spoken_language(key: &str) -> Option<&str> {
    key.strip_prefix("languages.")?.strip_suffix(".spoken")
}

/// What a setting says of one of the languages: `languages.B.distance` is the distance of B.
fn of_language(key: &str) -> Option<String> {
    let (name, setting) = key.strip_prefix("languages.")?.rsplit_once('.')?;
    Some(match setting {
        "spoken" => format!("{name} spoken"),
        "mask_share" => format!("share masked in {name}"),
        "grammar" => format!("word order of {name}"),
        setting => format!("{setting} of {name}"),
    })
}
