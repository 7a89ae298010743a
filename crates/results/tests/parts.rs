//! Curves, verdicts and tables, through the interface other crates have.

mod curve {
    use invitro_results::{Curve, CurvePoint, Emergence};

    #[test]
    fn a_step_measured_twice_keeps_its_last_value() {
        let points = [(0, 0.1), (100, 0.2), (200, 0.3), (100, 0.25), (200, 0.35)];
        let curve = Curve::new(points.map(|(step, value)| CurvePoint::without_interval(step, value)).into());
        let got: Vec<_> = curve.points().map(|point| (point.step, point.value)).collect();
        assert_eq!(got, [(0, 0.1), (100, 0.25), (200, 0.35)]);
    }

    #[test]
    fn peak_end_and_decline() {
        let curve = Curve::new(
            [(0, 0.1), (10, 0.8), (20, 0.8), (30, 0.5)].map(|(s, v)| CurvePoint::without_interval(s, v)).into(),
        );
        assert_eq!(curve.peak().map(|point| point.step), Some(10));
        assert_eq!(curve.end(), Some(0.5));
        assert!((curve.decline().unwrap() - 0.3).abs() < 1e-12);
        let nothing = Curve::new(vec![CurvePoint::without_interval(0, f64::NAN)]);
        assert_eq!((nothing.peak(), nothing.end(), nothing.decline()), (None, None, None));
    }

    #[test]
    fn emergence_is_told_from_evaluations_with_something_to_count() {
        let of = |values: &[f64]| {
            Curve::new((0..).zip(values).map(|(at, &v)| CurvePoint::without_interval(50 * at, v)).collect())
        };
        let told = |values: &[f64]| {
            let curve = of(values);
            [curve.emergence(0.1), curve.lasting_emergence(0.1), curve.lasting_above_zero(0.1)]
        };
        let (never, at) = (Some(Emergence::Never), |step| Some(Emergence::At(step)));
        const NONE: f64 = f64::NAN;
        // One evaluation, or nothing to count in any: there is no telling.
        for values in [&[][..], &[0.5], &[0.0], &[NONE], &[NONE, NONE]] {
            assert_eq!(told(values), [None; 3], "{values:?}");
        }
        assert_eq!(told(&[0.0, 0.5, NONE, 0.5]), [at(50); 3]);
        assert_eq!(told(&[0.0, 0.5, NONE]), [at(50); 3]);
        assert_eq!(told(&[NONE, 0.5]), [at(50); 3]);
        assert_eq!(told(&[0.0, 0.5, NONE, 0.0]), [at(50), never, never]);
        assert_eq!(told(&[0.5, 0.0, NONE, 0.5]), [at(0), at(150), at(150)]);
        assert_eq!(told(&[0.0, NONE]), [never; 3]);
    }
}

mod table {
    use invitro_results::table::*;
    use serde_json::Value;

    #[test]
    fn what_is_written_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.parquet");
        let columns = [
            ("name", Column::Text(vec![Some("a".into()), None, Some("β†".into())])),
            ("step", Column::Whole(vec![Some(1), Some(2), None])),
            ("value", Column::Number(vec![None, Some(0.5), Some(-1.25)])),
        ];
        write(&path, &columns).unwrap();
        let first = std::fs::read(&path).unwrap();
        write(&path, &columns).unwrap();
        assert_eq!(first, std::fs::read(&path).unwrap(), "the same columns, the same bytes");
        let table = TableReader::open(&path).unwrap();
        assert_eq!((table.len(), table.names()), (3, vec!["name".to_owned(), "step".into(), "value".into()]));
        let rows = table.rows().unwrap();
        assert_eq!((rows[2]["name"].as_str(), &rows[1]["name"]), (Some("β†"), &Value::Null));
        assert_eq!((rows[1]["step"].as_i64(), rows[2]["value"].as_f64()), (Some(2), Some(-1.25)));
        table
            .batches(&["value", "other", "name"], |batch, rows| {
                assert_eq!((rows, batch[0].number(0), batch[0].number(2)), (3, None, Some(-1.25)));
                assert_eq!((batch[1].text(0), batch[2].text(2), batch[2].text(1)), (None, Some("β†"), None));
            })
            .unwrap();
        let kept = table.retain(|at, row| at > 0 && row["value"].as_f64() > Some(0.0)).unwrap();
        assert_eq!(kept[1], ("step".to_owned(), Column::Whole(vec![Some(2)])));
        let csv = folder.path().join("t.csv");
        table.write_csv(&csv).unwrap();
        assert_eq!(std::fs::read_to_string(&csv).unwrap(), "name,step,value\na,1,\n,2,0.5\nβ†,,-1.25\n");
    }

    #[test]
    fn parts_are_joined_and_other_columns_refused() {
        let folder = tempfile::tempdir().unwrap();
        let [a, b, c, whole] = ["a", "b", "c", "whole"].map(|name| folder.path().join(name));
        write(&a, &[("x", Column::Whole(vec![Some(1)]))]).unwrap();
        write(&b, &[("x", Column::Whole(vec![Some(2), Some(3)]))]).unwrap();
        write(&c, &[("y", Column::Whole(vec![Some(2)]))]).unwrap();
        join(&[a.clone(), b], &whole).unwrap();
        let read: Vec<_> =
            TableReader::open(&whole).unwrap().rows().unwrap().iter().map(|row| row["x"].as_i64()).collect();
        assert_eq!(read, [Some(1), Some(2), Some(3)]);
        let error = join(&[a, c.clone()], &whole).unwrap_err().to_string();
        assert!(error.contains(&c.display().to_string()) && error.contains("columns differ"), "{error}");
        assert_eq!(TableReader::open(&whole).unwrap().len(), 3, "the whole stays as it was");
    }

    #[test]
    fn an_empty_table_is_a_table() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.parquet");
        write(&path, &[("name", Column::Text(Vec::new()))]).unwrap();
        assert!(TableReader::open(&path).unwrap().is_empty());
    }
}

mod tables {
    use invitro_results::table::{self, Column, TableReader};
    use std::path::Path;

    fn columns(rows: usize) -> [(&'static str, Column); 2] {
        let texts = (0..rows).map(|row| Some(format!("row {}", row % 7))).collect();
        let numbers = (0..rows).map(|row| (row % 3 > 0).then_some(row as f64 / 3.0)).collect();
        [("text", Column::Text(texts)), ("number", Column::Number(numbers))]
    }

    /// Everything that can be done with a table, or what is said against it.
    fn use_all(path: &Path) -> Result<usize, String> {
        let table = TableReader::open(path).map_err(|error| error.to_string())?;
        let mut held = 0;
        let batches = table.batches(&["text", "number"], |columns, rows| {
            held += (0..rows).filter(|&row| columns[0].text(row).is_some() || columns[1].number(row).is_some()).count();
        });
        let rows = table.rows();
        table.retain(|_, _| true).map_err(|error| error.to_string())?;
        table.write_csv(&path.with_extension("csv")).map_err(|error| error.to_string())?;
        batches.and(rows).map_err(|error| error.to_string())?;
        Ok(held)
    }

    #[test]
    fn a_flipped_bit_is_noticed_and_without_a_seal_nothing_panics() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.parquet");
        table::write(&path, &columns(300)).unwrap();
        assert_eq!(use_all(&path), Ok(300));
        let whole = std::fs::read(&path).unwrap();
        let mark = whole.windows(7).rposition(|seen| seen == b"blake3:").unwrap();
        let joined = folder.path().join("joined.parquet");
        table::join(&[path.clone(), path.clone()], &joined).unwrap();
        assert_eq!(use_all(&joined), Ok(600));
        for i in 0..400 {
            let mut flipped = whole.clone();
            let at = i * 7919 % whole.len();
            flipped[at] ^= 1 << (i % 8);
            std::fs::write(&path, &flipped).unwrap();
            let is_mark = (mark..mark + 71).contains(&at);
            assert!(is_mark || use_all(&path).unwrap_err().contains("t.parquet` is damaged: its checksum is another"));
            // As older versions wrote it.
            flipped[mark] = b'-';
            std::fs::write(&path, &flipped).unwrap();
            if let Err(error) = use_all(&path) {
                assert!(error.contains("t.parquet"), "{error}");
            }
        }
    }

    #[test]
    fn more_rows_than_a_file_can_hold_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.parquet");
        let same = Column::Whole(vec![Some(1); 1_000_000]);
        table::write(&path, &[("a", same)]).unwrap();
        let error = use_all(&path).unwrap_err();
        assert!(error.contains("t.parquet` is damaged: it claims 1000000 rows in"), "{error}");
    }
}

mod families {
    use invitro_results::table::{self, Column};
    use invitro_results::words::{self, MaskedWord, Traits, WordForm};
    use invitro_results::{Bridge, Condition, Measure, Run, Similarity, TokenizerMetric, Value, Words};

    fn run(columns: &[(&str, f64)]) -> Run {
        let columns = columns.iter().map(|(name, value)| ((*name).to_owned(), Value::Number(*value))).collect();
        Run { columns, ..Run::default() }
    }

    #[test]
    fn a_bridge_is_that_of_its_condition() {
        let bridge = Measure::Bridge(Bridge::General, Similarity::Jaccard);
        let [b, c] = ["B", "C"].map(|language| Condition::new(language, true));
        let pair = run(&[("bridge.jaccard", 0.5)]);
        assert_eq!(pair.bridge(bridge, &b), Some(0.5));
        let trio = run(&[("bridge.jaccard", 0.5), ("bridge.jaccard.C-A", 0.2), ("bridge.jaccard.C-B", 0.4)]);
        assert_eq!(trio.bridge(bridge, &c), Some(0.5), "one masked language: the mean over all words");
        let two =
            run(&[("bridge.jaccard.B_masked", 0.1), ("bridge.jaccard.C_masked", 0.3), ("bridge.jaccard.C-A", 0.2)]);
        assert_eq!((two.bridge(bridge, &b), two.bridge(bridge, &c)), (Some(0.1), Some(0.3)));
        assert_eq!(two.bridge(bridge, &Condition::new("D", true)), None);
    }

    #[test]
    fn measures_of_pairs_have_a_mean() {
        let overlap = Measure::Tokenizer(Words::Text, TokenizerMetric::Overlap);
        assert_eq!(run(&[("overlap", 0.5)]).over_pairs(overlap), Some(0.5));
        let three = [("overlap.A-B", 0.5), ("overlap.A-C", 0.1), ("overlap.B-C", 0.3), ("overlaps.A-B", 9.0)];
        let three = run(&[&three[..], &[("lexicon.overlap.A-B", 7.0)]].concat());
        assert!((three.over_pairs(overlap).unwrap() - 0.3).abs() < 1e-12);
        assert_eq!(
            three.of_pairs(overlap)[1].0.clone().map(|pair| pair.map(|name| name.to_string())),
            Some(["A".into(), "C".into()])
        );
        assert_eq!(run(&[]).over_pairs(overlap), None);
    }

    #[test]
    fn words_say_in_which_language_they_are_masked() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("words.parquet");
        let form = |language: &str| WordForm { language: language.into(), form: "oe".into(), ..WordForm::default() };
        let word = |masked: &str| MaskedWord {
            symbol: "desc.0.1".into(),
            masked_in: Some(masked.into()),
            forms: ["A", "B", "C"].map(form).into(),
            reachable_from: Some(7),
            traits: Traits {
                pairs: Some(1),
                distance: Some(0.25),
                letters: Some(8),
                pieces: Some(3),
                frequency: Some(0.002),
                rank: Some(300),
            },
            logprob: Some(-4.5),
            ..MaskedWord::default()
        };
        let written = [word("B"), word("C")];
        words::write(&path, "run", &written).unwrap();
        let read = |path: &std::path::Path| {
            let mut all = Vec::new();
            words::read(path, 1, |_, word| all.push(word)).unwrap();
            all
        };
        assert_eq!(read(&path), written);
        let scored = |path: &std::path::Path| {
            let mut all = Vec::new();
            words::read_scored(path, |run, word| all.push((run.to_owned(), word))).unwrap();
            all
        };
        assert_eq!(scored(&path), [], "no contrast was taken");
        let known = |word: &MaskedWord, language: usize, value: f64| {
            let mut word = word.clone();
            word.forms[language].contrast = Some(value);
            word
        };
        // In the language it is masked in, and in another.
        words::write(&path, "run", &[known(&written[0], 1, 0.5), known(&written[1], 1, 0.75)]).unwrap();
        let found = scored(&path);
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].0.as_str(), found[0].1.contrast, found[0].1.traits),
            ("run", Some(0.5), written[0].traits)
        );
        assert_eq!(found[0].1.logprob, Some(-4.5));
        // Without a contrast, and asked whether it is reachable.
        let lost = MaskedWord { asked: Some(true), reachable: Some(false), ..written[0].clone() };
        words::write(&path, "run", &[lost.clone(), written[1].clone()]).unwrap();
        assert_eq!(read(&path), [lost, written[1].clone()]);
        let found = scored(&path);
        assert_eq!((found.len(), found[0].1.contrast, found[0].1.reachable), (1, None, Some(false)));
        words::write(&path, "run", &written).unwrap();
        // Of runs whose languages differ.
        let fewer =
            MaskedWord { masked_in: Some("B".into()), forms: ["A", "B"].map(form).into(), ..written[0].clone() };
        let (other, whole) = (place.path().join("other.parquet"), place.path().join("whole.parquet"));
        words::write(&other, "other", std::slice::from_ref(&fewer)).unwrap();
        for (parts, count) in [([&other, &path], 3), ([&path, &other], 3), ([&path, &path], 4)] {
            words::join(&parts.map(|part| part.to_path_buf()), &whole).unwrap();
            assert_eq!(words::count(&whole).unwrap(), count);
            for word in read(&whole).iter().filter(|word| word.masked_in.as_deref() == Some("C")) {
                assert_eq!(word, &written[1]);
            }
        }
        words::join(&[other.clone(), path.clone()], &whole).unwrap();
        let joined = read(&whole);
        assert_eq!(
            (joined[0].forms.len(), joined[0].forms[1].form.as_str(), joined[0].forms[2].form.as_str()),
            (3, "oe", "")
        );
        assert_eq!(joined[1..], written);
        // A table of an older version.
        let texts = |text: &str| Column::Text(vec![Some(text.to_owned())]);
        let older = ["run", "symbol", "form_A", "pieces_A"].map(|name| (name.to_owned(), texts("x")));
        table::write(&path, &older).unwrap();
        assert_eq!((read(&path)[0].masked_in.clone(), read(&path)[0].symbol.as_str()), (None, "x"));
        assert_eq!((read(&path)[0].traits, scored(&path).len()), (Traits::default(), 0));
        words::join(&[path.clone(), other], &whole).unwrap();
        let traits: Vec<Traits> = read(&whole).iter().map(|word| word.traits).collect();
        assert_eq!(traits, [Traits::default(), fewer.traits]);
    }
}
