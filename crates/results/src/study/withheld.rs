//! What training withheld from a language.

/// What a condition such as B† holds that training never showed there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Withheld {
    /// Words that are masked.
    Words,
    /// Facts; both of their words occur.
    Facts,
    /// Nothing: a control.
    Nothing,
    /// Not the same in all runs.
    Mixed,
}

impl Withheld {
    /// Of runs with these values of `mixture.withhold`; an older table has `true` and `false`.
    pub fn from_settings<'a>(values: impl Iterator<Item = Option<&'a str>>) -> Withheld {
        let withheld = |value: Option<&str>| match value {
            Some("facts") => Withheld::Facts,
            Some("nothing" | "false") => Withheld::Nothing,
            _ => Withheld::Words,
        };
        let join = |one: Withheld, other: Withheld| if one == other { one } else { Withheld::Mixed };
        values.map(withheld).reduce(join).unwrap_or(Withheld::Words)
    }
}
