//! The table of pieces equals encoding of text, in every kind; decoding inverts it.

mod dropout;
mod interventions;

use crate::common;
use invitro_language::{Language, Languages, Sequence, Source, Symbol, Task};
use invitro_tokenizer::{Boundary, Kind, Regime, Segmentation, Tokenizer, special};
use proptest::prelude::*;
use std::sync::OnceLock;

struct Case {
    name: String,
    tokenizer: Tokenizer,
    segmentation: Segmentation,
}

fn cases() -> &'static (Languages, Vec<Case>) {
    static CASES: OnceLock<(Languages, Vec<Case>)> = OnceLock::new();
    CASES.get_or_init(|| {
        let languages = common::small(7);
        let cases = common::all()
            .iter()
            .map(|config| {
                let tokenizer = common::train(&languages, config);
                let segmentation = Segmentation::new(&tokenizer, &languages).unwrap();
                Case { name: common::name(config), tokenizer, segmentation }
            })
            .collect();
        (languages, cases)
    })
}

fn sequence(languages: &Languages, condition: usize, task: usize, row: u64) -> Sequence {
    Source::condition(languages, "test", languages.conditions()[condition], Task::WITHIN[task]).draw(0, row).unwrap()
}

proptest! {
    #[test]
    fn by_table_as_by_text(condition in 0..3usize, task in 0..3usize, row in 0..1_000_000u64) {
        let (languages, cases) = cases();
        let sequence = sequence(languages, condition, task, row);
        let text = sequence.text(languages);
        for Case { name, tokenizer, segmentation } in cases {
            let mut ids = Vec::new();
            segmentation.encode(&sequence, &mut ids);
            prop_assert_eq!(&ids, &tokenizer.encode(&text).unwrap(), "{}: {}", name, text);
            prop_assert_eq!(segmentation.length(&sequence), ids.len(), "{}", name);
            prop_assert_eq!(&tokenizer.decode(&ids).unwrap(), &text, "{}", name);
            prop_assert_eq!(&segmentation.decode(&ids), &text, "{}", name);

            let mut prompt = Vec::new();
            segmentation.encode_prompt(&sequence, &mut prompt);
            prop_assert!(ids.starts_with(&prompt), "{}", name);
            let decoded = segmentation.decode_words(&ids[prompt.len()..], languages, sequence.language);
            let words: Vec<Option<Symbol>> = sequence.sentence.symbols.iter().copied().map(Some).collect();
            prop_assert_eq!(&decoded.words, &words, "{}: {}", name, text);
            prop_assert!(decoded.ended);

            // However words are taken apart, a sequence has the same letters and word boundaries in all.
            let is_marked = |id: u32| tokenizer.token(id).is_some_and(|token| token.contains(special::MARK));
            let of = |&id: &u32| segmentation.letters(id).len() + usize::from(is_marked(id));
            let characters: usize = ids.iter().map(of).sum();
            let words = sequence.prompt.iter().chain(&sequence.sentence.symbols);
            let expected: usize = words.map(|&s| languages.form(s, sequence.language).len() + 1).sum();
            prop_assert_eq!(characters, expected, "{}", name);
        }
    }

    /// Whatever a model may write: the words read are the words of the text it stands for, and nothing else is.
    #[test]
    fn any_ids_can_be_read(ids in prop::collection::vec(0..320u32, 0..40), language_b: bool) {
        let (languages, cases) = cases();
        let language = if language_b { Language::B } else { Language::A };
        for Case { name, segmentation, .. } in cases {
            let ids: Vec<u32> = ids.iter().copied().filter(|&id| (id as usize) < segmentation.vocab_size()).collect();
            let decoded = segmentation.decode_words(&ids, languages, language);
            prop_assert_eq!(decoded.ended, ids.contains(&special::EOS));
            let text = segmentation.decode(&ids);
            for symbol in decoded.words.iter().flatten() {
                prop_assert!(text.contains(languages.form(*symbol, language)), "{}: {}", name, text);
            }
        }
    }
}

fn case(wanted: &str) -> &'static Case {
    cases().1.iter().find(|c| c.name == wanted).unwrap()
}

#[test]
fn what_is_no_word_is_none() {
    let (languages, _) = cases();
    let language = Language::B;
    let (copula, adjective) =
        (languages.world.copula(), languages.world.symbols().find(|&s| languages.form(s, language).len() > 6).unwrap());
    let Case { segmentation, .. } = case("bpe vanilla token");
    let word = |s: Symbol| segmentation.pieces(s, language).to_vec();
    let read = |ids: &[u32]| segmentation.decode_words(ids, languages, language).words;
    let eos = vec![special::EOS];
    assert_eq!(read(&[word(copula), word(adjective)].concat()), [Some(copula), Some(adjective)]);
    // A word without its boundary, a boundary without a word, a special token, a form of the other language.
    assert_eq!(
        read(&[word(copula), segmentation.core(adjective, language).to_vec(), eos].concat()),
        [Some(copula), None]
    );
    assert_eq!(read(&[word(copula), vec![segmentation.special().boundary()]].concat()), [Some(copula), None]);
    assert_eq!(read(&[word(copula), vec![special::OUT], word(copula)].concat()), [Some(copula), None, Some(copula)]);
    assert_eq!(read(segmentation.pieces(adjective, Language::A)), [None]);
    assert_eq!(read(&[9999]), [None]);
    assert!(!segmentation.decode_words(&word(copula), languages, language).ended);
    assert_eq!(read(&[]), []);

    // A word spelled letter by letter is the word.
    let letters = case("character vanilla token");
    let spelled = letters.segmentation.pieces(adjective, language);
    assert!(spelled.len() > word(adjective).len());
    assert_eq!(read(spelled), [Some(adjective)], "letters have the same ids in both");

    let Case { segmentation, .. } = case("bpe vanilla first");
    let word = |s: Symbol| segmentation.pieces(s, language).to_vec();
    let read = |ids: &[u32]| segmentation.decode_words(ids, languages, language).words;
    assert_eq!(read(&word(adjective)[1..]), [None], "pieces without the mark that opens a word");
    assert_eq!(read(&[word(copula), word(adjective)].concat()), [Some(copula), Some(adjective)]);

    let Case { segmentation, .. } = case("bpe vanilla last");
    let word = segmentation.pieces(adjective, language);
    assert_eq!(segmentation.decode_words(&word[..word.len() - 1], languages, language).words, [None]);
}

#[test]
fn a_mark_is_always_on_a_piece_that_can_carry_it() {
    let (languages, _) = cases();
    for boundary in [Boundary::First, Boundary::Last] {
        for kind in [Kind::Bpe, Kind::Unigram, Kind::Character] {
            let config = common::config(kind, Regime::Vanilla, boundary);
            let Case { segmentation, name, .. } = case(&common::name(&config));
            for symbol in languages.world.symbols() {
                for language in [Language::A, Language::B] {
                    let pieces = segmentation.pieces(symbol, language);
                    assert!(!pieces.contains(&segmentation.special().boundary()), "{name}");
                    let spelled: Vec<u8> = pieces.iter().flat_map(|&p| segmentation.letters(p)).copied().collect();
                    assert_eq!(spelled, languages.form(symbol, language).as_bytes(), "{name}");
                }
            }
        }
    }
}

/// Letters of two and three bytes, marked or not, in every kind: text to ids by the table and by `tokenizer.json`, and back.
#[test]
fn other_scripts_are_read_and_written_like_the_shared_one() {
    let languages = common::family(3);
    for config in common::all() {
        let tokenizer = common::train(&languages, &config);
        let segmentation = Segmentation::new(&tokenizer, &languages).unwrap();
        let name = common::name(&config);
        for condition in languages.conditions() {
            for task in Task::WITHIN {
                let mut source = Source::condition(&languages, "test", condition, task);
                for row in 0..6 {
                    let sequence = source.draw(0, row).unwrap();
                    let text = sequence.text(&languages);
                    let mut ids = Vec::new();
                    segmentation.encode(&sequence, &mut ids);
                    assert_eq!(ids, tokenizer.encode(&text).unwrap(), "{name}: {text}");
                    assert_eq!(tokenizer.decode(&ids).unwrap(), text, "{name}");
                    assert_eq!(segmentation.decode(&ids), text, "{name}");
                    let mut prompt = Vec::new();
                    segmentation.encode_prompt(&sequence, &mut prompt);
                    let decoded = segmentation.decode_words(&ids[prompt.len()..], &languages, sequence.language);
                    let words: Vec<Option<Symbol>> = sequence.sentence.symbols.iter().copied().map(Some).collect();
                    assert_eq!((decoded.words, decoded.ended), (words, true), "{name}: {text}");
                }
            }
        }
    }
}
