//! What training withheld from a language, and how sentences speak of it.

/// What a condition such as B† holds that training never showed there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Withheld {
    /// Words that are masked.
    Words,
    /// Facts, both words of which were said.
    Facts,
    /// Nothing: a control.
    Nothing,
    /// Not the same in all runs.
    Mixed,
}

impl Withheld {
    /// Of runs with these values of `mixture.withhold`; an older table has `true` and `false`.
    pub fn of<'a>(values: impl Iterator<Item = Option<&'a str>>) -> Withheld {
        let of = |value: Option<&str>| match value {
            Some("facts") => Withheld::Facts,
            Some("nothing" | "false") => Withheld::Nothing,
            _ => Withheld::Words,
        };
        let join = |one: Withheld, other: Withheld| if one == other { one } else { Withheld::Mixed };
        values.map(of).reduce(join).unwrap_or(Withheld::Words)
    }

    /// How a sentence about a language's condition begins: `With words never seen in B`.
    pub fn with(self, languages: &str) -> String {
        match self {
            Withheld::Words => format!("With words never seen in {languages}"),
            Withheld::Facts => format!("With facts never stated in {languages}"),
            Withheld::Nothing => format!("With words of the mask of {languages}, which training showed here"),
            Withheld::Mixed => format!("With what training withheld in {languages}"),
        }
    }

    /// What a sentence adds to the name of such a condition, between commas.
    pub fn apposition(self) -> &'static str {
        match self {
            Withheld::Words => "with words it never saw",
            Withheld::Facts => "with facts never stated there",
            Withheld::Nothing => "with words of the mask, which it saw",
            Withheld::Mixed => "with what training withheld there",
        }
    }

    /// What is asked whether it happened.
    pub fn crossing(self) -> &'static str {
        match self {
            Withheld::Nothing => "the words of the mask are known",
            _ => "knowledge crossed",
        }
    }

    /// That a model knows something of it.
    pub(crate) fn known(self, language: &str) -> String {
        let of = match self {
            Withheld::Words => {
                return format!(
                    "Knowledge crossed: of words it never saw in {language}, the model knows something of what they are true of"
                );
            }
            Withheld::Nothing => {
                return format!(
                    "Nothing was withheld, and the model knows something of words of the mask of {language}"
                );
            }
            Withheld::Facts => "facts never stated",
            Withheld::Mixed => "what training withheld",
        };
        format!("Knowledge crossed: of {of} in {language}, the model knows something there")
    }

    /// What a model was asked to unscramble.
    pub fn unscrambled(self, language: &str) -> String {
        match self {
            Withheld::Words => format!("words of {language} that it never saw"),
            Withheld::Facts => format!("sentences of {language} that state a fact never stated there"),
            Withheld::Nothing => format!("words of the mask of {language}, which training showed here"),
            Withheld::Mixed => format!("sentences of {language} that training withheld"),
        }
    }
}
