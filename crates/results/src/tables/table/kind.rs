//! What a column holds, found from its values.

use super::{Column, Lists};
use serde_json::Value;

/// What the values of a column are; any may be missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// All are missing.
    #[default]
    Nothing,
    /// Whole numbers.
    Whole,
    /// Numbers.
    Number,
    /// True or false.
    Flag,
    /// Lists, and what is in them.
    List(Items),
    /// Texts, and all else as its text.
    Text,
}

/// What lists hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Items {
    /// Nothing, all lists are empty.
    Nothing,
    /// Whole numbers.
    Whole,
    /// Fractions.
    Number,
    /// Texts.
    Text,
}

impl Kind {
    /// The kind of one value.
    pub fn of(value: &Value) -> Kind {
        match value {
            Value::Null => Kind::Nothing,
            Value::Bool(_) => Kind::Flag,
            Value::Array(items) => Items::of(items).map_or(Kind::Text, Kind::List),
            value if value.is_i64() => Kind::Whole,
            value if value.is_number() => Kind::Number,
            _ => Kind::Text,
        }
    }

    /// The kind that holds the values of both.
    pub fn join(self, other: Kind) -> Kind {
        match (self, other) {
            (one, other) if one == other => one,
            (Kind::Nothing, known) | (known, Kind::Nothing) => known,
            (Kind::Whole, Kind::Number) | (Kind::Number, Kind::Whole) => Kind::Number,
            (Kind::List(one), Kind::List(other)) => one.join(other).map_or(Kind::Text, Kind::List),
            _ => Kind::Text,
        }
    }

    /// A column of this kind; values of another kind are missing in it.
    pub fn column<'a>(self, values: impl Iterator<Item = Option<&'a Value>>) -> Column {
        let values = values.map(|value| value.filter(|value| !value.is_null()));
        match self {
            Kind::Nothing | Kind::Whole => Column::Whole(values.map(|value| value?.as_i64()).collect()),
            Kind::Number => Column::Number(values.map(|value| value?.as_f64()).collect()),
            Kind::Flag => Column::Flag(values.map(|value| value?.as_bool()).collect()),
            Kind::List(items) => Column::Lists(items.lists(values)),
            Kind::Text => Column::Text(values.map(|value| value.map(text)).collect()),
        }
    }
}

impl Items {
    /// What a list holds; none where that is several kinds, or something that no list of a table holds.
    fn of(items: &[Value]) -> Option<Items> {
        items.iter().try_fold(Items::Nothing, |items, item| {
            items.join(match Kind::of(item) {
                Kind::Whole => Items::Whole,
                Kind::Number => Items::Number,
                Kind::Text if item.is_string() => Items::Text,
                _ => return None,
            })
        })
    }

    /// None where it would take two kinds: `[1, 2]` among fractions would be read back as `[1.0, 2.0]`.
    fn join(self, other: Items) -> Option<Items> {
        match (self, other) {
            (one, other) if one == other => Some(one),
            (Items::Nothing, known) | (known, Items::Nothing) => Some(known),
            _ => None,
        }
    }

    fn lists<'a>(self, values: impl Iterator<Item = Option<&'a Value>>) -> Lists {
        fn all<'a, T>(
            values: impl Iterator<Item = Option<&'a Value>>,
            item: impl Fn(&Value) -> Option<T>,
        ) -> Vec<Option<Vec<T>>> {
            values.map(|list| list?.as_array()?.iter().map(&item).collect()).collect()
        }
        match self {
            Items::Whole => Lists::Whole(all(values, Value::as_i64)),
            Items::Number => Lists::Number(all(values, Value::as_f64)),
            Items::Nothing | Items::Text => Lists::Text(all(values, |item| item.as_str().map(str::to_owned))),
        }
    }
}

/// A value as text: `true`, `[0.25,0.5]`.
fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
