//! What tokens spell: marks, bytes, and the ends of words.

use invitro_tokenizer::Boundary;
use invitro_tokenizer::segment::spelling::{Spelling, level_byte, to_level};
use invitro_tokenizer::train::alphabet::{spell, write_out};
use serde_json::json;

#[test]
fn marks_are_written_where_they_belong() {
    let there_and_back = |b| write_out(&spell("fekoc", b), b);
    assert_eq!(there_and_back(Boundary::Token), "fekoc");
    assert_eq!(there_and_back(Boundary::First), "▁fekoc");
    assert_eq!(there_and_back(Boundary::Last), "fekoc▁");
    assert_eq!(spell("fekoc", Boundary::First).chars().count(), 5);
    assert_eq!(write_out(&spell("a", Boundary::Last), Boundary::Last), "a▁");
}

#[test]
fn bytes_have_the_characters_of_gpt_2() {
    assert_eq!((to_level(b' '), to_level(b'\n'), to_level(b'a'), to_level(0xAD)), ('Ġ', 'Ċ', 'a', 'Ń'));
    for byte in 0..=u8::MAX {
        assert_eq!(level_byte(to_level(byte)), [byte]);
    }
    let alphabet = tokenizers::pre_tokenizers::byte_level::ByteLevel::alphabet();
    assert!((0..=u8::MAX).all(|byte| alphabet.contains(&to_level(byte))));
}

#[test]
fn tokens_are_read_by_how_words_end() {
    let of = |json: serde_json::Value| Spelling::from_json(&json);
    let marked = of(json!({ "model": {}, "pre_tokenizer": { "type": "Metaspace", "replacement": "▁" } }));
    let level = of(json!({ "model": {}, "pre_tokenizer": { "type": "ByteLevel" } }));
    let fallback = of(json!({ "model": { "byte_fallback": true } }));
    let continued = of(json!({ "model": { "continuing_subword_prefix": "##" } }));
    let closed = of(json!({ "model": { "end_of_word_suffix": "</w>" } }));
    for (spelling, token, letters, is_marked) in [
        (&marked, "▁fe", "fe", true),
        (&marked, "▁", "", true),
        (&level, "ĠÃ©", "é", true),
        (&fallback, "<0x61>", "a", false),
        (&continued, "##koc", "koc", false),
        (&continued, "fe", "fe", true),
        (&closed, "koc</w>", "koc", true),
    ] {
        let (read, has_mark) = spelling.read(token);
        assert_eq!((String::from_utf8(read.into()).unwrap().as_str(), has_mark), (letters, is_marked), "{token}");
    }
    assert!(marked.spans_words("▁fe▁koc") && !marked.spans_words("▁fe"));
}
