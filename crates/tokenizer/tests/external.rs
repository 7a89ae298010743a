//! Other people's tokenizers, texts and wordlists: invitro's own languages, written and read back, measure as they did; and
//! examples worked out by hand.

use crate::common::{all, family, name, small, train};
use invitro_language::{Category, Language, LanguageCondition, Languages};
use invitro_tokenizer::external::External;
use invitro_tokenizer::external::text::{self, Text};
use invitro_tokenizer::external::wordlist::{self, ListedForm, Wordlist};
use invitro_tokenizer::{
    Boundary, Bridges, Kind, Measures, Regime, Segmentation, TokenizerConfig, WordCounts, measured_text,
};
use std::collections::BTreeSet;
use std::path::Path;

const SENTENCES: u64 = 200;

fn texts(languages: &Languages) -> Vec<Text> {
    let texts = measured_text(languages, SENTENCES).unwrap().into_iter();
    texts.map(|(language, lines)| Text { name: language.name().to_owned(), lines }).collect()
}

/// The words of each condition as a language of its own; those of one symbol are cognates.
fn words(languages: &Languages) -> Wordlist {
    let conditions = languages.conditions();
    let mut words = Wordlist {
        languages: conditions.iter().map(LanguageCondition::to_string).collect(),
        concepts: languages.world.symbols().map(|symbol| languages.world.label(symbol)).collect(),
        has_cognates: true,
        ..Wordlist::default()
    };
    for (place, condition) in conditions.iter().enumerate() {
        for symbol in languages.world.symbols() {
            if languages.mask(condition.language).contains(symbol) == condition.masked {
                words.forms.push(ListedForm {
                    language: place,
                    concept: symbol.index(),
                    text: languages.form(symbol, condition.language).to_owned(),
                    sets: BTreeSet::from([symbol.index().to_string()]),
                });
            }
        }
    }
    words
}

#[test]
fn our_own_languages_read_back_measure_as_they_did() {
    // Of the family one tokenizer of every boundary.
    let first = |config: &TokenizerConfig| config.kind == Kind::Bpe && config.regime == Regime::Vanilla;
    for (languages, configs) in [(small(0), all()), (family(1), all().into_iter().filter(first).collect())] {
        let (texts, list) = (texts(&languages), words(&languages));
        for config in configs {
            let tokenizer = train(&languages, &config);
            let place = tempfile::tempdir().unwrap();
            tokenizer.save(place.path()).unwrap();
            let read = External::load(place.path()).unwrap().without_marks();
            let segmentation = Segmentation::new(&tokenizer, &languages).unwrap();
            let counts = WordCounts::text(&languages, SENTENCES).unwrap();
            let ours = Measures::new(&segmentation, &languages, &counts);
            let (text, words) = (text::measure(&read, &texts).unwrap(), wordlist::measure(&read, &list).unwrap());
            let name = name(&config);
            let same = |ours: &invitro_tokenizer::measure::Fragmentation, theirs: &text::TextFragmentation| {
                assert_eq!((ours.words, ours.pieces), (theirs.words, theirs.pieces), "{name}");
                let ours = [ours.fertility, ours.continuation, ours.one_piece, ours.renyi, ours.utilisation];
                let theirs =
                    [theirs.fertility, theirs.continuation, theirs.one_piece, theirs.renyi, theirs.utilisation];
                assert!(ours.iter().zip(theirs).all(|(a, b)| (a - b).abs() < 1e-12), "{name}: {ours:?} {theirs:?}");
            };
            for (language, theirs) in &text.languages {
                let condition = LanguageCondition { language: languages.language(language).unwrap(), masked: false };
                same(&ours.text.conditions[&condition], theirs);
                assert_eq!(theirs.unknown, 0.0);
            }
            for (condition, (_, theirs)) in languages.conditions().iter().zip(&words.languages) {
                same(&ours.lexicon.conditions[condition], theirs);
            }
            for (pair, (languages_of, parity)) in text.pairs.iter().zip(&ours.text.parity.0) {
                assert_eq!(pair.languages, languages_of.map(|language| language.name().to_owned()));
                assert!((pair.parity - parity).abs() < 1e-12, "{name}");
            }
            if languages.all().len() == 2 {
                assert!((text.pairs[0].overlap - ours.text.overlap.only().unwrap()).abs() < 1e-12, "{name}");
                same(&ours.text.both, &text.all);
                // A beside B†: the cognates of masked words.
                let masked = words.pairs.iter().find(|pair| pair.languages == ["A", "B_masked"]).unwrap();
                let bridge = Bridges::new(&segmentation, &languages, Language::B).mean_cognate();
                let theirs = masked.cognates.unwrap();
                assert!((theirs.bridge.jaccard - bridge.jaccard).abs() < 1e-12, "{name}");
                assert!((theirs.bridge.dice - bridge.dice).abs() < 1e-12, "{name}");
                assert!(theirs.others == 0 && theirs.lift.is_nan(), "{name}");
            }
        }
    }
}

/// The distance that is asked for is the one that is estimated, of words without affixes.
#[test]
fn distances_are_estimated_as_they_were_asked_for() {
    for names in [0.0, 0.3, 0.7, 1.0] {
        let config =
            invitro_language::LanguageConfig { distance: names, affix_rate: 0.0, ..crate::common::small_config() };
        let languages = Languages::new(&config, 3).unwrap();
        let mut list = words(&languages);
        let is_open = |concept: usize| {
            let category = languages.world.category(invitro_language::Symbol(concept as u32));
            category.is_open() && category != Category::Name
        };
        // All words of B, masked or not.
        list.forms.retain(|form| is_open(form.concept));
        list.forms.iter_mut().for_each(|form| form.language = form.language.min(1));
        list.languages.truncate(2);
        let [found] = &wordlist::distances(&list, |_| {}).unwrap()[..] else { panic!("two languages") };
        let measured = languages.lexicon.distances().words(Language::A, Language::B);
        assert!((found.same - measured.pairs).abs() < 0.01, "{found:?} {measured:?}");
        assert!((found.distance - names).abs() < 0.03, "{names} {found:?}");
        assert!(found.low <= found.distance && found.distance <= found.high && found.high <= 1.0, "{found:?}");
        assert_eq!(found.cognates, Some(1.0));
    }
}

fn wordpiece(dir: &Path) -> External {
    let vocab = r###"{"[UNK]": 0, "[PAD]": 1, "ka": 2, "##to": 3, "##ta": 4, "mi": 5, "to": 6}"###;
    let json = format!(
        r###"{{"version": "1.0", "truncation": {{"direction": "Right", "max_length": 2, "strategy": "LongestFirst",
            "stride": 0}}, "padding": null, "added_tokens": [{{"id": 1, "content": "[PAD]", "single_word": false,
            "lstrip": false, "rstrip": false, "normalized": false, "special": true}}], "normalizer": null,
            "pre_tokenizer": {{"type": "WhitespaceSplit"}}, "post_processor": null, "decoder": null,
            "model": {{"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100, "vocab": {vocab}}}}}"###
    );
    let path = dir.join("tokenizer.json");
    std::fs::write(&path, json).unwrap();
    External::load(&path).unwrap()
}

fn text(name: &str, lines: &[&str]) -> Text {
    Text { name: name.into(), lines: lines.iter().map(|line| (*line).to_owned()).collect() }
}

/// `kato` is ka ##to, `mi` itself, `xxö` unknown; truncation, which the file asks for, is left out.
#[test]
fn a_text_worked_out_by_hand() {
    let dir = tempfile::tempdir().unwrap();
    let tokenizer = wordpiece(dir.path());
    assert_eq!((tokenizer.vocab_size(), tokenizer.available()), (7, 5));
    let texts = [text("x", &["kato mi  kato", "mi"]), text("y", &["to kata xxö", "mi"])];
    let measured = text::measure(&tokenizer, &texts).unwrap();
    let [(_, x), (_, y)] = &measured.languages[..] else { panic!("two languages") };
    assert_eq!((x.words, x.pieces, x.fertility, x.continuation), (4, 6, 1.5, 0.5));
    assert_eq!((x.letters_per_piece, x.unknown, x.utilisation), (2.0, 0.0, 3.0 / 5.0));
    assert_eq!((y.words, y.pieces, y.unknown), (4, 5, 3.0 / 11.0));
    // ka, ##to, mi twice each; of y to, ka, ##ta, mi once each.
    assert_eq!((x.average_rank, y.average_rank), (2.0, 2.5));
    let pair = &measured.pairs[0];
    assert_eq!((pair.overlap, pair.parity), (2.0 / 5.0, 6.0 / 5.0));
    let both = |p: f64, q: f64| (p * (2.0 * p / (p + q)).log2() + q * (2.0 * q / (p + q)).log2()) / 2.0;
    let expected = 2.0 * both(1.0 / 3.0, 0.25) + (1.0 / 3.0) / 2.0 + 2.0 * 0.25 / 2.0;
    assert!((pair.jensen_shannon - expected).abs() < 1e-12, "{} {expected}", pair.jensen_shannon);
    assert_eq!(measured.gini, 1.0 / 22.0);
}

/// Every bare mark included, whatever the boundary is.
#[test]
fn pieces_are_as_many_as_the_tokenizer_gives() {
    let languages = small(0);
    let texts = texts(&languages);
    for config in all() {
        let tokenizer = train(&languages, &config);
        let place = tempfile::tempdir().unwrap();
        tokenizer.save(place.path()).unwrap();
        let measured = text::measure(&External::load(place.path()).unwrap(), &texts).unwrap();
        let name = name(&config);
        let mut given = Vec::new();
        for (text, (_, theirs)) in texts.iter().zip(&measured.languages) {
            let lines = text.lines.iter().map(|line| tokenizer.encode(line).unwrap().len() as u64);
            given.push(lines.sum::<u64>());
            assert_eq!(theirs.pieces, given[given.len() - 1], "{name}");
            assert_eq!(theirs.fertility, theirs.pieces as f64 / theirs.words as f64, "{name}");
            // Every word has a boundary of its own.
            assert!(config.boundary != Boundary::Token || theirs.one_piece == 0.0, "{name}: {theirs:?}");
        }
        assert_eq!(measured.pairs[0].parity, given[0] as f64 / given[1] as f64, "{name}");
    }
}

/// A model without an unknown token leaves out the letters that it does not have; a bare `▁` before them stays.
#[test]
fn words_without_a_piece_are_not_one_piece() {
    let dir = tempfile::tempdir().unwrap();
    let load = |pre_tokenizer: &str| {
        let json = format!(
            r#"{{"version": "1.0", "added_tokens": [], "pre_tokenizer": {pre_tokenizer},
                "model": {{"type": "BPE", "vocab": {{"▁": 0, "a": 1, "b": 2}}, "merges": []}}}}"#
        );
        std::fs::write(dir.path().join("tokenizer.json"), json).unwrap();
        External::load(dir.path()).unwrap()
    };
    let measure = |tokenizer: &External, line: &str| text::measure(tokenizer, &[text("x", &[line])]).unwrap().all;
    let plain = load(r#"{"type": "Whitespace"}"#);
    let all = measure(&plain, "zz a zz ab");
    assert_eq!((all.words, all.pieces, all.one_piece, all.continuation, all.unknown), (4, 3, 0.25, 0.25, 4.0 / 7.0));
    let none = measure(&plain, "zz zz");
    assert_eq!((none.pieces, none.one_piece, none.fertility), (0, 0.0, 0.0));
    assert!(none.renyi.is_nan() && none.letters_per_piece.is_nan() && none.average_rank.is_nan(), "{none:?}");

    let marks = load(r#"{"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true}"#);
    let all = measure(&marks, "zz a zz ab");
    assert_eq!((all.pieces, all.one_piece, all.continuation), (7, 0.5, 0.5));
    let all = measure(&marks.without_marks(), "zz a zz ab");
    assert_eq!((all.pieces, all.one_piece, all.continuation), (3, 0.25, 0.25));
}

#[test]
fn a_text_without_spaces_is_not_measured_by_word() {
    let dir = tempfile::tempdir().unwrap();
    let tokenizer = wordpiece(dir.path());
    let long = "kato".repeat(20);
    let measured = text::measure(
        &tokenizer,
        &[text("en", &["kato mi"]), text("ja", &["今日は天気がいいです。 OK"]), text("x", &[&long])],
    )
    .unwrap();
    assert_eq!(measured.without_spaces, ["ja", "x"]);
    for (name, of) in measured.languages.iter().chain([&("all".to_owned(), measured.all)]) {
        assert_eq!(of.fertility.is_nan(), name != "en", "{name}");
        assert_eq!(of.one_piece.is_nan() && of.continuation.is_nan(), name != "en", "{name}");
        assert!(of.pieces > 0);
    }
    assert!(measured.pairs.iter().all(|pair| pair.parity > 0.0));
}

#[test]
fn every_language_has_its_own_word_order_in_the_measured_text() {
    let languages = family(1);
    let mut checker = languages.checker();
    for (language, lines) in measured_text(&languages, 50).unwrap() {
        for line in lines {
            assert!(checker.text(&line, language).grammatical, "{}: {line}", language.name());
        }
    }
}

#[test]
fn texts_that_are_not_parallel_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let tokenizer = wordpiece(dir.path());
    let message = |texts: &[Text]| text::measure(&tokenizer, texts).unwrap_err().to_string();
    let other = message(&[text("x", &["mi"]), text("y", &["mi", "to"])]);
    assert!(other.contains("the same number of lines") && other.contains("x has 1, y has 2"), "{other}");
    assert_eq!(message(&[text("x", &["mi"]), text("x", &["mi"])]), "two texts are called x: each language has one");
    assert_eq!(message(&[text("x", &[" ", ""])]), "the text of x has no words");
}

/// p against all ways to call three of six pairs cognates.
#[test]
fn the_lift_of_a_wordlist_and_its_chance() {
    let dir = tempfile::tempdir().unwrap();
    let tokenizer = wordpiece(dir.path());
    let forms = "ID,Language_ID,Parameter_ID,Form\n\
        1,x,one,kato\n2,y,one,kata\n3,x,two,mi\n4,y,two,mi\n5,x,three,kato\n6,y,three,kato\n\
        7,x,four,mi\n8,y,four,to\n9,x,five,kata\n10,y,five,to\n11,x,six,kata\n12,y,six,mi\n13,z,six,mi\n14,x,seven,\n";
    let cognates = "ID,Form_ID,Cognateset_ID\n1,1,a\n2,2,a\n3,3,b\n4,4,b\n5,5,c\n6,6,c\n7,7,d\n8,8,e\n";
    std::fs::write(dir.path().join("forms.csv"), forms).unwrap();
    std::fs::write(dir.path().join("cognates.csv"), cognates).unwrap();
    let names = ["y".to_owned(), "x".to_owned()];
    let words = wordlist::load(dir.path(), None, Some(&names)).unwrap();
    assert_eq!((words.languages.len(), words.concepts.len(), words.forms.len()), (2, 6, 12));
    let measured = wordlist::measure(&tokenizer, &words).unwrap();
    let pair = &measured.pairs[0];
    assert_eq!((pair.concepts, &pair.languages), (6, &names));
    let found = pair.cognates.unwrap();
    assert_eq!((found.pairs, found.others, found.other.jaccard), (3, 3, 0.0));
    let lift = (1.0 / 3.0 + 1.0 + 1.0) / 3.0;
    assert!((found.lift - lift).abs() < 1e-12);
    let values = [1.0 / 3.0, 1.0, 1.0, 0.0, 0.0, 0.0];
    let chosen = (0u32..64).filter(|set| set.count_ones() == 3);
    let lifts: Vec<f64> = chosen
        .map(|set| {
            let sum = |of: u32| (0..6).filter(|i| set >> i & 1 == of).map(|i| values[i]).sum::<f64>() / 3.0;
            sum(1) - sum(0)
        })
        .collect();
    let p = lifts.iter().filter(|chance| chance.abs() > lift - 1e-9).count() as f64 / lifts.len() as f64;
    assert!((found.p - p).abs() < 0.02, "{} {p}", found.p);
    assert!((found.by_chance[1] - lift).abs() < 1e-12 && (found.by_chance[0] + lift).abs() < 1e-12);
    assert_eq!(wordlist::measure(&tokenizer, &words).unwrap(), measured);

    let wide = dir.path().join("wide.tsv");
    std::fs::write(&wide, "concept\tx\ty\none\tkato\tkata\ntwo\tmi\t\n").unwrap();
    let words = wordlist::load(&wide, None, None).unwrap();
    assert!((words.forms.len(), words.has_cognates) == (3, false));
    let message =
        |path: &Path, languages: Option<&[String]>| wordlist::load(path, None, languages).unwrap_err().to_string();
    assert!(message(&wide, Some(&["z".into()])).contains("it has no words of `z`; its languages: x, y"));
    std::fs::write(dir.path().join("forms.csv"), "ID,Language_ID,Form\n1,x,kato\n").unwrap();
    let missing = message(dir.path(), None);
    assert!(missing.contains("no column `Parameter_ID`, but ID, Language_ID, Form"), "{missing}");
    assert!(message(&dir.path().join("none.csv"), None).contains("cannot be read"));
}

/// A `tokenizer.json` that would fill the memory is refused before it is read, with what is allowed.
#[test]
fn tokenizers_beyond_the_limits_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let file = |vocab: &str, added: &str, normalizer: &str| {
        let json = format!(
            r###"{{"version": "1.0", "truncation": null, "padding": null, "added_tokens": [{added}], "normalizer": {normalizer},
            "pre_tokenizer": {{"type": "WhitespaceSplit"}}, "post_processor": null, "decoder": null,
            "model": {{"type": "WordPiece", "unk_token": "a", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100, "vocab": {{{vocab}}}}}}}"###
        );
        std::fs::write(dir.path().join("tokenizer.json"), json).unwrap();
        External::load(dir.path()).map(|_| ()).map_err(|error| error.to_string())
    };
    let added = |id: usize| {
        format!(
            r#"{{"id": {id}, "content": "<{id}>", "single_word": false, "lstrip": false, "rstrip": false,
            "normalized": false, "special": true}}"#
        )
    };
    let many = (1..=20_001).map(added).collect::<Vec<_>>().join(",");
    let replace = r#"{"type": "Replace", "pattern": {"String": "a"}, "content": "aaaaaaaaaa"}"#;
    let nested = (0..9)
        .fold(replace.to_owned(), |inner, _| format!(r#"{{"type": "Sequence", "normalizers": [{replace}, {inner}]}}"#));
    for (made, expected) in [
        (
            file(r#""a": 0, "b": 2000000000"#, "", "null"),
            "its token `b` has the id 2000000000; the largest allowed is 4194304",
        ),
        (file(r#""a": 0"#, &many, "null"), "it has 20001 added tokens; at most 20000 are allowed"),
        (
            file(r#""a": 0"#, "", &nested),
            "the replacements of its normalizer can make 10000000000 letters of one; at most 100",
        ),
    ] {
        let error = made.unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
    file(r#""a": 0"#, &added(1), replace).unwrap();
    let long = Text { name: "A".into(), lines: vec!["ka ".repeat(400_000)] };
    let error = text::measure(&wordpiece(dir.path()), &[long]).unwrap_err().to_string();
    assert!(error.contains("line 1 of the text of A has 1200000 bytes; at most 1048576 are allowed"), "{error}");
}

#[test]
fn a_gap_in_the_ids_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let config = TokenizerConfig { vocab: 300, sentences: 2000, ..Default::default() };
    let mut json: serde_json::Value = serde_json::from_str(&train(&small(0), &config).to_json().unwrap()).unwrap();
    let vocab = json["model"]["vocab"].as_object_mut().unwrap();
    vocab.values_mut().filter(|id| id.as_u64() == Some(299)).for_each(|id| *id = 310.into());
    let path = dir.path().join("tokenizer.json");
    std::fs::write(&path, json.to_string()).unwrap();
    let error = invitro_tokenizer::Tokenizer::load(&path).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("its ids have a gap: of its 300 tokens none has the id 299"), "{error}");
}
