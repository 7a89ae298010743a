//! Words for measures and predictors.

use crate::data::FactorWords;
use invitro_results::claims::Predictor;
use invitro_results::{
    Bridge, Donor, Fraction, InsideMetric, Loss, Measure, PatchPlace, PatchedForm, Patching, PieceKind, PieceRows,
    Reach, RowStatistic, Scorer, Similarity, Statistic, Targets, Task, TaskMetric, TokenizerMetric,
};

/// A metric of sentences as figures and short labels call it.
pub fn metric_label(metric: TaskMetric) -> &'static str {
    match metric {
        TaskMetric::Types => "type constraints",
        TaskMetric::Facts => "Γ",
        TaskMetric::SameWords => "same words",
        TaskMetric::OtherWords => "other words",
        TaskMetric::NonWords => "no words",
        other => other.name(),
    }
}

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
                TaskMetric::OtherWords => "share of sentences with other words than the prompt's".into(),
                TaskMetric::NonWords => "share of sentences with a word that the language does not have".into(),
                other => format!("share `{other}` of sentences"),
            };
            if task == Task::T1 { sentences } else { format!("{sentences} ({})", task.name()) }
        }
        Measure::Reach(reach) => reach_noun(reach),
        Measure::Contrast(_, form) => format!("contrast of facts, with words in the form *{form}*,"),
        Measure::FriendContrast(_) => "contrast of the false friend's facts".into(),
        Measure::Inside(metric, layer) => format!("{}{}", inside_noun(metric), after_layer(layer)),
        Measure::PieceRows(PieceRows { matrix, statistic, kind }) => {
            let statistic = if statistic == RowStatistic::Norm { "norm" } else { "cosine to the mean" };
            let of = match kind {
                PieceKind::Seen => "pieces seen",
                PieceKind::Elsewhere => "pieces of other languages alone",
                PieceKind::Masked => "pieces of masked words alone",
                PieceKind::Never => "pieces of no word",
            };
            format!("{statistic} of the {matrix} rows of {of}")
        }
        Measure::Patch(Patching { form, patch }) => {
            let form = if form == PatchedForm::Own { "" } else { ", in the first language's form" };
            match patch {
                None => format!("contrast of the patched words{form}"),
                Some(PatchPlace { donor, position, layer }) => {
                    let other = if donor == Donor::Other { " of another subject" } else { "" };
                    let position = position.name().replace('_', "'s ");
                    format!("effect of a patch{other} at the {position}{}{form}", after_layer(Some(layer)))
                }
            }
        }
        Measure::Loss(Loss::BitsPerChar) => "bits per character".into(),
        Measure::Loss(Loss::Floor) => "entropy, bits per character".into(),
        Measure::Loss(loss) => loss.name().replace("loss_T", "loss on T").replace('_', " "),
        Measure::Tokenizer(_, TokenizerMetric::Overlap) => "vocabulary overlap".into(),
        Measure::Bridge(bridge, similarity) => {
            let name = if bridge == Bridge::Cognate { "cognate bridge" } else { "*β̂*" };
            if similarity == Similarity::Jaccard { name.into() } else { format!("{name} ({similarity})") }
        }
        other => other.to_string().replace(['_', '.'], " "),
    }
}

fn inside_noun(metric: InsideMetric) -> &'static str {
    match metric {
        InsideMetric::ResidualNorm => "size of the residual stream",
        InsideMetric::Translation => "word translation P@1",
        InsideMetric::TranslationBack => "word translation P@1 into the first language",
        InsideMetric::TranslationRaw => "word translation P@1 of raw states",
        InsideMetric::TranslationRawBack => "word translation P@1 of raw states into the first language",
        InsideMetric::TranslationPieces => "word translation P@1 by pieces alone",
        InsideMetric::TranslationChance => "chance of word translation P@1",
        InsideMetric::Retrieval => "sentence retrieval",
        InsideMetric::RetrievalPieces => "sentence retrieval by pieces alone",
        InsideMetric::RetrievalChance => "chance of sentence retrieval",
        InsideMetric::Cka => "CKA of words",
        InsideMetric::CkaNull => "null of the CKA of words",
        InsideMetric::CkaPieces => "CKA of words by pieces alone",
        InsideMetric::LensOwn => "logit lens's probability of the language's own pieces",
        InsideMetric::LensOther => "logit lens's probability of the other language's pieces",
        InsideMetric::LensShared => "logit lens's probability of shared pieces",
        InsideMetric::Gradient => "cosine of the gradients of parallel text",
        InsideMetric::GradientCeiling => "cosine of the gradients of two texts of the first language",
        InsideMetric::GradientFloor => "cosine of the gradients of other text",
    }
}

fn after_layer(layer: Option<u32>) -> String {
    match layer {
        None => String::new(),
        Some(0) => " in the embedding".into(),
        Some(layer) => format!(" after layer {layer}"),
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
        Measure::Loss(Loss::BitsPerChar | Loss::Floor | Loss::GradNorm | Loss::Lr) => "",
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
