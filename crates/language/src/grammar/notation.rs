//! The paper's notation for grammars: `Left -> A 'b' C [0.4] | D [0.6]`, continued over lines that start with `|`.
//! Parses text into rules with their lines, then resolves names into numbers.

use crate::error::{Error, Result};
use crate::world::symbol::Terminal;
use invitro_base::limits;
use std::collections::HashMap;

/// One item of a rule's right side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleItem {
    /// A nonterminal, by its number.
    Nonterminal(usize),
    /// A terminal that becomes a word.
    Word(Terminal),
    /// A mark that becomes no word.
    Silent,
}

/// One alternative of a nonterminal.
#[derive(Clone, Debug, PartialEq)]
pub struct Production {
    /// Its right side.
    pub items: Vec<RuleItem>,
    /// The probability that the nonterminal is rewritten so.
    pub probability: f64,
}

/// A left side with its alternatives, as written.
#[derive(Debug)]
pub struct Rule {
    pub left: String,
    pub line: usize,
    pub alternatives: Vec<Alternative>,
}

#[derive(Debug)]
pub struct Alternative {
    pub line: usize,
    pub symbols: Vec<Written>,
    pub probability: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Written {
    Nonterminal(String),
    Terminal(String),
}

#[derive(Debug, PartialEq)]
enum Token {
    Arrow,
    Bar,
    Name(String),
    Quoted(String),
    Probability(f64),
}

/// The terminals; `None` for the silent marks.
const TERMINALS: [(&str, Option<Terminal>); 10] = [
    ("[P]", None),
    ("<eos>", None),
    ("subjectID", Some(Terminal::Subject)),
    ("objectID", Some(Terminal::Object)),
    ("relV", Some(Terminal::Relation)),
    ("descV", Some(Terminal::Descriptor)),
    ("descPreP", Some(Terminal::Copula)),
    ("relPreP", Some(Terminal::Preposition)),
    ("conj", Some(Terminal::Conjunction)),
    ("<sep>", Some(Terminal::Separator)),
];

/// The rules of a grammar's text, in order.
pub fn read(name: &str, text: &str) -> Result<Vec<Rule>> {
    let mut rules: Vec<Rule> = Vec::new();
    let mut last = 1;
    for (i, line) in text.lines().enumerate() {
        let fault = |fault: String| Error::Grammar { name: name.into(), line: i + 1, fault };
        let mut tokens = tokens(line).map_err(fault)?.into_iter().peekable();
        let Some(first) = tokens.next() else { continue };
        last = i + 1;
        match first {
            Token::Bar => {}
            Token::Name(left) if tokens.next() == Some(Token::Arrow) => {
                if let Some(rule) = rules.iter().find(|r| r.left == left) {
                    return Err(fault(format!("`{left}` is already defined in line {}", rule.line)));
                }
                if rules.len() == limits::NONTERMINALS {
                    let most = limits::NONTERMINALS;
                    return Err(fault(format!(
                        "`{left}` is nonterminal {}; a grammar may have at most {most}",
                        most + 1
                    )));
                }
                rules.push(Rule { left, line: i + 1, alternatives: Vec::new() });
            }
            _ => return Err(fault("expected `Name -> …` or a line that continues with `|`".into())),
        }
        let Some(rule) = rules.last_mut() else { return Err(fault("`|` before any rule".into())) };
        loop {
            let mut symbols = Vec::new();
            let probability = loop {
                match tokens.next() {
                    Some(Token::Name(n)) => symbols.push(Written::Nonterminal(n)),
                    Some(Token::Quoted(t)) => symbols.push(Written::Terminal(t)),
                    Some(Token::Probability(p)) => break p,
                    Some(Token::Bar | Token::Arrow) | None => {
                        let left = &rule.left;
                        return Err(fault(format!("an alternative of `{left}` has no probability, as in [0.5]")));
                    }
                }
            };
            if symbols.is_empty() {
                return Err(fault(format!("an alternative of `{}` is empty", rule.left)));
            }
            rule.alternatives.push(Alternative { line: i + 1, symbols, probability });
            match tokens.next() {
                None => break,
                Some(Token::Bar) => {}
                Some(_) => return Err(fault("after a probability only `|` may follow".into())),
            }
        }
    }
    if rules.is_empty() {
        return Err(Error::Grammar { name: name.into(), line: last, fault: "there is no rule".into() });
    }
    Ok(rules)
}

fn tokens(line: &str) -> std::result::Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut unread = line.trim_start();
    while let Some(first) = unread.chars().next() {
        let (token, used) = match first {
            '#' => break,
            '|' => (Token::Bar, 1),
            '-' if unread.starts_with("->") => (Token::Arrow, 2),
            '\'' => {
                let end = unread[1..].find('\'').ok_or("a quote is not closed")?;
                (Token::Quoted(unread[1..=end].to_owned()), end + 2)
            }
            '[' => {
                let end = unread.find(']').ok_or("a probability's bracket is not closed")?;
                let given = &unread[1..end];
                let p: f64 =
                    given.trim().parse().map_err(|_| format!("`{given}` is not a probability, as in [0.5]"))?;
                if !(0.0..=1.0).contains(&p) {
                    return Err(format!("the probability {given} is not between 0 and 1"));
                }
                (Token::Probability(p), end + 1)
            }
            c if c.is_alphanumeric() || c == '_' => {
                let end = unread.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(unread.len());
                (Token::Name(unread[..end].to_owned()), end)
            }
            other => return Err(format!("`{other}` is not part of the notation")),
        };
        tokens.push(token);
        unread = unread[used..].trim_start();
    }
    Ok(tokens)
}

/// The nonterminals' names, their productions, and the line of each.
pub type Resolved = (Vec<String>, Vec<Vec<Production>>, Vec<usize>);

/// Resolves names into numbers: the nonterminals in order of definition.
pub fn resolve(name: &str, rules: &[Rule]) -> Result<Resolved> {
    let number: HashMap<&str, usize> = rules.iter().enumerate().map(|(i, r)| (r.left.as_str(), i)).collect();
    let item = |written: &Written, line| {
        let fault = |fault| Error::Grammar { name: name.into(), line, fault };
        match written {
            Written::Nonterminal(n) => number
                .get(n.as_str())
                .map(|&i| RuleItem::Nonterminal(i))
                .ok_or_else(|| fault(format!("`{n}` is not defined; terminals are quoted"))),
            Written::Terminal(t) => match TERMINALS.iter().find(|(known, _)| known == t) {
                Some((_, Some(terminal))) => Ok(RuleItem::Word(*terminal)),
                Some((_, None)) => Ok(RuleItem::Silent),
                None => {
                    let known: Vec<&str> = TERMINALS.iter().map(|(t, _)| *t).collect();
                    Err(fault(format!("'{t}' is not a terminal; known are {}", known.join(", "))))
                }
            },
        }
    };
    let mut productions = Vec::with_capacity(rules.len());
    for rule in rules {
        let mut list = Vec::with_capacity(rule.alternatives.len());
        for a in &rule.alternatives {
            let items = a.symbols.iter().map(|s| item(s, a.line)).collect::<Result<_>>()?;
            list.push(Production { items, probability: a.probability });
        }
        productions.push(list);
    }
    Ok((rules.iter().map(|r| r.left.clone()).collect(), productions, rules.iter().map(|r| r.line).collect()))
}
