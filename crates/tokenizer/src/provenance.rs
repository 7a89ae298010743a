//! Where a tokenizer came from, and by which languages it can be used.

use invitro_base::settings::TokenizerConfig;
use invitro_language::{Language, Languages};
use serde::{Deserialize, Serialize};

/// Where a tokenizer came from.
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

/// A number for the words of all languages and for which of them are masked: all a tokenizer depends on but the
/// sentences. FNV-1a, written in hexadecimal.
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
    // Whose masks they are. The second of two is not named: tokenizers of older versions have it so.
    let masked: Vec<usize> = languages.masked().map(Language::index).collect();
    if languages.all().len() > 2 || masked != [1] {
        masked.iter().for_each(|place| take(&[*place as u8]));
    }
    format!("{hash:016x}")
}
