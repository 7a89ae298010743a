//! Small worlds for property tests.

use invitro_language::LanguageConfig;
use proptest::prelude::*;

/// A world that is built in milliseconds.
pub fn small() -> LanguageConfig {
    LanguageConfig {
        classes: 4,
        entities: 12,
        names: 4,
        properties: 24,
        values: 10,
        valid_share: 0.2,
        relations: 6,
        adjectives: 5,
        adverbs: 4,
        ..Default::default()
    }
}

/// Random small worlds under any built-in word order.
#[allow(dead_code)]
pub fn worlds() -> impl Strategy<Value = LanguageConfig> {
    let counts = (1usize..4, 1usize..5, 1usize..12, 3usize..8, 4usize..15, 1usize..4);
    let shares = (0.15f64..0.6, 0.0f64..=1.0, 0.0f64..=1.0, 0.0f64..=1.0, 0.3f64..0.7);
    let grammars = prop::sample::select(vec!["svo", "sov", "vso", "vos"]);
    (counts, shares, grammars).prop_map(|((pairs, names, nouns, properties, values, verbs), shares, grammar)| {
        let (valid_share, distance, adjective_rate, adverb_rate, mask_share) = shares;
        LanguageConfig {
            classes: 2 * pairs,
            entities: names + nouns,
            names,
            properties: 2 * pairs * properties,
            values,
            relations: pairs * verbs,
            adjectives: 3,
            adverbs: 3,
            valid_share,
            distance,
            adjective_rate,
            adverb_rate,
            mask_share,
            grammar: grammar.into(),
            ..Default::default()
        }
    })
}
