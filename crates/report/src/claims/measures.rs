//! Words for measures and predictors.

use crate::data::FactorWords;
use invitro_results::claims::Predictor;
use invitro_results::{
    Bridge, Fraction, Loss, Measure, Reach, Scorer, Similarity, Statistic, Targets, Task, TaskMetric, TokenizerMetric,
};

/// What a measure is called inside a sentence.
pub fn measure_noun(measure: Measure) -> String {
    match measure {
        Measure::Task(task, metric) => {
            let sentences = match metric {
                TaskMetric::Validity => "share of valid sentences".into(),
                TaskMetric::Grammaticality => "share of grammatical sentences".into(),
                TaskMetric::Types => "share of sentences whose types hold".into(),
                TaskMetric::Facts => "share of sentences that agree with Γ".into(),
                TaskMetric::SameWords => "share of sentences with the very words of the prompt".into(),
                other => format!("share `{other}` of sentences"),
            };
            if task == Task::T1 { sentences } else { format!("{sentences} ({})", task.name()) }
        }
        Measure::Reach(reach) => reach_noun(reach),
        Measure::Contrast(_, form) => format!("contrast of facts, with words in the form *{form}*,"),
        Measure::Loss(Loss::BitsPerChar) => "bits per character".into(),
        Measure::Tokenizer(_, TokenizerMetric::Overlap) => "vocabulary overlap".into(),
        Measure::Bridge(bridge, similarity) => {
            let name = if bridge == Bridge::Cognate { "cognate bridge" } else { "*β̂*" };
            if similarity == Similarity::Jaccard { name.into() } else { format!("{name} ({similarity})") }
        }
        other => other.to_string().replace(['_', '.'], " "),
    }
}

fn reach_noun(reach: Reach) -> String {
    let elsewhere = if reach.masked_elsewhere { " on the symbols masked elsewhere" } else { "" };
    let by = match reach.scorer {
        Scorer::Network => "",
        Scorer::Unigram => " under a unigram model",
        Scorer::Bigram => " under a bigram model",
    };
    let top = match reach.top {
        Some(top) if top != Fraction::PAPER => format!(" (*K* = {top} |*V*|)"),
        _ => String::new(),
    };
    let what = match (reach.targets, reach.statistic) {
        (Targets::Facts, Statistic::LogProb) => "contrast of facts",
        (Targets::Types, Statistic::LogProb) => "contrast of types",
        (Targets::Facts, _) => "contrast of facts in the share reachable",
        (Targets::Types, _) => "contrast of types in the share reachable",
        (_, Statistic::LogProb) => "log-probability of targets",
        (Targets::Allowed, Statistic::Any) => "Top-*K* reachability",
        (Targets::Allowed, _) => "share of targets reachable",
        (Targets::Forbidden, _) => "share of false words reachable",
        (Targets::Other, _) => "share of words of other classes reachable",
    };
    format!("{what}{elsewhere}{by}{top}")
}

/// What a measure's values are counted in; nothing for shares.
pub fn unit(measure: Measure) -> &'static str {
    match measure {
        _ if measure.is_in_nats() => " nats",
        Measure::Tokenizer(_, TokenizerMetric::Fertility) => " pieces a word",
        _ => "",
    }
}

/// A predictor as regressions have it: |V| and λ by doublings.
pub fn predictor_symbol(predictor: &Predictor) -> String {
    use invitro_results::Factor;
    match predictor {
        Predictor::Setting(factor @ (Factor::VOCAB | Factor::LAMBDA)) => format!("log₂ {}", factor.symbol()),
        Predictor::Setting(Factor::REGIME) => "balanced".into(),
        Predictor::Setting(factor) => factor.symbol(),
        Predictor::Similarity => "1 − *d*".into(),
        Predictor::Measure(measure) => measure_noun(*measure),
    }
}
