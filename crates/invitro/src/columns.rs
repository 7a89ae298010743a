//! The lines of evaluations: a column per condition and measure, as many measures as the terminal has room for.

use crate::terminal;
use invitro_lab::training::progress::{Headline, Scores};
use invitro_results::Condition;

/// What is told of every evaluation, by condition: its title, the width of a value, how, and its rank where not all of
/// them fit.
struct ColumnGroup {
    title: &'static str,
    width: usize,
    signed: bool,
    value: fn(&Scores) -> Option<f64>,
    rank: usize,
}

const GROUPS: [ColumnGroup; 4] = [
    ColumnGroup { title: "grammatical", width: 4, signed: false, value: |scores| scores.grammatical, rank: 0 },
    ColumnGroup { title: "types hold", width: 4, signed: false, value: |scores| scores.types, rank: 3 },
    ColumnGroup { title: "facts hold", width: 4, signed: false, value: |scores| scores.facts, rank: 2 },
    ColumnGroup { title: "contrast, nats", width: 5, signed: true, value: |scores| scores.contrast, rank: 1 },
];

/// Over the names of members.
const SEEDS: &str = "data/model";

/// The columns of the lines of evaluations: as many groups as fit.
pub struct EvaluationColumns {
    step: usize,
    /// 0 where there is one member.
    name: usize,
    /// Places in [`GROUPS`].
    pub groups: Vec<usize>,
}

impl EvaluationColumns {
    pub fn new(steps: u64, names: &[String], headline: &Headline, width: Option<usize>) -> EvaluationColumns {
        let step = steps.to_string().len().max(4);
        let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        let name = if longest == 0 { 0 } else { longest.max(SEEDS.len()) + 2 };
        let mut groups: Vec<usize> = (0..GROUPS.len()).collect();
        let wide = |groups: &[usize]| {
            let columns = EvaluationColumns { step, name, groups: groups.to_vec() };
            columns.heads(headline).lines().map(terminal::columns).max().unwrap_or(0)
        };
        while groups.len() > 1 && width.is_some_and(|width| wide(&groups) > width) {
            groups.sort_by_key(|&group| GROUPS[group].rank);
            groups.pop();
            groups.sort_unstable();
        }
        EvaluationColumns { step, name, groups }
    }

    pub fn heads(&self, headline: &Headline) -> String {
        let EvaluationColumns { step, name, groups } = self;
        let labels: Vec<String> = headline.conditions.iter().map(|(condition, _)| condition.label()).collect();
        let under = |group: &ColumnGroup| {
            let width = group.width;
            labels.iter().map(|label| format!("{label:>width$}")).collect::<Vec<_>>().join(" ")
        };
        let mut titles = " ".repeat(step + name + 7);
        let mut heads = format!("{:>step$}{}{:>7}", "step", self.named(SEEDS), "loss");
        for group in groups.iter().map(|&group| &GROUPS[group]) {
            let labels = under(group);
            let room = labels.chars().count().max(group.title.len());
            titles.push_str(&format!("  {:<room$}", group.title));
            heads.push_str(&format!("  {labels:>room$}"));
        }
        format!("{}\n{heads}", titles.trim_end())
    }

    /// A member's name in its column.
    fn named(&self, name: &str) -> String {
        if self.name == 0 { String::new() } else { format!("  {name:<0$}", self.name - 2) }
    }

    pub fn line(&self, step: u64, member: &str, headline: &Headline) -> String {
        let loss = headline.loss.map_or("–".into(), |loss| format!("{loss:.3}"));
        let mut line = format!("{step:>0$}{1}{loss:>7}", self.step, self.named(member));
        for group in self.groups.iter().map(|&group| &GROUPS[group]) {
            let width = group.width;
            let one = |(_, scores): &(Condition, Scores)| match (group.value)(scores) {
                // A decimal less where there would be no room for it.
                Some(value) if group.signed && value.abs() >= 9.995 => format!("{value:+width$.1}"),
                Some(value) if group.signed => format!("{value:+width$.2}"),
                Some(value) => format!("{value:width$.2}"),
                None => format!("{:>width$}", "–"),
            };
            let values = headline.conditions.iter().map(one).collect::<Vec<_>>().join(" ");
            line.push_str(&format!("  {values:>0$}", group.title.len()));
        }
        line
    }
}
