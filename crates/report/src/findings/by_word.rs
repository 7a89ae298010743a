//! What a masked word's contrast and reachability correlate with, among the words of a run: its cognate bridge, its distance, its letters and
//! pieces, how often it is said. Every run has its own level, so that what differs between runs alone explains nothing here.

use super::arms::{Numbers, factors, not_known};
use super::crossings::source;
use crate::data::{Cell, Study};
use crate::wording::counted;
use invitro_results::words::Asked;
use invitro_results::{Measure, Moment, Quantity, SEEDS, TaskMetric, Verdict, not_learned};
use invitro_stats::Estimate;
use invitro_stats::clusters::{Rows, over_seeds, two_way};
use invitro_stats::regression::{Column, Regression};

pub const COGNATE_BRIDGE: &str = "cognate bridge";
const COLUMNS: [&str; 5] = [COGNATE_BRIDGE, "distance", "letters", "pieces", "log frequency"];

/// What is asked of a masked word at the end of training.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Its contrast of facts.
    Contrast,
    /// Whether it is reachable, for a subject that Γ allows it: 1 or 0.
    Reachable,
}

impl Outcome {
    /// What a coefficient is counted in.
    pub fn unit(self) -> &'static str {
        match self {
            Outcome::Contrast => "nats",
            Outcome::Reachable => "share reachable",
        }
    }

    /// Of a word, where it was asked.
    pub fn value(self, word: &Asked) -> Option<f64> {
        match self {
            Outcome::Contrast => word.contrast,
            Outcome::Reachable => word.reachable.map(|reachable| f64::from(u8::from(reachable))),
        }
    }

    /// What more and what less of it is called, of a word.
    fn said(self) -> [&'static str; 2] {
        match self {
            Outcome::Contrast => ["known better", "known less"],
            Outcome::Reachable => ["reachable at the end more often", "reachable at the end less often"],
        }
    }
}

/// The regression over the words of some runs.
pub struct ByWord {
    pub outcome: Outcome,
    /// The arm, or all runs.
    pub title: String,
    /// With errors clustered by symbol and by data seed.
    pub clustered: Regression,
    /// The coefficients with their intervals over seeds.
    pub over_seeds: Vec<(String, Option<Estimate>)>,
    pub runs: usize,
    pub verdict: Verdict,
    /// What may be said of the cognate bridge.
    pub sentence: String,
}

impl ByWord {
    /// The coefficient of a column with its interval over seeds.
    pub fn estimate(&self, name: &str) -> Option<&Estimate> {
        self.over_seeds.iter().find(|(own, _)| own == name)?.1.as_ref()
    }
}

/// Over all runs that ended, then in every arm. Arms that share other pieces or cut words elsewhere vary the bridge itself and
/// are taken together; where something else is withheld, or the text comes otherwise, a contrast means something else.
pub fn all(study: &Study) -> Vec<ByWord> {
    let held: Cell = study.plain().iter().copied().filter(|(factor, _)| factor.key().starts_with("mixture.")).collect();
    let said: Vec<String> = held.iter().map(|(factor, level)| factor.said(&study.levels(*factor)[*level])).collect();
    let title = if said.is_empty() { "all runs".to_owned() } else { format!("all runs with {}", said.join(", ")) };
    let mut cells = vec![(title, held)];
    for factor in factors(study) {
        let levels = study.levels(factor).iter().enumerate();
        cells.extend(levels.map(|(place, level)| (factor.said(level), vec![(factor, place)])));
    }
    let both = [Outcome::Contrast, Outcome::Reachable].into_iter();
    both.flat_map(|outcome| cells.iter().filter_map(move |(title, cell)| of(study, outcome, title, cell))).collect()
}

fn of(study: &Study, outcome: Outcome, title: &str, cell: &Cell) -> Option<ByWord> {
    let is_in = |run: usize| {
        let run = &study.runs[run];
        run.done() && cell.iter().all(|(factor, level)| run.level(*factor) == Some(*level))
    };
    let mut rows =
        Rows { columns: COLUMNS.map(|name| Column::new(name, Vec::new())).into(), y: Vec::new(), runs: Vec::new() };
    let (mut symbols, mut data, mut numbers) = (Vec::new(), Vec::new(), Numbers::new());
    for (run, word) in study.asked.iter().filter(|(run, _)| is_in(*run)) {
        let Some((values, y)) = values(word).zip(outcome.value(word)) else { continue };
        rows.columns.iter_mut().zip(values).for_each(|(column, value)| column.values.push(value));
        rows.y.push(y);
        rows.runs.push(*run);
        let seed = study.runs[*run].seed.data;
        // A symbol of another data seed is one of another world.
        symbols.push(numbers.of((seed, &word.symbol, &word.masked_in)));
        data.push(seed);
    }
    let clustered = two_way(&rows, [&symbols, &data])?;
    let over_seeds = over_seeds(&rows, |run| study.runs[run].seed);
    let runs = rows.runs.iter().collect::<std::collections::BTreeSet<_>>().len();
    let bridge = over_seeds.iter().find(|(name, _)| name == COGNATE_BRIDGE).and_then(|(_, estimate)| estimate.as_ref());
    let gate = match outcome {
        Outcome::Contrast => not_known(study, cell),
        Outcome::Reachable => not_grammatical(study, cell),
    };
    let (verdict, sentence) = told(outcome, bridge, &clustered, gate);
    Some(ByWord { outcome, title: title.to_owned(), clustered, over_seeds, runs, verdict, sentence })
}

/// Why nothing may be said of what is reachable in these runs: grammar was not learned where the words were seen.
fn not_grammatical(study: &Study, cell: &Cell) -> Option<String> {
    let grammatical = Measure::unscrambling(TaskMetric::Grammaticality);
    study.masked().find_map(|masked| {
        let source = source(study, grammatical, masked)?;
        let learned = study.read(study.ended(cell), &Quantity::of(grammatical, &source), Moment::End);
        not_learned(&source.label(), learned.as_ref())
    })
}

fn values(word: &Asked) -> Option<[f64; 5]> {
    let traits = &word.traits;
    let frequency = traits.frequency.filter(|frequency| *frequency > 0.0)?;
    let whole = |number: Option<u32>| number.map(f64::from);
    Some([word.cognate_bridge?, traits.distance?, whole(traits.letters)?, whole(traits.pieces)?, frequency.ln()])
}

fn told(outcome: Outcome, bridge: Option<&Estimate>, fitted: &Regression, gate: Option<String>) -> (Verdict, String) {
    let Some(bridge) = bridge else {
        let sentence = "The cognate bridge does not vary among the words of a run.".to_owned();
        return (Verdict::CannotTell, sentence);
    };
    let words = counted(fitted.rows, "word");
    let among = format!(
        "among words of one run, as far from their cognate, as long, in as many pieces and as frequent ({words} in all)"
    );
    let verdict = match (&gate, Verdict::of(Some(bridge), 0.0, 0.0)) {
        (Some(_), _) => Verdict::NotJudged,
        (None, verdict) => verdict,
    };
    let per = format!(
        "{} from no piece in common with the cognate to all",
        if outcome == Outcome::Contrast { "nats" } else { "of the words" }
    );
    let [more, less] = outcome.said();
    let sentence = match verdict {
        Verdict::Supported => {
            format!("A word that shares more of its pieces with its cognate is {more}, {among}: {bridge} {per}.")
        }
        Verdict::Contradicted => {
            format!("A word that shares more of its pieces with its cognate is {less}, {among}: {bridge} {per}.")
        }
        Verdict::NotJudged => {
            let why =
                gate.map_or_else(|| format!("with fewer than {SEEDS} data seeds"), |gate| format!("since {gate}"));
            format!(
                "Whether a word that shares more of its pieces with its cognate is {more} is not judged, {why}: {bridge} {per}."
            )
        }
        _ => format!(
            "It cannot be told whether a word that shares more of its pieces with its cognate is {more}, {among}: {bridge} {per}."
        ),
    };
    (verdict, sentence)
}
