//! Small worlds and every way to tokenize them.

#![allow(dead_code)]

use invitro_language::{LanguageConfig, Languages, MixtureConfig};
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
