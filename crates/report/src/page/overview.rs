//! The first screen of a study: its question, its answers, the figure that shows them and a small table; then what was varied,
//! how far it is, and what measures do over training.

use super::claims;
use super::html::table;
use crate::claims::{ClaimAnswers, Rendered, withheld_noun};
use crate::data::{Factor, FactorWords, Study};
use crate::draw::{escape, to_html};
use crate::figures::captions;
use crate::wording::{counted, listed};
use invitro_results::{Condition, Measure, Moment, Quantity, Scorer, Statistic, Targets, TaskMetric};
use invitro_stats::{Seed, decimals, grouped};
use std::collections::{BTreeMap, BTreeSet};

/// `first` is the figure that shows the finding.
pub fn section(study: &Study, answers: &ClaimAnswers, first: &str) -> String {
    let mut html = String::from("<section id=\"overview\">\n");
    let title = answers.question.as_ref().unwrap_or(&study.name);
    html.push_str(&format!("<h1>{}</h1>\n", with_code(&to_html(title))));
    html.push_str(&key(study, answers));
    html.push_str(&super::notes(study));
    html.push_str(&claims::opening(study, answers, first));
    html.push_str(&at_the_end(study));
    html.push_str(&format!("<p class=\"lead\">{}</p>\n", to_html(&lead(study))));
    html.push_str(&progress(study));
    let over_training = trajectories(study);
    if !over_training.is_empty() {
        html.push_str(&format!(
            "<details><summary>What measures do over training</summary>{over_training}</details>\n"
        ));
    }
    html.push_str("</section>\n");
    html
}

/// Names in backticks, as code.
fn with_code(html: &str) -> String {
    let part = |(place, part): (usize, &str)| if place % 2 == 1 { format!("<code>{part}</code>") } else { part.into() };
    html.split('`').enumerate().map(part).collect()
}

/// The meaning of the names on the first screen, in one line.
fn key(study: &Study, answers: &ClaimAnswers) -> String {
    let labels = |masked: bool| -> Vec<String> {
        study.conditions().iter().filter(|it| it.masked == masked).map(Condition::label).collect()
    };
    let (languages, masked) = (labels(false), labels(true));
    if languages.is_empty() || masked.is_empty() {
        return String::new();
    }
    let target: Vec<String> = study.masked().map(|it| it.language.to_string()).collect();
    let mut meanings = vec![
        format!("{} are languages of one world", listed(&languages)),
        format!("{}, {} of {}", listed(&masked), withheld_noun(study.withheld()), listed(&target)),
    ];
    let known = [(Factor::DISTANCE, "the distance of two languages"), (Factor::VOCAB, "the size of the vocabulary")];
    let known = known.into_iter().chain([(Factor::LAMBDA, "the ratio of text in B to text in A")]);
    let known =
        known.into_iter().chain([(Factor::new("tokenizer.share"), "which pieces their tokenizers have in common")]);
    let varied = known.filter(|(factor, _)| study.varying().contains(factor));
    meanings.extend(varied.map(|(factor, meaning)| format!("{}, {meaning}", factor.symbol())));
    let mut primary = answers.answers.iter().filter(|answer| answer.claim.primary);
    if primary.any(|answer| Rendered::new(study, answer).measured.contains("β̂")) {
        meanings.push("*β̂*, the pieces that an unseen word shares with the nearest word that training has".into());
    }
    format!("<p class=\"note key\">{}.</p>\n", to_html(&meanings.join("; ")))
}

/// The measures of the small table on the first screen.
const AT_THE_END: [usize; 3] = [0, 4, 5];

/// What each condition comes to: one row of three numbers.
fn at_the_end(study: &Study) -> String {
    let measures = AT_THE_END.map(|place| SUMMARISED[place]);
    let row = |condition: &Condition| {
        let end = |(measure, _): (Measure, &str)| {
            let quantity = Quantity::in_condition(measure, condition);
            study.read(study.ended(study.baseline()), &quantity, Moment::End)
        };
        let values = measures.map(end);
        let cells = values.iter().map(|value| value.as_ref().map_or("–".into(), ToString::to_string));
        values.iter().any(Option::is_some).then(|| std::iter::once(condition.label()).chain(cells).collect())
    };
    let rows: Vec<Vec<String>> = study.conditions().iter().filter_map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    let runs = study.ended(study.baseline()).count();
    let held = captions::held(study, study.baseline());
    let header: Vec<&str> = std::iter::once("in").chain(measures.map(|(_, name)| name)).collect();
    let runs = counted(runs, "run");
    format!(
        "<p class=\"note\">At the end of training, means of {runs}{held}:</p>\n{}",
        table("plain small", &header, rows)
    )
}

/// Measures whose course over training is described.
const SUMMARISED: [(Measure, &str); 6] = [
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
    for (measure, name) in SUMMARISED {
        for condition in study.conditions() {
            let Some(found) = study.trajectory(study.baseline(), &Quantity::in_condition(measure, condition)) else {
                continue;
            };
            let [first, middle, last] = found.steps.map(|step| grouped(f64::from(step)));
            rows.push(vec![
                to_html(name),
                condition.label(),
                found.before.map_or("–".into(), |before| before.to_string()),
                if first == last { first } else { format!("{middle} <small>({first} to {last})</small>") },
                found.end.to_string(),
                found.decline.map_or("–".into(), |decline| decline.to_string()),
            ]);
        }
    }
    if rows.is_empty() {
        return String::new();
    }
    let header = ["measure", "in", "before", "runs peak at step", "end", "decline"];
    let held = study.baseline().iter().map(|(factor, level)| factor.with_level(&study.levels(*factor)[*level]));
    let held: String = held.map(|level| format!(" with {level}")).collect();
    let by_level = by_level(study);
    format!(
        "<p>Means over the runs that ended{}, of a language over those that have it. A run's largest value is partly luck: <em>before</em> is its value at the \
         step where the runs of other data seeds peak, and the decline is before less end. Steps are the middle one of the runs' own peaks (the first to the \
         last).</p>\n{}{by_level}",
        to_html(&held),
        table("plain", &header, rows)
    )
}

/// The masked conditions at the peak and at the end, by the levels of what was varied: rows of one factor, columns of
/// another.
fn by_level(study: &Study) -> String {
    // A factor that is not crossed with the others, such as the distance of a language that only some runs have, makes no table.
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
    let has_runs = |level: usize| {
        let cell: Vec<_> = comparable.iter().copied().chain(down.map(|down| (down, level))).collect();
        study.ended(&cell).next().is_some()
    };
    let mut rows = Vec::new();
    for (measure, name) in [SUMMARISED[0], SUMMARISED[4], SUMMARISED[5]] {
        for masked in study.masked() {
            let quantity = Quantity::in_condition(measure, masked);
            let value = |cell: &[(Factor, usize)], moment: Moment| {
                let cell = [&comparable[..], cell].concat();
                study.read(study.ended(&cell), &quantity, moment).map_or("–".into(), |it| decimals(it.value, 2))
            };
            let below: Vec<_> = down.map_or(vec![None], |down| {
                levels(down).filter(|(level, _)| has_runs(*level)).map(|level| Some((down, level))).collect()
            });
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
    let columns: Vec<String> = levels(across).map(|(_, level)| across.with_level(level)).collect();
    let mut header = vec!["from peak to end", "in"];
    let symbol = down.map(|factor| factor.symbol());
    header.extend(symbol.as_deref());
    header.extend(columns.iter().map(String::as_str));
    let further: Vec<String> = study
        .varying()
        .into_iter()
        .filter(|it| *it != across && Some(*it) != down && !comparable.iter().any(|(held, _)| held == it))
        .map(|it| to_html(&it.noun()))
        .collect();
    let whatever = (!further.is_empty()).then(|| format!(", whatever their {}", listed(&further)));
    let held = comparable
        .iter()
        .map(|&(factor, level)| format!(", {}", to_html(&factor.with_level(&study.levels(factor)[level]))));
    let over: String = held.chain(whatever).collect();
    format!("<p>By what was varied, means over the runs of each cell{over}:</p>\n{}", table("plain", &header, rows))
}

fn lead(study: &Study) -> String {
    if study.runs.is_empty() && !study.notes.is_empty() {
        return "No run can be shown.".into();
    }
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
    let levels = |factor: Factor| format!("{} ({})", factor.noun(), study.levels(factor).join(", "));
    let varied: Vec<String> = study.varying().into_iter().map(levels).collect();
    if study.seed_pairs.len() < 2 {
        lead.push_str(" With a single seed there are no intervals, and no claim can be tested.");
    } else if ended.iter().collect::<BTreeSet<_>>().len() < 2 {
        lead.push_str(" Until runs of a second seed have ended, no claim can be tested.");
    } else if study.seed_pairs.iter().all(|pair| pair.0 == study.seed_pairs[0].0) {
        lead.push_str(" With a single data seed the intervals speak of other models of the same languages alone.");
    }
    if ended.len() < study.runs.len() {
        lead.push_str(" Curves use every run; peaks, ends, emergence and all tests use only runs that ended.");
    }
    if !varied.is_empty() {
        lead.push_str(&format!(" Varied: {}.", varied.join("; ")));
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
