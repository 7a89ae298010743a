//! Figures over the levels of factors: what tokenizers do, the contrast, peaks and ends.

use super::captions::{self, BANDS, BARS, Runs};
use super::engine::{Facet, Markers, Plot, Spec, X, Y, across, cross, level_ticks, levels, named, pick, regime};
use super::figure::{Chooser, Figure};
use super::parts::{contrast_caption, contrast_choosers, contrasts, group_chooser, groups};
use crate::data::{Factor, FactorWords, Study};
use invitro_results::{Measure, Moment, Quantity, Scorer, Statistic, Targets, TaskMetric, TokenizerMetric, Words};

/// The contrast at the end, over *d* where it varies, with a line for each |V|; else over the factors that do. `None` where none
/// does.
pub fn contrast(study: &Study) -> Option<Figure> {
    let over = pick(study, &[Factor::DISTANCE], &[])?;
    let line = pick(study, &[Factor::VOCAB], &[Some(over)]);
    let other = pick(study, &[Factor::LAMBDA], &[Some(over), line]);
    let (shown, others, groups) = ([Some(over), line], levels(study, other, named(other)), groups(study));
    let mut choosers = contrast_choosers();
    choosers.extend([Chooser::levels_or_all(study, other), group_chooser(&groups)]);
    let figure = Spec {
        name: "contrast",
        title: format!("Knowledge: the contrast{}", captions::by(&shown)),
        caption: String::new(),
        choosers,
        runs: Runs::Ended,
        columns: &["contrast", "in", named(other), "condition", named(line), over.name()],
    }
    .draw(study, |choice| {
        choice.hold(study, &shown);
        if let Some(level) = choice.options[2].checked_sub(1) {
            choice.cell.extend_from_slice(&others[level].levels);
        }
        let (axis, panels) = contrasts(study, &groups[choice.options[3]].conditions, &choice.options);
        Plot {
            all: Facet { ticks: Some(level_ticks(study, over, over.name())), ..Facet::default() },
            across: Some([2, panels.len().clamp(1, 4)]),
            panels,
            lines: levels(study, line, named(line)),
            zero: true,
            ratio: 0.9,
            caption: Some(format!(
                "{} At the end of training. {BARS}{}",
                contrast_caption(&choice.options),
                captions::pooled(study, &shown)
            )),
            ..Plot::new(X::Ticks(Markers::Joined, 0.1), Y::Around(axis, vec![0.0]))
        }
    });
    Some(figure)
}

pub fn fertility(study: &Study) -> Option<Figure> {
    let text = ["Fertility", "fertility (pieces per word)", "Pieces per word of running text in"];
    fragmentation(study, TokenizerMetric::Fertility, text)
}

pub fn continuation(study: &Study) -> Option<Figure> {
    let caption = "Share of the words of running text that take more than one piece, in";
    fragmentation(study, TokenizerMetric::Continuation, ["Continuation rate", "continuation rate", caption])
}

/// How every condition is cut, by λ and by d, for each |V|; or by what else varies.
fn fragmentation(study: &Study, metric: TokenizerMetric, [title, axis, caption]: [&str; 3]) -> Option<Figure> {
    let over = tokenizer_factors(study);
    let column = pick(study, &[Factor::VOCAB], &over);
    let chosen = regime(study, &[over.as_slice(), &[column]].concat());
    let (first, groups) = (over.first().copied()??, groups(study));
    let shown = [over.as_slice(), &[column, chosen]].concat();
    let each = match over.get(1).copied().flatten() {
        Some(second) => {
            format!("by {0} (top, over all {1}) and by {1} (bottom, over all {0})", first.symbol(), second.symbol())
        }
        None => format!("by {}", first.symbol()),
    };
    let figure = Spec {
        name: metric.name(),
        title: format!("{title}{}", captions::by(&[over.as_slice(), &[column]].concat())),
        caption: format!("{caption} {}, {each}. {BANDS}", captions::conditions(study)),
        choosers: vec![Chooser::levels(study, chosen), group_chooser(&groups)],
        runs: Runs::Measured,
        columns: &[named(chosen), named(column), "by", "level", "condition"],
    }
    .draw(study, |choice| {
        choice.hold(study, &shown);
        let columns = levels(study, column, named(column));
        Plot {
            all: Facet { measure: Some(Measure::Tokenizer(Words::Text, metric)), ..Facet::default() },
            panels: cross(&axes(study, &over), &columns),
            lines: groups[choice.options[1]].conditions.clone(),
            across: Some(across(columns.len())),
            ..Plot::new(X::Ticks(Markers::Joined, 0.0), Y::Around(axis.into(), Vec::new()))
        }
    });
    Some(figure)
}

/// Overlap of the pieces that the languages use, by λ and by d, for each |V| and both regimes; or by what else varies. `None`
/// where no factor varies.
pub fn overlap(study: &Study) -> Option<Figure> {
    let over = tokenizer_factors(study);
    let line = pick(study, &[Factor::VOCAB], &over);
    let row = regime(study, &[over.as_slice(), &[line]].concat());
    over.first()?;
    let (pairs, shown) = (pairs(study), [over.as_slice(), &[line, row]].concat());
    let several = pairs.len() > 1;
    let figure = Spec {
        name: "overlap",
        title: format!("Vocabulary overlap{}", captions::by(&[over.as_slice(), &[line]].concat())),
        caption: match &pairs[..] {
            [(languages, _)] => format!("Pieces used by both of {languages} over pieces used by either. {BANDS}"),
            _ => {
                format!("Pieces used by both of two languages over pieces used by either, for the same words. {BANDS}")
            }
        },
        choosers: vec![Chooser::new("languages", "of", pairs.iter().filter(|_| several).map(|(name, _)| name.clone()))],
        runs: Runs::Measured,
        columns: &[if several { "of" } else { "" }, named(row), "by", "level", named(line)],
    }
    .draw(study, |choice| {
        choice.hold(study, &shown);
        let (name, quantity) = &pairs[choice.options[0]];
        let pair = quantity.as_ref().and_then(|quantity| quantity.pair.clone());
        Plot {
            all: Facet { measure: Some(OVERLAP), pair, cells: vec![("of", name.clone())], ..Facet::default() },
            panels: cross(&levels(study, row, named(row)), &axes(study, &over)),
            lines: levels(study, line, named(line)),
            across: Some([2, 4]),
            ratio: 0.85,
            ..Plot::new(X::Ticks(Markers::Joined, 0.0), Y::Around("vocabulary overlap".into(), Vec::new()))
        }
    });
    Some(figure)
}

const OVERLAP: Measure = Measure::Tokenizer(Words::Text, TokenizerMetric::Overlap);

/// The page has so many pairs; the table of runs has all.
const MOST: usize = 29;

/// Whose overlap is shown: of two languages theirs; of more the mean over all pairs, or that of one pair, the first
/// language's first.
fn pairs(study: &Study) -> Vec<(String, Option<Quantity>)> {
    let languages = study.conditions().iter().filter(|condition| !condition.masked);
    let languages: Vec<String> = languages.map(|condition| condition.label()).collect();
    if languages.len() < 3 {
        return vec![(languages.join(" and "), None)];
    }
    let mut all = vec![("all pairs, mean".to_owned(), None)];
    for (place, one) in languages.iter().enumerate() {
        for other in &languages[place + 1..] {
            all.push((format!("{one} and {other}"), Some(Quantity::between(OVERLAP, one, other))));
        }
    }
    let is_measured = |quantity: &Quantity| study.runs.iter().any(|run| run.once(quantity).is_some());
    all.retain(|(_, quantity)| quantity.as_ref().is_none_or(is_measured));
    all.truncate(MOST);
    all
}

/// At most two factors to show a measure of tokenizers over: λ and d where they vary, else what does. One level of |V|
/// beside another is a panel, unless nothing else varies.
fn tokenizer_factors(study: &Study) -> Vec<Option<Factor>> {
    let shapes = |factor: &Factor| ![Factor::VOCAB, Factor::REGIME].contains(factor) && factor.shapes_tokenizer();
    let mut wanted = vec![Factor::LAMBDA, Factor::DISTANCE];
    wanted.extend(study.varying().into_iter().filter(shapes));
    let mut over: Vec<Option<Factor>> = Vec::new();
    for _ in 0..2 {
        let found = pick(study, &wanted, &over).filter(|found| over.is_empty() || wanted.contains(found));
        over.extend(found.map(Some));
    }
    over
}

/// Panels over these factors.
fn axes(study: &Study, over: &[Option<Factor>]) -> Vec<Facet> {
    let axis = |factor: &Factor| Facet {
        cells: vec![("by", factor.name().into())],
        ticks: Some(level_ticks(study, *factor, "level")),
        ..Facet::default()
    };
    over.iter().flatten().map(axis).collect()
}

const METRICS: [(Measure, &str); 5] = [
    (Measure::unscrambling(TaskMetric::Grammaticality), "grammaticality"),
    (Measure::unscrambling(TaskMetric::Types), "type constraints"),
    (Measure::unscrambling(TaskMetric::Facts), "Γ"),
    (Measure::reach(Scorer::Network, Targets::Allowed, Statistic::Share), "reachability, share of targets"),
    (Measure::reach(Scorer::Network, Targets::Allowed, Statistic::Any), "reachability, any target"),
];

/// When a curve is read.
const MOMENTS: [Moment; 2] = [Moment::Peak, Moment::End];

/// Peaks and ends as heat maps of two factors, λ × d where both vary; over the levels of one where only one does. `None` where
/// no factor varies.
pub fn maxima(study: &Study) -> Option<Figure> {
    let x = pick(study, &[Factor::LAMBDA, Factor::DISTANCE], &[])?;
    let y = pick(study, &[Factor::DISTANCE], &[Some(x)]);
    let first = pick(study, &[Factor::VOCAB], &[Some(x), y]);
    let second = pick(study, &[Factor::REGIME], &[Some(x), y, first]);
    let (groups, shown) = (groups(study), [Some(x), y, first, second]);
    let explained = match y {
        Some(_) => "Crossed-out cells have no run that ended; hover for the interval over seeds.",
        None => BARS,
    };
    let figure = Spec {
        name: "maxima",
        title: format!("At the peak and at the end of training{}", captions::by(&[Some(x), y])),
        caption: String::new(),
        choosers: vec![
            Chooser::new("metric", "metric", METRICS.map(|(_, name)| name)),
            Chooser::new("at", "at the", MOMENTS.map(Moment::name)),
            Chooser::levels(study, first),
            Chooser::levels(study, second),
            group_chooser(&groups),
        ],
        runs: Runs::Ended,
        columns: &["metric", "at", named(first), named(second), "condition", x.name(), named(y)],
    }
    .draw(study, |choice| {
        choice.hold(study, &shown);
        let ((measure, name), moment) = (METRICS[choice.options[0]], MOMENTS[choice.options[1]]);
        let label = format!("{name}, {}", moment.name());
        let which = if moment == Moment::Peak { "largest value over training" } else { "last value" };
        let task = if matches!(measure, Measure::Task(..)) { " in the unscrambling task T₁" } else { "" };
        let caption = format!(
            "Means over seeds of each run's {which}: {name}{task}, in {}. {explained}{}",
            captions::conditions(study),
            captions::pooled(study, &shown)
        );
        let ticks = level_ticks(study, x, x.name());
        let along = match y {
            Some(y) => X::Map(ticks.clone(), level_ticks(study, y, y.name())),
            None => X::Ticks(Markers::Joined, 0.0),
        };
        Plot {
            all: Facet { measure: Some(measure), moment: Some(moment), ticks: Some(ticks), ..Facet::default() },
            panels: groups[choice.options[4]].conditions.clone(),
            ratio: if y.is_some() { 0.8 } else { 0.75 },
            scale: y.map(|_| label.clone()),
            caption: Some(caption),
            ..Plot::new(along, Y::Share(label))
        }
    });
    Some(figure)
}
