//! The `tokenizer.json` of one language for other programs: the ids that the model was trained on, and `<T0:ℓ>` as the
//! beginning of a text.
//!
//! A piece that a language does not share has another id there (`sharing.rs`), so no single file serves all languages.
//! The merges are the same in all of them. Ids that the language's text cannot contain keep a name, such as `koc:A`, so
//! that the vocabulary has as many tokens as the model has rows.

use crate::error::{Result, library};
use crate::files::transformers_files;
use crate::segment::segmentation::Segmentation;
use crate::special::{EOS, OUT};
use crate::tokenizer::Tokenizer;
use invitro_language::{Language, Languages, Task};
use serde_json::{Map, Value, json};
use std::collections::HashSet;

/// The files of a language's tokenizer, by name. `None` if no `tokenizer.json` can give its words' pieces: under
/// `tokenizer.cut` and `tokenizer.share_names` they depend on the word.
pub fn files(
    tokenizer: &Tokenizer,
    segmentation: &Segmentation,
    languages: &Languages,
    language: Language,
) -> Result<Option<[(&'static str, String); 3]>> {
    let mut json: Value = serde_json::from_str(&tokenizer.to_json()?).map_err(library)?;
    renumber(&mut json, segmentation, languages, language);
    let special = segmentation.special();
    let beginning = special.task(Task::T0, language);
    json["post_processor"] = prepend(&special.tokens()[beginning as usize], beginning);
    let text = format!("{json:#}\n");
    let inner: tokenizers::Tokenizer = text.parse().map_err(library)?;
    for symbol in languages.world.symbols() {
        let text = format!(
            "{} {} {}",
            special.tokens()[OUT as usize],
            languages.form(symbol, language),
            special.tokens()[EOS as usize]
        );
        let encoding = inner.encode(text, true).map_err(library)?;
        if encoding.get_ids() != [&[beginning, OUT], segmentation.pieces(symbol, language), &[EOS]].concat() {
            return Ok(None);
        }
    }
    // Llama has no token types.
    let inputs = ("model_input_names", json!(["input_ids", "attention_mask"]));
    Ok(Some(transformers_files(special, Some(beginning), inputs, text)))
}

/// Gives every token its id in the language.
fn renumber(json: &mut Value, segmentation: &Segmentation, languages: &Languages, language: Language) {
    let id = |piece: &Value| segmentation.ids(&[piece.as_u64().unwrap_or_default() as u32], language)[0];
    let names = names(segmentation, languages, language);
    let model = &mut json["model"];
    model["vocab"] = match &model["vocab"] {
        // The place in a list is the id.
        Value::Array(list) => {
            let score = |row: u32| &list[segmentation.common_id(row) as usize][1];
            (0..).zip(&names).map(|(row, name)| json!([name, score(row)])).collect()
        }
        _ => Value::Object((0..).zip(names).map(|(row, name)| (name, json!(row as u32))).collect::<Map<_, _>>()),
    };
    if !model["unk_id"].is_null() {
        model["unk_id"] = json!(id(&model["unk_id"]));
    }
    for token in json["added_tokens"].as_array_mut().into_iter().flatten() {
        token["id"] = json!(id(&token["id"]));
    }
}

/// The token of every row of the model: as in `tokenizer.json` if the language's text can contain it, else with the name of
/// its own language appended.
fn names(segmentation: &Segmentation, languages: &Languages, language: Language) -> Vec<String> {
    let piece_names: Vec<&str> = (0..segmentation.vocab_size() as u32).map(|piece| segmentation.token(piece)).collect();
    let mut taken: HashSet<String> = piece_names.iter().map(|&name| name.to_owned()).collect();
    let name = |row: u32| {
        let piece = segmentation.common_id(row);
        let own = piece_names[piece as usize];
        if segmentation.ids(&[piece], language)[0] == row {
            return own.to_owned();
        }
        let owner = languages.all()[segmentation.owner(row).unwrap_or(0)];
        let mut name = format!("{own}:{}", owner.name());
        while !taken.insert(name.clone()) {
            name.push(':');
        }
        name
    };
    (0..segmentation.rows() as u32).map(name).collect()
}

/// A post-processor that puts a token before a text.
fn prepend(token: &str, id: u32) -> Value {
    let special = json!({ "SpecialToken": { "id": token, "type_id": 0 } });
    let text = |name: &str| json!({ "Sequence": { "id": name, "type_id": 0 } });
    json!({
        "type": "TemplateProcessing",
        "single": [special, text("A")],
        "pair": [special, text("A"), text("B")],
        "special_tokens": { token: { "id": token, "ids": [id], "tokens": [token] } },
    })
}
