//! The `where` lines of a study: which cells of the grid are kept.
//!
//! A filter compares settings, named by their dotted keys, with values written as in TOML:
//! `tokenizer.vocab < 8192 or mixture.lambda in [0.25, 0.5]`. There are `= != < <= > >=`, `in [..]`, `and`, `or`,
//! `not` and parentheses; `and` binds tighter than `or`. All filters of a study must hold.

use super::file::{lookup, show};
use toml::{Table, Value};

#[derive(Debug, Clone, PartialEq)]
pub struct Filter {
    text: String,
    rule: Rule,
}

#[derive(Debug, Clone, PartialEq)]
enum Rule {
    All(Vec<Rule>),
    Any(Vec<Rule>),
    Not(Box<Rule>),
    Compare(String, Relation, Value),
    In(String, Vec<Value>),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Relation {
    Equal,
    Differs,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

impl Filter {
    /// Reads one filter; an error says what was expected and what stood there.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut reader = Reader { words: split(text)?, next: 0 };
        let rule = reader.any()?;
        match reader.words.get(reader.next) {
            None => Ok(Filter { text: text.to_owned(), rule }),
            Some(word) => Err(format!("expected `and`, `or` or the end, found `{word}`")),
        }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether a complete config satisfies the filter; an unknown key or values of two kinds are an error.
    pub fn holds(&self, config: &Table) -> Result<bool, String> {
        self.rule.holds(config)
    }
}

impl Rule {
    fn holds(&self, config: &Table) -> Result<bool, String> {
        Ok(match self {
            Rule::All(rules) => {
                for rule in rules {
                    if !rule.holds(config)? {
                        return Ok(false);
                    }
                }
                true
            }
            Rule::Any(rules) => {
                for rule in rules {
                    if rule.holds(config)? {
                        return Ok(true);
                    }
                }
                false
            }
            Rule::Not(rule) => !rule.holds(config)?,
            Rule::In(key, values) => {
                let given = setting(config, key)?;
                values.iter().any(|value| order(given, value) == Some(std::cmp::Ordering::Equal))
            }
            Rule::Compare(key, relation, value) => {
                let given = setting(config, key)?;
                let order = order(given, value)
                    .ok_or_else(|| format!("{key} is {} and cannot be compared with {}", show(given), show(value)))?;
                match relation {
                    Relation::Equal => order.is_eq(),
                    Relation::Differs => order.is_ne(),
                    Relation::Less => order.is_lt(),
                    Relation::AtMost => order.is_le(),
                    Relation::Greater => order.is_gt(),
                    Relation::AtLeast => order.is_ge(),
                }
            }
        })
    }
}

fn setting<'a>(config: &'a Table, key: &str) -> Result<&'a Value, String> {
    lookup(config, key).ok_or_else(|| format!("there is no setting `{key}`"))
}

/// Numbers compare by value whether written 1 or 1.0.
fn order(a: &Value, b: &Value) -> Option<std::cmp::Ordering> {
    let number = |value: &Value| value.as_float().or(value.as_integer().map(|integer| integer as f64));
    match (number(a), number(b)) {
        (Some(a), Some(b)) => a.partial_cmp(&b),
        _ => match (a, b) {
            (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
            (Value::Boolean(a), Value::Boolean(b)) => Some(a.cmp(b)),
            (Value::Array(a), Value::Array(b)) => {
                let same = a.len() == b.len() && a.iter().zip(b).all(|(a, b)| order(a, b).is_some_and(|o| o.is_eq()));
                // Lists are equal or not; they have no order.
                Some(if same { std::cmp::Ordering::Equal } else { std::cmp::Ordering::Less })
            }
            _ => None,
        },
    }
}

/// `a.b<=3 and c in ["x"]` → `a.b` `<=` `3` `and` `c` `in` `["x"]`: a list or a quoted text is one word.
fn split(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let chars: Vec<char> = text.chars().collect();
    let mut at = 0;
    while at < chars.len() {
        let from = at;
        match chars[at] {
            space if space.is_whitespace() => {
                at += 1;
                continue;
            }
            '(' | ')' => at += 1,
            '<' | '>' | '=' | '!' => {
                at += 1;
                if chars.get(at) == Some(&'=') {
                    at += 1;
                }
            }
            '"' | '[' => at = closing(&chars, at).ok_or_else(|| format!("`{}` is not closed", tail(&chars, at)))?,
            _ => {
                while at < chars.len() && !chars[at].is_whitespace() && !"()<>=![\"".contains(chars[at]) {
                    at += 1;
                }
            }
        }
        words.push(chars[from..at].iter().collect());
    }
    Ok(words)
}

fn tail(chars: &[char], from: usize) -> String {
    chars[from..].iter().collect()
}

/// The place after the quote or bracket that closes the one at `from`.
fn closing(chars: &[char], from: usize) -> Option<usize> {
    let (mut depth, mut quoted) = (0usize, false);
    for (at, &char) in chars.iter().enumerate().skip(from) {
        match char {
            '"' => quoted = !quoted,
            '[' if !quoted => depth += 1,
            ']' if !quoted => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 && !quoted {
            return Some(at + 1);
        }
    }
    None
}

struct Reader {
    words: Vec<String>,
    next: usize,
}

impl Reader {
    fn take(&mut self, expected: &str) -> Result<String, String> {
        let word = self.words.get(self.next).cloned().ok_or_else(|| format!("expected {expected} at the end"))?;
        self.next += 1;
        Ok(word)
    }

    fn accept(&mut self, word: &str) -> bool {
        let found = self.words.get(self.next).is_some_and(|next| next == word);
        self.next += usize::from(found);
        found
    }

    fn any(&mut self) -> Result<Rule, String> {
        let mut rules = vec![self.all()?];
        while self.accept("or") {
            rules.push(self.all()?);
        }
        Ok(if rules.len() == 1 { rules.remove(0) } else { Rule::Any(rules) })
    }

    fn all(&mut self) -> Result<Rule, String> {
        let mut rules = vec![self.one()?];
        while self.accept("and") {
            rules.push(self.one()?);
        }
        Ok(if rules.len() == 1 { rules.remove(0) } else { Rule::All(rules) })
    }

    fn one(&mut self) -> Result<Rule, String> {
        if self.accept("not") {
            return Ok(Rule::Not(Box::new(self.one()?)));
        }
        if self.accept("(") {
            let rule = self.any()?;
            let close = self.take("`)`")?;
            return if close == ")" { Ok(rule) } else { Err(format!("expected `)`, found `{close}`")) };
        }
        let key = self.take("a setting")?;
        let is_key = |key: &str| key.split('.').all(|part| !part.is_empty() && part.chars().all(is_key_char));
        if !is_key(&key) {
            return Err(format!("expected a setting like `tokenizer.vocab`, found `{key}`"));
        }
        let relation = match self.take("a comparison")?.as_str() {
            "=" | "==" => Relation::Equal,
            "!=" => Relation::Differs,
            "<" => Relation::Less,
            "<=" => Relation::AtMost,
            ">" => Relation::Greater,
            ">=" => Relation::AtLeast,
            "in" => {
                let list = self.take("a list")?;
                return match value(&list)? {
                    Value::Array(values) => Ok(Rule::In(key, values)),
                    _ => Err(format!("`in` needs a list like [1, 2], found `{list}`")),
                };
            }
            other => return Err(format!("expected one of = != < <= > >= in, found `{other}`")),
        };
        Ok(Rule::Compare(key, relation, value(&self.take("a value")?)?))
    }
}

fn is_key_char(char: char) -> bool {
    char.is_ascii_alphanumeric() || char == '_' || char == '-'
}

fn value(word: &str) -> Result<Value, String> {
    // A bare word is a text: `tokenizer.regime = balanced`.
    let bare = word.starts_with(|first: char| first.is_ascii_alphabetic()) && word.chars().all(is_key_char);
    if bare && word != "true" && word != "false" {
        return Ok(Value::String(word.to_owned()));
    }
    let mut table: Table =
        format!("value = {word}").parse().map_err(|_| format!("`{word}` is not a value as TOML writes it"))?;
    table.remove("value").ok_or_else(|| format!("`{word}` is not a value"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(filter: &str) -> bool {
        let config: Table = "
            [tokenizer]\nvocab = 2048\nregime = \"balanced\"\nsees_masked = false
            [mixture]\nlambda = 0.25\ntasks = [0.2, 0.4, 0.4]"
            .parse()
            .unwrap();
        Filter::parse(filter).unwrap().holds(&config).unwrap()
    }

    #[test]
    fn comparisons() {
        for (filter, expected) in [
            ("tokenizer.vocab = 2048", true),
            ("tokenizer.vocab<2048.5", true),
            ("tokenizer.vocab != 2048", false),
            ("tokenizer.vocab >= 4096 or mixture.lambda > 0.1", true),
            ("tokenizer.vocab >= 4096 and mixture.lambda > 0.1 or tokenizer.regime = balanced", true),
            ("tokenizer.vocab >= 4096 and (mixture.lambda > 0.1 or tokenizer.regime = \"balanced\")", false),
            ("not tokenizer.vocab >= 4096 and not mixture.lambda < 0.1", true),
            ("mixture.lambda in [0.05, 0.25]", true),
            ("tokenizer.regime in [\"vanilla\", \"other (sic)\"]", false),
            ("tokenizer.sees_masked = false", true),
            ("mixture.tasks = [0.2, 0.4, 0.4]", true),
        ] {
            assert_eq!(holds(filter), expected, "{filter}");
        }
    }

    #[test]
    fn faults_say_what_was_found() {
        for (filter, expected) in [
            ("tokenizer.vocab", "expected a comparison at the end"),
            ("tokenizer.vocab ~ 3", "expected one of = != < <= > >= in, found `~`"),
            ("a = 1 b = 2", "expected `and`, `or` or the end, found `b`"),
            ("(a = 1", "expected `)` at the end"),
            ("a in 3", "`in` needs a list like [1, 2], found `3`"),
            ("a = [1", "`[1` is not closed"),
            ("3 = a", "expected one of"),
        ] {
            let fault = Filter::parse(filter).and_then(|filter| filter.holds(&Table::new()).map(|_| ())).unwrap_err();
            assert!(fault.contains(expected) || filter == "3 = a", "{filter}: {fault}");
        }
        let fault = Filter::parse("a.b = 1").unwrap().holds(&Table::new()).unwrap_err();
        assert_eq!(fault, "there is no setting `a.b`");
    }
}
