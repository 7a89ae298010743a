//! What specs are made of: conditions that are drawn together, metrics of sentences, models and sets of targets, contrasts.

use super::engine::Facet;
use super::figure::Chooser;
use super::style::{self, Style};
use crate::data::{Factor, Study};
use crate::draw::{Colour, MarkerShape, plain_text};
use crate::wording::listed;
use invitro_results::{Fraction, Measure, Moment, Scorer, Statistic, Targets, Task, TaskMetric};

/// Conditions that are drawn together.
pub struct ConditionGroup {
    pub name: String,
    pub conditions: Vec<Facet>,
}

/// Groups have more than one where there are more conditions than this.
const MOST: usize = 6;

/// Every condition, with its style.
pub fn conditions(study: &Study) -> Vec<Facet> {
    let facet = |(condition, style): (invitro_results::Condition, Style)| Facet {
        title: style.name.clone(),
        cells: vec![("condition", style.name.clone())],
        style: Some(style),
        condition: Some(condition),
        ..Facet::default()
    };
    style::conditions(study).into_iter().map(facet).collect()
}

/// All conditions where they are few, else the first language with the masked ones, or the languages without.
pub fn groups(study: &Study) -> Vec<ConditionGroup> {
    let all = conditions(study);
    match all.first().map(|first| first.title.clone()) {
        Some(first) if all.len() > MOST && study.masked().next().is_some() => {
            let languages = all.iter().filter(|facet| !is_masked(facet)).cloned().collect();
            let with_first =
                all.iter().take(1).chain(all.iter().skip(1).filter(|facet| is_masked(facet))).cloned().collect();
            vec![
                ConditionGroup { name: format!("{first} and masked"), conditions: with_first },
                ConditionGroup { name: "without masked words".into(), conditions: languages },
            ]
        }
        _ => vec![ConditionGroup { name: "all".into(), conditions: all }],
    }
}

pub fn group_chooser(groups: &[ConditionGroup]) -> Chooser {
    Chooser::new("conditions", "conditions", groups.iter().map(|group| group.name.clone()))
}

pub fn is_masked(facet: &Facet) -> bool {
    facet.condition.as_ref().is_some_and(|condition| condition.masked)
}

/// The styles of facets.
pub fn styles(facets: &[Facet]) -> Vec<Style> {
    facets.iter().filter_map(|facet| facet.style.clone()).collect()
}

/// The same lines without markers, for curves.
pub fn unmarked(mut facets: Vec<Facet>) -> Vec<Facet> {
    facets.iter_mut().filter_map(|facet| facet.style.as_mut()).for_each(|style| style.marked = false);
    facets
}

/// A line for each of the nested checks of sentences.
pub fn cascade(task: Task) -> Vec<Facet> {
    let line = |(metric, style): (TaskMetric, Style)| {
        Facet::of_measure("metric", metric.name(), Measure::Task(task, metric), style)
    };
    style::cascade().map(line).into()
}

/// For each level a line of each kind: a name, a measure and a dash.
pub fn kinds(levels: &[Facet], column: &'static str, kinds: &[(&str, Measure, &'static str)]) -> Vec<Facet> {
    let mut lines = Vec::new();
    for level in levels {
        let own = level.style.clone().unwrap_or_else(|| Style::line("", Colour::Text));
        for (name, measure, dash) in kinds {
            let label = format!("{name} {}", plain_text(&own.name));
            let style = Style { dash, ..Style::line(label.trim_end(), own.colour) };
            lines.push(level.with(&Facet::of_measure(column, name, *measure, style)));
        }
    }
    lines
}

/// Which set of targets each model reaches. The n-gram models are broken lines, since they do not train.
pub fn models(statistic: Statistic, top: Fraction) -> Vec<Facet> {
    use {Scorer::*, Targets::*};
    let model = |scorer: Scorer, targets: Targets, name: &str, colour, shape, dash| {
        let measure = Measure::reach_at(scorer, targets, statistic, top);
        let style = Style { dash, ..Style::marked(name, colour, shape) };
        // An n-gram model is measured once.
        let moment = Some(if scorer == Network { Moment::End } else { Moment::Peak });
        Facet { moment, ..Facet::of_measure("who", &format!("{scorer}.{targets}"), measure, style) }
    };
    vec![
        model(Network, Allowed, "network, allowed by Γ", Colour::Level(0, 3), MarkerShape::Circle, ""),
        model(Network, Forbidden, "network, forbidden", Colour::Level(1, 3), MarkerShape::Square, ""),
        model(Network, Other, "network, other classes", Colour::Level(2, 3), MarkerShape::Triangle, ""),
        model(Bigram, Allowed, "bigram, allowed", Colour::Null, MarkerShape::Diamond, "3 1.5"),
        model(Unigram, Allowed, "unigram, allowed", Colour::Null, MarkerShape::Ring, "1 1.5"),
    ]
}

/// The contrasts of reachability, and what they are called.
const SETS: [(Targets, &str); 2] =
    [(Targets::Facts, "facts (allowed − forbidden)"), (Targets::Types, "types (allowed − other classes)")];

/// How contrasts are counted, what that is called, and the axis. Log-probability is first: shares end at 1.
const STATISTICS: [(Statistic, &str, &str); 2] = [
    (Statistic::LogProb, "log-probability", "contrast in log-probability (nats)"),
    (Statistic::Share, "share of targets", "contrast in share of targets"),
];

/// Which contrast, and counted how.
pub fn contrast_choosers() -> Vec<Chooser> {
    vec![
        Chooser::new("contrast", "contrast", SETS.map(|(_, name)| name)),
        Chooser::new("in", "in", STATISTICS.map(|(_, name, _)| name)),
    ]
}

/// What the contrast that is chosen is.
pub fn contrast_caption(options: &[usize]) -> String {
    let (targets, statistic) = (SETS[options[0]].0, STATISTICS[options[1]].0);
    let compared_with = match targets {
        Targets::Types => "as many descriptors of other classes",
        _ => "as many of its own class that Γ forbids it",
    };
    let compared = match statistic {
        Statistic::LogProb => format!(
            "By how much the log-probability of the descriptors that Γ allows a subject exceeds that of {compared_with}, in nats."
        ),
        _ => format!("How many more of the descriptors that Γ allows a subject are reachable than of {compared_with}."),
    };
    format!("{compared} Zero means that the subject made no difference.")
}

/// The axis of the contrast that is chosen, and where it is taken: in every condition; in a language also of the symbols alone
/// that are masked in others, which is the most that those can have received.
pub fn contrasts(study: &Study, conditions: &[Facet], options: &[usize]) -> (String, Vec<Facet>) {
    let (targets, (statistic, _, axis)) = (SETS[options[0]].0, STATISTICS[options[1]]);
    let measure = Measure::reach(Scorer::Network, targets, statistic);
    let mut places = Vec::new();
    for facet in conditions {
        places.push(Facet { measure: Some(measure), ..facet.clone() });
        let language = facet.condition.as_ref().map(|condition| &condition.language);
        let elsewhere = study.masked().filter(|masked| !is_masked(facet) && Some(&masked.language) != language);
        let elsewhere: Vec<String> = elsewhere.map(|masked| masked.language.to_string()).collect();
        if !elsewhere.is_empty() {
            let title = format!("{}, symbols masked in {}", facet.title, listed(&elsewhere));
            let cells = vec![("condition", title.clone())];
            places.push(Facet { title, cells, measure: Some(measure.masked_elsewhere()), ..facet.clone() });
        }
    }
    (axis.into(), places)
}

/// The settings that make arms and vary here.
pub fn arms(study: &Study) -> Vec<Factor> {
    let varying = study.varying();
    Factor::ARMS.into_iter().filter(|factor| varying.contains(factor)).collect()
}
