//! Whole runs of a tiny world.

use crate::common::{SAME, bytes, family, find, member, mixed, rows, run, steps, tiny, train, trio};
use invitro_lab::card::Published;
use invitro_lab::inputs::InputCache;
use invitro_lab::training::progress::Silent;
use invitro_lab::training::{self, MemberOutcome, TrainingOptions, TrainingSlots};
use invitro_lab::{Experiment, State, Status, Stop, Trained, run_folder};
use invitro_model::Device;
use invitro_results::folder::read_json_lines;
use invitro_results::folder::{METRICS, SEGMENTATION, TRAINING_TABLE};
use invitro_results::table::TableReader;
use invitro_results::{Form, Fraction, Measure, Quantity, Reach, Row, Run, Statistic, TaskMetric, read_ends, read_run};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

#[test]
fn a_run_leaves_everything_and_is_a_function_of_its_config() {
    let place = tempfile::tempdir().unwrap();
    let experiment = tiny(&[]);
    let (one, two) = (place.path().join("one"), place.path().join("two"));
    let rows = run(&experiment, &one);
    run(&experiment, &two);
    for name in SAME {
        assert_eq!(bytes(&one, name), bytes(&two, name), "{name}");
    }
    for name in ["language/lexicon.tsv", "language/grammar.txt", "tokenizer_config.json", "pairs.jsonl"] {
        assert!(!bytes(&one, name).is_empty(), "{name}");
    }
    let evaluated: Vec<u64> =
        rows.iter().map(|row| row.step).collect::<std::collections::BTreeSet<_>>().into_iter().collect();
    assert_eq!(evaluated, [0, 10, 20, 40, 60]);
    assert_eq!(run_folder::saved(&one), [60], "the last checkpoint alone stays");
    let status = Status::read(&one).unwrap().unwrap();
    assert_eq!((status.state, status.step, status.run), (State::Done, 60, experiment.id()));
    let made_by = Experiment::from_toml(&String::from_utf8(bytes(&one, "config.toml")).unwrap(), "config").unwrap();
    assert_eq!(made_by, experiment);
    let summary: serde_json::Map<String, serde_json::Value> =
        serde_json::from_slice(&bytes(&one, "summary.json")).unwrap();
    assert_eq!(summary["run"], experiment.id());
    assert_eq!(summary["tokenizer.vocab"], 80);
    assert_eq!(summary["final.T1.A.validity"], find(&rows, 60, "T1.A.validity").value);
    assert!(summary.contains_key("emergence.T1.B_masked.facts"));
    assert!(!summary.values().any(|value| value.is_object() || value.is_array()), "the summary is flat");
    ends_are_those_of_the_curves(&one);
    let loss = |step| find(&rows, step, "loss.all.loss").value;
    assert!(loss(60) < loss(0) * 0.8, "the loss falls: {} to {}", loss(0), loss(60));
    nested(&rows);
    every_step_is_kept(&experiment, &one, &rows);
    assert_eq!(steps(&one), steps(&two));
}

/// What lists of runs read out of the summary is what the run's config and metrics say.
fn ends_are_those_of_the_curves(folder: &Path) {
    let (whole, ends) = (read_run(folder).unwrap(), read_ends(folder).unwrap());
    assert_eq!((&whole.id, &whole.columns), (&ends.id, &ends.columns));
    let conditions = |run: &Run| run.curves.keys().map(|quantity| quantity.condition.clone()).collect::<HashSet<_>>();
    assert_eq!(conditions(&whole), conditions(&ends));
    assert!(ends.curves.values().len() > 50);
    for (quantity, curve) in ends.curves.iter() {
        assert_eq!(whole.curve(quantity).end(), curve.end(), "{quantity}");
    }
    let table = folder.join("metrics.parquet");
    let bytes = std::fs::read(&table).unwrap();
    std::fs::write(&table, &bytes[1..]).unwrap();
    assert!(read_ends(folder).unwrap_err().to_string().contains("metrics.parquet"));
    std::fs::write(&table, bytes).unwrap();
}

/// A row per step, with the numbers that the evaluations have of their own; the table has the same.
fn every_step_is_kept(experiment: &Experiment, folder: &Path, rows: &[Row]) {
    let steps = steps(folder);
    assert!(steps.iter().map(|step| step.step).eq(1..=60));
    for step in &steps {
        assert!((step.lr - experiment.train.rate(step.step)).abs() < 1e-15, "{step:?}");
        assert!(step.loss > Some(0.0) && step.grad_norm > Some(0.0) && step.tokens > 0, "{step:?}");
    }
    for at in [10, 20, 40, 60] {
        let (step, loss) = (&steps[at as usize - 1], find(rows, at, "loss.all.train_loss"));
        assert_eq!((step.loss, step.tokens), (Some(loss.value), loss.n));
        assert_eq!(step.grad_norm, Some(find(rows, at, "loss.all.grad_norm").value));
    }
    let table = TableReader::open(&folder.join(TRAINING_TABLE)).unwrap().rows().unwrap();
    assert_eq!(table.len(), 60);
    for (row, step) in table.iter().zip(&steps) {
        assert_eq!((row["run"].as_str(), row["step"].as_u64()), (Some(experiment.id().as_str()), Some(step.step)));
        assert_eq!((row["loss"].as_f64(), row["lr"].as_f64()), (step.loss, Some(step.lr)));
        assert_eq!((row["grad_norm"].as_f64(), row["tokens"].as_u64()), (step.grad_norm, Some(step.tokens)));
        assert!(row["tokens_per_second"].as_u64() > Some(0));
    }
}

#[test]
fn of_a_long_run_some_steps_are_kept_whenever_it_is_stopped() {
    let place = tempfile::tempdir().unwrap();
    let experiment = tiny(&["train.steps=50000", "eval.every=0"]);
    let members = [member(&experiment, place.path())];
    let mut last = 0;
    for _ in 0..3 {
        let soon = Stop::new().at(std::time::Instant::now() + std::time::Duration::from_millis(100));
        let [MemberOutcome::Stopped { step }] = train(&members, &soon)[..] else { panic!() };
        assert!(step > last);
        last = step;
    }
    let kept: Vec<u64> = steps(place.path()).iter().map(|step| step.step).collect();
    assert_eq!(kept, (1..=last).filter(|step| step.is_multiple_of(4)).collect::<Vec<_>>());
}

/// Each check is nested in the one before, at every step, in every condition and task; shares are shares.
fn nested(rows: &[Row]) {
    let mut values: BTreeMap<(u64, &Quantity), f64> = BTreeMap::new();
    for row in rows {
        assert!(values.insert((row.step, &row.quantity), row.value).is_none(), "{row:?} is there twice");
    }
    let at = |row: &Row, measure: Measure| {
        let quantity = Quantity { measure, ..row.quantity.clone() };
        values.get(&(row.step, &quantity)).copied()
    };
    for row in rows {
        match row.quantity.measure {
            Measure::Task(task, metric) => {
                assert!((0.0..=1.0).contains(&row.value), "{row:?}");
                let level = TaskMetric::CASCADE.iter().position(|&of| of == metric);
                if let Some(level) = level.filter(|&level| level > 0) {
                    let outer = at(row, Measure::Task(task, TaskMetric::CASCADE[level - 1])).unwrap();
                    assert!(row.value <= outer, "{row:?} within {outer}");
                }
            }
            // Up to the last piece is easier than with the boundary, more of |V| easier than less, any than all.
            Measure::Reach(reach) if reach.statistic == Statistic::Share && reach.targets.against().is_none() => {
                let with_boundary = at(row, Measure::Reach(Reach { boundary: true, ..reach })).unwrap();
                let smaller = at(row, Measure::Reach(Reach { top: Some(Fraction::ALL[0]), ..reach })).unwrap();
                let any = at(row, Measure::Reach(Reach { statistic: Statistic::Any, ..reach })).unwrap();
                assert!(with_boundary <= row.value && smaller <= row.value && row.value <= any, "{row:?}");
            }
            _ => {}
        }
    }
}

#[test]
fn a_stopped_run_goes_on_to_the_same_bytes() {
    goes_on_to_the_same_bytes(&tiny(&["train.steps=45"]));
}

/// The own form is the contrast itself; n-gram models do not see the subject under any.
/// With probes of the inside, which read rows, hidden states and gradients.
#[test]
fn so_does_every_kind_of_model() {
    for kind in [
        ["model.kind=gpt2", "model.tied=false"],
        ["model.kind=gpt2", "model.tied=true"],
        ["model.kind=llama", "model.tied=true"],
    ] {
        let inside = ["eval.inside=true", "eval.inside_every=20", "train.smoothing=0.1", "train.steps=40"];
        goes_on_to_the_same_bytes(&tiny(&[&kind[..], &inside].concat()));
    }
}

#[test]
fn words_are_put_in_other_forms() {
    let place = tempfile::tempdir().unwrap();
    for (name, arm) in [("plain", &[][..]), ("arm", &["tokenizer.share=cognate", "tokenizer.cut=apart"])] {
        let rows = run(&tiny(&[&["train.steps=20", "eval.forms=true"], arm].concat()), &place.path().join(name));
        for condition in ["B", "B_masked"] {
            let of = |step, scored: &str| {
                let (scorer, form) = scored.split_once('.').unwrap();
                find(&rows, step, &format!("contrast.{condition}.{scorer}.facts.{form}"))
            };
            for step in [0, 20] {
                let contrast = find(&rows, step, &format!("reach.{condition}.network.facts.logprob"));
                let own = of(step, "network.own");
                assert_eq!((own.value, own.interval, own.n), (contrast.value, contrast.interval, contrast.n));
                assert!(Form::ALL.iter().all(|form| of(step, &format!("network.{form}")).n > 0));
            }
            for (form, scorer) in Form::ALL.iter().flat_map(|form| ["unigram", "bigram"].map(|scorer| (form, scorer))) {
                assert_eq!(of(0, &format!("{scorer}.{form}")).value, 0.0);
            }
            let apart = (of(20, "network.apart").value, of(20, "network.own").value);
            assert_eq!(apart.0 == apart.1, name == "arm", "recut apart is the own form where words are cut apart");
        }
    }
}

/// Under an arm a model has more rows, the folder a table that says what the tokenizer does not, and the run can be
/// opened; but not once the table is another.
#[test]
fn so_does_one_whose_languages_have_ids_of_their_own() {
    let experiment = tiny(&["train.steps=45", "tokenizer.share=cognate", "tokenizer.cut=alike"]);
    goes_on_to_the_same_bytes(&experiment);
    let place = tempfile::tempdir().unwrap();
    let rows = run(&experiment, place.path());
    assert!(rows.iter().any(|row| row.quantity.to_string().contains("network")));
    let trained = Trained::load(place.path(), None).unwrap();
    assert_eq!(trained.checkpoint.shape.vocab, 80 + 80 - trained.text.segmentation.special().count() as usize);
    assert_eq!(trained.text.vocab(), 80);
    let again = trained.evaluate(&experiment, Device::Cpu).unwrap();
    let last: Vec<&Row> =
        rows.iter().filter(|row| row.step == 45 && row.quantity.to_string().starts_with("reach")).collect();
    assert!(!last.is_empty() && last.iter().all(|row| again.rows.contains(row)));
    let out = place.path().join("export");
    trained.export(place.path(), &out, Published { name: "export", licence: None }).unwrap();
    assert_eq!(bytes(&out, SEGMENTATION), bytes(place.path(), SEGMENTATION));
    std::fs::write(place.path().join(SEGMENTATION), "another").unwrap();
    let refused = Trained::load(place.path(), None).err().unwrap().to_string();
    assert!(refused.contains(SEGMENTATION), "{refused}");
    assert_eq!(train(&[member(&experiment, place.path())], &Stop::new()), [MemberOutcome::Done]);
    assert_eq!(bytes(&out, SEGMENTATION), bytes(place.path(), SEGMENTATION), "it is made again");
}

fn goes_on_to_the_same_bytes(experiment: &Experiment) {
    let place = tempfile::tempdir().unwrap();
    let whole = place.path().join("whole");
    run(experiment, &whole);
    let parts = place.path().join("parts");
    let mut sittings = 0;
    loop {
        // A stop that is asked for before the first step comes after it.
        let stop = Stop::new();
        if sittings < 6 {
            let soon = std::time::Instant::now() + std::time::Duration::from_millis(40 * (sittings % 3));
            match train(&[member(experiment, &parts)], &stop.at(soon))[..] {
                [MemberOutcome::Stopped { step }] => assert!(step > 0 && step <= 45),
                [MemberOutcome::Done] => break,
                ref other => panic!("{other:?}"),
            }
        } else {
            assert_eq!(train(&[member(experiment, &parts)], &stop), [MemberOutcome::Done]);
            break;
        }
        assert_eq!(Status::read(&parts).unwrap().unwrap().state, State::Stopped);
        sittings += 1;
    }
    assert!(sittings > 0, "it was stopped at least once");
    for name in SAME {
        assert_eq!(bytes(&whole, name), bytes(&parts, name), "{name}");
    }
    assert_eq!(steps(&whole), steps(&parts));
}

#[test]
fn seeds_train_as_one_population_with_the_results_of_single_runs() {
    let place = tempfile::tempdir().unwrap();
    let experiment = tiny(&["seeds.data=0,1", "seeds.model=3,4", "train.steps=20"]);
    let all = experiment.expand();
    assert_eq!(all.len(), 4);
    let members: Vec<_> = all.iter().map(|one| member(one, &place.path().join(one.id()))).collect();
    assert_eq!(train(&members, &Stop::new()), vec![MemberOutcome::Done; 4]);
    let alone = place.path().join("alone");
    run(&all[2], &alone);
    for name in SAME {
        assert_eq!(bytes(&members[2].folder, name), bytes(&alone, name), "{name}");
    }
    assert_ne!(bytes(&members[2].folder, METRICS), bytes(&members[3].folder, METRICS));
}

#[test]
fn settings_of_the_optimizer_train_as_one_population_with_the_results_of_single_runs() {
    let place = tempfile::tempdir().unwrap();
    let settings: [&[&str]; 3] = [
        &[],
        &["train.lr=0.01", "train.warmup=3", "train.weight_decay=0.2"],
        &["train.decay=none", "train.beta1=0.5", "train.beta2=0.9", "train.eps=1e-6", "train.clip=0.1"],
    ];
    let experiments = settings.map(|own| tiny(&[&["train.steps=20"], own].concat()));
    let members: Vec<_> = experiments.iter().map(|one| member(one, &place.path().join(one.id()))).collect();
    // Interrupted after a step.
    let stopped = train(&members, &Stop::new().at(std::time::Instant::now()));
    assert_eq!(stopped, vec![MemberOutcome::Stopped { step: 1 }; 3]);
    assert_eq!(train(&members, &Stop::new()), vec![MemberOutcome::Done; 3]);
    for member in &members {
        let alone = member.folder.with_extension("alone");
        run(&member.experiment, &alone);
        for name in SAME {
            assert_eq!(bytes(&member.folder, name), bytes(&alone, name), "{name}");
        }
        assert_eq!(steps(&member.folder), steps(&alone));
    }
    assert_ne!(bytes(&members[0].folder, METRICS), bytes(&members[1].folder, METRICS));
}

#[test]
fn populations_that_share_a_slot_have_the_results_of_single_runs() {
    let place = tempfile::tempdir().unwrap();
    // Steps differ: one is further ahead than the other whenever both want to train.
    let experiments = [tiny(&["train.steps=40"]), tiny(&["train.steps=60", "seeds.model=1"])];
    let (slots, cache, stop) = (TrainingSlots::new(1), InputCache::default(), Stop::new());
    let shared = |i: usize| place.path().join(format!("shared{i}"));
    std::thread::scope(|scope| {
        for (i, experiment) in experiments.iter().enumerate() {
            let (slots, cache, stop, folder) = (&slots, &cache, &stop, shared(i));
            scope.spawn(move || {
                let options = TrainingOptions { device: Device::Cpu, force: false, stop, progress: &Silent };
                let done = training::run_with(&[member(experiment, &folder)], &options, cache, Some(slots));
                assert_eq!(done.unwrap(), [MemberOutcome::Done]);
            });
        }
    });
    assert_eq!(slots.waiting(), 0);
    for (i, experiment) in experiments.iter().enumerate() {
        let alone = place.path().join(format!("alone{i}"));
        run(experiment, &alone);
        for name in SAME {
            assert_eq!(bytes(&alone, name), bytes(&shared(i), name), "{name}");
        }
        assert_eq!(steps(&alone), steps(&shared(i)));
    }
}

#[test]
fn members_left_at_different_steps_meet_again() {
    let place = tempfile::tempdir().unwrap();
    let experiment = tiny(&["seeds.model=0,1", "train.steps=40"]);
    let members: Vec<_> = experiment.expand().iter().map(|one| member(one, &place.path().join(one.id()))).collect();
    assert_eq!(train(&members, &Stop::new()), vec![MemberOutcome::Done; 2]);
    let before: Vec<Vec<u8>> = members.iter().map(|m| bytes(&m.folder, METRICS)).collect();
    // As if the process had died before the end, one member a checkpoint behind the other.
    let other: Vec<_> = members.iter().map(|m| member(&m.experiment, &m.folder.with_extension("again"))).collect();
    let soon = || Stop::new().at(std::time::Instant::now());
    train(&other[..1], &soon());
    assert_eq!(run_folder::saved(&other[0].folder), [1]);
    assert_eq!(train(&other, &Stop::new()), vec![MemberOutcome::Done; 2]);
    for (again, before) in other.iter().zip(&before) {
        assert_eq!(&bytes(&again.folder, METRICS), before);
    }
}

#[test]
fn a_member_that_fails_does_not_take_the_others_down() {
    let place = tempfile::tempdir().unwrap();
    let good = tiny(&["train.steps=20"]);
    // So few masked words that some entity has none.
    let bad = tiny(&["train.steps=20", "language.mask_share=0.04"]);
    let members = [member(&bad, &place.path().join("bad")), member(&good, &place.path().join("good"))];
    let outcomes = train(&members, &Stop::new());
    let MemberOutcome::Failed { error } = &outcomes[0] else { panic!("{outcomes:?}") };
    assert!(error.contains("`language.mask_share` is 0.04"), "{error}");
    assert_eq!(outcomes[1], MemberOutcome::Done);
    let status = Status::read(&members[0].folder).unwrap().unwrap();
    assert_eq!((status.state, status.error.as_ref()), (State::Failed, Some(error)));
    assert!(!rows(&members[1].folder).is_empty());
}

#[test]
fn a_loss_that_is_not_finite_stops_the_run_and_keeps_the_last_good_checkpoint() {
    let place = tempfile::tempdir().unwrap();
    let wild = tiny(&["train.lr=1e30", "train.clip=0", "train.warmup=0", "checkpoint.every=1", "checkpoint.keep=all"]);
    let outcomes = train(&[member(&wild, place.path())], &Stop::new());
    let [MemberOutcome::Failed { error }] = &outcomes[..] else { panic!("{outcomes:?}") };
    assert!(error.contains("NaN or infinite at step"), "{error}");
    let (last, before) =
        steps(place.path()).split_last().map(|(last, before)| (last.clone(), before.to_vec())).unwrap();
    assert!(error.contains(&format!("at step {}", last.step)) && (last.loss.is_none() || last.grad_norm.is_none()));
    assert!(before.iter().all(|step| step.loss.is_some()) && last.step as usize == before.len() + 1);
    for step in run_folder::saved(place.path()) {
        let saved = invitro_model::Checkpoint::load(&run_folder::checkpoint(place.path(), step)).unwrap();
        assert!(saved.weights.iter().all(|weight| weight.is_finite()), "step {step}");
    }
}

#[test]
fn checkpoints_stay_by_policy() {
    for (keep, steps) in [("none", vec![]), ("all", vec![15, 30, 40]), ("log-spaced", vec![1, 2, 4, 8, 16, 32, 40])] {
        let place = tempfile::tempdir().unwrap();
        let experiment = tiny(&["train.steps=40", "eval.every=0", &format!("checkpoint.keep={keep}")]);
        let rows = run(&experiment, place.path());
        assert_eq!(run_folder::saved(place.path()), steps, "{keep}");
        assert!(rows.iter().all(|row| row.step == 40), "only the last step is evaluated");
        let summary: serde_json::Value = serde_json::from_slice(&bytes(place.path(), "summary.json")).unwrap();
        assert!(summary["max.T1.A.validity"].is_number());
        assert!(summary["emergence.T1.A.validity"].is_null(), "one evaluation does not say since when");
    }
}

/// On one thread in one go, and on three with interruptions.
#[test]
fn families_run_to_the_same_bytes_however_they_are_run() {
    let mut reached = 0;
    for list in [trio(), mixed()] {
        let place = tempfile::tempdir().unwrap();
        let settings =
            ["tokenizer.vocab=120", "train.steps=120", "eval.every=60", "eval.subjects=12", "eval.targets=8"];
        let experiment = family(&settings, list);
        let (whole, parts) = (place.path().join("whole"), place.path().join("parts"));
        let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let rows = pool(1).install(|| run(&experiment, &whole));
        pool(3).install(|| {
            let soon = Stop::new().at(std::time::Instant::now());
            assert!(matches!(train(&[member(&experiment, &parts)], &soon)[..], [MemberOutcome::Stopped { step: 1.. }]));
            assert_eq!(train(&[member(&experiment, &parts)], &Stop::new()), [MemberOutcome::Done]);
        });
        for name in SAME {
            assert_eq!(bytes(&whole, name), bytes(&parts, name), "{name}");
        }
        nested(&rows);
        reached += everything_is_told_of_every_language(&experiment, &whole, &rows);
    }
    assert!(reached > 0, "some word was reached");
}

/// How many words were reached.
fn everything_is_told_of_every_language(experiment: &Experiment, folder: &Path, rows: &[Row]) -> usize {
    let languages = experiment.make_languages(0).unwrap();
    let summary: serde_json::Map<String, serde_json::Value> =
        serde_json::from_slice(&bytes(folder, "summary.json")).unwrap();
    for condition in languages.conditions() {
        for measure in ["T1.{}.validity", "reach.{}.network.facts.logprob", "loss.{}.floor"] {
            let name = measure.replace("{}", &condition.to_string());
            assert_eq!(summary[&format!("final.{name}")], find(rows, 120, &name).value, "{name}");
        }
        let (bits, floor) = ("bits_per_char", "floor");
        let [bits, floor] = [bits, floor].map(|loss| find(rows, 120, &format!("loss.{condition}.{loss}")).value);
        assert!(0.0 < floor && floor < bits, "{condition}: {floor}, {bits}");
    }

    // The words, one by one: each with its language, and their means are the contrasts of the rows.
    let (mut words, mut counted) = (Vec::new(), 0);
    invitro_results::words::read(&folder.join(invitro_results::folder::WORDS), 1, |_, word| words.push(word)).unwrap();
    let contrasts: Vec<invitro_results::words::Contrasts> =
        read_json_lines(&folder.join(invitro_results::folder::CONTRASTS)).unwrap();
    let mut reached = 0;
    for masked in languages.masked() {
        let of: Vec<_> = words.iter().filter(|word| word.masked_in.as_deref() == Some(masked.name())).collect();
        let labels: Vec<String> =
            languages.mask(masked).symbols().iter().map(|&symbol| languages.world.label(symbol)).collect();
        assert_eq!(of.iter().map(|word| word.symbol.clone()).collect::<Vec<_>>(), labels);
        counted += of.len();
        let nats: Vec<f64> = of.iter().filter_map(|word| word.forms[masked.index()].contrast).collect();
        let row = find(rows, 120, &format!("reach.{}_masked.network.facts.logprob", masked.name()));
        assert_eq!(nats.len() as u64, row.n);
        assert!((nats.iter().sum::<f64>() / nats.len() as f64 - row.value).abs() < 1e-4, "{row:?}");
        for (word, &symbol) in of.iter().zip(languages.mask(masked).symbols()) {
            let is_in = |line: &&invitro_results::words::Contrasts| {
                line.reachable.as_ref().unwrap().get(masked.name()).is_some_and(|words| words.contains(&symbol.0))
            };
            let first = contrasts.iter().find(is_in).map(|line| line.step);
            assert_eq!(word.reachable_from.map(u64::from), first);
            let last = contrasts.last().filter(is_in).is_some();
            assert_eq!(word.reachable, (word.asked == Some(true)).then_some(last), "known of a word that is asked for");
            assert!(first.is_none() || word.asked == Some(true));
            reached += usize::from(first.is_some());
            let form = &word.forms[masked.index()];
            let traits = word.traits;
            assert_eq!(traits.pairs, Some(u32::from(form.contrast.is_some())));
            assert_eq!(traits.letters, Some(form.form.chars().count() as u32));
            assert_eq!(traits.pieces, Some(form.pieces.len() as u32));
            assert_eq!(traits.distance, Some(languages.lexicon.distance(symbol, languages.all()[0], masked)));
            assert!(traits.frequency.is_some_and(|frequency| 0.0 < frequency && frequency < 1.0));
        }
    }
    assert_eq!(words.len(), counted);
    // In A, every symbol that is masked anywhere once.
    let mut seen = BTreeSet::new();
    let once = words.iter().filter(|word| word.forms[0].contrast.is_some() && seen.insert(word.symbol.clone()));
    let nats: Vec<f64> = once.filter_map(|word| word.forms[0].contrast).collect();
    let row = find(rows, 120, "reach.A.network.facts_masked.logprob");
    assert_eq!(nats.len() as u64, row.n);
    assert!((nats.iter().sum::<f64>() / nats.len() as f64 - row.value).abs() < 1e-4, "{row:?}");
    reached
}
