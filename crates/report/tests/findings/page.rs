//! A page whose numbers are checked: each stands in a sentence that a test says again, or in a table that it fills.

use invitro_stats::{Estimate, Interval, decimals};
use std::ops::Range;
use std::path::{Path, PathBuf};

pub struct Page {
    path: PathBuf,
    /// What stands around the part that is checked.
    around: [String; 2],
    text: String,
    /// The places in it that were checked.
    checked: Vec<Range<usize>>,
    wrong: Vec<String>,
}

/// Whether pages are to be written anew, as other golden files are.
fn updating() -> bool {
    std::env::var_os("UPDATE_GOLDEN").is_some()
}

impl Page {
    /// A page of the repository.
    pub fn open(name: &str) -> Page {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
        let text = std::fs::read_to_string(&path).unwrap();
        Page { path, around: Default::default(), text, checked: Vec::new(), wrong: Vec::new() }
    }

    /// One section of it.
    pub fn section(name: &str, heading: &str) -> Page {
        let page = Page::open(name);
        let (before, rest) = page.text.split_once(heading).expect("the heading is there");
        let (section, after) = rest.split_at(rest.find("\n## ").unwrap_or(rest.len()));
        Page { around: [format!("{before}{heading}"), after.to_owned()], text: section.to_owned(), ..page }
    }

    /// A text that is no file.
    pub fn of_text(text: &str) -> Page {
        Page {
            path: PathBuf::new(),
            around: Default::default(),
            text: text.into(),
            checked: Vec::new(),
            wrong: Vec::new(),
        }
    }

    /// That this stands on the page once, with these values, numbers or words, where the pattern has `{}`. Any white space is
    /// one space.
    pub fn says<const N: usize>(&mut self, pattern: &str, values: [String; N]) {
        let parts: Vec<&str> = pattern.split("{}").collect();
        assert_eq!(parts.len(), N + 1, "{pattern}");
        let found: Vec<Vec<Range<usize>>> = starts(&self.text, parts[0])
            .into_iter()
            .filter(|&after| !self.text[..after].ends_with(|next: char| next.is_ascii_digit() || ".,−".contains(next)))
            .filter_map(|after| {
                let mut at = after;
                let mut numbers = Vec::new();
                for (part, value) in parts[1..].iter().zip(&values) {
                    let is_word = value.starts_with(char::is_alphabetic);
                    let end = at + if is_word { word(&self.text[at..])? } else { number(&self.text[at..])? };
                    numbers.push(at..end);
                    at = end + matches(&self.text[end..], part)?;
                }
                Some(numbers)
            })
            .collect();
        let [numbers] = &found[..] else {
            self.wrong.push(format!("said {} times: {pattern}", found.len()));
            return;
        };
        for (range, value) in numbers.clone().into_iter().zip(values).rev() {
            self.check(range, &value, pattern);
        }
    }

    /// That the table with this header has these rows.
    pub fn table(&mut self, header: &str, rows: &[String]) {
        let Some(start) = self.text.find(&format!("{header}\n")) else {
            self.wrong.push(format!("no table {header}"));
            return;
        };
        let lines: Vec<&str> =
            self.text[start..].split_inclusive('\n').take_while(|line| line.starts_with('|')).collect();
        let head: usize = lines[..2].iter().map(|line| line.len()).sum();
        let whole: usize = lines.iter().map(|line| line.len()).sum();
        let rows: String = rows.iter().map(|row| format!("{row}\n")).collect();
        self.checked.push(start..start + head);
        self.check(start + head..start + whole, &rows, header);
    }

    fn check(&mut self, range: Range<usize>, value: &str, what: &str) {
        let there: Vec<&str> = self.text[range.clone()].split_whitespace().collect();
        if there != value.split_whitespace().collect::<Vec<_>>() {
            if updating() {
                let grown = value.len() as isize - range.len() as isize;
                self.text.replace_range(range.clone(), value);
                for other in self.checked.iter_mut().filter(|other| other.start >= range.end) {
                    *other = (other.start as isize + grown) as usize..(other.end as isize + grown) as usize;
                }
                self.checked.push(range.start..range.start + value.len());
                return;
            }
            self.wrong.push(format!("{what}\n  the page has {}\n  the tables  {}", there.join(" "), value.trim_end()));
        }
        self.checked.push(range);
    }

    /// Numbers that nobody checked: no setting, no name, not in code.
    pub fn unchecked(&self) -> Vec<String> {
        let mut open = Vec::new();
        let mut code = false;
        let mut link = false;
        let mut at = 0;
        while at < self.text.len() {
            let rest = &self.text[at..];
            let next = rest.chars().next().expect("not at the end");
            if let Some(range) = self.checked.iter().find(|range| range.contains(&at)) {
                at = range.end;
                continue;
            }
            match next {
                '`' => code = !code,
                ']' if rest.starts_with("](") => link = true,
                ')' => link = false,
                '\n' if code || link => {
                    open.push(format!(
                        "code or link that does not end: {}",
                        self.text[..at].lines().next_back().unwrap()
                    ));
                    (code, link) = (false, false);
                }
                _ => {}
            }
            if code || link || !next.is_ascii_digit() {
                at += next.len_utf8();
                continue;
            }
            let end = at + number(rest).expect("a digit begins a number");
            if !is_setting(&self.text[..at], &self.text[at..]) {
                let (from, to) =
                    (self.text[..at].floor_char_boundary(at.saturating_sub(60)), (end + 30).min(self.text.len()));
                open.push(self.text[from..self.text.ceil_char_boundary(to)].replace('\n', " "));
            }
            at = end;
        }
        open
    }

    /// Fails where anything is wrong or was not checked.
    pub fn finish(self) {
        let (name, open) = (self.path.clone(), self.unchecked().join("\n"));
        self.said();
        assert!(open.is_empty(), "{}: numbers that no test checks:\n{open}", name.display());
    }

    /// Fails where anything is wrong; writes the page first where it is to be written anew.
    pub fn said(self) {
        if updating() {
            let [before, after] = &self.around;
            std::fs::write(&self.path, format!("{before}{}{after}", self.text)).unwrap();
        }
        let (name, wrong) = (self.path.display(), self.wrong.join("\n"));
        assert!(wrong.is_empty(), "{name}: not as the tables have it (UPDATE_GOLDEN=1 writes it anew):\n{wrong}");
    }
}

/// Where a text stands on the page, each as the place after it.
fn starts(page: &str, text: &str) -> Vec<usize> {
    let places = page.char_indices().map(|(at, _)| at);
    places.filter_map(|at| Some(at + matches(&page[at..], text)?)).collect()
}

/// How much of the page this text takes at its beginning; any white space of either is one space.
fn matches(page: &str, text: &str) -> Option<usize> {
    let mut at = 0;
    let mut wanted = text.chars().peekable();
    while let Some(next) = wanted.next() {
        let rest = &page[at..];
        if next.is_whitespace() {
            let spaces = rest.len() - rest.trim_start().len();
            if spaces == 0 {
                return None;
            }
            at += spaces;
            while wanted.next_if(|next| next.is_whitespace()).is_some() {}
        } else {
            at += rest.starts_with(next).then(|| next.len_utf8())?;
        }
    }
    Some(at)
}

/// The length of a word at the beginning of a text.
fn word(text: &str) -> Option<usize> {
    let length = text.find(|next: char| !next.is_alphabetic()).unwrap_or(text.len());
    (length > 0).then_some(length)
}

/// The length of a number at the beginning of a text, with its interval.
fn number(text: &str) -> Option<usize> {
    let unsigned = text.trim_start_matches(['−', '+']);
    let is_number = |next: char| next.is_ascii_digit() || next == '.' || next == ',';
    let digits = unsigned.find(|next: char| !is_number(next)).unwrap_or(unsigned.len());
    let digits = unsigned[..digits].trim_end_matches(['.', ',']).len();
    if digits == 0 {
        return None;
    }
    let end = text.len() - unsigned.len() + digits;
    let spaces = text[end..].len() - text[end..].trim_start().len();
    let interval = &text[end + spaces..];
    match interval.find(']') {
        Some(close) if spaces > 0 && interval.starts_with('[') && !interval[1..close].contains(['[', '`']) => {
            Some(end + spaces + close + 1)
        }
        _ => Some(end),
    }
}

/// Levels of |V|, d and λ.
const LEVELS: [&str; 13] =
    ["0", "0.05", "0.1", "0.25", "0.5", "0.75", "1", "256", "512", "1024", "2048", "4096", "8192"];

/// Whether a number with this before and after it is a setting, a list's, or part of a name.
fn is_setting(before: &str, after: &str) -> bool {
    const NAMED: [&str; 7] = ["|V|", "\\|V\\|", "d", "d =", "d ≤", "d ≥", "λ"];
    if before.ends_with(char::is_alphanumeric) || after.starts_with("95 % interval") {
        return true;
    }
    if before.is_empty() || before.ends_with('\n') {
        return after.chars().nth(1) == Some('.') && after.chars().nth(2) == Some(' ');
    }
    let is_digit = |next: char| next.is_ascii_digit() || next == '.';
    let own = &after[..after.find(|next| !is_digit(next)).unwrap_or(after.len())];
    if !LEVELS.contains(&own.trim_end_matches('.')) {
        return false;
    }
    // "|V| 256, 512 and 1024": what stands before the first of them.
    let mut before = before.trim_end();
    while let Some(shorter) = ["and", "to", "or", ","].iter().find_map(|joint| before.strip_suffix(joint)) {
        let number = shorter.trim_end().trim_end_matches(is_digit);
        if number.len() == shorter.trim_end().len() {
            break;
        }
        before = number.trim_end();
    }
    let is_alone = |rest: &str| !rest.ends_with(char::is_alphanumeric);
    NAMED.iter().any(|name| before.strip_suffix(name).is_some_and(is_alone))
}

/// `0.52 [0.51, 0.53]`; with more decimals where a bound would be rounded to 0 from one side.
pub fn with_interval(estimate: Estimate, places: usize) -> String {
    assert!(estimate.of_two.is_none(), "two data seeds have no interval: {estimate}");
    let Interval { low, high } = estimate.interval.expect("an interval");
    let is_lost = |bound: f64| bound != 0.0 && !decimals(bound, places).contains(|next| matches!(next, '1'..='9'));
    let at_bound = |bound: f64| bound.abs() >= 5e-4 && is_lost(bound);
    let places = if at_bound(low) || at_bound(high) { places + 1 } else { places };
    let [value, low, high] = [estimate.value, low, high].map(|value| decimals(value, places));
    format!("{value} [{low}, {high}]")
}
