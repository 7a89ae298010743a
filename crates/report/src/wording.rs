//! How counts, estimates, symbols and days are said, the same everywhere.

use invitro_stats::Estimate;

/// `1 run`, `9 runs`.
pub fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// `0.412 [0.380, 0.450], 9 runs`.
pub fn with_runs(estimate: &Estimate) -> String {
    format!("{estimate}, {}", counted(estimate.runs, "run"))
}

/// `a`, `a and b`, `a, b and c`.
pub fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// What a symbol's name says, in words: `desc.4.22` is value 22 of property 4.
pub fn gloss(symbol: &str) -> String {
    let mut parts = symbol.split(['.', ':']);
    let named: &[&str] = match parts.next().unwrap_or_default() {
        "desc" => &["descriptor: property", "value"],
        "noun" => &["noun: class", "number"],
        "name" => &["name: class", "number"],
        "rel" => &["relation"],
        "adj" => &["adjective"],
        "adv" => &["adverb"],
        _ => return symbol.replace(['.', ':'], " "),
    };
    named.iter().zip(parts).map(|(name, number)| format!("{name} {number}")).collect::<Vec<_>>().join(", ")
}

/// The day in UTC, as `2026-11-16`; days are counted from 1 March of year 0, so that leap days come last.
pub fn date(seconds: u64) -> String {
    let days = seconds / 86_400 + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march + 2) / 5 + 1;
    let month = if march < 10 { march + 3 } else { march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!("{year}-{month:02}-{day:02}")
}

/// With a capital letter first.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().collect::<String>() + letters.as_str())
}

/// A p-value in a text: `p = 0.0123`, `p < 0.0001`, the letter between asterisks.
pub fn p_text(p: f64) -> String {
    let value = invitro_stats::p_value(p);
    if value.starts_with('<') { format!("*p* {value}") } else { format!("*p* = {value}") }
}
