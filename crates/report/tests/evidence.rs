//! What is counted, and how often: seeds, tokenizers, seconds, words, and runs that are known from tables.

use crate::synthetic::{self, Plan, Progress};
use invitro_report::claims::{ClaimAnswers, Rendered};
use invitro_report::{ReportOptions, build, data};
use invitro_results::claims::{Answer, Design, Predictor, Reason, Scope, Verdict};
use invitro_results::{
    Condition, Curve, CurvePoint, Measure, Quantity, Results, SCHEMA, TaskMetric, TokenizerMetric, Words,
};
use std::fs;
use std::path::Path;

fn page(folder: &Path) -> String {
    build(folder, &ReportOptions { force: true, ..ReportOptions::default() }).unwrap();
    fs::read_to_string(folder.join("report.html")).unwrap()
}

#[test]
fn model_seeds_are_no_further_worlds() {
    let value_and_width = |model_seeds: u32| {
        let folder = tempfile::tempdir().unwrap();
        synthetic::collected(folder.path(), &Plan { data_seeds: 3, model_seeds, ..Plan::small() });
        let study = data::Study::open(folder.path()).unwrap();
        let fertility = Measure::Tokenizer(Words::Text, TokenizerMetric::Fertility);
        let fertility = Quantity::in_condition(fertility, &study.conditions()[0]);
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
    for (data_seeds, model_seeds, groups) in [(3, 2, "3"), (1, 2, "2")] {
        let folder = tempfile::tempdir().unwrap();
        synthetic::collected(folder.path(), &Plan { data_seeds, model_seeds, ..Plan::small() });
        page(folder.path());
        let csv = fs::read_to_string(folder.path().join("figures/data/effects.csv")).unwrap();
        let rows: Vec<&str> = csv.lines().skip(1).collect();
        assert!(rows.len() > 4 && rows.iter().all(|row| row.rsplit(',').nth(1) == Some(groups)), "{csv}");
    }
}

#[test]
fn an_effect_has_the_same_interval_in_a_regression_and_in_a_claim() {
    let folder = tempfile::tempdir().unwrap();
    synthetic::collected(folder.path(), &Plan { data_seeds: 3, model_seeds: 2, ..Plan::small() });
    let study = data::Study::open(folder.path()).unwrap();
    let grammatical = Quantity::in_condition(Measure::unscrambling(TaskMetric::Grammaticality), &study.conditions()[0]);
    let values: Vec<_> = study.runs.iter().filter_map(|run| Some((run, run.curve(&grammatical).end()?))).collect();
    let design = Design::new(&Scope::new(&study), &values, &[]);
    let lambda = Predictor::Setting(data::Factor::LAMBDA);
    let (fit, claimed) = (design.regression().unwrap(), design.effect(std::slice::from_ref(&lambda)).unwrap());
    let effect = fit.effect(&lambda.name()).unwrap();
    assert!((effect.value - claimed.value).abs() < 1e-9);
    assert_eq!(Some(effect.interval), claimed.interval);
    assert_eq!(effect.p < 0.05, effect.interval.above(0.0) || effect.interval.below(0.0));
}

#[test]
fn seeds_that_were_not_run_are_not_counted() {
    let folder = tempfile::tempdir().unwrap();
    let plan = Plan { data_seeds: 3, model_seeds: 3, ..Plan::small() };
    synthetic::collected_where(folder.path(), &plan, |config| config.data == config.model && config.data < 2);
    let html = page(folder.path());
    let lead = "32 runs of 144 planned over 2 pairs of data seed and model seed (0/0, 1/1); 32 ended.";
    assert!(html.contains(lead), "{}", &html[html.find("class=\"lead\"").unwrap()..][..300]);

    synthetic::collected_where(folder.path(), &plan, |config| config.data == 0 && config.model == 0);
    let html = page(folder.path());
    assert!(html.contains("16 runs of 144 planned over 1 data seed and 1 model seed; 16 ended. With a single seed"));

    synthetic::collected_where(folder.path(), &plan, |config| config.data == 1);
    let html = page(folder.path());
    assert!(html.contains("over 1 data seed and 3 model seeds; 48 ended. With a single data seed the intervals speak"));

    synthetic::collected_where(folder.path(), &plan, |_| false);
    let error = build(folder.path(), &ReportOptions { force: true, ..ReportOptions::default() }).unwrap_err();
    assert!(error.to_string().contains("has begun: there is nothing to report"), "{error}");
}

#[test]
fn one_ended_seed_tests_no_claim() {
    let folder = tempfile::tempdir().unwrap();
    let plan = Plan { model_seeds: 1, ..Plan::small() };
    let configs = plan.configs();
    synthetic::scattered(folder.path(), &plan, |place| {
        if configs[place].data == 0 { Progress::Done } else { Progress::Running(3) }
    });
    assert!(page(folder.path()).contains("Until runs of a second seed have ended, no claim can be tested."));
}

/// The answer to a claim of the study in a folder.
fn answer(folder: &Path, id: &str) -> Answer {
    ClaimAnswers::new(&data::Study::open(folder).unwrap()).by_id(id).unwrap().clone()
}

#[test]
fn nothing_is_tested_on_two_data_seeds() {
    let folder = tempfile::tempdir().unwrap();
    synthetic::collected(folder.path(), &Plan::small());
    let html = page(folder.path());
    assert!(!html.contains("badge yes") && !html.contains("badge no\""));
    assert!(html.contains("Not tested (fewer than 3 data seeds)<ul>"));
    synthetic::collected(folder.path(), &Plan { data_seeds: 3, model_seeds: 1, ..Plan::small() });
    let html = page(folder.path());
    assert!(html.contains("badge yes"), "three are tested");
    assert_eq!(answer(folder.path(), "knowledge-crosses").verdict, Verdict::Supported);
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
        let study = data::Study::open(place).unwrap();
        let masked = study.masked().next().unwrap();
        let facts = Quantity::in_condition(Measure::KNOWLEDGE, masked);
        (study.mean(study.ended(&[]), |run| run.curve(&facts).end()).unwrap().value, study.words.len())
    };
    let (mixed, whole) = (contrast(mixed.path()), contrast(whole.path()));
    assert!((mixed.0 - whole.0).abs() < 1e-9 && mixed.1 == whole.1, "{mixed:?} against {whole:?}");
}

#[test]
fn a_run_both_known_and_begun_is_one_run() {
    let folder = tempfile::tempdir().unwrap();
    with_known(folder.path(), |data| if data == 0 { Progress::Running(2) } else { Progress::Planned });
    let study = data::Study::open(folder.path()).unwrap();
    assert_eq!((study.runs.len(), study.ended(&[]).count()), (32, 32));
    assert_eq!(study.words.len(), 32 * Plan::small().words);
}

#[test]
fn known_runs_stay_when_others_move_after_collecting() {
    let folder = tempfile::tempdir().unwrap();
    let plan = with_known(folder.path(), |_| Progress::Planned);
    synthetic::collected_where(folder.path(), &plan, |config| config.data == 0);
    assert_eq!(data::Study::open(folder.path()).unwrap().ended(&[]).count(), 32);
    std::thread::sleep(std::time::Duration::from_millis(20));
    let config = plan.configs().into_iter().find(|config| config.data == 1).unwrap();
    synthetic::run_folder(&folder.path().join("runs").join(&config.id), &config, &plan, Progress::Done);
    assert_eq!(data::Study::open(folder.path()).unwrap().ended(&[]).count(), 33);
}

#[test]
fn known_runs_that_the_collected_table_lacks_are_added() {
    let folder = tempfile::tempdir().unwrap();
    let plan = with_known(folder.path(), |_| Progress::Planned);
    synthetic::collected_where(folder.path(), &plan, |_| false);
    let before = data::fingerprint(folder.path());
    assert_eq!(data::Study::open(folder.path()).unwrap().ended(&[]).count(), 32);
    fs::remove_file(folder.path().join("known/runs.parquet")).unwrap();
    assert_ne!(data::fingerprint(folder.path()), before);
}

#[test]
fn known_runs_of_another_schema_are_not_counted() {
    let folder = tempfile::tempdir().unwrap();
    with_known(folder.path(), |_| Progress::Planned);
    let older = Plan { schema: SCHEMA - 1, ..Plan::small() };
    synthetic::collected_where(&folder.path().join("known"), &older, |config| config.data == 0);
    assert_eq!(data::Study::open(folder.path()).unwrap().runs.len(), 0);
}

/// A study of arms, with as many data seeds.
fn of_arms(data_seeds: u32) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let plan = Plan { data_seeds, vocabs: vec![256], distances: vec![0.0, 0.25], words: 30, ..Plan::arms() };
    synthetic::collected(folder.path(), &plan);
    let html = page(folder.path());
    (folder, html)
}

#[test]
fn arms_are_compared_word_by_word() {
    let (folder, html) = of_arms(3);
    let study = data::Study::open(folder.path()).unwrap();
    let share = data::Factor::new("tokenizer.share");
    assert_eq!(study.levels(share), ["all", "cognate", "other", "random 0.25", "none"], "as they are compared");
    assert_eq!(study.varying(), [data::Factor::DISTANCE, share], "the share of a random arm is part of its name");
    assert_eq!(study.scored.len(), 30 * 30);
    let csv = |name: &str| fs::read_to_string(folder.path().join(format!("figures/data/{name}.csv"))).unwrap();
    let (arms, bridges) = (csv("arms"), csv("word-bridge"));
    assert!(arms.starts_with("setting,arm,vocab,d,condition,mean,low,high,runs\n"));
    assert_eq!(arms.lines().count(), 1 + 5 * 2 * 3);
    assert!(arms.contains("\ntokenizer.share,random 0.25,all,0.25,B†,"), "{}", arms);
    // The bins of an arm have all of its words.
    let words = |arm: &str| -> usize {
        let rows = bridges.lines().filter(|line| line.starts_with(&format!("{arm},all,all,")));
        rows.map(|line| line.split(',').nth(4).unwrap().parse::<usize>().unwrap()).sum()
    };
    assert_eq!((words("share = all"), words("share = none")), (180, 180));
    assert!(bridges.contains("\nshare = none,all,all,0,180,"), "without any piece in common");
    let answers = ClaimAnswers::new(&study);
    let found = |id: &str| answers.by_id(id).unwrap();
    let none = found("share-none");
    assert_eq!((&none.verdict, none.estimated.detail.p), (&Verdict::Supported, Some(0.0005)));
    let sentence = Rendered::new(&study, none).sentence();
    assert!(
        sentence.starts_with(
            "Supported: Without shared pieces, less is known of unseen words of B. The difference between share = none and \
             share = all in the contrast of facts in B† at the end is −0."
        ),
        "{sentence}"
    );
    assert!(sentence.ends_with("] nats, 12 runs."), "{sentence}");
    assert_eq!(found("share-cognate-other").verdict, Verdict::Supported);
    assert!(found("share-random").estimated.estimate.is_some(), "by the first word of its level");
    // The mean difference of a word with itself.
    let mean = |arm: usize| {
        let words = study.scored.iter().filter(|(run, _)| study.runs[*run].level(share) == Some(arm));
        let values: Vec<f64> = words.filter_map(|(_, word)| word.contrast).collect();
        values.iter().sum::<f64>() / values.len() as f64
    };
    assert!((none.estimated.estimate.unwrap().value - (mean(4) - mean(0))).abs() < 1e-12);
    assert_eq!(none.cells.len(), 2, "at each d");
    // Planted: the half of a run's words that shares more of its pieces.
    let reachable = found("words-reachable");
    assert_eq!((&reachable.verdict, reachable.cells.len()), (&Verdict::Supported, 5), "in every arm");
    let of_none = &reachable.cells[4].estimated;
    assert!(of_none.estimate.is_none() && of_none.reason == Some(Reason::NotVaried), "no word shares a piece");
    assert!(html.contains("Without shared pieces, less is known") && html.contains("recut like their cognates"));
    assert!(!html.split("<script").next().unwrap().contains("NaN"), "no NaN is shown");
    // The same results, the same bytes.
    assert!(html == page(folder.path()));
}

#[test]
fn two_data_seeds_do_not_test_arms() {
    let (folder, _) = of_arms(2);
    assert_eq!(answer(folder.path(), "share-none").verdict, Verdict::NotTested(Reason::TooFewSeeds(2)));
}

#[test]
fn forms_stand_side_by_side() {
    let (folder, _) = of_arms(3);
    let csv = fs::read_to_string(folder.path().join("figures/data/forms.csv")).unwrap();
    assert_eq!(csv.lines().count(), 1 + 5 * 7 * 2, "five arms, seven forms, masked and unmasked");
    let value = |row: &str| -> f64 {
        let row = csv.lines().find(|line| line.starts_with(row)).unwrap_or_else(|| panic!("{row}"));
        row.split(',').nth(3).unwrap().parse().unwrap()
    };
    let [own, alike, apart] = ["own", "alike", "apart"].map(|form| value(&format!("share = all,{form},B†,")));
    assert!(alike > own && own > apart, "{own}, {alike}, {apart}");
    assert_eq!(value("share = all,apart,B,"), value("share = all,own,B,"));
    // A run of its own has the intervals of its rows.
    let run = folder.path().join("run");
    let plan = Plan { forms: true, ..Plan::one() };
    synthetic::run_folder(&run, &plan.configs()[0], &plan, Progress::Done);
    assert!(page(&run).contains("id=\"fig-forms\""));
    let csv = fs::read_to_string(run.join("figures/data/forms.csv")).unwrap();
    let cells: Vec<f64> =
        csv.lines().nth(1).unwrap().split(',').skip(3).take(3).map(|it| it.parse().unwrap()).collect();
    assert!((cells[2] - cells[1] - 0.2).abs() < 1e-6, "{cells:?}");
}

#[test]
fn arms_are_not_tested_where_facts_were_not_learned() {
    let folder = tempfile::tempdir().unwrap();
    let plan = Plan { data_seeds: 3, vocabs: vec![256], distances: vec![0.0], words: 30, ..Plan::arms() };
    synthetic::collected(folder.path(), &plan);
    let mut results = invitro_results::read(folder.path()).unwrap();
    let compared = |results: &Results| {
        let study = data::Study::new(results.clone());
        ClaimAnswers::new(&study).by_id("share-cognate").unwrap().clone()
    };
    assert!(compared(&results).estimated.detail.words > 0);
    // An arm without masked words, as where facts are withheld, is compared by its runs.
    let mut wordless = results.clone();
    let has_words = |run: &usize| results.runs[*run].text("tokenizer.share") != Some("cognate");
    wordless.scored.retain(|(run, _)| has_words(run));
    let by_runs = compared(&wordless).estimated;
    assert_eq!((by_runs.detail.words, by_runs.estimate.unwrap().runs), (0, 6), "three runs of each arm");
    let in_a = Quantity::in_condition(Measure::KNOWLEDGE, &Condition::new("A", false));
    for run in &mut results.runs {
        run.curves.insert(
            in_a.clone(),
            Curve::new(vec![CurvePoint::without_interval(0, 0.0), CurvePoint::without_interval(1000, 0.0)]),
        );
    }
    let condition = Condition::new("A", false);
    assert_eq!(compared(&results).verdict, Verdict::NotTested(Reason::NotLearned { condition, grammatical: None }));
}
