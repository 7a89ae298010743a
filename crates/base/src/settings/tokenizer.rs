//! `[tokenizer]`

use super::{Range, Section, SettingError};
use crate::{named, settings};

settings! {
    /// `[tokenizer]`: what is trained, on what, and how words are cut; or the file of a tokenizer to use.
    TokenizerConfig in "tokenizer", "what is trained, on what, and how the end of a word shows; or the file of one that is there" {
        file: String = String::new(), Range::File { built_in: &[""], words: "the path of a tokenizer.json, or empty" },
            Ours + neutral,
            "somebody else's tokenizer, instead of training one: then nothing of kind to allow_shortfall counts";
        kind: Kind = Kind::Bpe, Range::Any, Paper, "how words are cut into pieces";
        regime: Regime = Regime::Vanilla, Range::Any, Paper,
            "sample: the 1 : lambda mixture; 1 : 1; the mixture, each merge for the language with more pieces";
        vocab: usize = 2048, Range::within(1.0, 1e6), Ours,
            "|V|, special tokens included; character and byte have a size of their own";
        boundary: Boundary = Boundary::Token, Range::Any, Ours,
            "end of a word: a token of its own, or a mark on the word's first or last piece";
        sees_masked: bool = false, Range::Any, Ours, "whether its sample holds masked words";
        sentences: usize = 20_000, Range::within(1.0, 1e7), Ours, "sentences of its sample";
        allow_shortfall: bool = false, Range::Any, Ours, "whether fewer tokens than asked for are accepted";
        share: Share = Share::All, Range::Any, Ours + neutral,
            "which pieces other languages share with the first; the rest have ids of their own there";
        share_p: f64 = 0.5, Range::within(0.0, 1.0), Ours + neutral,
            "with random: share of a language's text on pieces of both that is on shared ones";
        share_names: bool = false, Range::Any, Ours + neutral,
            "whether names keep the first language's ids where share is not all";
        share_boundary: bool = false, Range::Any, Ours + neutral, "whether the boundary's token does";
        share_rows: bool = false, Range::Any, Ours + neutral,
            "with all: as many rows as the other arms, unused, so that models are as large";
        cut: Cut = Cut::Learned, Range::Any, Ours + neutral,
            "where words are cut: as learned, between morphemes first, or with the most or least in common with the first language";
        dropout: f64 = 0.0, Range::to_below(0.0, 1.0), Ours + neutral,
            "BPE dropout: chance that a possible merge is left out where training reads a word, in one of 32 cuts drawn for it; evaluation uses the plain cut";
    }
}

named! {
    /// How words are cut into pieces.
    Kind {
        /// The most frequent pair of pieces becomes a piece, over and over; words are cut by the same merges.
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
        /// Those in forms of the same symbols in both, up to half of the text on pieces of both.
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

impl TokenizerConfig {
    /// Every setting in its range, and all of them fitting each other.
    pub fn validate(&self) -> Result<(), SettingError> {
        self.check_ranges()?;
        self.check_dropout()?;
        if !self.file.is_empty() {
            // The rest is of a tokenizer that is trained.
            return Ok(());
        }
        if self.regime == Regime::Parity && self.kind != Kind::Bpe {
            return Err(SettingError::Mismatch(format!(
                "`tokenizer.regime` is parity, which chooses the merges of bpe, but `tokenizer.kind` is {}",
                self.kind.name()
            )));
        }
        if self.cut != Cut::Learned && !self.kind.is_trained() {
            return Err(SettingError::Mismatch(format!(
                "`tokenizer.cut` is {}, but `tokenizer.kind` is {}, whose words have one cut only",
                self.cut.name(),
                self.kind.name()
            )));
        }
        if self.share_boundary && !self.has_boundary_token() {
            return Err(no_boundary_token(self.boundary));
        }
        Ok(())
    }

    /// Dropout leaves out merges that BPE has learned, which nothing else does to its words.
    fn check_dropout(&self) -> Result<(), SettingError> {
        let why = match (self.kind, self.cut) {
            _ if self.dropout == 0.0 => return Ok(()),
            _ if !self.file.is_empty() => {
                "`tokenizer.file` is a tokenizer that is there: only one that is trained can drop merges".into()
            }
            (Kind::Bpe, Cut::Learned) => return Ok(()),
            (Kind::Bpe, cut) => format!("`tokenizer.cut` is {}, which no merges give", cut.name()),
            (kind, _) => format!("`tokenizer.kind` is {}, whose words are not cut by merges", kind.name()),
        };
        Err(SettingError::Mismatch(format!("`tokenizer.dropout` is {}, but {why}", self.dropout)))
    }

    /// Whether the boundary is a token of its own in words: bytes carry no mark, and a word that gives up its longest
    /// beginning may leave its mark for last.
    fn has_boundary_token(&self) -> bool {
        match self.boundary {
            Boundary::Token => true,
            Boundary::First => self.kind == Kind::Byte,
            Boundary::Last => matches!(self.kind, Kind::Byte | Kind::Wordpiece),
        }
    }

    /// Whether words have other cuts or ids than `tokenizer.json` gives them.
    pub fn intervenes(&self) -> bool {
        self.share != Share::All || self.cut != Cut::Learned
    }

    /// Whether every language but the first has rows of its own in the model.
    pub fn has_own_rows(&self) -> bool {
        self.share != Share::All || self.share_rows
    }

    /// The interventions, as in `share random 0.25`, `cut alike`.
    pub fn interventions(&self) -> impl Iterator<Item = String> {
        let p = if self.share == Share::Random { format!(" {}", self.share_p) } else { String::new() };
        let share = (self.share != Share::All).then(|| format!("share {}{p}", self.share.name()));
        let cut = (self.cut != Cut::Learned).then(|| format!("cut {}", self.cut.name()));
        share.into_iter().chain(cut)
    }

    /// Why a setting has no effect beside the others, if it has none.
    pub fn why_unused(&self, key: &str) -> Option<&'static str> {
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

/// The error of `tokenizer.share_boundary` where the boundary is no token.
pub fn no_boundary_token(boundary: Boundary) -> SettingError {
    SettingError::Mismatch(format!(
        "`tokenizer.share_boundary` is true, but `tokenizer.boundary` is {}: the boundary is a mark on a piece and has no \
         token to share",
        boundary.name()
    ))
}
