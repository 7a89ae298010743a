//! What is counted, and how often: seeds, tokenizers, seconds, words, and runs that are known from tables.

mod synthetic;

use invitro_report::findings::{Findings, correlations};
use invitro_report::{Options, build, data};
use invitro_results::{Measure, Quantity, SCHEMA, TokenizerMetric, Words};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use synthetic::{Plan, Progress};

fn page(folder: &Path) -> String {
    build(folder, &Options { force: true, ..Options::default() }).unwrap();
    fs::read_to_string(folder.join("report.html")).unwrap()
}

#[test]
fn model_seeds_are_no_further_worlds() {
    let value_and_width = |model_seeds: u32| {
        let folder = tempfile::tempdir().unwrap();
        synthetic::collected(folder.path(), &Plan { data_seeds: 3, model_seeds, ..Plan::small() });
        let study = data::read(folder.path()).unwrap();
        let fertility = Measure::Tokenizer(Words::Text, TokenizerMetric::Fertility);
        let fertility = Quantity::of(fertility, &study.conditions()[0]);
        let gap = study.mean(study.at(&[]), |run| run.once(&fertility)).unwrap();
        let interval = gap.interval.unwrap();
        (gap.value, interval.high - interval.low)
    };
    // The tokenizer is the same for every model seed.
    let (one, three) = (value_and_width(1), value_and_width(3));
    assert!((one.0 - three.0).abs() < 1e-12 && (one.1 - three.1).abs() < 1e-9, "{one:?} against {three:?}");
}

#[test]
fn regressions_are_clustered_by_data_seed() {
    for (data_seeds, model_seeds, groups) in [(3, 2, 3), (1, 2, 2)] {
        let folder = tempfile::tempdir().unwrap();
        synthetic::collected(folder.path(), &Plan { data_seeds, model_seeds, ..Plan::small() });
        let findings = Findings::of(&data::read(folder.path()).unwrap());
        let fitted: Vec<_> = findings.regressions.iter().filter_map(|it| it.factors.as_ref()).collect();
        assert!(fitted.len() > 4 && fitted.iter().all(|it| it.groups == groups));
    }
}

#[test]
fn seeds_that_were_not_run_are_not_counted() {
    let folder = tempfile::tempdir().unwrap();
    let plan = Plan { data_seeds: 3, model_seeds: 3, ..Plan::small() };
    synthetic::collected_where(folder.path(), &plan, |config| config.data == config.model && config.data < 2);
    let html = page(folder.path());
    let lead = "32 runs of 144 planned over 2 pairs of data seed and model seed (0/0, 1/1); 32 ended.";
    assert!(html.contains(lead), "{}", &html[html.find("class=\"lead\"").unwrap()..][..300]);
    assert!(html.contains("<code>seeds.data</code></td><td>0, 1</td>"), "what was varied is what was run");

    synthetic::collected_where(folder.path(), &plan, |config| config.data == 0 && config.model == 0);
    let html = page(folder.path());
    assert!(html.contains("16 runs of 144 planned over 1 data seed and 1 model seed; 16 ended. With a single seed"));

    synthetic::collected_where(folder.path(), &plan, |config| config.data == 1);
    let html = page(folder.path());
    assert!(html.contains("over 1 data seed and 3 model seeds; 48 ended. With a single data seed the intervals speak"));

    synthetic::collected_where(folder.path(), &plan, |_| false);
    assert!(page(folder.path()).contains("No run of 144 planned has been measured yet."));
}

#[test]
fn one_ended_seed_answers_no_hypothesis() {
    let folder = tempfile::tempdir().unwrap();
    let plan = Plan { model_seeds: 1, ..Plan::small() };
    let configs = plan.configs();
    synthetic::scattered(folder.path(), &plan, |place| {
        if configs[place].data == 0 { Progress::Done } else { Progress::Running(3) }
    });
    assert!(page(folder.path()).contains("Until runs of a second seed have ended, no hypothesis can be answered."));
}

#[test]
fn a_tokenizer_that_serves_many_runs_is_one() {
    let folder = tempfile::tempdir().unwrap();
    synthetic::collected(folder.path(), &Plan::small());
    let study = data::read(folder.path()).unwrap();
    let distinct: BTreeSet<_> = study.runs.iter().map(|run| correlations::tokenizer(&study, run)).collect();
    // For each |V|, d and data seed: a vanilla one for each of two λ, a balanced one for both.
    assert_eq!(distinct.len(), 2 * 2 * 2 * 3);
}

#[test]
fn what_chance_gives_is_said_to_be_an_average() {
    let folder = tempfile::tempdir().unwrap();
    synthetic::collected(folder.path(), &Plan::small());
    let said = Findings::of(&data::read(folder.path()).unwrap()).knowledge.sentence;
    assert!(said.contains("chance alone would give 2 of each on average"), "{said}");
}

#[test]
fn nothing_is_judged_on_two_data_seeds() {
    let folder = tempfile::tempdir().unwrap();
    synthetic::collected(folder.path(), &Plan::small());
    let html = page(folder.path());
    assert!(!html.contains("badge yes") && !html.contains("badge no\""));
    assert!(html.contains("is not judged, with 2 data seeds where 3 are needed"));
    synthetic::collected(folder.path(), &Plan { data_seeds: 3, model_seeds: 1, ..Plan::small() });
    let html = page(folder.path());
    assert!(html.contains("badge yes"), "three are judged");
    let said = Findings::of(&data::read(folder.path()).unwrap()).knowledge.sentence;
    assert!(said.starts_with("Knowledge crossed"), "{said}");
}

#[test]
fn seconds_that_runs_shared_are_not_summed() {
    let folder = tempfile::tempdir().unwrap();
    synthetic::collected(folder.path(), &Plan { schema: 1, ..Plan::small() });
    let html = page(folder.path());
    let row = "<td>seconds of training, of a run and all that trained beside it</td><td>61.0</td><td>64</td>";
    assert!(html.contains(row) && !html.contains("hours of training"));
}

#[test]
fn words_that_may_not_have_been_asked_for_are_not_called_unreachable() {
    let folder = tempfile::tempdir().unwrap();
    synthetic::collected(folder.path(), &Plan::one());
    let html = page(folder.path());
    assert!(html.contains("may not have been asked for") && !html.contains("\"never\""));
}

/// A study of data seeds 0 and 1 that knows the 32 runs of data seed 0 from tables.
fn with_known(folder: &Path, progress: impl Fn(u32) -> Progress) -> Plan {
    let plan = Plan::small();
    let configs = plan.configs();
    synthetic::scattered(folder, &plan, |place| progress(configs[place].data));
    synthetic::collected_where(&folder.join("known"), &plan, |config| config.data == 0);
    plan
}

#[test]
fn runs_known_from_tables_count_beside_run_folders() {
    let folder = tempfile::tempdir().unwrap();
    with_known(folder.path(), |_| Progress::Planned);
    assert!(page(folder.path()).contains("32 runs of 64 planned over 1 data seed and 2 model seeds; 32 ended."));

    // Half by tables and half by folders is the same as all by tables.
    let (mixed, whole) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    with_known(mixed.path(), |data| if data == 0 { Progress::Planned } else { Progress::Done });
    synthetic::collected(whole.path(), &Plan::small());
    for place in [&mixed, &whole] {
        assert!(page(place.path()).contains("64 runs over 2 data seeds and 2 model seeds; 64 ended."));
    }
    let contrast = |place: &Path| {
        let study = data::read(place).unwrap();
        let masked = study.masked().next().unwrap();
        let facts = Quantity::of(Measure::KNOWLEDGE, masked);
        (study.mean(study.ended(&[]), |run| run.curve(&facts).end()).unwrap().value, study.words.len())
    };
    let (mixed, whole) = (contrast(mixed.path()), contrast(whole.path()));
    assert!((mixed.0 - whole.0).abs() < 1e-9 && mixed.1 == whole.1, "{mixed:?} against {whole:?}");
}

#[test]
fn a_run_both_known_and_begun_is_one_run() {
    let folder = tempfile::tempdir().unwrap();
    with_known(folder.path(), |data| if data == 0 { Progress::Running(2) } else { Progress::Planned });
    let study = data::read(folder.path()).unwrap();
    assert_eq!((study.runs.len(), study.ended(&[]).count()), (32, 32));
    assert_eq!(study.words.len(), 32 * Plan::small().words);
}

#[test]
fn known_runs_stay_when_others_move_after_collecting() {
    let folder = tempfile::tempdir().unwrap();
    let plan = with_known(folder.path(), |_| Progress::Planned);
    synthetic::collected_where(folder.path(), &plan, |config| config.data == 0);
    assert_eq!(data::read(folder.path()).unwrap().ended(&[]).count(), 32);
    std::thread::sleep(std::time::Duration::from_millis(20));
    let config = plan.configs().into_iter().find(|config| config.data == 1).unwrap();
    synthetic::run_folder(&folder.path().join("runs").join(&config.id), &config, &plan, Progress::Done);
    assert_eq!(data::read(folder.path()).unwrap().ended(&[]).count(), 33);
}

#[test]
fn known_runs_that_the_collected_table_lacks_are_added() {
    let folder = tempfile::tempdir().unwrap();
    let plan = with_known(folder.path(), |_| Progress::Planned);
    synthetic::collected_where(folder.path(), &plan, |_| false);
    let before = data::fingerprint(folder.path());
    assert_eq!(data::read(folder.path()).unwrap().ended(&[]).count(), 32);
    fs::remove_file(folder.path().join("known/runs.parquet")).unwrap();
    assert_ne!(data::fingerprint(folder.path()), before);
}

#[test]
fn known_runs_of_another_schema_are_not_counted() {
    let folder = tempfile::tempdir().unwrap();
    with_known(folder.path(), |_| Progress::Planned);
    let older = Plan { schema: SCHEMA - 1, ..Plan::small() };
    synthetic::collected_where(&folder.path().join("known"), &older, |config| config.data == 0);
    assert_eq!(data::read(folder.path()).unwrap().runs.len(), 0);
}
