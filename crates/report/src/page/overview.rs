//! The overview of a study: what was varied, how far it is, the four verdicts, and the paper's claims beside ours.

use super::html::table;
use crate::data::{Factor, Study};
use crate::draw::{escape, to_html};
use crate::findings::hypotheses::Answer;
use crate::findings::knowledge::CONTRASTS;
use crate::findings::transfer::in_masked;
use crate::findings::{Findings, Hypothesis, Knowledge, Test, headline};
use crate::wording::{counted, listed, spoken};
use invitro_results::{Measure, Moment, Quantity, RULE, Scorer, Statistic, Targets, TaskMetric, Verdict, capital};
use invitro_stats::{Estimate, Seed};
use invitro_stats::{decimals, grouped, p_value};
use std::collections::{BTreeMap, BTreeSet};

/// `first` is the figure that shows the finding.
pub fn section(study: &Study, findings: &Findings, first: &str) -> String {
    let mut html = String::from("<section id=\"overview\">\n");
    html.push_str(&format!("<h1>{}</h1>\n", escape(&study.name)));
    html.push_str(&super::notes(study));
    html.push_str(&super::finding(&headline(study, findings), first));
    html.push_str(&format!("<p class=\"lead\">{}</p>\n", to_html(&lead(study))));
    html.push_str(&progress(study));
    if !study.varied().is_empty() {
        html.push_str("<h2>What was varied</h2>\n");
        let cells = |(key, values): &(String, Vec<String>)| {
            vec![format!("<code>{}</code>", escape(key)), escape(&values.join(", ")), values.len().to_string()]
        };
        html.push_str(&table("plain", &["setting", "values", "levels"], study.varied().iter().map(cells)));
    }
    html.push_str(&trajectories(study));
    html.push_str("<h2>The four hypotheses</h2>\n");
    let cards: String = findings.hypotheses.iter().map(card).collect();
    html.push_str(&format!("<div class=\"cards\">\n{cards}</div>\n<p class=\"rule\">{RULE}</p>\n"));
    html.push_str(&knowledge(study, &findings.knowledge));
    html.push_str(&super::arms::section(study, findings));
    html.push_str("<h2>Beside the paper</h2>\n");
    let rows = findings.claims.iter().flat_map(|claim| {
        claim.readings.iter().enumerate().map(|(place, reading)| {
            let ours = reading.estimate.as_ref().map_or("not measured".into(), spoken);
            let note = &reading.note;
            let note = if note.is_empty() { String::new() } else { format!(" <small>({})</small>", to_html(note)) };
            vec![
                if place == 0 { to_html(&claim.paper) } else { String::new() },
                escape(reading.when),
                to_html(&reading.measured) + &note,
                ours,
                badge(reading.verdict, reading.verdict.of_claim()),
            ]
        })
    });
    let header = ["the paper says", "read", "measured here", "value, 95 % interval, runs", "verdict"];
    html.push_str(&table("claims", &header, rows));
    html.push_str("</section>\n");
    html
}

/// Measures whose course over training is told.
const TOLD: [(Measure, &str); 6] = [
    (Measure::unscrambling(TaskMetric::Grammaticality), "T₁, grammatical"),
    (Measure::unscrambling(TaskMetric::Types), "T₁, types hold"),
    (Measure::unscrambling(TaskMetric::Facts), "T₁, Γ holds"),
    (Measure::reach(Scorer::Network, Targets::Allowed, Statistic::Any), "reachability, any target"),
    (Measure::reach(Scorer::Network, Targets::Allowed, Statistic::Share), "reachability, share of targets"),
    (Measure::KNOWLEDGE, "contrast of facts, nats"),
];

/// Of every measure and condition the peak, its step, the end, and what was lost in between.
fn trajectories(study: &Study) -> String {
    let mut rows = Vec::new();
    for (measure, name) in TOLD {
        for condition in study.conditions() {
            let Some(found) = study.trajectory(study.plain(), &Quantity::of(measure, condition)) else { continue };
            let [first, middle, last] = found.steps.map(|step| grouped(f64::from(step)));
            rows.push(vec![
                to_html(name),
                condition.label(),
                found.peak.to_string(),
                if first == last { first } else { format!("{middle} <small>({first} to {last})</small>") },
                found.end.to_string(),
                found.decline.map_or("–".into(), |decline| decline.to_string()),
            ]);
        }
    }
    if rows.is_empty() {
        return String::new();
    }
    let header = ["measure", "in", "peak", "at step", "end", "decline"];
    let held = study.plain().iter().map(|(factor, level)| factor.said(&study.levels(*factor)[*level]));
    let held: String = held.map(|said| format!(" with {said}")).collect();
    let by_level = by_level(study);
    format!(
        "<h2>Over training</h2>\n<p>Means over the runs that ended{}, of a language over those that have it. The peak is each run's own; its step is the middle one of the runs' \
         (the first to the last). The decline is taken from the step at which the runs of <em>other</em> data seeds peak to the end, so that \
         noise alone makes none.</p>\n{}{by_level}",
        to_html(&held),
        table("plain", &header, rows)
    )
}

/// The masked conditions at the peak and at the end, by the levels of what was varied: rows of one factor, columns of
/// another.
fn by_level(study: &Study) -> String {
    // What is not crossed with the rest, such as a language that has a distance only where it is spoken, makes no table.
    let mut factors = study.varying();
    if factors.len() > 2 {
        let crossed =
            |factor: &Factor| study.varying().iter().all(|other| other == factor || study.are_crossed(*factor, *other));
        factors.retain(|factor| !factor.is_kind_of_languages() || crossed(factor));
    }
    let (down, across) = match factors[..] {
        [] => return String::new(),
        [one] => (None, one),
        [first, .., last] => (Some(first), last),
    };
    let levels = |factor: Factor| study.levels(factor).iter().enumerate();
    let comparable = study.comparable(&[down, Some(across)]);
    let mut rows = Vec::new();
    for (measure, name) in [TOLD[0], TOLD[4], TOLD[5]] {
        for masked in study.masked() {
            let quantity = Quantity::of(measure, masked);
            let value = |cell: &[(Factor, usize)], moment: Moment| {
                let cell = [&comparable[..], cell].concat();
                study.read(study.ended(&cell), &quantity, moment).map_or("–".into(), |it| decimals(it.value, 2))
            };
            let below: Vec<_> = down.map_or(vec![None], |down| levels(down).map(|level| Some((down, level))).collect());
            for fixed in below {
                let mut cells = vec![to_html(name), masked.label()];
                cells.extend(fixed.map(|(_, (_, level))| escape(level)));
                let fixed = fixed.map(|(factor, (place, _))| (factor, place));
                cells.extend(levels(across).map(|(level, _)| {
                    let cell: Vec<_> = fixed.into_iter().chain([(across, level)]).collect();
                    format!("{} → {}", value(&cell, Moment::Peak), value(&cell, Moment::End))
                }));
                rows.push(cells);
            }
        }
    }
    let columns: Vec<String> = levels(across).map(|(_, level)| across.said(level)).collect();
    let mut header = vec!["from peak to end", "in"];
    header.extend(down.map(Factor::symbol));
    header.extend(columns.iter().map(String::as_str));
    let rest: Vec<String> = study
        .varying()
        .into_iter()
        .filter(|it| *it != across && Some(*it) != down && !comparable.iter().any(|(held, _)| held == it))
        .map(|it| to_html(&it.noun()))
        .collect();
    let whatever = (!rest.is_empty()).then(|| format!(", whatever their {}", listed(&rest)));
    let held =
        comparable.iter().map(|&(factor, level)| format!(", {}", to_html(&factor.said(&study.levels(factor)[level]))));
    let over: String = held.chain(whatever).collect();
    format!("<p>By what was varied, means over the runs of each cell{over}:</p>\n{}", table("plain", &header, rows))
}

/// What the paper does not ask: whether facts, and not only forms, crossed.
fn knowledge(study: &Study, found: &Knowledge) -> String {
    let value = |estimate: &Option<Estimate>| estimate.map_or("not measured".into(), |estimate| estimate.to_string());
    let rows = found.rows.iter().map(|(title, contrasts)| {
        std::iter::once(to_html(title)).chain(contrasts.iter().map(value)).collect::<Vec<_>>()
    });
    let heads = [&["contrast at the end, in"], &CONTRASTS.map(|(_, _, name)| name)[..]].concat();
    let cognate = found.cognate.as_ref().map_or(String::new(), |estimate| {
        format!(
            "<p>The cognate bridge's correlation with the contrast{}, in nats, less the general bridge's, both by size: {}.</p>\n",
            in_masked(study),
            spoken(estimate)
        )
    });
    format!(
        "<h2>Did knowledge cross?</h2>\n<p class=\"said\">{}</p>\n{}{cognate}",
        to_html(&found.sentence),
        table("plain", &heads, rows)
    )
}

fn lead(study: &Study) -> String {
    if study.runs.is_empty() {
        return "No run has started yet. This page fills as runs are measured; nothing on it is invented.".into();
    }
    let ended: Vec<Seed> = study.ended(&[]).map(|run| run.seed).collect();
    let started = study.runs.iter().filter(|run| run.begun()).count();
    let planned = study.planned.unwrap_or(0).max(study.runs.len());
    if started == 0 {
        return format!("No run of {planned} planned has been measured yet. This page fills as they are.");
    }
    let planned = if planned > started { format!(" of {planned} planned") } else { String::new() };
    let mut lead = format!("{}{planned} over {}; {} ended.", counted(started, "run"), seeds(study), ended.len());
    if study.seed_pairs.len() < 2 {
        lead.push_str(" With a single seed there are no intervals, and no hypothesis can be answered.");
    } else if ended.iter().collect::<BTreeSet<_>>().len() < 2 {
        lead.push_str(" Until runs of a second seed have ended, no hypothesis can be answered.");
    } else if study.seed_pairs.iter().all(|pair| pair.0 == study.seed_pairs[0].0) {
        lead.push_str(" With a single data seed the intervals speak of other models of the same languages alone.");
    }
    if ended.len() < study.runs.len() {
        lead.push_str(" Curves use every run; peaks, ends, emergence and all tests use only runs that ended.");
    }
    lead
}

/// The seeds that were run: how many of each where all were crossed, else the pairs.
fn seeds(study: &Study) -> String {
    let pairs = &study.seed_pairs;
    let distinct =
        |seed: fn(&(f64, f64)) -> f64| pairs.iter().map(|pair| seed(pair).to_bits()).collect::<BTreeSet<_>>();
    let (data, model) = (distinct(|pair| pair.0).len(), distinct(|pair| pair.1).len());
    if pairs.len() == data * model {
        return format!("{} and {}", counted(data, "data seed"), counted(model, "model seed"));
    }
    const SHOWN: usize = 12;
    let named: Vec<String> = pairs.iter().take(SHOWN).map(|(data, model)| format!("{data}/{model}")).collect();
    let more = if pairs.len() > SHOWN { ", …" } else { "" };
    format!("{} pairs of data seed and model seed ({}{more})", pairs.len(), named.join(", "))
}

/// How many runs are in which state.
fn progress(study: &Study) -> String {
    let mut states: BTreeMap<&str, usize> = BTreeMap::new();
    for run in &study.runs {
        *states.entry(run.state()).or_default() += 1;
    }
    if states.is_empty() || (states.len() == 1 && study.runs.iter().all(|run| run.done())) {
        return String::new();
    }
    let ended = study.runs.iter().filter(|run| run.done()).count();
    let listed: Vec<String> = states.iter().map(|(state, count)| format!("{count} {}", escape(state))).collect();
    format!(
        "<p class=\"progress\"><progress max=\"{}\" value=\"{ended}\"></progress> {}</p>\n",
        study.runs.len(),
        listed.join(", ")
    )
}

pub(super) fn badge(verdict: Verdict, word: &str) -> String {
    let class = match verdict {
        Verdict::Supported => "yes",
        Verdict::Contradicted | Verdict::Negligible => "no",
        Verdict::CannotTell | Verdict::NotJudged => "open",
    };
    format!("<span class=\"badge {class}\">{word}</span>")
}

fn card(hypothesis: &Hypothesis) -> String {
    let tests = hypothesis.tests.iter().map(cells);
    let answers: String = hypothesis.answers.iter().map(answer).collect();
    format!(
        "<article class=\"card\" id=\"{}\"><h3>{} {}</h3><p class=\"claim\">{}</p>{answers}\
         <details><summary>How it was tested</summary><p>{}</p>{}</details></article>\n",
        hypothesis.id,
        hypothesis.id,
        hypothesis.name,
        to_html(hypothesis.claim),
        to_html(&hypothesis.method),
        table("tests", &["quantity", "value, 95 % interval, runs", "*p*", "verdict"], tests),
    )
}

/// One reading of a hypothesis.
fn answer(answer: &Answer) -> String {
    format!(
        "<p class=\"said\"><b>{}</b> {} {}</p>",
        capital(&answer.when),
        badge(answer.verdict, answer.verdict.word()),
        to_html(&answer.sentence)
    )
}

fn cells(test: &Test) -> Vec<String> {
    let value = test.estimate.as_ref().map_or("none".into(), spoken);
    let note = if test.note.is_empty() || (test.estimate.is_some() && test.note.starts_with("the runs")) {
        String::new()
    } else {
        format!(" <small>({})</small>", to_html(&test.note))
    };
    vec![
        to_html(&test.what) + &note,
        value,
        test.p.map_or(String::new(), |p| escape(&p_value(p))),
        badge(test.verdict, test.verdict.word()),
    ]
}
