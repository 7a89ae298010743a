//! Curves that rise as the paper tells it: A before B before B†, grammar before types, B† by its bridges.

use invitro_report::stats::stream::{below, stream};

#[derive(Clone, Copy)]
pub struct Config {
    pub vocab: u32,
    pub regime: &'static str,
    pub lambda: f64,
    pub distance: f64,
    pub data: u32,
    pub model: u32,
}

pub struct Row<'a> {
    pub condition: &'static str,
    pub task: &'static str,
    pub metric: &'a str,
    pub value: f64,
    pub interval: Option<(f64, f64)>,
}

pub const CONDITIONS: [&str; 3] = ["A", "B", "B_masked"];

impl Config {
    pub fn id(&self) -> String {
        format!(
            "v{}-{}-l{}-d{}-{}-{}",
            self.vocab,
            &self.regime[..1],
            (self.lambda * 100.0).round(),
            (self.distance * 100.0).round(),
            self.data,
            self.model
        )
    }

    /// From -1 to 1, fixed by the name and, where asked, by the seeds.
    fn noise(&self, name: &str, model_too: bool) -> f64 {
        let model = if model_too { self.model } else { 0 };
        let key =
            format!("{name} {} {model} {} {} {} {}", self.data, self.vocab, self.regime, self.lambda, self.distance);
        below(&mut stream(&key), 2001) as f64 / 1000.0 - 1.0
    }

    fn size(&self) -> f64 {
        f64::from(self.vocab).log2() - 11.0
    }

    fn balanced(&self) -> f64 {
        f64::from(u8::from(self.regime == "balanced"))
    }

    pub fn bridge(&self) -> f64 {
        (0.72 - 0.13 * self.size() - 0.16 * self.distance + 0.03 * self.noise("bridge", false)).clamp(0.0, 1.0)
    }

    pub fn cognate(&self) -> f64 {
        let kept = 0.7f64.powf(self.size());
        ((1.0 - self.distance).powf(1.5) * kept + 0.02 * self.noise("cognate", false)).clamp(0.0, 1.0)
    }

    pub fn measures(&self) -> Vec<(&'static str, f64)> {
        let a = 3.4 - 0.55 * self.size() + 0.03 * self.noise("fertility", false);
        let rare = (0.5 / self.lambda).log2() * (1.0 - self.balanced());
        let b = a + 0.15 + 0.22 * rare * (0.3 + self.distance);
        let share = |fertility: f64| 1.0 - (-(fertility - 1.0)).exp();
        vec![
            ("fertility.A", a),
            ("fertility.B", b),
            ("fertility.B_masked", b + 0.25),
            ("continuation.A", share(a)),
            ("continuation.B", share(b)),
            ("continuation.B_masked", share(b + 0.25)),
            ("overlap", (0.8 - 0.12 * self.size() - 0.3 * self.distance + 0.05 * self.lambda.log2()).clamp(0.02, 1.0)),
            ("bridge.jaccard", self.bridge()),
            ("bridge.dice", 2.0 * self.bridge() / (1.0 + self.bridge())),
            ("bridge.containment", self.bridge().powf(0.8)),
            ("cognate_bridge.jaccard", self.cognate()),
        ]
    }

    /// How much later than A this condition comes.
    fn delay(&self, condition: &str) -> f64 {
        let rare = (0.5 / self.lambda).powf(0.35);
        match condition {
            "A" => 1.0,
            "B" => 1.25 * rare,
            _ => 1.6 * rare * (1.0 + 0.12 * self.size()),
        }
    }
}

fn rise(step: u32, steps: u32, middle: f64) -> f64 {
    let at = f64::from(step) / f64::from(steps);
    if step == 0 { 0.0 } else { 1.0 / (1.0 + (middle / at).powi(3)) }
}

/// Every row of one evaluation.
pub fn rows(config: &Config, step: u32, steps: u32, mut each: impl FnMut(&Row)) {
    let mut put = |condition, task, metric: &str, value: f64, interval| {
        each(&Row { condition, task, metric, value, interval });
    };
    for condition in CONDITIONS {
        let delay = config.delay(condition) * (1.0 + 0.3 * config.noise("speed", true));
        let top = if condition == "B_masked" { 0.9 - 0.06 * config.size() } else { 0.98 };
        for task in ["T0", "T1", "T2"] {
            let validity = top * rise(step, steps, 0.06 * delay);
            let grammar = validity * rise(step, steps, 0.10 * delay);
            let types = grammar * rise(step, steps, 0.2 * delay) * 0.95;
            let facts = types * rise(step, steps, 0.8 * delay) * 0.6;
            for (metric, value) in
                [("validity", validity), ("grammaticality", grammar), ("types", types), ("facts", facts)]
            {
                put(condition, task, metric, value, None);
            }
            for metric in
                ["types_relation", "types_descriptor", "types_adjective", "types_adverb", "same_words", "exact"]
            {
                put(condition, task, metric, types, None);
            }
        }
        reach(config, condition, step, steps, delay, &mut put);
    }
    let fall = 3.4 * (1.0 - rise(step, steps, 0.05)) + 1.6 + 0.05 * config.size();
    put("all", "loss", "loss", fall * 2.0, None);
    put("all", "loss", "bits_per_char", fall, None);
    if step == 0 {
        put("all", "loss", "floor", 1.42, None);
    }
}

fn reach(
    config: &Config,
    condition: &'static str,
    step: u32,
    steps: u32,
    delay: f64,
    put: &mut impl FnMut(&'static str, &'static str, &str, f64, Option<(f64, f64)>),
) {
    let learnt = rise(step, steps, 0.3 * delay);
    let level = match condition {
        "A" => 0.85,
        "B" => 0.7,
        _ => {
            0.12 + 0.55 * config.bridge()
                + 0.02 * config.lambda.log2()
                + 0.08 * config.noise("reach", true)
                + 0.06 * config.noise("world", false)
        }
    };
    let known = match condition {
        "A" => 0.35,
        "B" => 0.2 + 0.03 * config.lambda.log2(),
        _ => 0.22 * config.cognate() - 0.01,
    };
    let null = 0.05 + 0.3 * (1.0 - config.size() / 3.0) * 0.4;
    let allowed = null * (1.0 - learnt) + level * learnt;
    let contrast = known * rise(step, steps, 0.6 * delay) + 0.03 * config.noise(condition, true);
    let any = |share: f64| 1.0 - (1.0 - share.clamp(0.0, 1.0)).powi(4);
    for (fraction, factor) in [("0.1", 1.0), ("0.05", 0.8), ("0.02", 0.55), ("0.01", 0.4)] {
        let sets = [
            ("network.allowed", allowed),
            ("network.forbidden", allowed - contrast),
            ("network.other", allowed - 1.6 * contrast),
            ("unigram.allowed", null),
            ("bigram.allowed", null * 1.4),
        ];
        for (set, share) in sets {
            if step == 0 || set.starts_with("network") {
                let share = (share * factor).clamp(0.0, 1.0);
                put(condition, "reach", &format!("{set}.any@{fraction}"), any(share), None);
                put(condition, "reach", &format!("{set}.share@{fraction}"), share, None);
                put(condition, "reach", &format!("{set}.any_boundary@{fraction}"), any(share) * 0.9, None);
                put(condition, "reach", &format!("{set}.share_boundary@{fraction}"), share * 0.9, None);
            }
        }
        for (set, scale) in [("facts", 1.0), ("types", 1.6)] {
            let value = contrast * scale * factor;
            let name = format!("network.{set}.share@{fraction}");
            put(condition, "reach", &name, value, Some((value - 0.015, value + 0.015)));
        }
    }
    if condition == "A" {
        let value = 0.9 * contrast;
        put(condition, "reach", "network.facts_masked.share@0.1", value, Some((value - 0.02, value + 0.02)));
    }
    for (set, scale) in [("facts", 4.0), ("types", 6.0)] {
        let value = contrast * scale;
        put(condition, "reach", &format!("network.{set}.logprob"), value, Some((value - 0.1, value + 0.1)));
    }
}
