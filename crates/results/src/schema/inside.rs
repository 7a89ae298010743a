//! What is measured inside a model (`eval.inside`).
//!
//! Of the two languages that a measure compares, one is the condition's and the other is the first language. In the first
//! language's own condition, the other is the second language.

use super::names::{part, recorded};
use crate::UnknownName;
use std::fmt;
use std::str::FromStr;

recorded! {
    /// What is measured inside a model: of a layer, or without one where no layer makes sense.
    InsideMetric {
        ResidualNorm = "residual_norm": "root mean square of the residual stream at the last token of a sentence, mean over sentences",
        Translation = "translation": "word translation P@1 from the first language: share of words whose nearest neighbour by cosine, among the descriptors of their class in the condition's language, is their translation; states less the mean of their language",
        TranslationBack = "translation_back": "the same into the first language",
        TranslationRaw = "translation_raw": "word translation P@1 from the first language, states as they are",
        TranslationRawBack = "translation_raw_back": "the same into the first language",
        TranslationPieces = "translation_pieces": "word translation P@1 from the first language of words as counts of their pieces: what shared pieces alone give",
        TranslationChance = "translation_chance": "its chance, 1 / N",
        Retrieval = "retrieval": "share of sentences whose cosine with their translation exceeds every other of its row and its column (MEXA), among sentences of one template and length; states are means over the sentence's pieces",
        RetrievalPieces = "retrieval_pieces": "the same of sentences as counts of their pieces",
        RetrievalChance = "retrieval_chance": "its chance, 1 / (2n − 1)",
        Cka = "cka": "debiased linear CKA of the states of the same words in both languages, mean over classes",
        CkaNull = "cka_null": "97.5th percentile of the same with words paired at random",
        CkaPieces = "cka_pieces": "the same of words as counts of their pieces",
        LensOwn = "lens_own": "logit lens after subject and copula: probability of pieces that occur in the words of the condition's language and not of the other",
        LensOther = "lens_other": "that of pieces of the other language alone",
        LensShared = "lens_shared": "that of pieces of both",
        Gradient = "gradient": "cosine of the gradients of parallel batches in both languages, parameters of the layer or, without a layer, all but embedding and head",
        GradientCeiling = "gradient_ceiling": "the same of two batches of the first language",
        GradientFloor = "gradient_floor": "the same of batches in both languages with other sentences",
    }
}

impl InsideMetric {
    /// Whether it does not depend on the model: what shared pieces or chance give.
    pub fn is_baseline(self) -> bool {
        self.name().ends_with("_pieces") || self.name().ends_with("_chance")
    }

    /// Whether it is a share of words, sentences or probability.
    pub fn is_share(self) -> bool {
        ["translation", "retrieval", "lens"].iter().any(|kind| self.name().starts_with(kind))
    }
}

recorded! {
    /// Which matrix of the model a piece has a row in.
    PieceMatrix {
        Input = "input": "the embedding",
        Output = "output": "the unembedding",
    }
}

recorded! {
    /// What is measured of the rows of pieces.
    RowStatistic {
        Norm = "norm": "Euclidean norm, mean over pieces",
        Cosine = "cosine": "cosine to the mean row of all pieces, mean over pieces",
    }
}

recorded! {
    /// Pieces by the words that have them.
    PieceKind {
        Seen = "seen": "words that the condition's language says in training",
        Elsewhere = "elsewhere": "words of other languages alone",
        Masked = "masked": "words masked in the condition's language alone",
        Never = "never": "no word",
    }
}

/// A measure of the rows of some pieces. On disk `input.norm.seen`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PieceRows {
    /// The matrix.
    pub matrix: PieceMatrix,
    /// What is measured.
    pub statistic: RowStatistic,
    /// The pieces.
    pub kind: PieceKind,
}

recorded! {
    /// The form of the word that is scored under a patch.
    PatchedForm {
        Own = "own": "its form in the receiver's language, masked there",
        Source = "source": "its form in the donor's language",
    }
}

recorded! {
    /// Where the state of a patch comes from.
    Donor {
        Same = "same": "the same subject in the first language",
        Other = "other": "the control: another subject of the class in the first language, one for both terms of the contrast",
    }
}

recorded! {
    /// The position whose state is replaced. The word is predicted at the last that the prompt has.
    PatchPosition {
        Tag = "tag": "the language tag",
        Subject = "subject": "the subject's last piece",
        SubjectBoundary = "subject_boundary": "the boundary after it, where that is a token",
        Copula = "copula": "the copula's last piece, where the prompt has a copula",
        CopulaBoundary = "copula_boundary": "the boundary after it, where that is a token",
    }
}

/// The contrast of masked words with one hidden state replaced. On disk `own.same.subject@2`, and `own` without a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Patching {
    /// The form of the words.
    pub form: PatchedForm,
    /// The patch; `None` for the contrast of the same words without one.
    pub patch: Option<PatchPlace>,
}

/// One patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PatchPlace {
    /// Where the state comes from.
    pub donor: Donor,
    /// Where it is put.
    pub position: PatchPosition,
    /// After which layer; 0 is the embedding.
    pub layer: u32,
}

impl fmt::Display for PieceRows {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "{}.{}.{}", self.matrix, self.statistic, self.kind)
    }
}

impl FromStr for PieceRows {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<PieceRows, UnknownName> {
        let parts: Vec<&str> = name.split('.').collect();
        let [matrix, statistic, kind] = parts[..] else { return Err(UnknownName(name.to_owned())) };
        Ok(PieceRows { matrix: part(matrix, name)?, statistic: part(statistic, name)?, kind: part(kind, name)? })
    }
}

impl fmt::Display for Patching {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        self.form.fmt(out)?;
        match self.patch {
            None => Ok(()),
            Some(PatchPlace { donor, position, layer }) => write!(out, ".{donor}.{position}@{layer}"),
        }
    }
}

impl FromStr for Patching {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Patching, UnknownName> {
        let Some((form, patch)) = name.split_once('.') else {
            return Ok(Patching { form: part(name, name)?, patch: None });
        };
        let unknown = || UnknownName(name.to_owned());
        let (donor, rest) = patch.split_once('.').ok_or_else(unknown)?;
        let (position, layer) = rest.split_once('@').ok_or_else(unknown)?;
        let layer = layer.parse().map_err(|_| unknown())?;
        let patch = PatchPlace { donor: part(donor, name)?, position: part(position, name)?, layer };
        Ok(Patching { form: part(form, name)?, patch: Some(patch) })
    }
}

/// The name of a metric with its layer, if it has one.
pub(crate) fn with_layer(metric: InsideMetric, layer: Option<u32>) -> String {
    layer.map_or_else(|| metric.to_string(), |layer| format!("{metric}@{layer}"))
}

/// A metric and its layer, from such a name.
pub(crate) fn parse_with_layer(name: &str) -> Result<(InsideMetric, Option<u32>), UnknownName> {
    match name.split_once('@') {
        None => Ok((part(name, name)?, None)),
        Some((metric, layer)) => {
            let layer = layer.parse().map_err(|_| UnknownName(name.to_owned()))?;
            Ok((part(metric, name)?, Some(layer)))
        }
    }
}
