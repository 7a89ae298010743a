//! A study of `results/`, and what it says of itself.

use invitro_report::data::{Factor, Run, Study, read};
use invitro_report::findings::by_word::{COGNATE_BRIDGE, Outcome};
use invitro_report::findings::correlations::Correlated;
use invitro_report::findings::design::{Design, SIMILARITY, VOCAB};
use invitro_report::findings::{ByWord, Findings, Transfer};
use invitro_results::words::Asked;
use invitro_results::{Measure, Moment, Quantity, Scorer, Statistic, Targets, Trajectory};
use invitro_stats::{Estimate, decimals};
use invitro_stats::{Scale, Seed, seeds};
use std::path::Path;

pub struct Shipped {
    pub study: Study,
    pub findings: Findings,
}

/// Levels of settings, such as `[("tokenizer.vocab", "256")]`.
pub type At<'a> = &'a [(&'a str, &'a str)];

pub const VOCABULARY: &str = "tokenizer.vocab";
/// In a regression over words, no arm alone.
pub const ALL_RUNS: &str = "all runs";
pub const DISTANCE: &str = "language.distance";

/// The contrast of facts in nats.
pub fn contrast(condition: &str) -> Quantity {
    Quantity::of(Measure::KNOWLEDGE, &condition.parse().unwrap())
}

/// The same of what another language never says.
pub fn contrast_of_masked(condition: &str) -> Quantity {
    Quantity::of(Measure::KNOWLEDGE.masked_elsewhere(), &condition.parse().unwrap())
}

/// The share of targets within the top 0.1 |V|.
pub fn reachable(condition: &str) -> Quantity {
    reachable_by(Scorer::Network, Targets::Allowed, condition)
}

pub fn reachable_by(scorer: Scorer, targets: Targets, condition: &str) -> Quantity {
    Quantity::of(Measure::reach(scorer, targets, Statistic::Share), &condition.parse().unwrap())
}

/// The share of subjects with any target there: the paper's reading.
pub fn any_reachable(scorer: Scorer, condition: &str) -> Quantity {
    Quantity::of(Measure::reach(scorer, Targets::Allowed, Statistic::Any), &condition.parse().unwrap())
}

/// A share of the sentences that T1 made.
pub fn sentences(condition: &str, metric: &str) -> Quantity {
    format!("T1.{condition}.{metric}").parse().unwrap()
}

fn is_at(run: &Run, at: At) -> bool {
    at.iter().all(|(key, level)| run.columns.get(*key).is_some_and(|own| own.to_string() == *level))
}

/// The mean of values that every data seed has one of.
fn over_data_seeds(scale: Scale, values: Vec<f64>) -> Estimate {
    let rows = values.into_iter().enumerate().map(|(data, value)| (Seed { data, model: 0 }, value));
    seeds::mean(scale, rows).unwrap()
}

impl Shipped {
    pub fn read(name: &str) -> Shipped {
        let study = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results").join(name)).unwrap();
        let findings = Findings::of(&study);
        Shipped { study, findings }
    }

    /// The runs that ended, of those planned, and the data seeds.
    pub fn size(&self) -> [String; 3] {
        let planned = self.study.planned.unwrap_or(self.study.runs.len());
        [self.study.ended(&[]).count(), planned, self.study.end_seeds()].map(|count| count.to_string())
    }

    pub fn levels(&self, key: &str) -> &[String] {
        self.study.levels(Factor::of(key))
    }

    /// The runs that ended at these levels.
    pub fn ended<'a>(&'a self, at: At<'a>) -> impl Iterator<Item = &'a Run> {
        self.study.ended(&[]).filter(move |run| is_at(run, at))
    }

    /// The mean of a value that runs have.
    pub fn of_runs(&self, at: At, value: impl Fn(&Run) -> Option<f64>) -> Estimate {
        self.study.mean(self.ended(at), value).unwrap()
    }

    /// The mean at the end over the masked words meant, of the runs at these levels; a mean for every data seed first.
    pub fn of_words(&self, outcome: Outcome, at: At, is_meant: impl Fn(&Asked) -> bool) -> Estimate {
        let value = |(run, word): &(usize, Asked)| {
            let run = &self.study.runs[*run];
            let is_meant = run.done() && is_at(run, at) && is_meant(word);
            Some((run.seed, outcome.value(word).filter(|_| is_meant)?))
        };
        let scale = if outcome == Outcome::Reachable { Scale::Share } else { Scale::Plain };
        over_data_seeds(scale, seeds::by_data_seed(self.study.asked.iter().filter_map(value)))
    }

    /// The regression over the words of all runs, or of an arm.
    pub fn by_word(&self, runs: &str, outcome: Outcome) -> &ByWord {
        let mut all = self.findings.by_word.iter();
        all.find(|one| one.outcome == outcome && one.title == runs).unwrap_or_else(|| panic!("{runs}"))
    }

    /// By how much a word's value rises with its cognate bridge, among the words of one run.
    pub fn cognate_slope(&self, runs: &str, outcome: Outcome) -> Estimate {
        *self.by_word(runs, outcome).estimate(COGNATE_BRIDGE).unwrap()
    }

    /// A measure at a moment, over the runs at these levels.
    pub fn at(&self, moment: Moment, quantity: &Quantity, at: At) -> Estimate {
        self.study.read(self.ended(at), quantity, moment).unwrap_or_else(|| panic!("{quantity} at {at:?}"))
    }

    pub fn end(&self, quantity: &Quantity, at: At) -> Estimate {
        self.at(Moment::End, quantity, at)
    }

    /// The shares reachable at the end of the masked words that are true of a subject, and of those that are false of it.
    pub fn true_and_false(&self, at: At) -> [Estimate; 2] {
        [Targets::Allowed, Targets::Forbidden]
            .map(|targets| self.end(&reachable_by(Scorer::Network, targets, "B_masked"), at))
    }

    /// Whether every run ends with less than its peak, by more than this.
    pub fn fades_in_every_run(&self, quantity: &Quantity, by: f64) -> bool {
        self.ended(&[]).all(|run| run.curve(quantity).decline().unwrap() > by)
    }

    pub fn trajectory(&self, quantity: &Quantity, at: At) -> Trajectory {
        let runs: Vec<_> = self.ended(at).map(|run| (run.seed, run.curve(quantity))).collect();
        Trajectory::of(quantity.measure.scale(), &runs).expect("it was measured")
    }

    /// At the end, the runs at these levels less those at others; a mean for every data seed first.
    pub fn less(&self, quantity: &Quantity, first: At, second: At) -> Estimate {
        self.combined(&[(1.0, first), (-1.0, second)], |run| run.curve(quantity).end())
    }

    /// A sum of means over runs at several levels, for every data seed.
    pub fn combined(&self, parts: &[(f64, At)], value: impl Fn(&Run) -> Option<f64>) -> Estimate {
        let mut sums = vec![0.0; self.study.end_seeds()];
        for (weight, at) in parts {
            let means = seeds::by_data_seed(self.ended(at).filter_map(|run| Some((run.seed, value(run)?))));
            assert_eq!(means.len(), sums.len(), "every data seed at {at:?}");
            sums.iter_mut().zip(means).for_each(|(sum, mean)| *sum += weight * mean);
        }
        over_data_seeds(Scale::Plain, sums)
    }

    /// The standardised effect of a predictor on a measure of transfer.
    pub fn effect(&self, predictor: &str, transfer: Transfer) -> Estimate {
        Design::of_transfer(&self.study, transfer, false).slope(predictor).unwrap()
    }

    /// Those of d and |V|.
    pub fn effects(&self, transfer: Transfer) -> [Estimate; 2] {
        [self.effect(SIMILARITY, transfer).negated(), self.effect(VOCAB, transfer)]
    }

    /// Pearson's r of a mean bridge with a measure of transfer over runs, with |V| held where it varies.
    pub fn correlation(&self, bridge: Measure, transfer: Transfer) -> Estimate {
        let one = self.correlated(bridge, transfer, None);
        one.within_vocab.or(one.over_seeds).unwrap()
    }

    /// The same at one level of |V|, or over all.
    pub fn correlated(&self, bridge: Measure, transfer: Transfer, vocab: Option<usize>) -> &Correlated {
        let meant = (bridge, transfer, vocab);
        let mut all = self.findings.correlations.iter();
        all.find(|one| (one.bridge, one.transfer, one.vocab) == meant).unwrap()
    }

    /// One arm less another, over all else.
    pub fn arms(&self, first: &str, second: &str) -> Estimate {
        let comparisons = self.findings.comparisons.iter().filter(|one| one.cell.is_empty());
        let named = |one: &&invitro_report::findings::Comparison| {
            one.levels.map(|level| self.study.levels(one.factor)[level].as_str()) == [first, second]
        };
        comparisons.rev().find(named).unwrap().difference.unwrap().estimate
    }

    /// The cells of a row of a table, one for every distance.
    pub fn by_distance(&self, cell: impl Fn(&str) -> String) -> String {
        self.levels(DISTANCE).iter().map(|d| cell(d)).collect::<Vec<_>>().join(" | ")
    }

    /// `0.87 → 0.69`, from the peak to the end.
    pub fn peak_to_end(&self, quantity: &Quantity, at: At) -> String {
        let [peak, end] = [Moment::Peak, Moment::End].map(|moment| decimals(self.at(moment, quantity, at).value, 2));
        format!("{peak} → {end}")
    }
}
