//! The settings of a tokenizer, as they stand in an experiment file under `[tokenizer]`. Defaults are the paper's.

use crate::error::{Error, Result};
use crate::own;
use invitro_base::named;
use serde::{Deserialize, Serialize};

/// `[tokenizer]`: what is trained, on what, and how words are told apart; or the file of one that is there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TokenizerConfig {
    /// A `tokenizer.json` to use instead of training one, by its path or the name that [`invitro_base::named_files`] gave it;
    /// empty for none.
    pub file: String,
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
    /// Which pieces the other languages share with the first.
    pub share: Share,
    /// With [`Share::Random`], how much of their text on pieces that could be shared.
    pub share_p: f64,
    /// Whether names keep the first language's ids where pieces have ids of their own.
    pub share_names: bool,
    /// Whether the boundary's token does.
    pub share_boundary: bool,
    /// Whether [`Share::All`] has the rows that the others need, too.
    pub share_rows: bool,
    /// Where words are cut.
    pub cut: Cut,
}

impl Default for TokenizerConfig {
    fn default() -> Self {
        TokenizerConfig {
            file: String::new(),
            kind: Kind::Bpe,
            regime: Regime::Vanilla,
            vocab: 2048,
            boundary: Boundary::Token,
            sees_masked: false,
            sentences: 20_000,
            allow_shortfall: false,
            share: Share::All,
            share_p: 0.5,
            share_names: false,
            share_boundary: false,
            share_rows: false,
            cut: Cut::Learned,
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
        if !(0.0..=1.0).contains(&self.share_p) {
            let (given, allowed) = (self.share_p.to_string(), "0 to 1".into());
            return Err(Error::Range { key: "tokenizer.share_p", given, allowed });
        }
        if !self.file.is_empty() {
            // What follows is of a tokenizer that is trained.
            return Ok(());
        }
        if self.regime == Regime::Parity && self.kind != Kind::Bpe {
            return Err(Error::Mismatch(format!(
                "`tokenizer.regime` is parity, which chooses the merges of bpe, but `tokenizer.kind` is {}",
                self.kind.name()
            )));
        }
        if self.cut != Cut::Learned && !self.kind.is_trained() {
            return Err(Error::Mismatch(format!(
                "`tokenizer.cut` is {}, but `tokenizer.kind` is {}, whose words have one cut only",
                self.cut.name(),
                self.kind.name()
            )));
        }
        if self.share_boundary && !self.has_boundary_token() {
            return Err(no_boundary(self.boundary));
        }
        Ok(())
    }

    /// Whether the boundary stands in words as a token of its own: bytes carry no mark, and a word that gives up its
    /// longest beginning may leave its mark for last.
    fn has_boundary_token(&self) -> bool {
        match self.boundary {
            Boundary::Token => true,
            Boundary::First => self.kind == Kind::Byte,
            Boundary::Last => matches!(self.kind, Kind::Byte | Kind::Wordpiece),
        }
    }

    /// |V| as asked for: that of the file, ours not counted, if there is one.
    pub fn asked_vocab(&self) -> usize {
        own::size(&self.file).unwrap_or(self.vocab)
    }

    /// Whether words have other cuts or ids than `tokenizer.json` gives them.
    pub fn intervenes(&self) -> bool {
        self.share != Share::All || self.cut != Cut::Learned
    }

    /// Whether every language but the first has rows of its own in the model.
    pub fn has_own_rows(&self) -> bool {
        self.share != Share::All || self.share_rows
    }

    /// What is done to words, as in `share random 0.25`, `cut alike`; nothing where nothing is.
    pub fn arm(&self) -> impl Iterator<Item = String> {
        let p = if self.share == Share::Random { format!(" {}", self.share_p) } else { String::new() };
        let share = (self.share != Share::All).then(|| format!("share {}{p}", self.share.name()));
        let cut = (self.cut != Cut::Learned).then(|| format!("cut {}", self.cut.name()));
        share.into_iter().chain(cut)
    }

    /// Why a setting has no effect beside the others, if it has none.
    pub fn is_unused(&self, key: &str) -> Option<&'static str> {
        const TRAINED: [&str; 7] =
            ["kind", "regime", "vocab", "boundary", "sees_masked", "sentences", "allow_shortfall"];
        let is_trained = |key: &str| key.strip_prefix("tokenizer.").is_some_and(|key| TRAINED.contains(&key));
        match key {
            _ if !self.file.is_empty() && is_trained(key) => Some("`tokenizer.file` is a tokenizer that is there"),
            "tokenizer.share_p" if self.share != Share::Random => {
                Some("it counts only with `tokenizer.share` = random")
            }
            "tokenizer.share_names" | "tokenizer.share_boundary" if self.share == Share::All => {
                Some("with `tokenizer.share` = all every piece is shared")
            }
            "tokenizer.share_rows" if self.share != Share::All => {
                Some("it counts only with `tokenizer.share` = all: every other arm has these rows")
            }
            _ => None,
        }
    }
}

/// What is said of `tokenizer.share_boundary` where there is no such token.
pub(crate) fn no_boundary(boundary: Boundary) -> Error {
    Error::Mismatch(format!(
        "`tokenizer.share_boundary` is true, but `tokenizer.boundary` is {}: the boundary is a mark on a piece and has no \
         token to share",
        boundary.name()
    ))
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

named! {
    /// Which pieces a language shares with the first. A piece that it does not share has an id of its own there.
    Share {
        /// All: one id per piece, whatever the language.
        All = "all",
        /// None.
        None = "none",
        /// Those that stand in forms of the same symbols in both, up to half of the text on pieces of both.
        Cognate = "cognate",
        /// Exactly the others of those that both have.
        Other = "other",
        /// By chance, up to `share_p` of that text; what is shared at some p is shared at every larger one.
        Random = "random",
    }
}

named! {
    /// Where words are cut into pieces.
    Cut {
        /// Where the tokenizer has learned to.
        Learned = "learned",
        /// Between morphemes first, and each morpheme as learned.
        Morpheme = "morpheme",
        /// Into as many pieces as learned, with the most in common with the word's form in the first language.
        Alike = "alike",
        /// The same with the least.
        Apart = "apart",
    }
}
