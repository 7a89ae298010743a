//! What figures show where languages and settings vary: first, on demand, over steps or tokens, on narrow screens.

use crate::report::{files, page};
use crate::synthetic::curves::Config;
use crate::synthetic::{self, Plan, Progress};
use invitro_base::dotted::set;
use invitro_report::data;
use std::collections::BTreeSet;
use std::fs;

#[test]
fn three_languages_have_every_figure() {
    let folder = tempfile::tempdir().unwrap();
    synthetic::collected(folder.path(), &Plan { languages: vec!["A", "B", "C"], data_seeds: 3, ..Plan::small() });
    let html = page(folder.path());
    let labels: Vec<String> =
        data::Study::open(folder.path()).unwrap().conditions().iter().map(|condition| condition.label()).collect();
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
        data::Study::open(folder.path()).unwrap().conditions().iter().map(|condition| condition.label()).collect();
    assert_eq!(labels.len(), 11);
    // First what transfer is about: the first language, and the masked ones.
    let nulls = shown(&html, "nulls");
    assert!(nulls.contains("A and masked</option>") && nulls.contains("without masked words</option>"), "{nulls}");
    let titles = |drawing: &str| -> Vec<String> {
        let bold = drawing.split("font-weight=\"bold\">").skip(1);
        bold.map(|part| part.split("</text>").next().unwrap().to_owned()).collect()
    };
    let drawn = fs::read_to_string(folder.path().join("figures/nulls.svg")).unwrap();
    assert_eq!(titles(&drawn), ["A", "B†", "C†", "D†"]);
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
    let study = data::Study::open(folder.path()).unwrap();
    assert_eq!(study.varying(), [data::Factor::new("model.width")]);
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
    let study = data::Study::open(folder.path()).unwrap();
    let [grammar, boundary] = ["language.grammar", "tokenizer.boundary"].map(data::Factor::new);
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
    let study = data::Study::open(folder.path()).unwrap();
    let answers = invitro_report::claims::ClaimAnswers::new(&study);
    for figure in invitro_report::figures::all(&study, &answers) {
        let first = &figure.variants[figure.first()];
        assert!(first.drawing.varies(), "{}: what is shown first is the same everywhere", figure.name);
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
    let study = data::Study::open(&run).unwrap();
    let figures = invitro_report::figures::all(&study, &invitro_report::claims::ClaimAnswers::new(&study));
    let curves = figures.iter().find(|figure| figure.name == "curves").unwrap();
    let in_tokens = curves.variants.iter().find(|variant| variant.choice.last() == Some(&2)).unwrap();
    let drawn = in_tokens.drawing.render(invitro_report::draw::Width::Page, invitro_report::draw::DrawTarget::File, "");
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
    let study = data::Study::open(folder.path()).unwrap();
    let answers = invitro_report::claims::ClaimAnswers::new(&study);
    for figure in invitro_report::figures::all(&study, &answers) {
        use invitro_report::draw::{DrawTarget, Width};
        let svg = figure.variants[figure.first()].drawing.render(Width::Phone, DrawTarget::Page, "");
        let width: f64 = svg.split("viewBox=\"0 0 ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
        let sizes =
            svg.split("font-size=\"").skip(1).map(|part| part.split('"').next().unwrap().parse::<f64>().unwrap());
        let smallest = sizes.fold(f64::MAX, f64::min);
        // A page of 420 px leaves 380 for a figure.
        assert!(smallest * 380.0 / width >= 11.0, "{}: {smallest} of {width}", figure.name);
    }
}
