//! The provenance of a tokenizer.

use invitro_base::settings::TokenizerConfig;
use invitro_language::{Language, Languages};
use serde::{Deserialize, Serialize};

/// The provenance of a tokenizer: its settings and its languages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// Its settings.
    pub config: TokenizerConfig,
    /// λ of the mixture it was trained on.
    pub lambda: f64,
    /// |V| as reached.
    pub vocab: usize,
    /// The [`fingerprint`] of the languages.
    pub language: String,
}

/// A hash of the words of all languages and their masks: FNV-1a, in hexadecimal.
pub fn fingerprint(languages: &Languages) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut take = |bytes: &[u8]| {
        for &byte in bytes {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    };
    for symbol in languages.world.symbols() {
        for &language in languages.all() {
            take(languages.form(symbol, language).as_bytes());
            take(b" ");
        }
        for language in languages.masked() {
            take(if languages.mask(language).contains(symbol) { b"-" } else { b"+" });
        }
    }
    // The masked languages. A mask of only the second of two is omitted, as in older versions.
    let masked: Vec<usize> = languages.masked().map(Language::index).collect();
    if languages.all().len() > 2 || masked != [1] {
        masked.iter().for_each(|place| take(&[*place as u8]));
    }
    format!("{hash:016x}")
}
