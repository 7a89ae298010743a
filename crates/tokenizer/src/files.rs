//! A tokenizer on disk: `tokenizer.json` for anyone, `tokenizer_config.json` and `special_tokens_map.json` for
//! `transformers`, our own record of where it came from under the key `invitro` of the config.

use crate::config::TokenizerConfig;
use crate::error::{Error, Result};
use crate::special;
use crate::tokenizer::Tokenizer;
use invitro_language::{Language, Languages, MixtureConfig};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::path::{Path, PathBuf};

const TOKENIZER: &str = "tokenizer.json";
const CONFIG: &str = "tokenizer_config.json";
const SPECIAL: &str = "special_tokens_map.json";

/// Where a tokenizer came from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    pub config: TokenizerConfig,
    pub lambda: f64,
    /// |V| as reached.
    pub vocab: usize,
    /// The language's [`fingerprint`].
    pub languages: String,
}

impl Provenance {
    pub fn new(languages: &Languages, config: &TokenizerConfig, mixture: &MixtureConfig, vocab: usize) -> Provenance {
        Provenance { config: config.clone(), lambda: mixture.lambda, vocab, languages: fingerprint(languages) }
    }
}

/// A number for the words of both languages and for which of them are masked: all a tokenizer depends on but the
/// sentences. FNV-1a, written in hexadecimal.
pub fn fingerprint(languages: &Languages) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut take = |bytes: &[u8]| {
        for &byte in bytes {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    };
    for symbol in languages.world.symbols() {
        for language in Language::BOTH {
            take(languages.form(symbol, language).as_bytes());
            take(b" ");
        }
        take(if languages.mask.contains(symbol) { b"-" } else { b"+" });
    }
    format!("{hash:016x}")
}

pub fn save(tokenizer: &Tokenizer, dir: &Path) -> Result<()> {
    std::fs::create_dir_all(dir).map_err(|e| fault(dir, "made", e))?;
    contents(tokenizer)?.iter().try_for_each(|(name, text)| write(&dir.join(name), text))
}

pub fn contents(tokenizer: &Tokenizer) -> Result<[(&'static str, String); 3]> {
    let tokens = special::tokens();
    let tasks = &tokens[special::OUT as usize..];
    let config = json!({
        "tokenizer_class": "PreTrainedTokenizerFast",
        "pad_token": tokens[special::PAD as usize],
        "eos_token": tokens[special::EOS as usize],
        "additional_special_tokens": tasks,
        "clean_up_tokenization_spaces": false,
        "invitro": tokenizer.provenance(),
    });
    let map = json!({
        "pad_token": tokens[special::PAD as usize],
        "eos_token": tokens[special::EOS as usize],
        "additional_special_tokens": tasks,
    });
    Ok([(CONFIG, format!("{config:#}\n")), (SPECIAL, format!("{map:#}\n")), (TOKENIZER, tokenizer.to_json()?)])
}

pub fn load(path: &Path) -> Result<Tokenizer> {
    let file = if path.is_dir() { path.join(TOKENIZER) } else { path.to_owned() };
    let damaged = |why: String| Error::Damaged { path: file.clone(), why };
    let text = std::fs::read_to_string(&file).map_err(|e| fault(&file, "read", e))?;
    let inner = text.parse().map_err(|e: tokenizers::Error| damaged(e.to_string()))?;
    Tokenizer::from_parts(inner, provenance(&file.with_file_name(CONFIG))?).map_err(damaged)
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

/// Written beside and renamed, so that no half of a file is ever found.
fn write(path: &Path, text: &str) -> Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let beside = path.with_file_name(name);
    std::fs::write(&beside, text).map_err(|e| fault(&beside, "written", e))?;
    std::fs::rename(&beside, path).map_err(|e| {
        let _ = std::fs::remove_file(&beside);
        fault(path, "written", e)
    })
}

fn fault(path: &Path, verb: &'static str, error: std::io::Error) -> Error {
    Error::File { path: PathBuf::from(path), verb, why: error.to_string() }
}
