//! The pipeline around the model in `tokenizer.json`: from text to words, and from pieces to text.
//!
//! ```text
//! boundary   text            to the model            and back
//! token      "foc oe"        foc ▁ oe ▁              "foc oe"
//! first      "foc oe"        ▁foc ▁oe                "foc oe"
//! last       "foc oe"        foc▁ oe▁                "foc oe"
//! ```
//!
//! Special tokens are extracted first and are separated by spaces: `<T0:A> foc oe <eos>`.

use crate::error::{Result, library};
use crate::special::{MARK, SpecialTokens};
use invitro_base::settings::{Boundary, Kind};
use tokenizers::decoders::byte_fallback::ByteFallback;
use tokenizers::decoders::fuse::Fuse;
use tokenizers::decoders::strip::Strip;
use tokenizers::normalizers::replace::{Replace, ReplacePattern};
use tokenizers::pre_tokenizers::split::{Split, SplitPattern};
use tokenizers::{
    AddedToken, DecoderWrapper, ModelWrapper, NormalizerWrapper, PreTokenizerWrapper, SplitDelimiterBehavior,
};

fn replace(pattern: &str, with: &str) -> Result<Replace> {
    Replace::new(ReplacePattern::Regex(pattern.into()), with).map_err(library)
}

/// The whole tokenizer around a model.
pub fn build(
    model: ModelWrapper,
    kind: Kind,
    boundary: Boundary,
    special: &SpecialTokens,
) -> Result<tokenizers::Tokenizer> {
    let mut tokenizer = tokenizers::Tokenizer::new(model);
    tokenizer.with_normalizer(Some(normalizer(boundary)?)).map_err(library)?;
    tokenizer.with_pre_tokenizer(Some(pre_tokenizer(boundary)?)).with_decoder(Some(decoder(kind, boundary)?));
    let special = special.tokens().iter().map(|token| AddedToken::from(token.as_str(), true).normalized(false));
    tokenizer.add_special_tokens(special).map_err(library)?;
    Ok(tokenizer)
}

/// Puts a mark at each word's beginning or end, and removes white space.
fn normalizer(boundary: Boundary) -> Result<NormalizerWrapper> {
    let edge = if boundary == Boundary::First { r"(?<!\S)(?=\S)" } else { r"(?<=\S)(?!\S)" };
    let steps = vec![replace(edge, &MARK.to_string())?.into(), replace(r"\s+", "")?.into()];
    Ok(tokenizers::normalizers::Sequence::new(steps).into())
}

/// Splits words, with their mark unless it is a separate token.
fn pre_tokenizer(boundary: Boundary) -> Result<PreTokenizerWrapper> {
    let behavior = match boundary {
        Boundary::Token => SplitDelimiterBehavior::Isolated,
        Boundary::First => SplitDelimiterBehavior::MergedWithNext,
        Boundary::Last => SplitDelimiterBehavior::MergedWithPrevious,
    };
    let pattern = SplitPattern::String(MARK.to_string());
    Ok(Split::new(pattern, behavior, false).map_err(library)?.into())
}

/// Replaces marks by spaces, adds one to special tokens, and strips the extra space. Letters are never `<` or `>`.
fn decoder(kind: Kind, boundary: Boundary) -> Result<DecoderWrapper> {
    let first = boundary == Boundary::First;
    let mut steps: Vec<DecoderWrapper> = Vec::new();
    if kind == Kind::Byte {
        steps.push(ByteFallback::default().into());
    }
    steps.push(replace(if first { "(?=<)" } else { "(?<=>)" }, " ")?.into());
    steps.push(replace(&MARK.to_string(), " ")?.into());
    steps.push(Fuse::default().into());
    steps.push(Strip::new(' ', usize::from(first), usize::from(!first)).into());
    Ok(tokenizers::decoders::sequence::Sequence::new(steps).into())
}

/// The kind, boundary and special tokens of a tokenizer from a file, or why invitro did not train it.
pub fn recognise(tokenizer: &tokenizers::Tokenizer) -> Result<(Kind, Boundary, SpecialTokens), String> {
    let special = SpecialTokens::recognise(|id| tokenizer.id_to_token(id), |token| tokenizer.token_to_id(token))?;
    let boundary = special.boundary();
    if tokenizer.token_to_id(&MARK.to_string()) != Some(boundary) {
        return Err(format!(
            "the word boundary `{MARK}` should have id {boundary}, after a token for every task and language"
        ));
    }
    let json = |value: serde_json::Result<serde_json::Value>| value.map_err(|e| e.to_string());
    let found = json(serde_json::to_value((tokenizer.get_normalizer(), tokenizer.get_pre_tokenizer())))?;
    let kind = match tokenizer.get_model() {
        ModelWrapper::BPE(model) if model.byte_fallback => Some(Kind::Byte),
        ModelWrapper::BPE(_) => Some(Kind::Bpe),
        ModelWrapper::Unigram(_) => Some(Kind::Unigram),
        ModelWrapper::WordPiece(_) => Some(Kind::Wordpiece),
        ModelWrapper::WordLevel(_) => None,
    };
    let pipeline = |b| Ok((normalizer(b)?, pre_tokenizer(b)?));
    for boundary in Boundary::ALL {
        let ours = pipeline(boundary).map_err(|e: crate::Error| e.to_string())?;
        if let (Some(kind), true) = (kind, json(serde_json::to_value(ours))? == found) {
            let is_character = kind == Kind::Bpe && !has_merges(tokenizer, boundary, &special);
            return Ok((if is_character { Kind::Character } else { kind }, boundary, special));
        }
    }
    Err("its model, normalizer and pre-tokenizer fit no kind and boundary of invitro; it can be used as `tokenizer.file`"
        .into())
}

/// Whether any piece has more than one letter.
fn has_merges(tokenizer: &tokenizers::Tokenizer, boundary: Boundary, special: &SpecialTokens) -> bool {
    let letters = |piece: &str| piece.chars().filter(|&c| c != MARK || boundary == Boundary::Token).count();
    tokenizer.get_vocab(false).into_iter().any(|(piece, id)| id > special.boundary() && letters(&piece) > 1)
}
