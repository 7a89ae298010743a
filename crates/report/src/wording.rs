//! How counts and estimates are said, the same everywhere.

use invitro_results::Estimate;

/// `1 run`, `9 runs`.
pub fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// `0.412 [0.380, 0.450], 9 runs`.
pub fn spoken(estimate: &Estimate) -> String {
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
