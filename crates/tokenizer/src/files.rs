//! A tokenizer on disk: `tokenizer.json`, and `tokenizer_config.json` and `special_tokens_map.json` for `transformers`.
//! The key `invitro` of the config records its provenance.

use crate::error::{Error, Result};
use crate::external::oversize::check_size;
use crate::provenance::Provenance;
use crate::special::{self, SpecialTokens};
use crate::tokenizer::Tokenizer;
use invitro_base::catch_panic;
use invitro_base::settings::TokenizerConfig;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

const TOKENIZER: &str = "tokenizer.json";
const CONFIG: &str = "tokenizer_config.json";
const SPECIAL: &str = "special_tokens_map.json";

impl Tokenizer {
    /// Writes `tokenizer.json`, `tokenizer_config.json` and `special_tokens_map.json` into a folder.
    pub fn save(&self, dir: &Path) -> Result<()> {
        std::fs::create_dir_all(dir).map_err(|e| fault(dir, "made", e))?;
        self.files()?.iter().try_for_each(|(name, text)| {
            let path = dir.join(name);
            invitro_base::files::write(&path, text).map_err(|e| fault(&path, "written", e))
        })
    }

    /// The files of [`Tokenizer::save`], by name.
    pub fn files(&self) -> Result<[(&'static str, String); 3]> {
        let provenance = ("invitro", json!(self.provenance().map(provenance_json)));
        Ok(transformers_files(self.special(), None, provenance, self.to_json()?))
    }

    /// Reads a tokenizer from its folder or its `tokenizer.json`.
    pub fn load(path: &Path) -> Result<Tokenizer> {
        let file = if path.is_dir() { path.join(TOKENIZER) } else { path.to_owned() };
        let damaged = |why: String| Error::Damaged { path: file.clone(), why };
        let text = invitro_base::limits::read_text_file(&file).map_err(|e| fault(&file, "read", e))?;
        check_size(&text).map_err(damaged)?;
        let provenance = provenance(&file.with_file_name(CONFIG))?;
        let parse = || {
            let inner = text.parse().map_err(|e: tokenizers::Error| e.to_string())?;
            Tokenizer::from_parts(inner, provenance)
        };
        catch_panic(parse).and_then(|read| read).map_err(damaged)
    }
}

/// The files that `transformers` reads beside a `tokenizer.json`, and itself. `bos` begins a text; `setting` is one more key
/// of `tokenizer_config.json`.
pub(crate) fn transformers_files(
    special: &SpecialTokens,
    bos: Option<u32>,
    setting: (&str, Value),
    tokenizer: String,
) -> [(&'static str, String); 3] {
    let tokens = special.tokens();
    let mut map = json!({
        "pad_token": tokens[special::PAD as usize],
        "eos_token": tokens[special::EOS as usize],
        "additional_special_tokens": tokens[special::OUT as usize..],
    });
    if let Some(bos) = bos {
        map["bos_token"] = json!(tokens[bos as usize]);
    }
    let mut config = json!({
        "tokenizer_class": "PreTrainedTokenizerFast",
        "clean_up_tokenization_spaces": false,
        setting.0: setting.1,
    });
    for (key, value) in map.as_object().into_iter().flatten() {
        config[key] = value.clone();
    }
    [(CONFIG, format!("{config:#}\n")), (SPECIAL, format!("{map:#}\n")), (TOKENIZER, tokenizer)]
}

/// A provenance as JSON. Newer settings at their defaults are omitted, so that older files do not change. A note says
/// that words have other pieces than the tokenizer gives.
fn provenance_json(provenance: &Provenance) -> Value {
    let mut value = json!(provenance);
    let defaults = json!(TokenizerConfig::default());
    if let Some(config) = value["config"].as_object_mut() {
        let is_newer = |key: &str| key.starts_with("share") || ["cut", "dropout", "file"].contains(&key);
        config.retain(|key, value| !is_newer(key) || *value != defaults[key]);
    }
    if provenance.config.intervenes() {
        let arm = provenance.config.interventions().collect::<Vec<_>>().join(", ");
        value["note"] = json!(format!(
            "words have other pieces or ids than tokenizer.json gives them ({arm}): those of segmentation.tsv"
        ));
    }
    value
}

fn provenance(path: &Path) -> Result<Option<Provenance>> {
    #[derive(Deserialize)]
    struct Config {
        invitro: Option<Provenance>,
    }
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(fault(path, "read", e)),
    };
    let config: Config =
        serde_json::from_str(&text).map_err(|e| Error::Damaged { path: path.to_owned(), why: e.to_string() })?;
    Ok(config.invitro)
}

fn fault(path: &Path, verb: &'static str, error: std::io::Error) -> Error {
    Error::File { path: PathBuf::from(path), verb, why: error.to_string() }
}
