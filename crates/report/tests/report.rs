//! Reports of whole folders: every file is there, nothing is invented, and the same results give the same bytes.

use crate::pdf;
use crate::synthetic::curves::Config;
use crate::synthetic::{self, Plan, Progress};
use invitro_report::findings::stages::{Crossed, Stage};
use invitro_report::findings::{correlations, order};
use invitro_report::{Error, Format, Options, build, data, gallery};
use invitro_results::dotted::set;
use invitro_results::words::{Form, Word};
use invitro_results::{DistanceFrom, Emergence, FamilyNode, FamilyTree};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

fn force() -> Options {
    Options { force: true, ..Options::default() }
}

fn page(folder: &Path) -> String {
    build(folder, &force()).unwrap();
    fs::read_to_string(folder.join("report.html")).unwrap()
}

/// What a reader sees without asking for more: neither script nor packed data.
fn without_script(html: &str) -> String {
    html.split("<script").map(|part| part.split_once("</script>").map_or(part, |(_, after)| after)).collect()
}

fn files(folder: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder).unwrap().flatten().filter(|e| e.path().is_file());
    entries.map(|e| (e.file_name().into_string().unwrap(), fs::read_to_string(e.path()).unwrap())).collect()
}

fn whole(file: &str, svg: &str, width: &str) {
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
    build(folder.path(), &Options { all_figures: true, ..force() }).unwrap();
    let all = files(&folder.path().join("figures"));
    assert!(all.len() > 100, "{} files", all.len());
    for (file, svg) in all.iter().filter(|(file, _)| file.ends_with(".svg")) {
        let width = if file.ends_with(".column.svg") { "width=\"77mm\"" } else { "width=\"160mm\"" };
        whole(file, svg, width);
    }
    assert!(all["captions.md"].contains("- `maxima-type-constraints-peak-2048-vanilla`: "), "{}", all["captions.md"]);
    assert!(data == files(&folder.path().join("figures/data")));
    for id in ["H1", "H2", "H3", "H4"] {
        assert!(html.contains(&format!("<article class=\"card\" id=\"{id}\">")), "{id}");
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
    build(folder.path(), &Options::default()).unwrap();
    assert!(matches!(build(folder.path(), &Options::default()), Err(Error::Exists { .. })));
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
    let html = page(folder.path());
    assert!(html.contains("No run has started yet"));
    assert_eq!(html.matches("badge open\">cannot tell").count() - claims_open(&html), tests_open(&html) + 8);
    assert!(!without_script(&html).contains("NaN"));

    let missing = tempfile::tempdir().unwrap();
    let error = build(missing.path(), &force()).unwrap_err();
    assert!(error.to_string().contains("neither a study nor a run"), "{error}");
}

fn claims_open(html: &str) -> usize {
    let table = html.split("<table class=\"claims\">").nth(1).unwrap().split("</table>").next().unwrap();
    table.matches("cannot tell").count()
}

fn tests_open(html: &str) -> usize {
    html.split("<table class=\"tests\">")
        .skip(1)
        .map(|part| part.split("</table>").next().unwrap().matches("badge open").count())
        .sum()
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
        assert!(html.contains(&format!("id=\"fig-{name}\"><h3>")), "{name} is there and not empty");
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
    assert_eq!(data::read(folder.path()).unwrap().runs.len(), 64);
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
    let study = data::read(folder.path()).unwrap();
    let tokenizers: BTreeSet<_> = study.runs.iter().map(|run| correlations::tokenizer(&study, run)).collect();
    assert_eq!(tokenizers.len(), 6, "a tokenizer per setting and data seed");
    let csv = fs::read_to_string(folder.path().join("figures/data/settings.csv")).unwrap();
    let counts: Vec<(&str, &str)> = csv
        .lines()
        .filter_map(|line| line.strip_prefix("\"share of targets, end\","))
        .map(|line| (line.split(',').nth(1).unwrap(), line.rsplit(',').next().unwrap()))
        .collect();
    assert_eq!(counts, [("sov", "2"), ("svo", "2"), ("first", "2"), ("token", "2")]);
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
    let study = data::read(store.path()).unwrap();
    assert_eq!((study.runs.len(), study.planned), (1, Some(1)));
    assert_eq!(study.runs[0].emergence_threshold(), 0.02);
}

#[test]
fn emergence_has_the_threshold_that_experiments_set() {
    let folder = tempfile::tempdir().unwrap();
    synthetic::collected(folder.path(), &Plan { emergence: 0.3, ..Plan::small() });
    let html = page(folder.path());
    assert!(html.contains("(threshold 0.3; reachability"));
    let csv = fs::read_to_string(folder.path().join("figures/data/emergence-by-language.csv")).unwrap();
    let step = |threshold: &str| -> f64 {
        let row = csv.lines().find(|line| line.starts_with(&format!("vanilla,{threshold},2048,A,types,"))).unwrap();
        row.split(',').nth(7).unwrap().parse().unwrap()
    };
    assert!(step("0.02") < step("0.3") && step("0.3") < step("0.5"));
    let shown = html.split("id=\"fig-cascade\"").nth(1).unwrap();
    let chooser = shown.split("data-name=\"threshold\">").nth(1).unwrap();
    assert!(chooser.starts_with("<option value=\"0\" selected>0.3</option>"), "{}", &chooser[..100]);
    // What H4 says is said of the same threshold.
    let study = data::read(folder.path()).unwrap();
    let [a, b, _] = study.conditions() else { panic!("three conditions") };
    let places = [(a.clone(), Stage::TYPES), (b.clone(), Stage::TYPES)];
    let order::Order { share, ties } = order::Order::of(&study, Crossed::First, &places[0], &places[1]);
    let when =
        |run: &data::Run, place: &order::Milestone| place.1.emergence(run, &place.0, 0.3).and_then(Emergence::step);
    let before = study.runs.iter().filter(|run| when(run, &places[0]) < when(run, &places[1])).count();
    // Runs that show both at once are counted beside.
    assert_eq!(ties, study.runs.iter().filter(|run| when(run, &places[0]) == when(run, &places[1])).count());
    assert!((share.unwrap().value - before as f64 / (study.runs.len() - ties) as f64).abs() < 1e-12);
}

#[test]
fn three_languages_have_every_figure() {
    let folder = tempfile::tempdir().unwrap();
    synthetic::collected(folder.path(), &Plan { languages: vec!["A", "B", "C"], data_seeds: 3, ..Plan::small() });
    let html = page(folder.path());
    let labels: Vec<String> =
        data::read(folder.path()).unwrap().conditions().iter().map(|condition| condition.label()).collect();
    assert_eq!(labels, ["A", "B", "C", "B†", "C†"]);
    assert!(!html.contains("id=\"left-out\""), "every figure shows something");
    let figures = files(&folder.path().join("figures/data"));
    for (name, column) in [("fertility", 4), ("cascade", 3), ("nulls", 2), ("dynamics", 2)] {
        let csv = &figures[&format!("{name}.csv")];
        let seen: BTreeSet<&str> = csv.lines().skip(1).map(|line| line.split(',').nth(column).unwrap()).collect();
        assert_eq!(seen.len(), 5, "{name}: {seen:?}");
    }
    assert!(figures["contrast.csv"].contains("\"A, symbols masked in B and C\""));
    assert!(figures["maxima.csv"].contains(",C†,") && figures["reachability.csv"].contains(",C†,"));
    assert!(html.contains("C comes before C†."));
}

/// What a figure shows first: its choosers with their chosen options, and its drawing.
fn shown(html: &str, name: &str) -> String {
    let figure = html.split(&format!("<figure id=\"fig-{name}\"")).nth(1).unwrap_or_else(|| panic!("no {name}"));
    figure.split("</svg>").next().unwrap().to_owned()
}

#[test]
fn eight_languages_have_a_choice_of_conditions() {
    let folder = tempfile::tempdir().unwrap();
    let languages = vec!["A", "B", "C", "D", "E", "F", "G", "H"];
    synthetic::collected(folder.path(), &Plan { languages, masked: 3, regimes: vec!["vanilla"], ..Plan::small() });
    let html = page(folder.path());
    let labels: Vec<String> =
        data::read(folder.path()).unwrap().conditions().iter().map(|condition| condition.label()).collect();
    assert_eq!(labels.len(), 11);
    // First what transfer is about: the first language, and the masked ones.
    let nulls = shown(&html, "nulls");
    assert!(nulls.contains("A and masked</option>") && nulls.contains("without masked words</option>"), "{nulls}");
    let titles = |drawing: &str| -> Vec<String> {
        let bold = drawing.split("font-weight=\"bold\">").skip(1);
        bold.map(|part| part.split("</text>").next().unwrap().to_owned()).collect()
    };
    assert_eq!(titles(&nulls), ["A", "B†", "C†", "D†"]);
    // Every condition is in the numbers, whatever is shown first.
    let figures = files(&folder.path().join("figures/data"));
    for label in &labels {
        assert!(figures["cascade.csv"].contains(&format!(",{label},")), "{label}");
    }
}

#[test]
fn figures_compare_what_varies() {
    let folder = tempfile::tempdir().unwrap();
    let plan = Plan { data_seeds: 2, model_seeds: 1, ..Plan::one() };
    for width in [64, 128, 256] {
        for config in plan.configs() {
            let name = format!("{width}-{}", config.data);
            let run = folder.path().join(&name);
            synthetic::run_folder(&run, &Config { id: name, ..config.clone() }, &plan, Progress::Done);
            let mut experiment = plan.experiment(&config);
            set(&mut experiment, "model.width", width.into());
            fs::write(run.join("config.toml"), experiment.to_string()).unwrap();
        }
    }
    let html = page(folder.path());
    let study = data::read(folder.path()).unwrap();
    assert_eq!(study.varying(), [data::Factor::of("model.width")]);
    assert_eq!(study.levels(study.varying()[0]), ["64", "128", "256"]);
    for (name, title) in [("dynamics", "width = 128"), ("reachability", "width = 256"), ("loss", "width = 64")] {
        assert!(shown(&html, name).contains(title), "{name} compares widths");
        assert!(!shown(&html, name).contains("data-name=\"by\""), "{name} has nothing else to compare by");
    }
    // One factor makes no map: its levels are a line.
    let maxima = shown(&html, "maxima");
    assert!(!maxima.contains("class=\"h8") && maxima.contains(">width<"), "{maxima}");
    let csv = fs::read_to_string(folder.path().join("figures/data/maxima.csv")).unwrap();
    assert!(csv.starts_with("metric,at,condition,model.width,mean,low,high,runs"), "{}", &csv[..80]);
    let csv = fs::read_to_string(folder.path().join("figures/data/dynamics.csv")).unwrap();
    let rows = csv.lines().filter(|line| line.starts_with("width,128,B†,grammaticality,1000,"));
    assert!(rows.count() == 1 && csv.contains(",2\n"), "a row per level, over both seeds");
}

#[test]
fn settings_that_were_not_crossed_are_not_mixed() {
    let folder = tempfile::tempdir().unwrap();
    let plan = Plan { model_seeds: 1, ..Plan::one() };
    for (grammar, boundary) in [("svo", "token"), ("sov", "token"), ("svo", "first"), ("svo", "last")] {
        let name = format!("{grammar}-{boundary}");
        let run = folder.path().join(&name);
        let config = plan.configs()[0].clone();
        synthetic::run_folder(&run, &Config { id: name, ..config.clone() }, &plan, Progress::Done);
        let mut experiment = plan.experiment(&config);
        set(&mut experiment, "language.grammar", grammar.into());
        set(&mut experiment, "tokenizer.boundary", boundary.into());
        fs::write(run.join("config.toml"), experiment.to_string()).unwrap();
    }
    let study = data::read(folder.path()).unwrap();
    let [grammar, boundary] = ["language.grammar", "tokenizer.boundary"].map(data::Factor::of);
    let label = |cell: Vec<(data::Factor, usize)>| -> Vec<(data::Factor, String)> {
        cell.into_iter().map(|(factor, level)| (factor, study.levels(factor)[level].clone())).collect()
    };
    assert_eq!(label(study.comparable(&[grammar])), [(boundary, "token".to_owned())]);
    assert_eq!(label(study.comparable(&[boundary])), [(grammar, "svo".to_owned())]);
    assert!(page(folder.path()).contains("2 runs, all with boundary = token"));
}

#[test]
fn what_is_shown_first_varies() {
    let folder = tempfile::tempdir().unwrap();
    synthetic::collected(folder.path(), &Plan { data_seeds: 3, ..Plan::small() });
    let study = data::read(folder.path()).unwrap();
    let findings = invitro_report::findings::Findings::of(&study);
    for figure in invitro_report::figures::all(&study, &findings) {
        let first = &figure.variants[figure.first()];
        assert!(first.drawing.tells(), "{}: what is shown first is the same everywhere", figure.name);
        // No chooser has an option for which there is nothing to show.
        for (place, chooser) in figure.choosers.iter().enumerate() {
            for option in 0..chooser.options.len() {
                let mut of = figure.variants.iter().filter(|variant| variant.choice[place] == option);
                assert!(of.any(|variant| !variant.drawing.is_empty()), "{}: {}", figure.name, chooser.options[option]);
            }
        }
        let alt = figure.alt(first);
        assert!(alt.len() < 420, "{}: {alt}", figure.name);
        let has_number = alt.chars().any(|letter| letter.is_ascii_digit());
        assert!(has_number || figure.name == "sentences", "{}: {alt}", figure.name);
    }
}

#[test]
fn long_runs_are_drawn_by_powers_and_in_tokens_where_counted() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("abc");
    let plan = Plan { steps: 40_000, evaluations: 160, ..Plan::one() };
    synthetic::run_folder(&run, &plan.configs()[0], &plan, Progress::Done);
    let options = |html: &str| -> Vec<String> {
        let curves = shown(html, "curves");
        let chooser =
            curves.split("data-name=\"axis\">").nth(1).unwrap_or("").split("</select>").next().unwrap().to_owned();
        let options = chooser.split("<option").skip(1);
        options.map(|option| option.split('>').nth(1).unwrap().split('<').next().unwrap().to_owned()).collect()
    };
    let html = page(&run);
    assert_eq!(options(&html), ["steps, log", "steps"]);
    // Step 0 has its place at the edge.
    assert!(shown(&html, "curves").contains(">0</text>") && shown(&html, "curves").contains("step (log scale)"));
    let summary = run.join("summary.json");
    let text = fs::read_to_string(&summary).unwrap();
    fs::write(&summary, text.replacen('{', "{\"tokens_per_step\": 1500.0,", 1)).unwrap();
    let html = page(&run);
    assert_eq!(options(&html), ["steps, log", "steps", "tokens seen, log"]);
    let study = data::read(&run).unwrap();
    let figures = invitro_report::figures::all(&study, &invitro_report::findings::Findings::of(&study));
    let curves = figures.iter().find(|figure| figure.name == "curves").unwrap();
    let in_tokens = curves.variants.iter().find(|variant| variant.choice.last() == Some(&2)).unwrap();
    let drawn = in_tokens.drawing.render(invitro_report::draw::Width::Page, invitro_report::draw::Target::File, "");
    // 40,000 steps of 1,500 tokens end at 60 million.
    assert!(drawn.contains(">10M</text>") && !drawn.contains(">100M</text>"), "steps times tokens per step");
    assert!(drawn.contains("tokens seen (log scale)"));
    // The numbers are those of the steps, once.
    let csv = fs::read_to_string(run.join("figures/data/curves.csv")).unwrap();
    assert_eq!(csv.lines().filter(|line| line.starts_with("T1,A,validity,40000,")).count(), 1);
}

#[test]
fn figures_fit_narrow_screens() {
    let folder = tempfile::tempdir().unwrap();
    synthetic::collected(folder.path(), &Plan { data_seeds: 3, ..Plan::small() });
    let study = data::read(folder.path()).unwrap();
    let findings = invitro_report::findings::Findings::of(&study);
    for figure in invitro_report::figures::all(&study, &findings) {
        use invitro_report::draw::{Target, Width};
        let svg = figure.variants[figure.first()].drawing.render(Width::Phone, Target::Page, "");
        let width: f64 = svg.split("viewBox=\"0 0 ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
        let sizes =
            svg.split("font-size=\"").skip(1).map(|part| part.split('"').next().unwrap().parse::<f64>().unwrap());
        let smallest = sizes.fold(f64::MAX, f64::min);
        // A page of 420 px leaves 380 for a figure.
        assert!(smallest * 380.0 / width >= 11.0, "{}: {smallest} of {width}", figure.name);
    }
}

/// Tables of an older schema are reported on, and the first thing the page says is what they measure otherwise.
#[test]
fn results_of_an_older_schema_carry_a_banner() {
    let folder = tempfile::tempdir().unwrap();
    synthetic::collected(folder.path(), &Plan::small());
    assert!(!page(folder.path()).contains("measured under schema"));
    let shipped = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../results/facts"));
    for table in ["runs.parquet", "metrics.parquet", "study.toml"] {
        fs::copy(shipped.join(table), folder.path().join(table)).unwrap();
    }
    let html = page(folder.path());
    let overview = html.split("id=\"overview\"").nth(1).unwrap();
    let banner = overview.find("These results were measured under schema 1; this version measures under schema 4");
    assert!(banner.is_some_and(|at| at < 1000), "{}", &overview[..1000]);
    assert!(overview.contains("<div class=\"banner\" role=\"note\">"), "it stands out");
    assert!(overview.contains("masked words are never words of another language"));
    assert!(html.contains("120 runs of 540 planned"), "the runs are all there");
}

#[test]
fn no_word_ends_or_hides_the_data_it_stands_in() {
    let folder = tempfile::tempdir().unwrap();
    synthetic::scattered(folder.path(), &Plan::one(), |_| synthetic::Progress::Running(2));
    let run = fs::read_dir(folder.path().join("runs")).unwrap().next().unwrap().unwrap().path();
    let form = "<!--<script></script>]]>&amp;";
    let word = invitro_results::words::Word {
        symbol: form.into(),
        masked_in: Some("B".into()),
        forms: ["A", "B"]
            .map(|language| invitro_results::words::Form {
                language: language.into(),
                form: form.into(),
                pieces: vec![form.into()],
                contrasts: Vec::new(),
            })
            .into(),
        bridge: Some(1.0),
        bridge_to: Some((form.into(), "A".into())),
        bridge_pieces: vec![form.into()],
        cognate_bridge: Some(1.0),
        asked: Some(true),
        reachable_from: None,
        ..Word::default()
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
        let form =
            |language: &str| Form { language: language.into(), form: format!("of{language}"), ..Form::default() };
        Word { symbol: "desc.0.0".into(), forms: languages.map(form).into(), ..Word::default() }
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

/// The pixels of a PNG, and how many there are in a row.
fn pixels(png: &[u8]) -> (Vec<[u8; 3]>, usize) {
    let mut reader = png::Decoder::new(png).read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size()];
    let shown = reader.next_frame(&mut bytes).unwrap();
    assert_eq!((shown.color_type, shown.bit_depth), (png::ColorType::Rgb, png::BitDepth::Eight));
    assert_eq!(reader.info().pixel_dims.unwrap().xppu, 11811, "300 to the inch");
    (bytes.chunks_exact(3).map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect(), shown.width as usize)
}

/// The SVG without its texts.
fn wordless(svg: &str) -> String {
    let mut parts = svg.split("<text ");
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |so_far, part| so_far + part.split_once("</text>").unwrap().1)
}

fn attribute(element: &str, name: &str) -> f64 {
    element.split(&format!("{name}=\"")).nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
}

/// What a text of the SVG says.
fn said(element: &str) -> String {
    let inner = element.split_once('>').unwrap().1.split("</text>").next().unwrap();
    let letters = inner.split('<').enumerate().map(|(at, part)| match (at, part.split_once('>')) {
        (0, _) | (_, None) => part,
        (_, Some((_, after))) => after,
    });
    letters.collect::<String>().replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

#[test]
fn pdf_and_png_show_what_the_svg_does_with_all_its_words() {
    let folder = tempfile::tempdir().unwrap();
    synthetic::collected(folder.path(), &Plan { data_seeds: 3, words: 10, ..Plan::small() });
    let built = build(folder.path(), &Options { formats: Format::ALL.into(), ..force() }).unwrap();
    let figures = folder.path().join("figures");
    let stems = ["bridge", "cascade", "effects", "maxima", "reachability", "sentences"];
    for stem in stems {
        let svg = fs::read_to_string(figures.join(format!("{stem}.svg"))).unwrap();
        let [pdf, png] = ["pdf", "png"].map(|ending| fs::read(figures.join(format!("{stem}.{ending}"))).unwrap());
        let read = pdf::text(&pdf);
        let (shown, across) = pixels(&png);
        assert_eq!(across, 1890, "160 mm at 300 dots to the inch");
        let (bare, _) = pixels(&Format::Png.convert(wordless(&svg)).unwrap());
        for element in svg.split("<text ").skip(1) {
            let words = said(element);
            let squeezed = |text: &str| text.split_whitespace().collect::<String>();
            assert!(squeezed(&read).contains(&squeezed(&words)), "{stem}.pdf says {words:?}: {read}");
            // Letters begin, end or lie about where the text is put.
            let [x, y] = ["x", "y"].map(|name| attribute(element, name));
            let place = |at: f64, extent: usize| ((at * 300.0 / 72.0).max(0.0) as usize).min(extent);
            let (rows, columns) = (shown.len() / across, across);
            let ink = (place(y - 8.0, rows)..place(y + 5.0, rows)).any(|row| {
                let range = row * across + place(x - 8.0, columns)..row * across + place(x + 8.0, columns);
                shown[range.clone()] != bare[range]
            });
            assert!(ink || words.trim().is_empty(), "{stem}.png shows {words:?} at {x}, {y}");
        }
    }
    assert!(built.files > 3 * stems.len());
    // The same bytes again.
    let before = fs::read(figures.join("effects.pdf")).unwrap();
    build(folder.path(), &Options { formats: vec![Format::Pdf], ..force() }).unwrap();
    assert!(before == fs::read(figures.join("effects.pdf")).unwrap(), "the same PDF");
    assert!(!figures.join("effects.svg").exists(), "only what was asked for");
}

/// A letter that the font lacks would be drawn as a box.
#[test]
fn the_font_has_every_letter_that_figures_use() {
    let draw = |text: &str, style: &str| {
        let svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"9mm\" height=\"9mm\" viewBox=\"0 0 25 25\" \
             font-family=\"Helvetica, Arial, sans-serif\"><text x=\"5\" y=\"18\" font-size=\"12\" {style}>{text}</text></svg>"
        );
        Format::Png.convert(svg).unwrap()
    };
    for style in ["", "font-weight=\"bold\"", "font-style=\"italic\"", "font-weight=\"bold\" font-style=\"italic\""] {
        let boxed = draw("\u{e000}", style);
        for letter in "aZ09éłЖαβλΓρσ†‡·…–−×±≤≥≈≠→₀₁₂²³°§%|".chars() {
            assert!(draw(&letter.to_string(), style) != boxed, "{letter} {style}");
        }
        assert!(draw("β̂", style) != draw("β", style), "the hat {style}");
    }
    assert!(draw("β̂", "") != draw("<tspan font-style=\"italic\">β̂</tspan>", ""), "faces differ");
    // The scripts of languages, whose words stand in letters of one width.
    let mono = "font-family=\"monospace\"";
    let boxed = draw("\u{e000}", mono);
    for script in ["яйз", "ϟϡς", "აზჟ", "աք", "ⴰⵣ", "ᎠᏎ", "ᚨᛪ", "አዘ"] {
        for letter in script.chars() {
            assert!(draw(&letter.to_string(), mono) != boxed, "{letter}");
        }
    }
}

/// A run's folder with the tree of three languages, C masked, and an ancestor.
fn with_family(folder: &Path) {
    let plan = Plan { languages: vec!["A", "B", "C"], ..Plan::one() };
    synthetic::run_folder(folder, &plan.configs()[0], &plan, Progress::Done);
    let node = |name: &str, parent: Option<&str>, measured: f64, spoken: bool| FamilyNode {
        name: name.into(),
        parent: parent.map(str::to_owned),
        spoken,
        asked: measured,
        from: DistanceFrom::Parent,
        measured,
        share: spoken.then_some(0.5),
        grammar: "svo".into(),
        script: 0,
        mask_share: 0.0,
        masked: if name == "C" { 8 } else { 0 },
    };
    let nodes = vec![
        node("A", None, 0.0, true),
        node("Old", None, 0.25, false),
        node("C", Some("Old"), 0.125, true),
        node("B", Some("Old"), 0.5, true),
    ];
    let matrix = vec![vec![0.0, 0.3, 0.6], vec![0.3, 0.0, 0.7], vec![0.6, 0.7, 0.0]];
    let tree = FamilyTree { nodes, stems: matrix.clone(), words: matrix, is_pair: false };
    fs::create_dir_all(folder.join("language")).unwrap();
    fs::write(folder.join("language/family.json"), tree.json()).unwrap();
}

#[test]
fn a_family_is_drawn_with_its_tree_and_its_distances() {
    let folder = tempfile::tempdir().unwrap();
    with_family(folder.path());
    let formats = Format::ALL.to_vec();
    build(folder.path(), &Options { formats, all_figures: true, ..force() }).unwrap();
    let place = folder.path().join("figures");
    let entries = fs::read_dir(&place).unwrap().flatten().map(|entry| entry.file_name().into_string().unwrap());
    let names: BTreeSet<String> = entries.filter(|name| name.starts_with("family")).collect();
    assert_eq!(names.len(), 6, "both widths, three formats: {names:?}");
    for (name, width) in [("family.page.svg", "160mm"), ("family.column.svg", "77mm")] {
        let svg = fs::read_to_string(place.join(name)).unwrap();
        whole(name, &svg, width);
        for part in [">C†<", ">Old<", ">0.70<", "50 %"] {
            assert!(svg.contains(part), "{part} in {name}: {svg}");
        }
        assert!(svg.contains("B is 0.50 from Old"), "told to those who cannot see: {svg}");
    }
    let csv = fs::read_to_string(place.join("data/family.csv")).unwrap();
    assert!(csv.contains(",A,B,pair,,0.6,0.6,"), "the matrix is in the order of the list: {csv}");
    assert!(csv.contains(",C,Old,parent,0.125,0.125,,0.5,svo,0,8"), "{csv}");
    let html = fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(html.contains("The family of languages"));
    let study = data::read(folder.path()).unwrap();
    let labels: Vec<String> = study.conditions().iter().map(|condition| condition.label()).collect();
    assert_eq!(labels, ["A", "C", "B", "C†", "B†"], "in the order of the list");
}

#[test]
fn the_pair_needs_no_family() {
    let folder = tempfile::tempdir().unwrap();
    let plan = Plan::one();
    synthetic::run_folder(folder.path(), &plan.configs()[0], &plan, Progress::Done);
    build(folder.path(), &force()).unwrap();
    assert!(!folder.path().join("figures/family.svg").exists());
}

#[test]
fn settings_of_languages_are_said_in_words() {
    let said = |key: &str, level: &str| data::Factor::of(key).said(level);
    assert_eq!(said("languages.B.distance", "0.3"), "distance of B = 0.3");
    assert_eq!(said("languages.C.share", "0.3"), "share of C = 0.3");
    assert_eq!(said("languages.C.script", "1"), "script of C = 1");
    assert_eq!(said("languages.C.grammar", "sov"), "word order of C = sov");
    assert_eq!(said("languages.L.copies", "4"), "copies of L = 4");
    assert_eq!(said("languages.B.spoken", "true"), "B spoken");
    assert_eq!(said("languages.B.spoken", "false"), "B not spoken");
    assert_eq!(said("tokenizer.vocab", "256"), "|*V*| = 256");
}

#[test]
fn a_gallery_shows_studies_and_runs_newest_first() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    synthetic::collected(&at("old & bold"), &Plan::small());
    synthetic::run_folder(&at("deep/er/run"), &Plan::one().configs()[0], &Plan::one(), Progress::Done);
    synthetic::run_folder(&at("runs/one"), &Plan::one().configs()[0], &Plan::one(), Progress::Running(3));
    fs::create_dir_all(at("deep/notes")).unwrap();
    fs::create_dir_all(at("broken")).unwrap();
    fs::write(at("broken/study.toml"), "").unwrap();
    fs::write(at("broken/runs.parquet"), "no table").unwrap();
    for file in ["runs.parquet", "metrics.parquet", "study.toml"] {
        let file = fs::File::options().append(true).open(at("old & bold").join(file)).unwrap();
        file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000)).unwrap();
    }
    let elsewhere = tempfile::tempdir().unwrap();
    let other = elsewhere.path().join("other");
    synthetic::collected(&other, &Plan::one());

    let shown = gallery(place.path(), &[], false).unwrap();
    assert_eq!((shown.studies, shown.runs, shown.reports), (1, 2, 3), "{shown:?}");
    assert!(shown.left_out.len() == 1 && shown.left_out[0].contains("runs.parquet"), "{:?}", shown.left_out);
    let html = fs::read_to_string(place.path().join("index.html")).unwrap();
    let cards: Vec<&str> = html.split("<article ").skip(1).collect();
    let runs = cards[..2].concat();
    assert!(runs.contains("<a href=\"deep/er/run/report.html\">run</a>") && runs.contains("Run · done"));
    assert!(runs.contains("<a href=\"runs/one/report.html\">one</a>") && runs.contains("Run · running"));
    let cards = &cards[1..];
    assert!(cards[1].contains("<a href=\"old%20%26%20bold/report.html\">old &amp; bold</a>"), "{}", cards[1]);
    assert!(cards[1].contains("Study · 64 runs · <time>2001-09-09</time>") && cards[1].contains("2 data seeds"));
    assert!(cards.iter().all(|card| card.contains("<svg ") && card.contains("class=\"said\"")));
    assert!(at("old & bold/report.html").exists() && at("deep/er/run/report.html").exists());
    assert!(!html.contains("http://") && !html.contains("https://") && !html.contains("src="));

    // What is there is kept without force; a folder from elsewhere brings its report along.
    assert!(matches!(gallery(place.path(), &[], false), Err(Error::Exists { .. })));
    let named = [at("deep/er/run"), other.clone(), other.clone()];
    let shown = gallery(place.path(), &named, true).unwrap();
    assert_eq!((shown.studies, shown.runs, shown.reports), (1, 1, 2), "{shown:?}");
    let html = fs::read_to_string(place.path().join("index.html")).unwrap();
    assert!(html.contains("<a href=\"reports/other.html\">other</a>") && at("reports/other.html").exists());
    assert!(!other.join("report.html").exists(), "nothing is written elsewhere");

    fs::write(place.path().join("index.html"), "my own page").unwrap();
    let error = gallery(place.path(), &[], true).unwrap_err();
    assert!(error.to_string().contains("was not written by invitro"), "{error}");
    let empty = tempfile::tempdir().unwrap();
    let error = gallery(empty.path(), &[], false).unwrap_err();
    assert!(error.to_string().contains("no folder below"), "{error}");
}
