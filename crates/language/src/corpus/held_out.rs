//! Held out is held out: one sentence in 64, told by its hash, is never trained on, in any language or task, and what a
//! model is evaluated on comes from those alone. Without this rule a small world's evaluation asks for sentences that
//! training has shown, and a model that repeats them looks like one that has learned the language.

use crate::languages::Languages;
use crate::world::symbol::Symbol;

/// One part in so many is held out.
pub const HELD_OUT_PARTS: u64 = 64;

/// Which sentences a source may draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pool {
    /// Those that may be trained on.
    Training,
    /// Those that never are.
    HeldOut,
    /// All of them.
    Any,
}

impl Pool {
    /// Whether a sentence is one of these.
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
    /// Whether a sentence is never trained on. The same in every language, and fixed for a data seed.
    #[inline]
    pub fn is_held_out(&self, symbols: &[Symbol]) -> bool {
        // In another word order the same words are the same sentence.
        let mut sorted = Vec::new();
        let symbols = if self.share_grammar() {
            symbols
        } else {
            sorted.extend_from_slice(symbols);
            sorted.sort_unstable();
            &sorted
        };
        // Each word is mixed in by the finalizer of SplitMix64, so that neighbouring symbols fall far apart.
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
