//! Numbers as texts and tables write them.

/// A number that has no interval as texts write it: two decimals, three below 0.1 and none from 100 on, a real minus sign. A
/// share of a hundred sentences has no more.
pub fn digits(value: f64) -> String {
    let size = value.abs();
    decimals(value, if size >= 100.0 { 0 } else { 2 + usize::from(size < 0.0995) })
}

/// A number with its interval: `0.49 [0.32, 0.65]`. The half width of the interval has one digit of its own, or two.
pub fn with_interval(value: f64, low: f64, high: f64) -> String {
    let places = places(value, low, high);
    format!("{} [{}, {}]", decimals(value, places), decimals(low, places), decimals(high, places))
}

/// How many decimals of a value have a meaning beside its interval: the half width has one digit of its own, or two.
pub fn places(value: f64, low: f64, high: f64) -> usize {
    let half = (high - low) / 2.0;
    match half {
        _ if value.abs() >= 100.0 => 0,
        _ if !half.is_finite() || half <= 0.0 => 3,
        _ => [1.0, 0.05].iter().position(|least| half >= *least).map_or(3, |place| place + 1),
    }
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
