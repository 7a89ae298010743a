//! Refuses a `tokenizer.json` that would fill the memory, before the library reads it, and one whose ids have a gap.

use invitro_base::limits;
use serde_json::Value;
use std::collections::HashSet;

/// Checks ids, added tokens and replacements. A file that is no JSON is left to the library, unless there is nothing in it.
pub fn check_size(text: &str) -> Result<(), String> {
    if text.trim().is_empty() {
        return Err("the file is empty".into());
    }
    let Ok(json) = serde_json::from_str::<Value>(text) else { return Ok(()) };
    let added = json["added_tokens"].as_array().map_or(&[][..], Vec::as_slice);
    if added.len() > limits::ADDED_TOKENS {
        return Err(format!("it has {} added tokens; at most {} are allowed", added.len(), limits::ADDED_TOKENS));
    }
    let model = json["model"]["vocab"].as_object().into_iter().flatten().map(|(token, id)| (token.as_str(), id));
    let added = added.iter().map(|token| (token["content"].as_str().unwrap_or_default(), &token["id"]));
    let ids = model.chain(added).filter_map(|(token, id)| Some((id.as_u64()?, token)));
    if let Some((id, token)) = ids.max().filter(|(id, _)| *id > limits::TOKEN_ID) {
        return Err(format!("its token `{token}` has the id {id}; the largest allowed is {}", limits::TOKEN_ID));
    }
    for part in ["normalizer", "decoder"] {
        let letters = replaced_letters(&json[part]);
        if letters > limits::REPLACED_LETTERS {
            let most = limits::REPLACED_LETTERS;
            return Err(format!(
                "the replacements of its {part} can make {letters:.0} letters of one; at most {most} are allowed"
            ));
        }
    }
    Ok(())
}

/// Checks that the ids are those from 0 on: the model has a row for each.
pub fn check_gap(inner: &tokenizers::Tokenizer) -> Result<(), String> {
    let ids: HashSet<u32> = inner.get_vocab(true).into_values().collect();
    match (0..ids.len() as u32).find(|id| !ids.contains(id)) {
        Some(gap) => Err(format!("its ids have a gap: of its {} tokens none has the id {gap}", ids.len())),
        None => Ok(()),
    }
}

/// How many letters all replacements in a part, one after the other, can make of one.
fn replaced_letters(part: &Value) -> f64 {
    let letters = |value: &Value| value.as_str().map_or(1, |text| text.chars().count()).max(1) as f64;
    let own = match part["type"].as_str() {
        Some("Replace") => (letters(&part["content"]) / letters(&part["pattern"]["String"])).max(1.0),
        _ => 1.0,
    };
    let inner = ["normalizers", "decoders"].iter().filter_map(|key| part[key].as_array()).flatten();
    own * inner.map(replaced_letters).product::<f64>()
}
