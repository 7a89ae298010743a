//! Small worlds and every way to tokenize them.

#![allow(dead_code)]

use invitro_language::{LanguageConfig, LanguageEntry, Languages, MixtureConfig};
use invitro_tokenizer::{Boundary, Kind, Regime, Tokenizer, TokenizerConfig};

pub fn small_config() -> LanguageConfig {
    LanguageConfig { entities: 20, names: 5, properties: 80, values: 20, relations: 20, ..Default::default() }
}

pub fn small(seed: u64) -> Languages {
    Languages::new(&small_config(), seed).unwrap()
}

pub fn config(kind: Kind, regime: Regime, boundary: Boundary) -> TokenizerConfig {
    TokenizerConfig { kind, regime, boundary, vocab: 300, sentences: 2000, ..Default::default() }
}

/// Every kind with every boundary and every regime it has.
pub fn all() -> Vec<TokenizerConfig> {
    let mut all = Vec::new();
    for boundary in Boundary::ALL {
        all.extend(Kind::ALL.map(|kind| config(kind, Regime::Vanilla, boundary)));
        all.push(config(Kind::Bpe, Regime::Parity, boundary));
    }
    all.push(config(Kind::Bpe, Regime::Balanced, Boundary::Token));
    all
}

pub fn train(languages: &Languages, config: &TokenizerConfig) -> Tokenizer {
    Tokenizer::train(languages, config, &MixtureConfig::default()).unwrap()
}

/// What a failing case is called.
pub fn name(config: &TokenizerConfig) -> String {
    format!("{} {} {}", config.kind.name(), config.regime.name(), config.boundary.name())
}

/// Four languages: two in the shared alphabet, two in others, of two and three bytes a letter; two of them masked.
pub fn family(seed: u64) -> Languages {
    let entry = |name: &str, distance| LanguageEntry { distance: Some(distance), ..LanguageEntry::new(name) };
    let of_a = |name: &str, distance| LanguageEntry { parent: Some("A".into()), ..entry(name, distance) };
    let list = [
        entry("A", 0.0),
        of_a("B", 0.3),
        LanguageEntry { script: 1, mask_share: 0.25, share: Some(0.25), grammar: Some("sov".into()), ..of_a("C", 0.3) },
        LanguageEntry { script: 8, mask_share: 0.25, share: Some(0.1), ..of_a("D", 0.1) },
    ];
    Languages::of_family(&small_config(), &list, seed).unwrap()
}
