//! Numbers as texts and tables write them.

/// A number as texts write it: three decimals, none from 100 on, a real minus sign.
pub fn digits(value: f64) -> String {
    decimals(value, if value.abs() >= 100.0 { 0 } else { 3 })
}

/// A number with so many decimals: a real minus sign, and none before a zero.
///
/// ```
/// # use invitro_stats::decimals;
/// assert_eq!((decimals(-0.5, 2), decimals(-0.001, 2)), ("−0.50".into(), "0.00".into()));
/// ```
pub fn decimals(value: f64, places: usize) -> String {
    let text = format!("{value:.places$}");
    match text.strip_prefix('-') {
        Some(zero) if !zero.contains(|next| matches!(next, '1'..='9')) => zero.to_owned(),
        _ => text.replace('-', "−"),
    }
}

/// A whole number with a comma between thousands: `40,000`.
pub fn grouped(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A p-value as tables write it: `0.0123`, `< 0.0001`.
pub fn p_value(p: f64) -> String {
    if p < 0.0001 { "< 0.0001".into() } else { format!("{p:.4}") }
}
