//! What is wrong with a setting, said as a person would: "`train.steps` is "abc", but must be a whole number".

/// A message of the TOML reader as one sentence. It names kinds by the types that hold them, and the key last.
///
/// ```
/// use invitro_lab::experiment::wording::in_words;
/// let message = "invalid type: string \"abc\", expected u64\nin `train.steps`\n";
/// assert_eq!(in_words(message), "`train.steps` is \"abc\", but must be a whole number, 0 or above");
/// ```
pub fn in_words(message: &str) -> String {
    let line = message.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
    reworded(&line).unwrap_or(line)
}

fn reworded(line: &str) -> Option<String> {
    let (fault, key) = line.strip_suffix('`')?.rsplit_once(" in `")?;
    if let Some(rest) = fault.strip_prefix("invalid type: ").or_else(|| fault.strip_prefix("invalid value: ")) {
        let (given, wanted) = rest.rsplit_once(", expected ")?;
        return Some(format!("`{key}` is {}, but must be {}", value(given), kind(wanted, key)));
    }
    if let Some(rest) = fault.strip_prefix("invalid length ") {
        let (given, wanted) = rest.rsplit_once(", expected ")?;
        return Some(format!("`{key}` has {given} values, but must be {}", kind(wanted, key)));
    }
    let (given, wanted) = fault.strip_prefix("unknown variant ")?.split_once(", expected ")?;
    let wanted = wanted.replace('`', "");
    Some(format!("`{key}` is {}, but must be {wanted}", given.replace('`', "\"")))
}

/// `string "abc"`, ``integer `3` ``, `sequence`
fn value(given: &str) -> String {
    match given {
        "sequence" => return "a list".into(),
        "map" => return "a table".into(),
        _ => {}
    }
    let quoted = |mark: char| given.find(mark).map(|at| given[at..].to_owned());
    quoted('"').or_else(|| quoted('`').map(|text| text.replace('`', ""))).unwrap_or_else(|| given.to_owned())
}

fn kind(wanted: &str, key: &str) -> String {
    match wanted {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number, 0 or above".into(),
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number".into(),
        "f32" | "f64" => "a number".into(),
        "a boolean" => "true or false".into(),
        "a string" => "a text".into(),
        "a sequence" => "a list, such as [1, 2]".into(),
        wanted if wanted.starts_with("struct ") => format!("a section: set `{key}.KEY`"),
        wanted => wanted.replace("an array of length", "a list of"),
    }
}
