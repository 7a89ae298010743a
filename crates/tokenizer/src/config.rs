//! The settings of a tokenizer, as they stand in an experiment file under `[tokenizer]`. Defaults are the paper's.

use crate::error::{Error, Result};
use invitro_language::named;
use serde::{Deserialize, Serialize};

/// `[tokenizer]`: what is trained, on what, and how words are told apart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TokenizerConfig {
    /// `bpe`, `unigram`, `wordpiece`, `character` or `byte`.
    pub kind: Kind,
    /// `vanilla`, `balanced` or `parity`.
    pub regime: Regime,
    /// |V|, special tokens included. The kinds `character` and `byte` have a size of their own.
    pub vocab: usize,
    /// `token`, `first` or `last`.
    pub boundary: Boundary,
    /// Whether the training sample holds masked words.
    pub sees_masked: bool,
    /// Sentences in the training sample.
    pub sentences: usize,
    /// Whether a vocabulary that the sample cannot fill is accepted as it comes.
    pub allow_shortfall: bool,
}

impl Default for TokenizerConfig {
    fn default() -> Self {
        TokenizerConfig {
            kind: Kind::Bpe,
            regime: Regime::Vanilla,
            vocab: 2048,
            boundary: Boundary::Token,
            sees_masked: false,
            sentences: 20_000,
            allow_shortfall: false,
        }
    }
}

impl TokenizerConfig {
    /// Every setting in its range, and all of them fitting each other.
    pub fn validate(&self) -> Result<()> {
        let range = |holds: bool, key, given: usize, allowed: &str| {
            if holds { Ok(()) } else { Err(Error::Range { key, given: given.to_string(), allowed: allowed.into() }) }
        };
        range((1..=1_000_000).contains(&self.vocab), "tokenizer.vocab", self.vocab, "1 to 1000000")?;
        range((1..=10_000_000).contains(&self.sentences), "tokenizer.sentences", self.sentences, "1 to 10000000")?;
        if self.regime == Regime::Parity && self.kind != Kind::Bpe {
            return Err(Error::Mismatch(format!(
                "`tokenizer.regime` is parity, which chooses the merges of bpe, but `tokenizer.kind` is {}",
                self.kind.name()
            )));
        }
        Ok(())
    }
}

named! {
    /// How words are taken apart.
    Kind {
        /// The most frequent pair of pieces becomes a piece, over and over; words are taken apart by the same merges.
        Bpe = "bpe",
        /// Pieces of a unigram language model; a word falls into its most probable pieces.
        Unigram = "unigram",
        /// The pieces of `bpe`; a word gives up its longest known beginning, over and over.
        Wordpiece = "wordpiece",
        /// Every letter is a piece.
        Character = "character",
        /// Every byte is a piece.
        Byte = "byte",
    }
}

impl Kind {
    /// Whether |V| can be chosen.
    pub fn is_trained(self) -> bool {
        !matches!(self, Kind::Character | Kind::Byte)
    }
}

named! {
    /// What the tokenizer is trained on.
    Regime {
        /// The mixture the model is trained on: 1 : λ, or by the languages' shares.
        Vanilla = "vanilla",
        /// As many sentences of every language.
        Balanced = "balanced",
        /// The same mixture, each merge chosen for the language that needs most pieces for the same sentences.
        Parity = "parity",
    }
}

named! {
    /// How the end of a word shows in its pieces.
    Boundary {
        /// A token of its own after each word, so that a piece is the same wherever in a word it stands.
        Token = "token",
        /// A mark on the word's first piece.
        First = "first",
        /// A mark on the word's last piece.
        Last = "last",
    }
}
