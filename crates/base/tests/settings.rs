//! What follows from the settings tables.

use invitro_base::dotted;
use invitro_base::settings::{
    self, LanguageEntry, Section, Stage, TokenizerConfig, ValueKind, find, is_neutral, stage,
};
use toml::Value;

#[test]
fn a_setting_is_found_by_its_key_wherever_its_language_stands() {
    assert_eq!(find("eval.words").unwrap().default, "200");
    assert_eq!(find("languages.Lingua.distance").unwrap().key, "languages.NAME.distance");
    assert!(find("eval.wrds").is_none() && find("languages.A").is_none());
}

#[test]
fn a_late_setting_counts_only_where_it_is_not_as_before() {
    assert!(is_neutral("tokenizer.share", &Value::String("all".into())));
    assert!(!is_neutral("tokenizer.share", &Value::String("none".into())));
    assert!(!is_neutral("tokenizer.vocab", &Value::Integer(2048)));
}

#[test]
fn what_is_made_anew_follows_from_section_and_row() {
    let of = [
        ("language.distance", Stage::Languages),
        ("languages.C.share", Stage::Languages),
        ("seeds.data", Stage::Languages),
        ("mixture.withhold", Stage::Languages),
        ("mixture.lambda", Stage::Tokenizer),
        ("tokenizer.cut", Stage::Tokenizer),
        ("mixture.tasks", Stage::Probes),
        ("eval.words", Stage::Probes),
        ("train.lr", Stage::Run),
        ("seeds.model", Stage::Run),
        ("name", Stage::Run),
    ];
    for (key, expected) in of {
        assert_eq!(stage(key), expected, "{key}");
    }
}

/// A whole number given for a fraction becomes one, so that `1` and `1.0` are the same experiment.
#[test]
fn whole_numbers_become_fractions_where_a_language_holds_fractions() {
    for setting in LanguageEntry::settings() {
        let mut table: toml::Table = "languages = [{ name = \"C\" }]".parse().unwrap();
        let key = format!("languages.C.{}", setting.name());
        dotted::assign(&mut table, &key, Value::Integer(1)).unwrap();
        // A name is what the entry is found by.
        let Some(kept) = dotted::lookup(&table, &key) else { continue };
        assert_eq!(kept.is_float(), setting.kind == ValueKind::Fraction, "{key}");
    }
}

#[test]
fn only_what_is_not_built_in_is_a_file() {
    let text = |name: &str| Value::String(name.into());
    assert!(settings::names_file("language.grammar", &text("my.txt")));
    assert!(!settings::names_file("languages.B.grammar", &text("sov")));
    assert!(settings::names_file("tokenizer.file", &text("tokenizer.json")));
    assert!(!settings::names_file("tokenizer.file", &text("")));
    assert!(!settings::names_file("tokenizer.kind", &text("bpe")));
}

#[test]
fn a_section_refuses_what_it_does_not_know() {
    let error = toml::from_str::<TokenizerConfig>("vocb = 3").unwrap_err().to_string();
    assert!(error.contains("unknown field `vocb`"), "{error}");
    let vast: TokenizerConfig = toml::from_str("vocab = 2000000").unwrap();
    assert_eq!(vast.validate().unwrap_err().to_string(), "`tokenizer.vocab` is 2000000, but must be 1 to 1000000");
}
