//! Curves that rise as the paper tells it: the first language before the others before their masked words, grammar
//! before types, masked words by their bridges.

use super::Plan;
use invitro_base::random::Rng;
use invitro_results::BALANCED;
use invitro_results::{
    Bridge, Condition, Donor, Form, Fraction, InsideMetric, Loss, Measure, PatchPlace, PatchPosition, PatchedForm,
    Patching, Quantity, Row, Rows, Scorer, Similarity, Statistic, Targets, Task, TaskMetric, TokenizerMetric, Words,
};
use invitro_stats::Interval;

#[derive(Clone)]
pub struct Config {
    pub id: String,
    pub vocab: u32,
    pub regime: &'static str,
    pub lambda: f64,
    pub distance: f64,
    pub data: u32,
    pub model: u32,
    pub arm: Option<(&'static str, f64)>,
}

impl Config {
    /// From -1 to 1, fixed by the name and, where asked, by the seeds.
    fn noise(&self, name: &str, model_too: bool) -> f64 {
        let model = if model_too { self.model } else { 0 };
        let mut key =
            format!("{name} {} {model} {} {} {} {}", self.data, self.vocab, self.regime, self.lambda, self.distance);
        if let Some((share, p)) = self.arm.filter(|_| model_too) {
            key.push_str(&format!(" {share} {p}"));
        }
        Rng::keyed(&key, [0; 3]).index(2001) as f64 / 1000.0 - 1.0
    }

    /// How much of the bridges to cognates an arm leaves.
    pub fn left(&self) -> f64 {
        match self.arm {
            None | Some(("all", _)) => 1.0,
            Some(("cognate", _)) => 0.9,
            Some(("other", _)) => 0.3,
            Some(("random", p)) => p,
            Some(_) => 0.0,
        }
    }

    fn size(&self) -> f64 {
        f64::from(self.vocab).log2() - 11.0
    }

    fn balanced(&self) -> f64 {
        f64::from(u8::from(self.regime == BALANCED))
    }

    pub fn bridge(&self) -> f64 {
        (0.72 - 0.13 * self.size() - 0.16 * self.distance + 0.03 * self.noise("bridge", false)).clamp(0.0, 1.0)
    }

    pub fn cognate(&self) -> f64 {
        let kept = 0.7f64.powf(self.size());
        ((1.0 - self.distance).powf(1.5) * kept + 0.02 * self.noise("cognate", false)).clamp(0.0, 1.0) * self.left()
    }

    pub fn overlap(&self) -> f64 {
        (0.8 - 0.12 * self.size() - 0.3 * self.distance + 0.05 * self.lambda.log2()).clamp(0.02, 1.0)
    }

    /// What stands once per run.
    pub fn measures(&self, plan: &Plan) -> Vec<(Quantity, f64)> {
        let first = 3.4 - 0.55 * self.size() + 0.03 * self.noise("fertility", false);
        let rare = (0.5 / self.lambda).log2() * (1.0 - self.balanced());
        let other = first + 0.15 + 0.22 * rare * (0.3 + self.distance);
        let tokenizer = |metric| Measure::Tokenizer(Words::Text, metric);
        let mut measures = Vec::new();
        for condition in plan.conditions() {
            let fertility = match (plan.is_first(&condition), condition.masked) {
                (true, _) => first,
                (false, masked) => other + if masked { 0.25 } else { 0.0 },
            };
            let continuation = 1.0 - (-(fertility - 1.0)).exp();
            measures.push((Quantity::in_condition(tokenizer(TokenizerMetric::Fertility), &condition), fertility));
            measures.push((Quantity::in_condition(tokenizer(TokenizerMetric::Continuation), &condition), continuation));
        }
        let bridge = self.bridge();
        let overall = [
            (tokenizer(TokenizerMetric::Overlap), self.overlap()),
            (Measure::Bridge(Bridge::General, Similarity::Jaccard), bridge),
            (Measure::Bridge(Bridge::General, Similarity::Dice), 2.0 * bridge / (1.0 + bridge)),
            (Measure::Bridge(Bridge::General, Similarity::Containment), bridge.powf(0.8)),
            (Measure::Bridge(Bridge::Cognate, Similarity::Jaccard), self.cognate()),
        ];
        measures.extend(overall.map(|(measure, value)| (Quantity::overall(measure), value)));
        measures
    }

    /// How much later than the first language this condition comes.
    fn delay(&self, plan: &Plan, condition: &Condition) -> f64 {
        let rare = (0.5 / self.lambda).powf(0.35);
        match (plan.is_first(condition), condition.masked) {
            (true, _) => 1.0,
            (false, false) => 1.25 * rare,
            (false, true) => 1.6 * rare * (1.0 + 0.12 * self.size()),
        }
    }

    /// Every row of one evaluation.
    pub fn rows(&self, plan: &Plan, step: u32) -> Vec<Row> {
        let mut rows = Rows::new(u64::from(step));
        for condition in &plan.conditions() {
            let delay = self.delay(plan, condition) * (1.0 + 0.3 * self.noise("speed", true));
            let top = if condition.masked { (0.9 - 0.06 * self.size()).min(0.95) } else { 0.98 };
            let validity = top * rise(step, plan.steps, 0.06 * delay);
            let grammar = validity * rise(step, plan.steps, 0.10 * delay);
            let types = grammar * rise(step, plan.steps, 0.2 * delay) * 0.95;
            let facts = types * rise(step, plan.steps, 0.8 * delay) * 0.6;
            for task in Task::WITHIN {
                let cascade = TaskMetric::CASCADE.into_iter().zip([validity, grammar, types, facts]);
                for (metric, value) in cascade.chain([(TaskMetric::SameWords, types), (TaskMetric::Exact, types)]) {
                    rows.push(Some(condition), Measure::Task(task, metric), value, 200);
                }
            }
            self.reach(plan, condition, step, delay, &mut rows);
        }
        let fall = 3.4 * (1.0 - rise(step, plan.steps, 0.05)) + 1.6 + 0.05 * self.size();
        rows.push(None, Measure::Loss(Loss::Loss), fall * 2.0, 200);
        rows.push(None, Measure::Loss(Loss::BitsPerChar), fall, 200);
        rows.push(None, Measure::Loss(Loss::Floor), 1.42, 200);
        rows.list
    }

    fn reach(&self, plan: &Plan, condition: &Condition, step: u32, delay: f64, rows: &mut Rows) {
        let learnt = rise(step, plan.steps, 0.3 * delay);
        let (level, known) = match (plan.is_first(condition), condition.masked) {
            (true, _) => (0.85, 0.35),
            (false, false) => (0.7, 0.2 + 0.03 * self.lambda.log2()),
            (false, true) => {
                let noise = 0.08 * self.noise("reach", true) + 0.06 * self.noise("world", false);
                (0.12 + 0.55 * self.bridge() + 0.02 * self.lambda.log2() + noise, 0.22 * self.cognate() - 0.01)
            }
        };
        let null = 0.05 + 0.3 * (1.0 - self.size() / 3.0) * 0.4;
        let allowed = null * (1.0 - learnt) + level * learnt;
        let noise = 0.03 * self.noise(&condition.to_string(), true);
        let contrast = known * rise(step, plan.steps, 0.6 * delay) + noise;
        let any = |share: f64| 1.0 - (1.0 - share.clamp(0.0, 1.0)).powi(4);
        for (top, factor) in Fraction::ALL.into_iter().zip([0.4, 0.55, 0.8, 1.0]) {
            let sets = [
                (Scorer::Network, Targets::Allowed, allowed),
                (Scorer::Network, Targets::Forbidden, allowed - contrast),
                (Scorer::Network, Targets::Other, allowed - 1.6 * contrast),
                (Scorer::Unigram, Targets::Allowed, null),
                (Scorer::Bigram, Targets::Allowed, null * 1.4),
            ];
            // N-gram models do not train: they are measured once.
            for (scorer, targets, share) in sets.into_iter().filter(|set| step == 0 || set.0 == Scorer::Network) {
                let share = (share * factor).clamp(0.0, 1.0);
                let reach = |statistic| Measure::reach_at(scorer, targets, statistic, top);
                rows.push(Some(condition), reach(Statistic::Any), any(share), 200);
                rows.push(Some(condition), reach(Statistic::Share), share, 200);
            }
            for (targets, scale) in [(Targets::Facts, 1.0), (Targets::Types, 1.6)] {
                let measure = Measure::reach_at(Scorer::Network, targets, Statistic::Share, top);
                push_near(rows, condition, measure, contrast * scale * factor, 0.015);
            }
        }
        if plan.is_first(condition) {
            let facts = Measure::reach(Scorer::Network, Targets::Facts, Statistic::Share);
            push_near(rows, condition, facts.masked_elsewhere(), 0.9 * contrast, 0.02);
        }
        if plan.forms && !plan.is_first(condition) {
            let own = 4.0 * contrast;
            let masked = f64::from(u8::from(condition.masked));
            let parts = [1.0, 1.0 + 0.2 * masked, 1.0 - 0.5 * masked, 0.8, 0.3, 0.6, 0.0];
            for (form, part) in Form::ALL.iter().zip(parts) {
                push_near(rows, condition, Measure::Contrast(Scorer::Network, *form), own * part, 0.1);
                if step == 0 {
                    push_near(rows, condition, Measure::Contrast(Scorer::Bigram, *form), 0.0, 0.0);
                }
            }
        }
        if plan.inside && !plan.is_first(condition) {
            push_inside(rows, condition, step, contrast);
        }
        for (targets, scale) in [(Targets::Facts, 4.0), (Targets::Types, 6.0)] {
            let measure = Measure::reach(Scorer::Network, targets, Statistic::LogProb);
            push_near(rows, condition, measure, contrast * scale, 0.1);
        }
    }
}

const LAYERS: u32 = 2;

/// What is alike grows with the layer, and a patch of the subject carries what is known.
fn push_inside(rows: &mut Rows, condition: &Condition, step: u32, known: f64) {
    let mut push = |metric, layer: Option<u32>, value: f64| {
        rows.push(Some(condition), Measure::Inside(metric, layer), value, 40);
    };
    for layer in 0..=LAYERS {
        let alike = (0.1 + 0.1 * f64::from(layer) + known).clamp(0.0, 1.0);
        push(InsideMetric::TranslationBack, Some(layer), alike);
        push(InsideMetric::LensOwn, Some(layer), 1.0 - alike);
    }
    if step == 0 {
        push(InsideMetric::TranslationPieces, None, 0.3);
        push(InsideMetric::TranslationChance, None, 0.01);
    }
    for &form in PatchedForm::ALL.iter().filter(|_| condition.masked) {
        for &donor in Donor::ALL.iter() {
            for position in [PatchPosition::Tag, PatchPosition::Subject, PatchPosition::Copula] {
                for layer in 0..=LAYERS {
                    let carries = position == PatchPosition::Subject && donor == Donor::Same;
                    let patch = Some(PatchPlace { donor, position, layer });
                    let value = if carries { known * f64::from(layer) } else { -0.02 };
                    push_near(rows, condition, Measure::Patch(Patching { form, patch }), value, 0.05);
                }
            }
        }
    }
}

fn push_near(rows: &mut Rows, condition: &Condition, measure: Measure, value: f64, half: f64) {
    let interval = Interval { low: value - half, high: value + half };
    rows.push_interval(Some(condition), measure, value, Some(interval), 200);
}

fn rise(step: u32, steps: u32, middle: f64) -> f64 {
    let at = f64::from(step) / f64::from(steps);
    if step == 0 { 0.0 } else { 1.0 / (1.0 + (middle / at).powi(3)) }
}
