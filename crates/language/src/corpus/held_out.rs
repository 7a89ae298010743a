//! Held-out sentences: a hash selects one sentence in 64 that is never trained on, in any language or task. Evaluation
//! uses only these sentences. Otherwise, in a small world, a model that repeats its training data would score well.

use crate::languages::Languages;
use crate::world::symbol::Symbol;

/// One sentence in this many is held out.
pub const HELD_OUT_PARTS: u64 = 64;

/// The set of sentences that a source may draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pool {
    /// Sentences that may be trained on.
    Training,
    /// Sentences that are never trained on.
    HeldOut,
    /// All sentences.
    Any,
}

impl Pool {
    /// Whether the pool contains a sentence.
    #[inline]
    pub(crate) fn has(self, languages: &Languages, symbols: &[Symbol]) -> bool {
        match self {
            Pool::Any => true,
            Pool::Training => !languages.is_held_out(symbols),
            Pool::HeldOut => languages.is_held_out(symbols),
        }
    }
}

impl Languages {
    /// Whether a sentence is never trained on: the same in every language, and fixed for a data seed.
    #[inline]
    pub fn is_held_out(&self, symbols: &[Symbol]) -> bool {
        // The same words in another word order are the same sentence.
        let mut sorted = Vec::new();
        let symbols = if self.share_grammar() {
            symbols
        } else {
            sorted.extend_from_slice(symbols);
            sorted.sort_unstable();
            &sorted
        };
        // The finalizer of SplitMix64 separates neighbouring symbols.
        let hash = symbols.iter().fold(mix(self.seed), |hash, symbol| mix(hash ^ u64::from(symbol.0)));
        hash.is_multiple_of(HELD_OUT_PARTS)
    }
}

#[inline]
fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}
