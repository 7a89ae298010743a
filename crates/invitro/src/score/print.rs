//! Scores as people read them, word over number, and as JSON lines.

use super::line::{Scored, ScoredWord};
use crate::study::format::count;
use crate::terminal::{self, Paint, To, columns, paint};
use anyhow::Result;
use serde_json::{Value, json};

pub struct ScorePrinter {
    json: bool,
    pub lines: usize,
    pairs: usize,
    /// Pairs whose first sentence is the likelier one.
    first: usize,
    /// Words that the language does not have.
    unknown: usize,
}

impl ScorePrinter {
    pub fn new(json: bool) -> ScorePrinter {
        ScorePrinter { json, lines: 0, pairs: 0, first: 0, unknown: 0 }
    }

    pub fn line(&mut self, number: usize, sides: &[Scored]) -> Result<()> {
        self.lines += 1;
        self.unknown += sides.iter().flat_map(|side| &side.words).filter(|word| !word.known).count();
        let difference = match sides {
            [first, second] => Some(first.logprob() - second.logprob()),
            _ => None,
        };
        if let Some(difference) = difference {
            self.pairs += 1;
            self.first += usize::from(difference > 0.0);
        }
        if self.json {
            emit!("{}", in_json(number, sides, difference));
            return Ok(());
        }
        let between = if self.lines > 1 { "\n" } else { "" };
        match difference {
            None => say!("{between}{number}  {} nats", nats(sides[0].logprob())),
            Some(difference) => {
                let preferred = if difference > 0.0 { "the first is likelier" } else { "the second is likelier" };
                let preferred = if difference == 0.0 { "both are as likely" } else { preferred };
                say!(
                    "{between}{number}  {} by {} nats: {} and {}",
                    paint(To::Out, Paint::Bold, preferred),
                    nats(difference.abs()),
                    nats(sides[0].logprob()),
                    nats(sides[1].logprob())
                );
            }
        }
        for side in sides {
            say!("{}", interlinear(&side.words, terminal::width(To::Out)));
        }
        Ok(())
    }

    /// What all lines come to.
    pub fn end(&self) -> Result<()> {
        if self.unknown > 0 {
            terminal::warn(&format!("{} not of the language, marked with *", count_are(self.unknown)));
        }
        if self.pairs > 0 {
            let share = 100.0 * self.first as f64 / self.pairs as f64;
            let total =
                format!("the first is likelier in {} of {} ({share:.1} %)", self.first, count(self.pairs, "pair"));
            if self.json {
                note!("{total}");
            } else {
                say!("\n{total}");
            }
        }
        Ok(())
    }
}

fn in_json(number: usize, sides: &[Scored], difference: Option<f64>) -> Value {
    let word = |word: &ScoredWord| json!({ "word": word.text, "known": word.known, "logprob": word.logprob });
    let side =
        |side: &Scored| json!({ "logprob": side.logprob(), "words": side.words.iter().map(word).collect::<Vec<_>>() });
    match (sides, difference) {
        ([first, second], Some(difference)) => json!({
            "line": number, "first": side(first), "second": side(second), "difference": difference,
            "prefers": if difference > 0.0 { "first" } else if difference < 0.0 { "second" } else { "neither" },
        }),
        _ => {
            let mut value = side(&sides[0]);
            value["line"] = json!(number);
            value
        }
    }
}

fn count_are(words: usize) -> String {
    format!("{} {}", count(words, "word"), if words == 1 { "is" } else { "are" })
}

/// Two decimals, a real minus sign.
fn nats(value: f64) -> String {
    format!("{value:.2}").replace('-', "−")
}

/// Words over their numbers, broken together where they would be wider than the terminal.
fn interlinear(words: &[ScoredWord], width: Option<usize>) -> String {
    let cells: Vec<[String; 2]> = words
        .iter()
        .map(|word| [format!("{}{}", word.text, if word.known { "" } else { "*" }), nats(word.logprob)])
        .collect();
    let mut out: Vec<[String; 2]> = Vec::new();
    let mut used = 0;
    for [word, number] in cells {
        let wide = columns(&word).max(columns(&number));
        if out.is_empty() || width.is_some_and(|width| used + 2 + wide > width) {
            out.push(["  ".into(), "  ".into()]);
        }
        let lines = out.last_mut().expect("a line was begun");
        for (line, cell) in lines.iter_mut().zip([word, number]) {
            line.push_str(&format!("  {}{cell}", " ".repeat(wide - columns(&cell))));
        }
        used = columns(&lines[0]);
    }
    out.into_iter()
        .map(|lines| lines.map(|line| line[2..].trim_end().to_owned()).join("\n"))
        .collect::<Vec<_>>()
        .join("\n")
}
