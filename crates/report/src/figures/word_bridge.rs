//! Masked words as points, with means of words that are alike along x: what is known of a word against its cognate bridge, or
//! against its alignment with its translation; a panel for each arm.

use super::captions::Runs;
use super::engine::{ends, variants};
use super::figure::{Chooser, Figure};
use super::parts;
use super::table::FigureTable;
use crate::data::{Factor, FactorWords, Levels, Study};
use crate::draw::{Axis, Colour, FigureLayout, LegendEntry, MarkerShape, PanelMark, PlotPanel, PlotPoint, plain_text};
use crate::wording::with_runs;
use invitro_results::claims::SEEDS;
use invitro_results::words::MeasuredWord;
use invitro_stats::{Estimate, Scale, Seed, quantile, seeds};
use invitro_stats::{digits, grouped};

/// Words drawn in a panel, an even sample; means are of all.
const DRAWN: usize = 400;

/// What is drawn of a word along one axis.
#[derive(Clone, Copy)]
struct WordValue {
    name: &'static str,
    axis: &'static str,
    of: fn(&MeasuredWord) -> Option<f64>,
}

const BRIDGE: WordValue = WordValue { name: "cognate bridge", axis: "cognate bridge", of: |word| word.cognate_bridge };
const ALIGNMENT: WordValue = WordValue { name: "alignment", axis: "alignment of the word", of: |word| word.alignment };
const CONTRAST: WordValue =
    WordValue { name: "contrast", axis: "contrast of the word (nats)", of: |word| word.contrast };

/// One value of words against another, and the bins that means are taken over.
#[derive(Clone, Copy)]
struct Relation {
    x: WordValue,
    y: WordValue,
    bins: &'static [(f64, f64)],
}

/// None at all, then equal parts up to 1.
const BRIDGES: &[(f64, f64)] = &[(-1.0, 0.0), (0.0, 0.2), (0.2, 0.4), (0.4, 0.6), (0.6, 0.8), (0.8, 1.0)];
const ALIGNMENTS: &[(f64, f64)] = &[(-2.0, -0.8), (-0.8, -0.5), (-0.5, -0.2), (-0.2, 0.1), (0.1, 0.4), (0.4, 2.0)];

/// A word of a run with both values.
struct KnownWord<'a> {
    run: usize,
    word: &'a MeasuredWord,
    x: f64,
    y: f64,
}

/// A figure of words: its name, its title, what can be chosen, and its caption.
struct WordFigure {
    name: &'static str,
    title: &'static str,
    relations: &'static [Relation],
    caption: String,
}

/// What is known of a word against its cognate bridge. `None` where no contrast of a word is known.
pub fn bridge(study: &Study) -> Option<Figure> {
    let caption = format!(
        "One mark per masked word and run that ended, an even sample of {DRAWN} in each panel: its contrast of facts at the end of \
         training against the overlap of its pieces with those of its own form in another language. Squares are means over all words \
         without any overlap, and over those of each fifth of the range that at least three data seeds have, with 95 % intervals over seeds. *r* is of words within runs. \
         The frame leaves out the farthest hundredth at either end."
    );
    let figure = WordFigure {
        name: "word-bridge",
        title: "What is known of a word against its cognate bridge",
        relations: &[Relation { x: BRIDGE, y: CONTRAST, bins: BRIDGES }],
        caption,
    };
    figure.draw(study)
}

/// A word's alignment with its translation against what is known of it and its cognate bridge. `None` where no alignment was measured.
pub fn alignment(study: &Study) -> Option<Figure> {
    let caption = "Alignment: cosine of the word's state with that of its translation less the largest with another word of its class, \
                   mean over layers, at the end of training. Marks, means and *r* as for the cognate bridge.";
    let figure = WordFigure {
        name: "word-alignment",
        title: "A word's alignment, what is known of it, and its cognate bridge",
        relations: &[
            Relation { x: ALIGNMENT, y: CONTRAST, bins: ALIGNMENTS },
            Relation { x: BRIDGE, y: ALIGNMENT, bins: BRIDGES },
        ],
        caption: caption.into(),
    };
    figure.draw(study)
}

impl WordFigure {
    fn draw(self, study: &Study) -> Option<Figure> {
        let WordFigure { name, title, relations, caption } = self;
        let is_known = |relation: &Relation| {
            let both = |(run, word): &(usize, MeasuredWord)| {
                study.runs[*run].done() && (relation.x.of)(word).is_some() && (relation.y.of)(word).is_some()
            };
            study.scored.iter().any(both)
        };
        if !relations.iter().all(is_known) {
            return None;
        }
        let arms = parts::arms(study);
        let by = |factor: Factor| {
            let levels = study.levels(factor).iter().cloned();
            let all = (study.levels(factor).len() > 1).then(|| "all".to_owned());
            let options: Vec<String> = if all.is_some() { all.into_iter().chain(levels).collect() } else { Vec::new() };
            Chooser::new(factor.name(), &factor.symbol(), options)
        };
        let several = relations.len() > 1;
        let of = |relation: &Relation| format!("{} by {}", relation.y.name, relation.x.name);
        let choosers = vec![
            Chooser::new("of", "of", relations.iter().filter(|_| several).map(of)),
            Chooser::by(&arms),
            by(Factor::VOCAB),
            by(Factor::DISTANCE),
        ];
        let binned = if several { "bin" } else { "bridge" };
        let mut table =
            FigureTable::of_estimates([if several { "of" } else { "" }, "arm", "vocab", "d", binned, "words"]);
        let variants = variants(study, &choosers, Runs::Ended, |choice| {
            let [relation, arm, vocab, distance] = choice.options[..] else { unreachable!("four choosers") };
            let relation = relations[relation];
            let fixed = [(Factor::VOCAB, vocab), (Factor::DISTANCE, distance)];
            let chosen = fixed.iter().filter_map(|(factor, option)| Some((*factor, option.checked_sub(1)?)));
            choice.cell.extend(chosen);
            let label = |(factor, option): (Factor, usize)| match option.checked_sub(1) {
                Some(level) => study.levels(factor)[level].clone(),
                None => "all".to_owned(),
            };
            let panels: Vec<(String, Levels)> = match arms.get(arm) {
                Some(&factor) => {
                    let levels = study.levels(factor).iter().enumerate();
                    levels.map(|(place, level)| (factor.with_level(level), vec![(factor, place)])).collect()
                }
                None => vec![(String::new(), Levels::new())],
            };
            let panels = panels.into_iter().map(|(title, cell)| {
                let words = words(study, relation, &[&choice.cell[..], &cell].concat());
                let keys = [
                    of(&relation),
                    if title.is_empty() { "all runs".to_owned() } else { title.clone() },
                    label(fixed[0]),
                    label(fixed[1]),
                ];
                panel(study, relation, &mut table, &keys, &title, &words)
            });
            let mut panels: Vec<PlotPanel> = panels.filter(|panel| !panel.is_empty()).collect();
            // A few words far out must not press all others together.
            let room = |along: fn(&PlotPoint) -> f64, panels: &[PlotPanel]| {
                let marks = panels.iter().flat_map(|panel| &panel.marks);
                let mut drawn: Vec<f64> = marks.filter_map(|mark| point_of(mark).map(along)).collect();
                drawn.sort_by(f64::total_cmp);
                if drawn.is_empty() { vec![] } else { [0.01, 0.99].map(|at| quantile(&drawn, at)).to_vec() }
            };
            let is_bridge = relation.x.name == BRIDGE.name;
            let (wide, high) = (room(|point| point.x, &panels), room(|point| point.y, &panels));
            let is_out = |point: &PlotPoint| {
                (!is_bridge && (point.x < wide[0] || point.x > wide[1])) || point.y < high[0] || point.y > high[1]
            };
            for panel in &mut panels {
                panel.marks.retain(|mark| !point_of(mark).is_some_and(is_out));
                if !is_bridge {
                    panel.x = Axis::around(relation.x.axis, wide.iter().copied().chain([0.0]));
                }
                panel.y = Axis::around(relation.y.axis, high.iter().copied().chain([0.0]));
            }
            let count = panels.len();
            let mut layout = FigureLayout::new(panels, [count.clamp(1, 2), count.clamp(1, 3)]);
            layout.ratio = 0.8;
            layout.legend = vec![
                LegendEntry {
                    label: "a word in a run".into(),
                    colour: Colour::Masked(0),
                    line: None,
                    shape: Some(MarkerShape::Circle),
                },
                LegendEntry {
                    label: "mean of words".into(),
                    colour: Colour::Text,
                    line: Some(""),
                    shape: Some(MarkerShape::Square),
                },
            ];
            layout
        });
        Some(Figure { name, title: title.to_owned(), caption, choosers, variants, table })
    }
}

fn words<'a>(study: &'a Study, relation: Relation, cell: &[(Factor, usize)]) -> Vec<KnownWord<'a>> {
    let is_in: Vec<bool> = study
        .runs
        .iter()
        .map(|run| run.done() && cell.iter().all(|(factor, level)| run.level(*factor) == Some(*level)))
        .collect();
    let known = |(run, word): &'a (usize, MeasuredWord)| {
        let x = (relation.x.of)(word).filter(|_| is_in[*run])?;
        Some(KnownWord { run: *run, word, x, y: (relation.y.of)(word)? })
    };
    study.scored.iter().filter_map(known).collect()
}

fn point_of(mark: &PanelMark) -> Option<&PlotPoint> {
    match mark {
        PanelMark::Point { point, .. } => Some(point),
        _ => None,
    }
}

fn panel(
    study: &Study,
    relation: Relation,
    table: &mut FigureTable,
    keys: &[String; 4],
    title: &str,
    words: &[KnownWord],
) -> PlotPanel {
    let x = Axis::linear(relation.x.axis, -0.05, 1.05);
    let mut panel = PlotPanel::new(title, x, Axis::share(""));
    let masked: Vec<&str> = study.masked().map(|condition| &*condition.language).collect();
    for it in words.iter().step_by(words.len().div_ceil(DRAWN).max(1)) {
        let place = masked.iter().position(|language| *language == &*it.word.masked_in).unwrap_or(0);
        let point = PlotPoint { x: it.x, y: it.y, interval: None, tip: String::new() };
        panel.marks.push(PanelMark::Point { point, colour: Colour::Masked(place), shape: MarkerShape::Circle });
    }
    let mut points = Vec::new();
    for &(above, up_to) in relation.bins {
        let in_bin: Vec<&KnownWord> = words.iter().filter(|it| it.x > above && it.x <= up_to).collect();
        let estimate = mean(study, &in_bin);
        let bin = if above == -1.0 { "0".to_owned() } else { format!("{above} to {up_to}") };
        let count = in_bin.len().to_string();
        table.estimate(keys.iter().map(String::as_str).chain([bin.as_str(), &count]), estimate.as_ref());
        let Some(estimate) = estimate.filter(|it| it.data_seeds >= SEEDS.min(study.end_seeds())) else { continue };
        let x = in_bin.iter().map(|it| it.x).sum::<f64>() / in_bin.len() as f64;
        let tip = format!(
            "{} {bin}, {} words: {}",
            relation.x.name.trim_start_matches("cognate "),
            grouped(in_bin.len() as f64),
            with_runs(&estimate)
        );
        points.push(PlotPoint { x, y: estimate.value, interval: ends(&estimate), tip: plain_text(&tip) });
    }
    panel.marks.push(PanelMark::Line { points, colour: Colour::Text, dash: "", shape: Some(MarkerShape::Square) });
    let count = format!("{} words", grouped(words.len() as f64));
    panel.notes = vec![within(study, words).map_or(count.clone(), |r| format!("{count}, *r* = {}", two(&r)))];
    panel
}

/// Sums over the words of each run, with its seeds.
fn by_run<'a, const N: usize>(
    study: &Study,
    words: impl Iterator<Item = &'a KnownWord<'a>>,
    terms: impl Fn(f64, f64) -> [f64; N],
) -> Vec<(Seed, [f64; N])> {
    let mut runs = vec![None; study.runs.len()];
    for it in words {
        let sums = runs[it.run].get_or_insert([0.0; N]);
        sums.iter_mut().zip(terms(it.x, it.y)).for_each(|(sum, term)| *sum += term);
    }
    study.runs.iter().zip(runs).filter_map(|(run, sums)| Some((run.seed, sums?))).collect()
}

/// The mean contrast of words, with its interval over seeds.
fn mean(study: &Study, words: &[&KnownWord]) -> Option<Estimate> {
    let sums = by_run(study, words.iter().copied(), |_, y| [1.0, y]);
    seeds::estimate(Scale::Plain, sums, |[count, sum]| Some(sum / count))
}

/// r of the two within runs, with its interval over seeds.
fn within(study: &Study, words: &[KnownWord]) -> Option<Estimate> {
    let sums = by_run(study, words.iter(), |x, y| [1.0, x, y, x * x, y * y, x * y]);
    let products = |[n, x, y, xx, yy, xy]: [f64; 6]| [xx - x * x / n, yy - y * y / n, xy - x * y / n];
    let sums = sums.into_iter().map(|(seed, sums)| (seed, products(sums)));
    seeds::estimate(Scale::Signed, sums, |&[xx, yy, xy]| (xx > 1e-9 && yy > 1e-9).then(|| xy / (xx * yy).sqrt()))
}

fn two(r: &Estimate) -> String {
    let short = |value: f64| format!("{value:.2}").replace('-', "−");
    match ends(r) {
        Some((low, high)) => format!("{} [{}, {}]", short(r.value), short(low), short(high)),
        None => digits(r.value),
    }
}
