//! Times and sizes as people write them: `25m`, `1h30m`, `37.2 GB`.

use std::time::Duration;

/// `90s`, `25m`, `1h30m`, `2d`: numbers with units, largest first or not.
pub fn parse_time(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is not a time: write it as 90s, 25m, 1h30m or 2d");
    let mut seconds = 0.0;
    let mut number = String::new();
    for char in text.chars() {
        if char.is_ascii_digit() || char == '.' {
            number.push(char);
            continue;
        }
        let unit = match char {
            's' => 1.0,
            'm' => 60.0,
            'h' => 3600.0,
            'd' => 86_400.0,
            _ => return Err(wrong()),
        };
        seconds += unit * number.parse::<f64>().map_err(|_| wrong())?;
        number.clear();
    }
    if text.is_empty() || !number.is_empty() || seconds > 1e9 {
        return Err(wrong());
    }
    Ok(Duration::from_secs_f64(seconds))
}

/// `45 s`, `12 min`, `3.4 h`, `2.1 days`
pub fn time(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5400.0 => format!("{:.0} min", s / 60.0),
        s if s < 48.0 * 3600.0 => format!("{:.1} h", s / 3600.0),
        s => format!("{:.1} days", s / 86_400.0),
    }
}

/// `512 kB`, `37.2 MB`, `1.5 GB`
pub fn size(bytes: u64) -> String {
    match bytes as f64 {
        b if b < 1e6 => format!("{:.0} kB", b / 1e3),
        b if b < 1e9 => format!("{:.1} MB", b / 1e6),
        b => format!("{:.1} GB", b / 1e9),
    }
}

/// `1 cell`, `2 cells`
pub fn count(number: usize, one: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {one}s") }
}

/// A sentence on finished runs whose checkpoints are missing or were changed: see `faults`.
pub fn without_checkpoint<'a>(mut faults: impl Iterator<Item = &'a str>) -> Option<String> {
    let first = faults.next()?;
    let more = match faults.count() {
        0 => String::new(),
        more => format!(" (and those of {more} more)"),
    };
    Some(format!(
        "a checkpoint of a finished run cannot be used: {first}{more}; its results are intact, and \
         `invitro run RUN-FOLDER --force` trains the model again"
    ))
}

/// A finished cell whose results cannot be used.
pub fn damaged_cell((id, label, why): &(String, String, String)) -> String {
    format!("not done: {id}  {label}: its results cannot be used: {why}")
}
