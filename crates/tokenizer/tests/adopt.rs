//! External tokenizers: usable ones work like ours, and unusable ones are refused with a reason.

use crate::common;
use invitro_language::{Language, Languages, MixtureConfig, Sequence, Source, Symbol, Task};
use invitro_tokenizer::{
    Boundary, Bridges, Cut, Kind, Measures, Regime, Segmentation, Share, Tokenizer, TokenizerConfig, WordCounts,
};
use serde_json::{Value, json};
use std::path::Path;
use tokenizers::models::bpe::BpeTrainer;
use tokenizers::models::unigram::UnigramTrainer;
use tokenizers::models::wordlevel::WordLevelTrainer;
use tokenizers::models::wordpiece::WordPieceTrainer;
use tokenizers::{AddedToken, models::TrainerWrapper};

/// The sentences that `invitro corpus` writes, and every word once, so that no letter is missing.
fn corpus(languages: &Languages) -> Vec<String> {
    let conditions = languages.conditions();
    let mut lines = Vec::new();
    for &condition in &conditions {
        let mut source = Source::condition(languages, "corpus", condition, Task::T0);
        let sentence = |row| source.draw(0, row).unwrap().sentence.symbols;
        lines.extend((0..200).map(sentence).map(|symbols: Vec<Symbol>| {
            symbols.iter().map(|&s| languages.form(s, condition.language)).collect::<Vec<_>>().join(" ")
        }));
    }
    for &language in languages.all() {
        lines.extend(languages.world.symbols().map(|symbol| languages.form(symbol, language).to_owned()));
    }
    lines
}

/// A tokenizer of parts, trained on the languages.
fn trained(languages: &Languages, parts: &Value, mut trainer: TrainerWrapper) -> Value {
    let mut file = json!({ "version": "1.0", "added_tokens": [] });
    for (key, part) in parts.as_object().unwrap() {
        file[key] = part.clone();
    }
    let mut tokenizer: tokenizers::Tokenizer = file.to_string().parse().unwrap();
    tokenizer.train(&mut trainer, corpus(languages).into_iter()).unwrap();
    serde_json::from_str(&tokenizer.to_string(false).unwrap()).unwrap()
}

fn bpe(suffix: Option<&str>) -> TrainerWrapper {
    let mut trainer = BpeTrainer::builder().show_progress(false).vocab_size(400);
    if let Some(suffix) = suffix {
        trainer = trainer.end_of_word_suffix(suffix.into());
    }
    trainer.special_tokens(vec![AddedToken::from("<unk>", true), AddedToken::from("<eos>", true)]).build().into()
}

fn unknown(token: &str) -> Vec<AddedToken> {
    vec![AddedToken::from(token, true)]
}

/// External tokenizers of all families: a name, the file, and the word boundary.
fn external_tokenizers(languages: &Languages) -> Vec<(&'static str, Value, Boundary)> {
    let empty_bpe = json!({ "type": "BPE", "unk_token": "<unk>", "vocab": {}, "merges": [] });
    let metaspace = json!({ "type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true });
    let level = |space: bool| json!({ "type": "ByteLevel", "add_prefix_space": space, "trim_offsets": true, "use_regex": true });
    let wordpiece = json!({
        "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
        "vocab": {}
    });
    let wordpiece_trainer =
        WordPieceTrainer::builder().show_progress(false).vocab_size(400).special_tokens(unknown("[UNK]")).build();
    let unigram_trainer = UnigramTrainer::builder()
        .show_progress(false)
        .vocab_size(300)
        .unk_token(Some("<unk>".into()))
        .special_tokens(unknown("<unk>"))
        .build()
        .unwrap();
    let words = WordLevelTrainer::builder().show_progress(false).special_tokens(unknown("<unk>")).build().unwrap();
    let with =
        |model: &Value, pre: Value, decoder: Value| json!({ "model": model, "pre_tokenizer": pre, "decoder": decoder });
    let mut llama = trained(
        languages,
        &json!({
            "model": empty_bpe,
            "normalizer": { "type": "Sequence", "normalizers": [
                { "type": "Prepend", "prepend": "▁" }, { "type": "Replace", "pattern": { "String": " " }, "content": "▁" }
            ] },
            "pre_tokenizer": { "type": "Split", "pattern": { "String": "▁" }, "behavior": "MergedWithNext", "invert": false },
            "decoder": { "type": "Sequence", "decoders": [
                { "type": "Replace", "pattern": { "String": "▁" }, "content": " " }, { "type": "Fuse" },
                { "type": "Strip", "content": " ", "start": 1, "stop": 0 }
            ] }
        }),
        bpe(None),
    );
    // As such files come: nothing keeps words apart but that no token is of two.
    llama["pre_tokenizer"] = Value::Null;
    vec![
        (
            "WordPiece",
            trained(
                languages,
                &with(
                    &wordpiece,
                    json!({ "type": "BertPreTokenizer" }),
                    json!({ "type": "WordPiece", "prefix": "##", "cleanup": true }),
                ),
                wordpiece_trainer.into(),
            ),
            Boundary::First,
        ),
        (
            "Unigram",
            trained(
                languages,
                &with(&json!({ "type": "Unigram", "vocab": [], "unk_id": null }), metaspace.clone(), metaspace.clone()),
                unigram_trainer.into(),
            ),
            Boundary::First,
        ),
        ("BPE", trained(languages, &with(&empty_bpe, metaspace.clone(), metaspace), bpe(None)), Boundary::First),
        ("byte level", trained(languages, &with(&empty_bpe, level(false), level(false)), bpe(None)), Boundary::First),
        (
            "byte level, spaced",
            trained(languages, &with(&empty_bpe, level(true), level(true)), bpe(None)),
            Boundary::First,
        ),
        ("without a pre-tokenizer", llama, Boundary::First),
        (
            "BPE, closed",
            trained(
                languages,
                &with(
                    &json!({ "type": "BPE", "unk_token": "<unk>", "end_of_word_suffix": "</w>", "vocab": {}, "merges": [] }),
                    json!({ "type": "Whitespace" }),
                    json!({ "type": "BPEDecoder", "suffix": "</w>" }),
                ),
                bpe(Some("</w>")),
            ),
            Boundary::Last,
        ),
        (
            "whole words",
            trained(
                languages,
                &with(
                    &json!({ "type": "WordLevel", "unk_token": "<unk>", "vocab": {} }),
                    json!({ "type": "Whitespace" }),
                    Value::Null,
                ),
                words.into(),
            ),
            Boundary::First,
        ),
    ]
}

fn adopt(dir: &Path, file: &Value, languages: &Languages) -> Result<Tokenizer, String> {
    let path = dir.join("own.json");
    std::fs::write(&path, file.to_string()).unwrap();
    let config = TokenizerConfig { file: path.display().to_string(), ..Default::default() };
    Tokenizer::new(languages, &config, &MixtureConfig::default()).map_err(|error| error.to_string())
}

fn sequences(languages: &Languages) -> Vec<Sequence> {
    let mut all = Vec::new();
    for condition in languages.conditions() {
        for task in Task::WITHIN {
            let mut source = Source::condition(languages, "test", condition, task);
            all.extend((0..20).map(|row| source.draw(0, row).unwrap()));
        }
    }
    all
}

#[test]
fn every_family_of_tokenizers_is_used_as_ours_are() {
    let languages = common::small(5);
    let dir = tempfile::tempdir().unwrap();
    let text = WordCounts::text(&languages, 50).unwrap();
    for (name, file, boundary) in external_tokenizers(&languages) {
        let tokenizer = adopt(dir.path(), &file, &languages).unwrap_or_else(|why| panic!("{name}: {why}"));
        assert_eq!((tokenizer.kind(), tokenizer.boundary()), (None, boundary), "{name}");
        for (id, token) in (0..).zip(tokenizer.special().tokens()) {
            assert_eq!(tokenizer.token(id).as_deref(), Some(token.as_str()), "{name}");
        }
        let segmentation = Segmentation::new(&tokenizer, &languages).unwrap();
        for sequence in sequences(&languages) {
            let text = sequence.text(&languages);
            let mut ids = Vec::new();
            segmentation.encode(&sequence, &mut ids);
            assert_eq!(ids, tokenizer.encode(&text).unwrap(), "{name}: {text}");
            assert_eq!(segmentation.decode(&ids), text, "{name}");
            let mut prompt = Vec::new();
            segmentation.encode_prompt(&sequence, &mut prompt);
            let decoded = segmentation.decode_words(&ids[prompt.len()..], &languages, sequence.language);
            let words: Vec<Option<Symbol>> = sequence.sentence.symbols.iter().copied().map(Some).collect();
            assert_eq!((decoded.words, decoded.ended), (words, true), "{name}: {text}");
        }
        // The pieces are the file's own: the same ones in the same order as without us.
        let theirs: tokenizers::Tokenizer = file.to_string().parse().unwrap();
        let sentence = corpus(&languages)[0].clone();
        let as_they = theirs.encode(format!(" {sentence}"), false).unwrap().get_tokens().to_vec();
        let as_we = tokenizer.pieces_in_text(&sentence).unwrap();
        let as_we: Vec<String> = as_we.iter().map(|&id| tokenizer.token(id).unwrap()).collect();
        let bare = |tokens: Vec<String>| tokens.into_iter().skip_while(|token| token == "▁").collect::<Vec<_>>();
        assert_eq!(bare(as_we), bare(as_they), "{name}");

        // What was saved is what comes back.
        let saved = tempfile::tempdir().unwrap();
        tokenizer.save(saved.path()).unwrap();
        let loaded = Tokenizer::load(saved.path()).unwrap();
        assert!(loaded.to_json().unwrap() == tokenizer.to_json().unwrap(), "{name}");
        assert_eq!((loaded.boundary(), loaded.provenance()), (boundary, tokenizer.provenance()), "{name}");
        let again = Segmentation::new(&loaded, &languages).unwrap();
        assert_eq!(again.table(&languages), segmentation.table(&languages), "{name}");

        // Its specials are no pieces, and nothing that is measured is out of range.
        let unknown = file["model"]["unk_token"].as_str().unwrap_or("<unk>");
        let unknown = (0..segmentation.rows() as u32).find(|&id| segmentation.token(id) == unknown).unwrap();
        assert_eq!(segmentation.decode_words(&[unknown], &languages, Language::A).words, [None], "{name}");
        let measures = Measures::new(&segmentation, &languages, &text);
        for fragmentation in measures.text.conditions.values().chain([&measures.text.both]) {
            assert!(fragmentation.fertility >= 1.0 && fragmentation.utilisation <= 1.0, "{name}: {fragmentation:?}");
        }
        assert!(!Bridges::new(&segmentation, &languages, Language::B).0.is_empty());
    }
}

#[test]
fn interventions_work_on_the_pieces_of_a_file() {
    let languages = common::small(6);
    let dir = tempfile::tempdir().unwrap();
    for (name, file, _) in external_tokenizers(&languages) {
        let tokenizer = adopt(dir.path(), &file, &languages).unwrap();
        let config = tokenizer.provenance().unwrap().config.clone();
        let under = |config: TokenizerConfig| Segmentation::under(&tokenizer, &languages, &config);
        let unchanged = under(config.clone()).unwrap();
        let own = under(TokenizerConfig { share: Share::None, ..config.clone() }).unwrap();
        let spelled = |s: &Segmentation, word, language| -> Vec<u8> {
            s.pieces(word, language).iter().flat_map(|&id| s.letters(id).to_vec()).collect()
        };
        let common = |s: &Segmentation, symbol: Symbol| {
            let first = s.core(symbol, Language::A);
            s.core(symbol, Language::B).iter().filter(|piece| first.contains(piece)).count()
        };
        let [alike, apart] =
            [Cut::Alike, Cut::Apart].map(|cut| under(TokenizerConfig { cut, ..config.clone() }).unwrap());
        let mut total = [0, 0, 0];
        for symbol in languages.world.symbols() {
            assert!(own.pieces(symbol, Language::B).iter().all(|&id| id as usize >= own.vocab_size()), "{name}");
            for cut in [&own, &alike, &apart] {
                assert_eq!(spelled(cut, symbol, Language::B), languages.form(symbol, Language::B).as_bytes(), "{name}");
            }
            assert_eq!(alike.core(symbol, Language::B).len(), unchanged.core(symbol, Language::B).len(), "{name}");
            [&alike, &unchanged, &apart].into_iter().zip(&mut total).for_each(|(s, total)| *total += common(s, symbol));
        }
        assert!(total[0] >= total[1] && total[1] >= total[2], "{name}: {total:?}");
        let morphemes = under(TokenizerConfig { cut: Cut::Morpheme, ..config.clone() });
        match name {
            "BPE, closed" | "whole words" => {
                let why = morphemes.unwrap_err().to_string();
                assert!(why.contains("cannot split the morphemes of `"), "{name}: {why}");
            }
            _ => {
                let morphemes = morphemes.unwrap_or_else(|why| panic!("{name}: {why}"));
                let word = |s| languages.lexicon.word(s, Language::B);
                let affixed = languages.world.symbols().find(|&s| !word(s).prefix().is_empty()).unwrap();
                let prefix = word(affixed).prefix().len();
                let lengths = morphemes.core(affixed, Language::B).iter().map(|&id| morphemes.letters(id).len());
                let ends: Vec<usize> = lengths
                    .scan(0, |at, length| {
                        *at += length;
                        Some(*at)
                    })
                    .collect();
                assert!(ends.contains(&prefix), "{name}: {ends:?}");
            }
        }
        // Some put a mark before a piece that cannot carry it.
        let boundary = unchanged.special().boundary();
        let has = languages.world.symbols().any(|s| unchanged.pieces(s, Language::B).contains(&boundary));
        match under(TokenizerConfig { share: Share::None, share_boundary: true, ..config }) {
            Ok(_) => assert!(has, "{name}"),
            Err(why) => assert!(!has && why.to_string().contains("has no token to share"), "{name}: {why}"),
        }
    }
}

#[test]
fn a_tokenizer_of_ours_comes_back_as_it_was() {
    let languages = common::small(7);
    for config in common::all() {
        let (dir, name) = (tempfile::tempdir().unwrap(), common::name(&config));
        let made = common::train(&languages, &config);
        let file: Value = serde_json::from_str(&made.to_json().unwrap()).unwrap();
        let back = adopt(dir.path(), &file, &languages).unwrap_or_else(|why| panic!("{name}: {why}"));
        assert!(back.to_json().unwrap() == made.to_json().unwrap(), "{name}");
        assert_eq!((back.kind(), back.boundary()), (Some(config.kind), config.boundary), "{name}");
        let table = |tokenizer: &Tokenizer| Segmentation::new(tokenizer, &languages).unwrap().table(&languages);
        assert_eq!(table(&back), table(&made), "{name}");
    }
    // Of two languages, for four: other special tokens, the same pieces.
    let (dir, config) = (tempfile::tempdir().unwrap(), common::config(Kind::Byte, Regime::Vanilla, Boundary::Token));
    let made = common::train(&languages, &config);
    let file: Value = serde_json::from_str(&made.to_json().unwrap()).unwrap();
    let family = common::family(7);
    let back = adopt(dir.path(), &file, &family).unwrap();
    assert_eq!((back.kind(), back.boundary()), (None, Boundary::Token));
    assert!(back.vocab_size() > made.vocab_size());
    Segmentation::new(&back, &family).unwrap();
}

#[test]
fn what_cannot_work_is_told_of_the_word() {
    let languages = common::small(8);
    let dir = tempfile::tempdir().unwrap();
    let all = external_tokenizers(&languages);
    let file = |wanted: &str| all.iter().find(|(name, ..)| *name == wanted).unwrap().1.clone();
    let refused = |file: &Value| match adopt(dir.path(), file, &languages) {
        Ok(_) => panic!("it should be refused"),
        Err(why) => {
            assert!(why.starts_with("`tokenizer.file` is `") && !why.contains('\n'), "{why}");
            why
        }
    };
    let named = languages.world.symbols().find(|&s| languages.form(s, Language::A).starts_with(char::is_uppercase));
    let name = languages.form(named.unwrap(), Language::A);

    let mut lower = file("WordPiece");
    lower["normalizer"] = json!({ "type": "Lowercase" });
    let why = refused(&lower);
    assert!(
        why.contains(&format!("of `{name}`, a word of A, its normalizer makes `{}`", name.to_lowercase())),
        "{why}"
    );

    // Without one of its letters, with a token for what is not known and without.
    let letter = name.chars().last().unwrap().to_string();
    let without = |mut file: Value| {
        let has = |token: &str| token.trim_start_matches("##").contains(&letter);
        let model = &mut file["model"];
        if let Some(merges) = model["merges"].as_array_mut() {
            merges.retain(|pair| !pair.as_array().unwrap().iter().any(|token| has(token.as_str().unwrap())));
        }
        match &mut model["vocab"] {
            Value::Array(list) => list.retain(|pair| !has(pair[0].as_str().unwrap())),
            vocab => vocab.as_object_mut().unwrap().retain(|token, _| !has(token)),
        }
        file
    };
    for kind in ["WordPiece", "Unigram", "BPE"] {
        let why = refused(&without(file(kind)));
        assert!(why.contains(&format!("it does not know the letter `{letter}`")), "{kind}: {why}");
    }
    let mut silent = without(file("BPE"));
    silent["model"]["unk_token"] = Value::Null;
    assert!(refused(&silent).contains(") spell something else"), "{}", refused(&silent));

    let mut undecoded = file("BPE");
    undecoded["decoder"] = Value::Null;
    assert!(refused(&undecoded).contains("its decoder makes `▁"), "{}", refused(&undecoded));

    let mut unmarked = file("BPE");
    unmarked["pre_tokenizer"] = json!({ "type": "WhitespaceSplit" });
    unmarked["decoder"] = json!({ "type": "Fuse" });
    assert!(refused(&unmarked).contains("do not show where it begins or ends"), "{}", refused(&unmarked));

    let mut dropout = file("BPE");
    dropout["model"]["dropout"] = json!(0.1);
    assert!(refused(&dropout).contains("its model has dropout"), "{}", refused(&dropout));

    // A token of several words: that a text has, that it does not have, and that cannot come about.
    let copula = languages.form(languages.world.copula(), Language::A);
    let joined = |words: &str, split: bool| {
        let mut file = file("Unigram");
        let score = file["model"]["vocab"].as_array().unwrap().len();
        file["model"]["vocab"].as_array_mut().unwrap().push(json!([words, -(score as f64)]));
        file["pre_tokenizer"]["split"] = json!(split);
        file
    };
    assert!(adopt(dir.path(), &joined("▁no▁words", true), &languages).is_ok());
    let why = refused(&joined("▁no▁words", false));
    assert!(why.contains("its token `▁no▁words` spans several words"), "{why}");
    let mut ending = joined(&format!("{}▁", copula.chars().last().unwrap()), false);
    ending["model"]["vocab"].as_array_mut().unwrap().last_mut().unwrap()[1] = json!(-0.1);
    assert!(refused(&ending).contains("than each alone"), "{}", refused(&ending));

    for (text, says) in
        [("{}", "which cannot be used here"), ("[", "which cannot be used here"), ("\u{0}", "cannot be used")]
    {
        std::fs::write(dir.path().join("own.json"), text).unwrap();
        let config = TokenizerConfig { file: dir.path().join("own.json").display().to_string(), ..Default::default() };
        let why = Tokenizer::new(&languages, &config, &MixtureConfig::default()).err().unwrap().to_string();
        assert!(why.contains(says), "{why}");
    }
}
