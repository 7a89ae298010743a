//! A page whose numbers are checked: each stands in a sentence that a test says again, or in a table that it fills.

use invitro_results::{Estimate, Interval, decimals};
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

    /// That this stands on the page once, with these values where the pattern has `{}`. Any white space is one space.
    pub fn says<const N: usize>(&mut self, pattern: &str, values: [String; N]) {
        let parts: Vec<&str> = pattern.split("{}").collect();
        assert_eq!(parts.len(), N + 1, "{pattern}");
        let found: Vec<Vec<Range<usize>>> = starts(&self.text, parts[0])
            .into_iter()
            .filter(|&after| !self.text[..after].ends_with(|next: char| next.is_ascii_digit() || ".,−".contains(next)))
            .filter_map(|after| {
                let mut at = after;
                let mut numbers = Vec::new();
                for part in &parts[1..] {
                    let end = at + number(&self.text[at..])?;
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
        let Some(start) = self.text.find(header) else {
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

/// Whether a number with this before and after it is a setting or part of a name.
fn is_setting(before: &str, after: &str) -> bool {
    const NAMED: [&str; 12] =
        ["|V|", "\\|V\\|", "d", "d =", "d ≤", "d ≥", "λ", "width", "batches of", "seed", "schema", "at most"];
    if before.chars().next_back().is_some_and(char::is_alphanumeric) || after.starts_with("95 %") {
        return true;
    }
    // The first of a list such as "1. ".
    if before.lines().next_back().is_none_or(|line| line.trim().is_empty() && !line.is_empty())
        || before.ends_with('\n')
    {
        return after.trim_start_matches(|next: char| next.is_ascii_digit()).starts_with(". ");
    }
    // "|V| 256, 512 and 1024": what stands before the first of them.
    let mut before = before.trim_end();
    loop {
        let shorter =
            ["and", "to", "or", ",", "against"].iter().find_map(|joint| before.strip_suffix(joint)).map(str::trim_end);
        let Some(shorter) = shorter else { break };
        let number = shorter.trim_end_matches(|next: char| next.is_ascii_digit() || next == '.' || next == ',');
        if number.len() == shorter.len() {
            break;
        }
        before = number.trim_end();
    }
    NAMED.iter().any(|name| {
        before.strip_suffix(name).is_some_and(|rest| !rest.chars().next_back().is_some_and(char::is_alphanumeric))
    })
}

/// `0.52 [0.51, 0.53]`.
pub fn with_interval(estimate: Estimate, places: usize) -> String {
    let Interval { low, high } = estimate.interval.expect("an interval");
    let [value, low, high] = [estimate.value, low, high].map(|value| decimals(value, places));
    format!("{value} [{low}, {high}]")
}
