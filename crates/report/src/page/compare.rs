//! The page of groups of runs side by side.

use super::html::table;
use super::{figures, glossary, shell};
use crate::draw::escape;
use crate::figures::Figure;
use crate::wording::counted;
use invitro_results::{Comparison, Moment, Quantity, RunGroup};
use invitro_stats::{Estimate, Interval, decimals};

pub fn page(comparison: &Comparison, findings: &[String], reading: &[String], drawn: &[Figure]) -> String {
    let Comparison { groups, .. } = comparison;
    let mut body = String::from("<section id=\"overview\">\n<h1>Groups of runs side by side</h1>\n");
    body.push_str(&table(
        "plain",
        &["", "runs", "what differs"],
        groups.iter().enumerate().map(|it| row(comparison, it)),
    ));
    body.push_str(&measures(comparison));
    body.push_str(&format!("<p>{}</p>\n", escape(&reading.join(" "))));
    if !findings.is_empty() {
        body.push_str(&super::claims::sentences_html(findings));
    }
    comparison.notes.iter().for_each(|note| body.push_str(&format!("<p class=\"note\">{}</p>\n", escape(note))));
    body.push_str("</section>\n");
    body.push_str(&figures::unfolded(drawn));
    body.push_str(&glossary::section(comparison.study.conditions()));
    let links = [("overview", "Overview"), ("figures", "Figures"), ("glossary", "Glossary")];
    shell(&comparison.study.name, "comparison", &links, &body, None)
}

/// A group: its number, its runs, and its settings by their whole keys.
fn row(comparison: &Comparison, (place, group): (usize, &RunGroup)) -> Vec<String> {
    let value = |value: &Option<invitro_results::Value>| value.as_ref().map_or("–".into(), ToString::to_string);
    let setting = |it: &invitro_results::Differing| {
        format!("<code>{}</code> {}", escape(&it.key), escape(&value(&it.values[place])))
    };
    let settings: Vec<String> = comparison.differing.iter().map(setting).collect();
    let named = if settings.is_empty() { escape(&group.name) } else { settings.join("<br>") };
    let runs = counted(group.runs.len(), "run");
    vec![
        format!("group {}", place + 1),
        format!("{runs}, {}", counted(comparison.data_seeds(group), "data seed")),
        named,
    ]
}

/// A row per measure: the mean of each group, and its difference from the first.
fn measures(comparison: &Comparison) -> String {
    let [first, others @ ..] = &comparison.groups[..] else { return String::new() };
    let names: Vec<String> = comparison.groups.iter().map(|group| escape(&group.name)).collect();
    let differences: Vec<String> = match others.len() {
        1 => vec!["difference".into()],
        many => (0..many).map(|place| format!("group {} less group 1", place + 2)).collect(),
    };
    let header: Vec<&str> =
        std::iter::once("at the end").chain(names.iter().chain(&differences).map(String::as_str)).collect();
    let rows = comparison.measured().into_iter().map(|(compared, condition)| {
        let quantity = Quantity::in_condition(compared.measure, &condition);
        let means = comparison.groups.iter().map(|group| comparison.mean(group, &quantity, Moment::End));
        let less_first = others.iter().map(|group| comparison.difference(group, first, &quantity, Moment::End));
        let name = format!("{}, {}", escape(compared.name), condition.label());
        std::iter::once(name).chain(means.chain(less_first).map(cell)).collect()
    });
    table("plain", &header, rows.collect::<Vec<_>>())
}

fn cell(estimate: Option<Estimate>) -> String {
    let number = |value: f64| decimals(value, 2);
    match estimate {
        None => "–".into(),
        Some(Estimate { value, interval: None, .. }) => number(value),
        Some(Estimate { value, interval: Some(Interval { low, high }), .. }) => {
            format!("{} <small>[{}, {}]</small>", number(value), number(low), number(high))
        }
    }
}
