//! The names that claims use: measures as on disk, short aliases of some, and outcomes and covariates of words.

use super::fields::{Result, unknown};
use crate::words::MeasuredWord;
use crate::{Bridge, Form, Loss, Measure, Scorer, Similarity, Statistic, Targets, TaskMetric};

const fn reach(scorer: Scorer, targets: Targets, statistic: Statistic) -> Measure {
    Measure::reach(scorer, targets, statistic)
}

/// Short names of measures.
pub const ALIASES: [(&str, Measure); 24] = [
    ("valid", Measure::unscrambling(TaskMetric::Validity)),
    ("grammatical", Measure::unscrambling(TaskMetric::Grammaticality)),
    ("types", Measure::unscrambling(TaskMetric::Types)),
    ("facts", Measure::unscrambling(TaskMetric::Facts)),
    ("same_words", Measure::unscrambling(TaskMetric::SameWords)),
    ("other_words", Measure::unscrambling(TaskMetric::OtherWords)),
    ("non_words", Measure::unscrambling(TaskMetric::NonWords)),
    ("reach.share", reach(Scorer::Network, Targets::Allowed, Statistic::Share)),
    ("reach.any", reach(Scorer::Network, Targets::Allowed, Statistic::Any)),
    ("reach.false", reach(Scorer::Network, Targets::Forbidden, Statistic::Share)),
    ("reach.unigram", reach(Scorer::Unigram, Targets::Allowed, Statistic::Share)),
    ("contrast.facts", Measure::KNOWLEDGE),
    ("contrast.facts_masked", Measure::KNOWLEDGE.masked_elsewhere()),
    ("contrast.types", reach(Scorer::Network, Targets::Types, Statistic::LogProb)),
    ("form.own", Measure::Contrast(Scorer::Network, Form::Own)),
    ("form.alike", Measure::Contrast(Scorer::Network, Form::Alike)),
    ("form.apart", Measure::Contrast(Scorer::Network, Form::Apart)),
    ("form.source", Measure::Contrast(Scorer::Network, Form::Source)),
    ("form.after_source", Measure::Contrast(Scorer::Network, Form::AfterSource)),
    ("form.irregular", Measure::Contrast(Scorer::Network, Form::Irregular)),
    ("contrast.friend", Measure::FriendContrast(Scorer::Network)),
    ("bridge", Measure::Bridge(Bridge::General, Similarity::Jaccard)),
    ("cognate_bridge", Measure::Bridge(Bridge::Cognate, Similarity::Jaccard)),
    ("bits", Measure::Loss(Loss::BitsPerChar)),
];

/// The measure of a name, which is an alias or the name on disk, if there is one.
pub(super) fn known_measure(name: &str) -> Option<Measure> {
    let own = ALIASES.iter().find(|(alias, _)| *alias == name).map(|(_, measure)| *measure);
    own.or_else(|| name.parse().ok())
}

/// The same, or an error that names the nearest.
pub fn measure(name: &str) -> Result<Measure> {
    known_measure(name).ok_or_else(|| {
        let all: Vec<String> = Measure::all().iter().map(ToString::to_string).collect();
        unknown(name, "a measure", ALIASES.iter().map(|(alias, _)| *alias).chain(all.iter().map(String::as_str)))
    })
}

/// The short name of a measure, or else its name on disk.
pub fn alias(measure: Measure) -> String {
    let own = ALIASES.iter().find(|(_, other)| *other == measure);
    own.map_or_else(|| measure.to_string(), |(alias, _)| (*alias).to_owned())
}

invitro_base::named! {
    /// An outcome of a masked word at the end of training.
    Outcome {
        /// Its contrast of facts, in nats.
        Contrast = "contrast",
        /// Whether it is reachable, for a subject that Γ allows it: 1 or 0.
        Reachable = "reachable",
        /// Its log-probability after a subject that Γ allows it, in nats (`eval.rank`).
        LogProb = "logprob",
    }
}

impl Outcome {
    /// Of a word, where it was measured.
    pub fn value(self, word: &MeasuredWord) -> Option<f64> {
        match self {
            Outcome::Contrast => word.contrast,
            Outcome::LogProb => word.logprob,
            Outcome::Reachable => word.reachable.map(|reachable| f64::from(u8::from(reachable))),
        }
    }
}

invitro_base::named! {
    /// What a masked word is like. One more covariate is one more name here.
    Covariate {
        /// The overlap of its pieces with those of its own form in another language.
        CognateBridge = "cognate_bridge",
        /// The distance of its form from that in the first language.
        Distance = "distance",
        /// Its letters.
        Letters = "letters",
        /// Its pieces.
        Pieces = "pieces",
        /// The logarithm of its frequency in the first language.
        LogFrequency = "log_frequency",
        /// The overlap of its pieces with those of the unmasked word that shares most: the paper's β.
        Bridge = "bridge",
        /// The alignment of its state with that of its translation (`eval.inside`).
        Alignment = "alignment",
        /// Its rank among the merges of the tokenizer: below |V| it is one piece (`eval.rank`).
        Rank = "rank",
    }
}

impl Covariate {
    /// Those that a regression over words has, unless a claim names others.
    pub const CONTROLS: [Covariate; 5] =
        [Covariate::CognateBridge, Covariate::Distance, Covariate::Letters, Covariate::Pieces, Covariate::LogFrequency];

    /// Of a word, where it is known.
    pub fn value(self, word: &MeasuredWord) -> Option<f64> {
        match self {
            Covariate::CognateBridge => word.cognate_bridge,
            Covariate::Bridge => word.bridge,
            Covariate::Alignment => word.alignment,
            Covariate::Rank => word.traits.rank.map(f64::from),
            Covariate::Distance => word.traits.distance,
            Covariate::Letters => word.traits.letters.map(f64::from),
            Covariate::Pieces => word.traits.pieces.map(f64::from),
            Covariate::LogFrequency => word.traits.frequency.filter(|frequency| *frequency > 0.0).map(f64::ln),
        }
    }
}
