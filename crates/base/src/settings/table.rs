//! The machinery of settings tables: what a row says, and what follows from it.

use serde::Serialize;
use std::fmt;
use toml::Value;

/// One row of a section's table.
#[derive(Clone, Debug, Serialize)]
pub struct Setting {
    /// Its dotted name, as in `language.distance`; of a language in a list, `languages.NAME.distance`.
    pub key: String,
    /// In TOML's notation, or in words where the default depends on other settings.
    pub default: String,
    /// Where the default comes from.
    #[serde(rename = "origin")]
    pub source: DefaultSource,
    /// The range, or the values, in words.
    pub allowed: String,
    /// What it means.
    pub meaning: &'static str,
    /// What its values are.
    #[serde(skip)]
    pub kind: ValueKind,
    /// Its values, where they are few.
    #[serde(skip)]
    pub choices: Option<Vec<&'static str>>,
    /// Built-in values beside which it names a file; none where it names no file.
    #[serde(skip)]
    pub file_unless: Option<&'static [&'static str]>,
    /// Marks of its row.
    #[serde(skip)]
    pub marks: &'static [SettingMark],
}

impl Setting {
    /// The last part of the dotted name.
    pub fn name(&self) -> &str {
        self.key.rsplit('.').next().unwrap_or_default()
    }

    /// Whether a value names a file, whose content is then part of the experiment.
    pub fn names_file(&self, value: &Value) -> bool {
        self.file_unless.zip(value.as_str()).is_some_and(|(built_in, name)| !built_in.contains(&name))
    }

    /// The default as a value; none where it is in words.
    pub fn default_value(&self) -> Option<Value> {
        parse_value(&self.default)
    }
}

/// A value in TOML's notation.
pub fn parse_value(text: &str) -> Option<Value> {
    format!("v = {text}").parse::<toml::Table>().ok()?.remove("v")
}

/// What a row may be marked with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(non_camel_case_types)]
pub enum SettingMark {
    /// The setting came after runs were made without it, and its default gives the results they have. At its default it
    /// does not count for the identity of a run.
    neutral,
    /// The languages depend on it.
    languages,
    /// The tokenizer depends on it, and the languages do not.
    tokenizer,
    /// What is asked at evaluations depends on it, and neither languages nor tokenizer do.
    probes,
}

/// Where a default comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DefaultSource {
    /// The paper.
    Paper,
    /// Lubana et al. 2024, which the paper builds on.
    Lubana,
    /// Neither says it.
    Ours,
}

impl DefaultSource {
    /// As files and pages have it.
    pub fn name(self) -> &'static str {
        match self {
            DefaultSource::Paper => "paper",
            DefaultSource::Lubana => "lubana",
            DefaultSource::Ours => "ours",
        }
    }
}

/// A setting outside its range, or two that do not fit each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingError {
    /// One setting; `key` is its dotted name.
    Range { key: String, given: String, allowed: String },
    /// Several settings, as a sentence.
    Mismatch(String),
}

impl fmt::Display for SettingError {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            SettingError::Range { key, given, allowed } => write!(out, "`{key}` is {given}, but must be {allowed}"),
            SettingError::Mismatch(sentence) => out.write_str(sentence),
        }
    }
}

impl std::error::Error for SettingError {}

/// `Ok` if `holds`, else [`SettingError::Range`].
pub fn require(
    holds: bool,
    key: impl Into<String>,
    given: impl ToString,
    allowed: impl ToString,
) -> Result<(), SettingError> {
    if holds {
        return Ok(());
    }
    Err(SettingError::Range { key: key.into(), given: given.to_string(), allowed: allowed.to_string() })
}

/// The values that a setting may have.
#[derive(Clone, Copy, Debug)]
pub enum Range {
    /// All of its type.
    Any,
    /// Numbers between two ends.
    Numbers { low: End, high: End },
    /// In words; the section's `check` decides.
    Words(&'static str),
    /// One of these, or the path of a file, described in words.
    File { built_in: &'static [&'static str], words: &'static str },
}

/// An end of a range of numbers.
#[derive(Clone, Copy, Debug)]
pub enum End {
    Open,
    At(f64),
    Beyond(f64),
}

impl Range {
    /// `from 1`
    pub const fn from(low: f64) -> Range {
        Range::Numbers { low: End::At(low), high: End::Open }
    }

    /// `above 0`
    pub const fn above(low: f64) -> Range {
        Range::Numbers { low: End::Beyond(low), high: End::Open }
    }

    /// `0 to 1`
    pub const fn within(low: f64, high: f64) -> Range {
        Range::Numbers { low: End::At(low), high: End::At(high) }
    }

    /// `0 to below 1`
    pub const fn to_below(low: f64, high: f64) -> Range {
        Range::Numbers { low: End::At(low), high: End::Beyond(high) }
    }

    /// `above 0 to 1`
    pub const fn above_to(low: f64, high: f64) -> Range {
        Range::Numbers { low: End::Beyond(low), high: End::At(high) }
    }

    /// `above 0 to below 1`
    pub const fn between(low: f64, high: f64) -> Range {
        Range::Numbers { low: End::Beyond(low), high: End::Beyond(high) }
    }

    /// In words, as tables have it.
    fn describe<T: SettingValue>(&self) -> String {
        match *self {
            Range::Any => T::choices().expect("a type of few values").join(" | "),
            Range::Words(words) | Range::File { words, .. } => words.to_owned(),
            Range::Numbers { low, high } => match (low, high) {
                (End::At(low), End::Open) => format!("from {low}"),
                (End::At(low), End::At(high)) => format!("{low} to {high}"),
                (End::At(low), End::Beyond(high)) => format!("{low} to below {high}"),
                (End::Beyond(low), End::Open) => format!("above {low}"),
                (End::Beyond(low), End::At(high)) => format!("above {low} to {high}"),
                (End::Beyond(low), End::Beyond(high)) => format!("above {low} to below {high}"),
                (End::Open, _) => unreachable!("every range of settings has a lower end"),
            },
        }
    }

    /// In words, as a sentence has it.
    fn sentence<T: SettingValue>(&self) -> String {
        match *self {
            Range::Numbers { low: End::At(low), high: End::Open } => format!("at least {low}"),
            Range::Numbers { low: End::At(low), high: End::Beyond(high) } => format!("at least {low} and below {high}"),
            Range::Numbers { low: End::Beyond(low), high: End::At(high) } => format!("above {low} and at most {high}"),
            Range::Numbers { low: End::Beyond(low), high: End::Beyond(high) } => {
                format!("above {low} and below {high}")
            }
            _ => self.describe::<T>(),
        }
    }

    /// Whether a value is in a range of numbers; others are checked elsewhere.
    pub fn check<T: SettingValue>(&self, key: &str, value: &T) -> Result<(), SettingError> {
        let (Range::Numbers { low, high }, Some(number)) = (self, value.number()) else { return Ok(()) };
        let above = match *low {
            End::Open => true,
            End::At(low) => number >= low,
            End::Beyond(low) => number > low,
        };
        let below = match *high {
            End::Open => number < f64::INFINITY,
            End::At(high) => number <= high,
            End::Beyond(high) => number < high,
        };
        require(above && below, key, number, self.sentence::<T>())
    }
}

/// What the values of a setting are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// Text, or one of a few names.
    Text,
    /// True or false.
    Flag,
    /// A whole number.
    Whole,
    /// A fraction; a whole number given for it becomes one.
    Fraction,
    /// A list of texts.
    Texts,
    /// A list of whole numbers.
    Wholes,
    /// A list of fractions.
    Fractions,
}

impl ValueKind {
    /// A list of such values.
    const fn listed(self) -> ValueKind {
        match self {
            ValueKind::Whole => ValueKind::Wholes,
            ValueKind::Fraction => ValueKind::Fractions,
            _ => ValueKind::Texts,
        }
    }
}

/// A type that settings may have.
pub trait SettingValue: Serialize {
    /// The number it is, if it is one.
    fn number(&self) -> Option<f64> {
        None
    }

    /// Its values, where they are few.
    fn choices() -> Option<Vec<&'static str>> {
        None
    }

    /// What its values are.
    const KIND: ValueKind = ValueKind::Text;
}

macro_rules! whole_numbers {
    ($($kind:ty),+) => { $(impl SettingValue for $kind {
        const KIND: ValueKind = ValueKind::Whole;

        fn number(&self) -> Option<f64> {
            Some(*self as f64)
        }
    })+ };
}
whole_numbers!(u32, u64, usize);

impl SettingValue for f64 {
    fn number(&self) -> Option<f64> {
        Some(*self)
    }

    const KIND: ValueKind = ValueKind::Fraction;
}

impl SettingValue for bool {
    fn choices() -> Option<Vec<&'static str>> {
        Some(vec!["true", "false"])
    }

    const KIND: ValueKind = ValueKind::Flag;
}

impl<T: SettingValue> SettingValue for Option<T> {
    fn number(&self) -> Option<f64> {
        self.as_ref()?.number()
    }

    fn choices() -> Option<Vec<&'static str>> {
        T::choices()
    }

    const KIND: ValueKind = T::KIND;
}

impl SettingValue for String {}

impl<T: SettingValue> SettingValue for Vec<T> {
    const KIND: ValueKind = T::KIND.listed();
}

impl SettingValue for [f64; 3] {
    const KIND: ValueKind = ValueKind::Fractions;
}

/// A section of an experiment file.
pub trait Section: Default {
    /// Its name in brackets.
    const NAME: &'static str;
    /// What it is for.
    const MEANING: &'static str;

    /// Its rows, in the order of the file.
    fn settings() -> Vec<Setting>;

    /// Every number in its range.
    fn check_ranges(&self) -> Result<(), SettingError>;
}

/// One row of a table; the macro calls it.
#[doc(hidden)]
pub fn setting<T: SettingValue>(
    [section, key]: [&str; 2],
    default: &T,
    words: Option<&str>,
    range: Range,
    source: DefaultSource,
    marks: &'static [SettingMark],
    meaning: &'static str,
) -> Setting {
    let spelled = || Value::try_from(default).map_or_else(|_| "none".to_owned(), |value| spell(&value));
    Setting {
        key: format!("{section}.{key}"),
        default: words.map_or_else(spelled, str::to_owned),
        source,
        allowed: range.describe::<T>(),
        meaning,
        kind: T::KIND,
        choices: T::choices(),
        file_unless: if let Range::File { built_in, .. } = range { Some(built_in) } else { None },
        marks,
    }
}

/// A value in TOML's notation, small fractions as powers of ten: `1e-4`.
pub fn spell(value: &Value) -> String {
    match value {
        Value::Float(number) if *number != 0.0 && number.abs() < 1e-3 => format!("{number:e}"),
        other => other.to_string(),
    }
}

/// Declares a section: a row for each setting with key, type, default, range, source (with marks), and meaning. The struct,
/// its `Default`, its reading and writing as TOML, the check of its ranges and its documentation follow.
///
/// ```
/// use invitro_base::settings::{Range, Section};
/// invitro_base::settings! {
///     /// Somebody's garden.
///     GardenConfig in "garden", "what grows" {
///         trees: u32 = 3, Range::within(0.0, 9.0), Ours, "trees, shrubs not counted";
///         water: f64 = 0.5, Range::above(0.0), Ours + neutral, "litres a day";
///     }
/// }
/// let garden: GardenConfig = toml::from_str("trees = 12").unwrap();
/// assert_eq!(garden.check_ranges().unwrap_err().to_string(), "`garden.trees` is 12, but must be 0 to 9");
/// assert_eq!(GardenConfig::settings()[1].allowed, "above 0");
/// ```
#[macro_export]
macro_rules! settings {
    ($(#[$about:meta])* $section:ident in $name:literal, $purpose:literal {
        $($(#[$attribute:meta])* $key:ident: $kind:ty = $default:expr $(=> $words:literal)?, $range:expr,
            $source:ident $(+ $mark:ident)*, $meaning:literal;)+
    }) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $section { $(#[doc = $meaning] $(#[$attribute])* pub $key: $kind,)+ }

        impl Default for $section {
            fn default() -> Self {
                $section { $($key: $default,)+ }
            }
        }

        impl $crate::settings::Section for $section {
            const NAME: &'static str = $name;
            const MEANING: &'static str = $purpose;

            fn settings() -> Vec<$crate::settings::Setting> {
                #[allow(unused_imports)]
                use $crate::settings::{SettingMark, DefaultSource};
                let default = $section::default();
                vec![$($crate::settings::table::setting(
                    [$name, stringify!($key)], &default.$key, None::<&str>$(.or(Some($words)))?, $range, DefaultSource::$source,
                    &[$(SettingMark::$mark),*], $meaning,
                ),)+]
            }

            fn check_ranges(&self) -> Result<(), $crate::settings::SettingError> {
                $($range.check(concat!($name, ".", stringify!($key)), &self.$key)?;)+
                Ok(())
            }
        }
    };
}
