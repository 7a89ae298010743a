//! Renumbers the tokens of a `tokenizer.json`: our special tokens first, then the file's in their order.

use crate::segment::spelling::Spelling;
use crate::special::SpecialTokens;
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};

/// The placeholder for the boundary's token in a vocabulary that has none. No word has these letters.
pub const NO_BOUNDARY: &str = "<▁>";

/// The adjacent spaces that a special token absorbs.
#[derive(Clone, Copy, Debug)]
pub struct Strip {
    left: bool,
    right: bool,
}

impl Strip {
    /// A space belongs to the word after it, to no word, or to the word before it.
    pub const ALL: [Strip; 3] =
        [Strip { left: true, right: false }, Strip { left: true, right: true }, Strip { left: false, right: true }];
}

/// The distinct tokens of a file, by id.
pub fn tokens(json: &Value) -> Result<Vec<String>, String> {
    let vocab = &json["model"]["vocab"];
    let mut all: Vec<(u64, &str)> = match vocab {
        Value::Object(map) => map.iter().filter_map(|(token, id)| Some((id.as_u64()?, token.as_str()))).collect(),
        Value::Array(list) => (0..).zip(list).filter_map(|(id, pair)| Some((id, pair[0].as_str()?))).collect(),
        _ => return Err("it has no vocabulary".into()),
    };
    let added = json["added_tokens"].as_array().into_iter().flatten();
    all.extend(added.filter_map(|token| Some((token["id"].as_u64()?, token["content"].as_str()?))));
    all.sort_unstable();
    let mut seen = HashSet::new();
    Ok(all.into_iter().filter(|(_, token)| seen.insert(*token)).map(|(_, token)| token.to_owned()).collect())
}

/// The unknown token of a model.
pub fn unknown(model: &Value) -> Option<&str> {
    let listed = model["unk_id"].as_u64().and_then(|id| model["vocab"][id as usize][0].as_str());
    model["unk_token"].as_str().or(listed)
}

/// The file with our ids, without its truncation, padding and post-processing.
pub fn renumber(mut file: Value, special: &SpecialTokens, spelling: &Spelling, strip: Strip) -> Result<Value, String> {
    let file_tokens = tokens(&file)?;
    let mark = spelling.mark().map(String::from).filter(|mark| file_tokens.contains(mark));
    let mut order: Vec<String> = special.tokens().to_vec();
    order.push(mark.unwrap_or_else(|| NO_BOUNDARY.to_owned()));
    let first: HashSet<String> = order.iter().cloned().collect();
    order.extend(file_tokens.into_iter().filter(|token| !first.contains(token)));
    let ids: HashMap<&str, u32> = order.iter().map(String::as_str).zip(0..).collect();
    let id = |token: &str| ids.get(token).copied();

    let model = &mut file["model"];
    let unknown = unknown(model).and_then(id);
    model["vocab"] = match &model["vocab"] {
        Value::Array(list) => scored(list, &order),
        _ => {
            Value::Object((0..).zip(&order).map(|(id, token)| (token.clone(), json!(id as u32))).collect::<Map<_, _>>())
        }
    };
    if !model["unk_id"].is_null() {
        model["unk_id"] = json!(unknown);
    }
    let ours = special.tokens().iter().map(|token| {
        json!({
            "id": id(token), "content": token, "single_word": false, "lstrip": strip.left, "rstrip": strip.right,
            "normalized": false, "special": true
        })
    });
    let mut added: Vec<Value> = ours.collect();
    for token in file["added_tokens"].as_array().into_iter().flatten() {
        let content = token["content"].as_str().unwrap_or_default();
        if !special.tokens().iter().any(|ours| ours == content) {
            let mut token = token.clone();
            token["id"] = json!(id(content));
            added.push(token);
        }
    }
    file["added_tokens"] = added.into();
    for key in ["truncation", "padding", "post_processor"] {
        file[key] = Value::Null;
    }
    Ok(file)
}

/// The vocabulary of a unigram model in another order. New tokens have the lowest score.
fn scored(list: &[Value], order: &[String]) -> Value {
    let known: Map<String, Value> =
        list.iter().filter_map(|pair| Some((pair[0].as_str()?.to_owned(), pair[1].clone()))).collect();
    let least = list.iter().filter_map(|pair| pair[1].as_f64()).fold(0.0, f64::min);
    let pair = |token: &String| json!([token, known.get(token).cloned().unwrap_or(json!(least))]);
    order.iter().map(pair).collect()
}
