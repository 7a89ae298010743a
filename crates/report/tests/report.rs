//! Reports of whole folders: every file is there, nothing is invented, and the same results give the same bytes.

use crate::synthetic::curves::Config;
use crate::synthetic::{self, Plan, Progress};
use invitro_base::dotted::set;
use invitro_report::claims::ClaimAnswers;
use invitro_report::{Error, ReportOptions, build, data};
use invitro_results::claims::{Scope, Specification, Test};
use invitro_results::words::{MaskedWord, WordForm};
use invitro_results::{Crossing, Emergence, Measure, Moment, TaskMetric};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

pub fn force() -> ReportOptions {
    ReportOptions { force: true, ..ReportOptions::default() }
}

pub fn page(folder: &Path) -> String {
    build(folder, &force()).unwrap();
    fs::read_to_string(folder.join("report.html")).unwrap()
}

/// What a reader sees without asking for more: neither script nor packed data.
fn without_script(html: &str) -> String {
    html.split("<script").map(|part| part.split_once("</script>").map_or(part, |(_, after)| after)).collect()
}

pub fn files(folder: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder).unwrap().flatten().filter(|e| e.path().is_file());
    entries.map(|e| (e.file_name().into_string().unwrap(), fs::read_to_string(e.path()).unwrap())).collect()
}

pub fn whole(file: &str, svg: &str, width: &str) {
    assert!(svg.contains(width), "{file} has its physical size");
    assert!(!svg.contains("NaN") && !svg.contains("inf") && !svg.contains("var(--"), "{file} is whole");
    assert_eq!(svg.matches("<text").count(), svg.matches("</text>").count(), "{file} is well formed");
}

#[test]
fn a_study_has_every_figure_and_its_numbers() {
    let folder = tempfile::tempdir().unwrap();
    synthetic::collected(folder.path(), &Plan::small());
    let html = page(folder.path());
    let figures = files(&folder.path().join("figures"));
    let names = [
        "trajectory",
        "effects",
        "reachability",
        "nulls",
        "contrast",
        "contrast-bridge",
        "word-bridge",
        "bridge",
        "maxima",
        "emergence-by-language",
        "emergence-by-level",
        "cascade",
        "dynamics",
        "fertility",
        "continuation",
        "overlap",
        "loss",
        "sentences",
        "specifications",
        "answers",
    ];
    let data = files(&folder.path().join("figures/data"));
    for name in names {
        assert!(html.contains(&format!("id=\"fig-{name}\"")), "{name} is on the page");
        let csv = &data[&format!("{name}.csv")];
        assert!(csv.lines().count() > 1, "{name}.csv has rows");
        assert!(figures.contains_key(&format!("{name}.svg")), "{name}.svg has the name of what it shows");
    }
    assert_eq!(figures.len(), names.len() + 1, "a file per figure, and the captions: {:?}", figures.keys());
    for (file, svg) in figures.iter().filter(|(file, _)| file.ends_with(".svg")) {
        whole(file, svg, "width=\"160mm\"");
    }
    // Every variant at both widths, on request; the numbers are the same.
    build(folder.path(), &ReportOptions { all_figures: true, ..force() }).unwrap();
    let all = files(&folder.path().join("figures"));
    assert!(all.len() > 100, "{} files", all.len());
    for (file, svg) in all.iter().filter(|(file, _)| file.ends_with(".svg")) {
        let width = if file.ends_with(".column.svg") { "width=\"77mm\"" } else { "width=\"160mm\"" };
        whole(file, svg, width);
    }
    assert!(all["captions.md"].contains("- `maxima-type-constraints-peak-2048-vanilla`: "), "{}", all["captions.md"]);
    assert!(data == files(&folder.path().join("figures/data")));
    for id in ["H1", "H2", "H3", "H4"] {
        assert!(html.contains(&format!("<li id=\"{id}\">")), "{id}");
    }
    assert!(!without_script(&html).contains("NaN"), "no NaN is shown");
    assert!(
        !html.contains("http://") && !html.contains("https://") && !html.contains("src="),
        "nothing from elsewhere"
    );
    assert!(figures["captions.md"].contains("64 runs"), "captions count runs");
}

#[test]
fn numbers_in_the_table_are_means_of_the_runs() {
    let folder = tempfile::tempdir().unwrap();
    let plan = Plan::small();
    synthetic::collected(folder.path(), &plan);
    build(folder.path(), &force()).unwrap();
    let csv = fs::read_to_string(folder.path().join("figures/data/overlap.csv")).unwrap();
    let row = csv.lines().find(|line| line.starts_with("vanilla,lambda,0.05,2048,")).unwrap();
    let cell: Vec<f64> = plan
        .configs()
        .iter()
        .filter(|config| config.regime == "vanilla" && config.lambda == 0.05 && config.vocab == 2048)
        .map(|config| config.overlap())
        .collect();
    let expected = cell.iter().sum::<f64>() / cell.len() as f64;
    let got: f64 = row.split(',').nth(4).unwrap().parse().unwrap();
    assert!((got - expected).abs() < 1e-12, "{row} against {expected}");
    assert!(row.ends_with(&format!(",{}", cell.len())), "{row} counts its runs");
}

#[test]
fn the_same_results_give_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    synthetic::collected(folder.path(), &Plan::small());
    let first = (page(folder.path()), files(&folder.path().join("figures")));
    let second = (page(folder.path()), files(&folder.path().join("figures")));
    assert!(first == second);
}

#[test]
fn run_folders_and_the_collected_tables_tell_the_same() {
    let (collected, scattered) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let plan = Plan { data_seeds: 1, ..Plan::small() };
    synthetic::collected(collected.path(), &plan);
    synthetic::scattered(scattered.path(), &plan, |_| Progress::Done);
    for folder in [&collected, &scattered] {
        build(folder.path(), &force()).unwrap();
    }
    for name in ["reachability", "maxima", "contrast", "fertility", "cascade"] {
        let sorted = |folder: &Path| {
            let text = fs::read_to_string(folder.join(format!("figures/data/{name}.csv"))).unwrap();
            text.lines().map(str::to_owned).collect::<Vec<_>>()
        };
        let (a, b) = (sorted(collected.path()), sorted(scattered.path()));
        assert_eq!(a.len(), b.len(), "{name}");
        for (a, b) in a.iter().zip(&b).skip(1) {
            for (a, b) in a.split(',').zip(b.split(',')) {
                let near = a == b || (a.parse::<f64>().unwrap() - b.parse::<f64>().unwrap()).abs() < 1e-9;
                assert!(near, "{name}: {a} against {b}");
            }
        }
    }
}

#[test]
fn what_exists_is_kept_without_force() {
    let folder = tempfile::tempdir().unwrap();
    synthetic::collected(folder.path(), &Plan::one());
    build(folder.path(), &ReportOptions::default()).unwrap();
    // A report that is as it was written may be written again, with or without figures.
    build(folder.path(), &ReportOptions { page_only: true, ..ReportOptions::default() }).unwrap();
    build(folder.path(), &ReportOptions::default()).unwrap();
    // One with a word of the reader's, or with a file beside its figures, may not.
    let page = folder.path().join("report.html");
    let edited = fs::read_to_string(&page).unwrap().replacen("<h1>", "<h1>My ", 1);
    fs::write(&page, &edited).unwrap();
    let changed = |folder: &Path| matches!(build(folder, &ReportOptions::default()), Err(Error::Changed { .. }));
    assert!(changed(folder.path()) && fs::read_to_string(&page).unwrap() == edited);
    build(folder.path(), &force()).unwrap();
    fs::write(folder.path().join("figures/notes.txt"), "mine").unwrap();
    assert!(changed(folder.path()) && folder.path().join("figures/notes.txt").exists());
    build(folder.path(), &force()).unwrap();

    // A figures folder that is not ours is never replaced, not even with force.
    let other = tempfile::tempdir().unwrap();
    synthetic::collected(other.path(), &Plan::one());
    fs::create_dir(other.path().join("figures")).unwrap();
    fs::write(other.path().join("figures/thesis.svg"), "mine").unwrap();
    let error = build(other.path(), &force()).unwrap_err();
    assert!(error.to_string().contains("was not written by invitro"), "{error}");
    assert_eq!(fs::read_to_string(other.path().join("figures/thesis.svg")).unwrap(), "mine");
    let left: Vec<_> = fs::read_dir(other.path()).unwrap().flatten().map(|e| e.file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().contains(".part")), "{left:?}");
}

#[test]
fn an_empty_study_says_so() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("study.toml"), "name = \"none\"\n[experiment]\n").unwrap();
    let error = build(folder.path(), &force()).unwrap_err();
    assert!(error.to_string().contains("has begun: there is nothing to report"), "{error}");
    assert!(!folder.path().join("report.html").exists() && !folder.path().join("figures").exists());

    let missing = tempfile::tempdir().unwrap();
    let error = build(missing.path(), &force()).unwrap_err();
    assert!(error.to_string().contains("neither a study nor a run"), "{error}");
}

#[test]
fn a_half_finished_study_shows_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let plan = Plan::small();
    // The last level of |V| has not been started; of the rest, some run and some ended.
    let half = plan.configs().len() / 2;
    synthetic::scattered(folder.path(), &plan, |place| match place {
        _ if place >= half => Progress::Planned,
        _ if place % 4 == 3 => Progress::Running(4),
        _ => Progress::Done,
    });
    let html = page(folder.path());
    assert!(html.contains("32 runs of 64 planned"), "planned runs are counted");
    assert!(html.contains("24 done, 8 running"), "states are counted");
    assert!(html.contains("Curves use every run; peaks, ends, emergence and all tests use only runs that ended."));
    // The level nobody ran is an axis of the maps, empty.
    let csv = fs::read_to_string(folder.path().join("figures/data/maxima.csv")).unwrap();
    let missing: Vec<&str> = csv.lines().filter(|line| line.contains(",8192,vanilla,")).collect();
    assert!(!missing.is_empty() && missing.iter().all(|line| line.ends_with(",,,,0")), "{missing:?}");
}

#[test]
fn one_run_in_a_study_has_no_intervals_and_no_verdicts() {
    let folder = tempfile::tempdir().unwrap();
    synthetic::collected(folder.path(), &Plan::one());
    let html = page(folder.path());
    assert!(html.contains("With a single seed there are no intervals"));
    assert!(!html.contains("badge yes") && !html.contains("badge no\""));
    let csv = fs::read_to_string(folder.path().join("figures/data/dynamics.csv")).unwrap();
    assert!(csv.lines().skip(1).all(|line| line.ends_with(",,,1")), "no interval from one run");
}

#[test]
fn a_run_folder_has_its_own_report() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("abc");
    synthetic::run_folder(&run, &Plan::one().configs()[0], &Plan::one(), Progress::Running(6));
    // A line still being written is no error.
    let metrics = run.join("metrics.jsonl");
    let whole = fs::read_to_string(&metrics).unwrap();
    fs::write(&metrics, whole.clone() + "{\"step\": 99").unwrap();
    let html = page(&run);
    for name in ["curves", "cascade", "reach", "contrast", "loss", "sentences"] {
        let is_there = [">", " data-folded>"].iter().any(|end| html.contains(&format!("id=\"fig-{name}\"{end}<h3")));
        assert!(is_there, "{name} is there and not empty");
    }
    assert!(html.contains("evaluated up to step 500 of 1000"), "how far it is");
    assert!(html.contains("foc Labzvae xucbop"), "samples of failures");
    let contrast = fs::read_to_string(run.join("figures/data/contrast.csv")).unwrap();
    assert!(contrast.lines().nth(1).unwrap().split(',').all(|cell| !cell.is_empty()), "contrasts have their interval");

    // A broken line inside is named with its place.
    fs::write(&metrics, format!("{{broken\n{whole}")).unwrap();
    let error = build(&run, &force()).unwrap_err().to_string();
    assert!(error.contains("metrics.jsonl`, line 1"), "{error}");
}

#[test]
fn runs_of_another_study_in_the_same_store_are_left_out() {
    let folder = tempfile::tempdir().unwrap();
    synthetic::scattered(folder.path(), &Plan::small(), |_| Progress::Running(2));
    let stranger = Plan { vocabs: vec![512], ..Plan::one() };
    let config = stranger.configs()[0].clone();
    synthetic::run_folder(&folder.path().join("runs").join(&config.id), &config, &stranger, Progress::Done);
    assert_eq!(data::Study::open(folder.path()).unwrap().runs.len(), 64);
}

#[test]
fn other_settings_are_compared_one_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let plan = Plan { data_seeds: 2, model_seeds: 1, ..Plan::one() };
    for (grammar, boundary) in [("svo", "token"), ("sov", "token"), ("svo", "first")] {
        for config in plan.configs() {
            let name = format!("{grammar}-{boundary}-{}", config.data);
            let run = folder.path().join(&name);
            synthetic::run_folder(&run, &Config { id: name, ..config.clone() }, &plan, Progress::Done);
            let mut experiment = plan.experiment(&config);
            set(&mut experiment, "language.grammar", grammar.into());
            set(&mut experiment, "tokenizer.boundary", boundary.into());
            fs::write(run.join("config.toml"), experiment.to_string()).unwrap();
        }
    }
    // Run folders side by side, as a run over several seeds leaves them, are a study too.
    page(folder.path());
    let csv = fs::read_to_string(folder.path().join("figures/data/settings.csv")).unwrap();
    let counts: Vec<(&str, &str)> = csv
        .lines()
        .filter_map(|line| line.strip_prefix("\"share of targets, end\","))
        .map(|line| (line.split(',').nth(1).unwrap(), line.rsplit(',').next().unwrap()))
        .collect();
    assert_eq!(counts, [("sov", "2"), ("svo", "2"), ("first", "2"), ("token", "2")]);
}

/// A method that claims are asked of, beside the truth: on the page the error, in the figure the prediction and whether it holds the
/// truth.
#[test]
fn methods_stand_beside_the_truth() {
    let folder = tempfile::tempdir().unwrap();
    synthetic::collected(folder.path(), &Plan { data_seeds: 3, ..Plan::arms() });
    let truth = "{ difference = \"contrast.facts\", of = { tokenizer.share = [\"all\", \"none\"] }, unit = \"runs\" }";
    let of_bridge = "{ difference = \"cognate_bridge\", of = { tokenizer.share = [\"all\", \"none\"] } }";
    let slope = "slope = \"contrast.facts\", with = \"cognate_bridge\", at = { tokenizer.share = \"*\" }";
    let method = |id: &str, estimate: &str| {
        format!(
            "[[claims]]\nid = \"{id}\"\nsays = \"It finds it.\"\nagainst = \"truth\"\nexpect = \"within ±0.3\"\nestimate = {estimate}\n"
        )
    };
    let text = [
        format!("[[claims]]\nid = \"truth\"\nsays = \"\"\nestimate = {truth}\n"),
        method("itself", truth),
        method("slope", &format!("{{ {slope}, times = {of_bridge} }}")),
        method("far", &format!("{{ mean = \"contrast.facts\", in = \"A\", less = {of_bridge} }}")),
    ];
    let study = data::Study::open(folder.path()).unwrap();
    let answers = ClaimAnswers::of_claims(&study, invitro_results::claims::Claims::parse(&text.concat()).unwrap());
    let figures = invitro_report::figures::all(&study, &answers);
    let table = figures.iter().find(|figure| figure.name == "methods").unwrap().table.to_csv();
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
    let column = |name: &str| rows[0].iter().position(|own| *own == name).unwrap();
    let number = |row: &[&str], name: &str| -> f64 { row[column(name)].parse().unwrap() };
    assert_eq!(rows.iter().map(|row| row[1]).collect::<Vec<_>>(), ["method", "itself", "slope", "far"]);
    for row in &rows[1..] {
        let [estimate, low, high] = ["estimate", "estimate_low", "estimate_high"].map(|name| number(row, name));
        let truth = number(row, "truth");
        assert!((number(row, "error") - (estimate - truth)).abs() < 1e-9, "{row:?}");
        assert_eq!(row[column("covers_truth")], (low <= truth && truth <= high).to_string());
    }
    assert_eq!(["error", "error_low", "error_high"].map(|name| number(&rows[1], name)), [0.0; 3]);
    assert_eq!(rows[3][column("covers_truth")], "false");
    let sentence = invitro_report::claims::Rendered::new(&study, answers.by_id("slope").unwrap()).sentence();
    assert!(sentence.contains("The error against the claim *truth* is "), "{sentence}");
    assert!(
        sentence.contains("; slope on cognate bridge of the contrast of facts in B† at the end, times the difference"),
        "{sentence}"
    );
}

/// Each claim under every reading; the reading that the claims' own table has is among them, and
/// comes to the same among the runs of one setting.
#[test]
fn claims_stand_under_every_reading() {
    let [folder, alone] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let (vocabs, lambdas) = (vec![2048, 4096, 8192], vec![0.05, 0.5]);
    let plan = Plan { vocabs, lambdas, distances: vec![0.0, 0.5], data_seeds: 3, ..Plan::one() };
    for (boundary, places) in [("token", &[&folder, &alone][..]), ("first", &[&folder])] {
        for (config, place) in
            plan.configs().into_iter().flat_map(|config| places.iter().map(move |it| (config.clone(), it)))
        {
            let mut experiment = plan.experiment(&config);
            set(&mut experiment, "tokenizer.boundary", boundary.into());
            let name = format!("{boundary}-{}", config.id);
            let run = place.path().join(&name);
            // Another setting, other runs.
            let data = if boundary == "first" { config.data + 7 } else { config.data };
            synthetic::run_folder(&run, &Config { id: name, data, ..config }, &plan, Progress::Done);
            fs::write(run.join("config.toml"), experiment.to_string()).unwrap();
        }
    }
    let claims = || invitro_results::claims::built_in("paper").unwrap();
    let study = data::Study::open(folder.path()).unwrap();
    let answers = ClaimAnswers::of_claims(&study, claims());
    let curves: Vec<_> = answers.answers.iter().filter(|answer| answer.specifications.len() > 1).collect();
    let readings: Vec<(&str, usize)> =
        curves.iter().map(|curve| (&curve.claim.id[..], curve.specifications.len() + curve.without)).collect();
    assert_eq!(readings[1], ("reach-by-vocabulary-peak", 2 * 2 * 4 * 2));
    assert!(readings.contains(&("fragmentation", 2)) && readings.contains(&("majority-first", 2 * 2)));
    let value = |one: &Specification| one.estimated.estimate.unwrap().value;
    for curve in &curves {
        assert!(curve.specifications.is_sorted_by(|a, b| value(a) <= value(b)));
    }
    let study = data::Study::open(alone.path()).unwrap();
    let alone = ClaimAnswers::of_claims(&study, claims());
    for (id, moment) in [("reach-by-vocabulary-peak", Moment::Peak), ("reach-by-vocabulary-end", Moment::End)] {
        let own = alone.by_id(id).unwrap();
        let Test::Estimand(estimand) = &own.claim.test else { panic!("an estimate") };
        let counted = match Scope::new(&study).measure(&estimand.value.first) {
            Measure::Reach(reach) => reach.statistic,
            other => panic!("{other}"),
        };
        let is_own = |one: &&Specification| {
            let boundary = one.settings.iter().any(|(key, how)| key == "tokenizer.boundary" && how == "token");
            let reading = (one.top, one.counted, one.moment);
            boundary && reading == (Some(invitro_results::Fraction::PAPER), Some(counted), Some(moment))
        };
        let one = curves[1].specifications.iter().find(is_own).expect("the claim's own reading");
        assert_eq!(value(one), own.estimated.estimate.unwrap().value, "{id}");
    }
    fs::write(folder.path().join("claims.toml"), "claims_from = [\"paper\"]").unwrap();
    build(folder.path(), &ReportOptions { claims: Some(folder.path().join("claims.toml")), ..force() }).unwrap();
    let csv = fs::read_to_string(folder.path().join("figures/data/specifications.csv")).unwrap();
    assert_eq!(csv.lines().count(), 1 + curves.iter().map(|curve| curve.specifications.len()).sum::<usize>());
}

#[test]
fn studies_that_differ_in_evaluation_alone_do_not_share_runs() {
    let store = tempfile::tempdir().unwrap();
    let plans = [Plan::one(), Plan { emergence: 0.3, data_seeds: 2, ..Plan::one() }];
    for plan in plans.iter().rev() {
        synthetic::scattered(store.path(), plan, |_| Progress::Done);
    }
    // The store has the runs of both; the study's file is the first plan's.
    assert_eq!(fs::read_dir(store.path().join("runs")).unwrap().count(), 3);
    let study = data::Study::open(store.path()).unwrap();
    assert_eq!((study.runs.len(), study.planned), (1, Some(1)));
    assert_eq!(study.runs[0].emergence_threshold(), 0.02);
}

#[test]
fn emergence_has_the_threshold_that_experiments_set() {
    let folder = tempfile::tempdir().unwrap();
    synthetic::collected(folder.path(), &Plan { emergence: 0.3, ..Plan::small() });
    let html = page(folder.path());
    let csv = fs::read_to_string(folder.path().join("figures/data/emergence-by-language.csv")).unwrap();
    let step = |threshold: &str| -> f64 {
        let row = csv.lines().find(|line| line.starts_with(&format!("vanilla,{threshold},2048,A,types,"))).unwrap();
        row.split(',').nth(7).unwrap().parse().unwrap()
    };
    assert!(step("0.02") < step("0.3") && step("0.3") < step("0.5"));
    let shown = html.split("id=\"fig-cascade\"").nth(1).unwrap();
    let chooser = shown.split("data-name=\"threshold\">").nth(1).unwrap();
    assert!(chooser.starts_with("<option value=\"0\" selected>0.3</option>"), "{}", &chooser[..100]);
    // Claims are of the same threshold.
    let study = data::Study::open(folder.path()).unwrap();
    let [a, b, _] = study.conditions() else { panic!("three conditions") };
    let answers = ClaimAnswers::new(&study);
    let order = &answers.by_id("majority-first").unwrap().estimated;
    let types = Measure::unscrambling(TaskMetric::Types);
    let when =
        |run: &data::Run, condition| run.emergence(types, condition, 0.3, Crossing::First).and_then(Emergence::step);
    let before = study.runs.iter().filter(|run| when(run, a) < when(run, b)).count();
    // Runs that show both at once are counted beside.
    let ties = study.runs.iter().filter(|run| when(run, a) == when(run, b)).count();
    assert_eq!(order.detail.ties, ties);
    let share = before as f64 / (study.runs.len() - ties) as f64;
    assert!((order.estimate.unwrap().value - share).abs() < 1e-12);
}

/// Tables of an older schema are reported on, and the first thing the page says is what they measure otherwise.
#[test]
fn results_of_an_older_schema_carry_a_banner() {
    let folder = tempfile::tempdir().unwrap();
    synthetic::collected(folder.path(), &Plan::small());
    assert!(!page(folder.path()).contains("measured under schema"));
    let shipped = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/schema-1"));
    for table in ["runs.parquet", "metrics.parquet", "study.toml"] {
        fs::copy(shipped.join(table), folder.path().join(table)).unwrap();
    }
    let html = page(folder.path());
    let overview = html.split("id=\"overview\"").nth(1).unwrap();
    let banner = overview.find("These results were measured under schema 1; this version measures under schema 4");
    assert!(banner.is_some_and(|at| at < 1000), "{}", &overview[..1000]);
    assert!(overview.contains("<div class=\"banner\" role=\"note\">"), "it stands out");
    assert!(overview.contains("masked words are never words of another language"));
    assert!(html.contains("3 runs of 540 planned"), "the runs are all there");
}

#[test]
fn no_word_ends_or_hides_the_data_it_stands_in() {
    let folder = tempfile::tempdir().unwrap();
    synthetic::scattered(folder.path(), &Plan::one(), |_| synthetic::Progress::Running(2));
    let run = fs::read_dir(folder.path().join("runs")).unwrap().next().unwrap().unwrap().path();
    let form = "<!--<script></script>]]>&amp;";
    let word = invitro_results::words::MaskedWord {
        symbol: form.into(),
        masked_in: Some("B".into()),
        forms: ["A", "B"]
            .map(|language| WordForm {
                language: language.into(),
                form: form.into(),
                pieces: vec![form.into()],
                ..WordForm::default()
            })
            .into(),
        bridge: Some(1.0),
        bridge_to: Some((form.into(), "A".into())),
        bridge_pieces: vec![form.into()],
        cognate_bridge: Some(1.0),
        asked: Some(true),
        reachable_from: None,
        reachable: None,
        ..MaskedWord::default()
    };
    let id = run.file_name().unwrap().to_str().unwrap().to_owned();
    invitro_results::words::write(&run.join("words.parquet"), &id, &[word]).unwrap();
    let html = page(folder.path());
    let data = html.split("id=\"word-data\">").nth(1).unwrap().split("</script>").next().unwrap();
    assert!(data.bytes().all(|letter| letter.is_ascii_alphanumeric() || b"+/=".contains(&letter)), "{data}");
    let read: serde_json::Value = serde_json::from_slice(&unpacked(data)).unwrap();
    assert!(read["texts"].as_array().unwrap().contains(&serde_json::json!(form)));
    assert!(!html.contains(form), "and nowhere else");
}

#[test]
fn words_of_runs_with_other_languages_keep_their_languages() {
    let folder = tempfile::tempdir().unwrap();
    let word = |languages: [&str; 2]| {
        let form = |language: &str| WordForm {
            language: language.into(),
            form: format!("of{language}"),
            ..WordForm::default()
        };
        MaskedWord { symbol: "desc.0.0".into(), forms: languages.map(form).into(), ..MaskedWord::default() }
    };
    for (id, languages) in [("0000000000000001", ["A", "C"]), ("0000000000000002", ["A", "B"])] {
        let plan = Plan { languages: languages.to_vec(), ..Plan::one() };
        let run = folder.path().join("runs").join(id);
        synthetic::run_folder(&run, &Config { id: id.into(), ..plan.configs()[0].clone() }, &plan, Progress::Done);
        invitro_results::words::write(&run.join("words.parquet"), id, &[word(languages)]).unwrap();
    }
    let html = page(folder.path());
    let data = html.split("id=\"word-data\">").nth(1).unwrap().split("</script>").next().unwrap();
    let read: serde_json::Value = serde_json::from_slice(&unpacked(data)).unwrap();
    let names: Vec<&str> = read["languages"].as_array().unwrap().iter().map(|it| it[0].as_str().unwrap()).collect();
    assert_eq!(names, ["A", "B", "C"]);
    for forms in read["rows"]["forms"].as_array().unwrap() {
        for (name, form) in names.iter().zip(forms.as_array().unwrap()) {
            let form = read["texts"][form.as_u64().unwrap() as usize].as_str().unwrap();
            assert!(form.is_empty() || form == format!("of{name}"), "{form} in {name}");
        }
    }
}

/// What a page packs: base64 of a zlib stream.
fn unpacked(data: &str) -> Vec<u8> {
    let digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::new();
    let (mut bits, mut count) = (0_u32, 0);
    for digit in data.chars().filter_map(|letter| digits.find(letter)) {
        (bits, count) = (bits << 6 | digit as u32, count + 6);
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    miniz_oxide::inflate::decompress_to_vec_zlib(&bytes).unwrap()
}
