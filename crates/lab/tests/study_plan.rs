//! Study files: cells, identity, order, populations; and faults, each a sentence.

use crate::study_common;
use invitro_lab::executor::slurm;
use invitro_lab::study::grouping::{Open, PopulationSizes, populations};
use invitro_lab::study::{Cell, StudyFolder, cells, file};
use invitro_language::Family;
use invitro_results::Plan;
use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::time::Duration;

fn parse(text: &str) -> Plan {
    file::parse(text, Path::new("a.toml"), &[]).unwrap()
}

fn expand(text: &str) -> Vec<Cell> {
    cells(&parse(text), Path::new("a.toml")).unwrap()
}

fn seeds(cell: &Cell) -> (u64, u64) {
    (cell.data_seed, cell.experiment.seeds.model.first())
}

fn fault(text: &str) -> String {
    let study = file::parse(text, Path::new("a.toml"), &[]);
    study.and_then(|study| cells(&study, Path::new("a.toml")).map(|_| ())).unwrap_err().to_string()
}

const GRID: &str = r#"
    name = "grid"
    [factors]
    tokenizer.vocab = [512, 1024]
    "language.distance" = [0, 0.25, 0.5]
    [seeds]
    data = [0, 1]
    model = [0, 1]
"#;

#[test]
fn a_grid_is_every_combination_once() {
    let all = expand(GRID);
    assert_eq!(all.len(), 2 * 3 * 2 * 2);
    let distinct: HashSet<&str> = all.iter().map(|cell| cell.id.as_str()).collect();
    assert_eq!(distinct.len(), all.len());
    // Seeds outermost, all combinations within them.
    let of_first_seeds = &all[..6];
    assert!(of_first_seeds.iter().all(|cell| seeds(cell) == (0, 0)));
    assert_eq!(seeds(&all[6]), (1, 1));
    let first = &all[0].experiment;
    assert_eq!((first.tokenizer.vocab, first.language.distance), (512, 0.0));
    assert_eq!(all[0].label, "language.distance=0.0 tokenizer.vocab=512 seeds 0/0");
}

#[test]
fn the_same_cell_in_two_studies_is_one_run() {
    let other = expand("name = \"other\"\n[factors]\nlanguage.distance = [0.25, 1.0]");
    let base = expand("name = \"base\"\nexperiment = { language.distance = 0.25 }\n");
    assert_eq!(base.len(), 1);
    assert_eq!(base[0].id, other[0].id);
    assert_ne!(base[0].id, other[1].id);
}

#[test]
fn grids_are_joined_and_filters_keep() {
    let all = expand(
        r#"
        name = "a"
        where = [{ tokenizer.vocab = { not = 1024 } }]
        experiment = { tokenizer.vocab = 512, language.distance = 0.25 }
        [[grids]]
        tokenizer.vocab = [512, 1024, 2048]
        [[grids]]
        language.distance = [0.0, 0.25]
        "#,
    );
    let levels: Vec<(usize, f64)> =
        all.iter().map(|cell| (cell.experiment.tokenizer.vocab, cell.experiment.language.distance)).collect();
    // (512, 0.25) is in both grids, and one cell.
    let expected = HashSet::from(["512 0", "512 0.25", "2048 0.25"].map(String::from));
    let found: HashSet<String> = levels.iter().map(|(vocab, distance)| format!("{vocab} {distance}")).collect();
    assert_eq!((found, levels.len()), (expected, 3));
}

#[test]
fn a_study_written_out_needs_no_other_file() {
    let study = parse(GRID);
    let written = study.to_toml();
    let again = parse(&written);
    assert_eq!(study, again);
    assert_eq!(written, again.to_toml());
    let ids = |study: &Plan| -> Vec<String> {
        cells(study, Path::new("a.toml")).unwrap().into_iter().map(|cell| cell.id).collect()
    };
    assert_eq!(ids(&study), ids(&again));
}

#[test]
fn overrides_lie_over_the_base_but_not_over_factors() {
    let with = |given: &str| file::parse(GRID, Path::new("a.toml"), &[given.to_owned()]);
    let study = with("train.steps=7").unwrap();
    assert!(cells(&study, Path::new("a.toml")).unwrap().iter().all(|cell| cell.experiment.train.steps == 7));
    let fault = with("tokenizer.vocab=7").unwrap_err().to_string();
    assert!(fault.contains("it is a factor of this study"), "{fault}");
}

#[test]
fn faults_are_sentences() {
    for (text, expected) in [
        ("nam = \"a\"", "unknown field `nam`"),
        ("name = \"a b\"", "the name `a b` must be letters, digits, - and _"),
        ("name = \"a\"\nbase = \"papr\"", "there is no preset `papr`"),
        ("name = \"a\"\n[factors]\ntokenizer.vocab = 3", "the factor tokenizer.vocab is 3, but must be a list"),
        ("name = \"a\"\n[factors]\ntokenizer.vocab = [512, 512]", "has the level 512 twice"),
        ("name = \"a\"\n[factors]\nseeds.data = [1, 2]", "seeds.data is no factor"),
        ("name = \"a\"\n[factors]\ntokenizer.vocap = [512]", "the nearest known key is `tokenizer.vocab`"),
        ("name = \"a\"\n[factors]\nlanguage.distance = [7]", "distance"),
        (
            "name = \"a\"\nwhere = [\"tokenizer.vocab < 3\"]",
            "invalid type: string \"tokenizer.vocab < 3\", expected a map",
        ),
        ("name = \"a\"\n[[where]]\ntokenizer.vocab.below = true", "but `tokenizer.vocab` is 256, of another kind"),
        ("name = \"a\"\n[[where]]\ntokenizer.vokab.below = 3", "there is no setting `tokenizer.vokab`"),
        ("name = \"a\"\n[seeds]\ndata = [1, 1]", "seeds.data is [1, 1], but must be one or more different seeds"),
    ] {
        let fault = fault(text);
        assert!(fault.contains(expected), "{text}\n{fault}");
        assert!(!fault.contains('\n'), "{fault}");
    }
}

/// A study of three languages, which goes on with `more`.
fn family(more: &str) -> String {
    let list = "
        name = \"family\"
        [[experiment.languages]]
        name = \"A\"
        [[experiment.languages]]
        name = \"B\"
        [[experiment.languages]]
        name = \"C\"
        parent = \"B\"
        mask_share = 0.25
    ";
    format!("{list}\n{more}")
}

#[test]
fn settings_of_a_language_are_factors() {
    let study = family(
        "[factors]\nlanguages.C.distance = [0, 0.5]\nlanguages.B.spoken = [true, false]\nlanguages.C.copies = [1, 2]",
    );
    let all = expand(&study);
    assert_eq!(all.len(), 8);
    assert_eq!(all[0].label, "languages.B.spoken=true languages.C.copies=1 languages.C.distance=0.0 seeds 0/0");
    for cell in &all {
        assert_eq!(cell.id, cell.experiment.id(), "{}", cell.label);
    }
    let plan = parse(&study);
    assert_eq!(parse(&plan.to_toml()), plan);
    let kept = format!("{study}\n[[where]]\nlanguages.C.distance.above = 0.25\nlanguages.B.spoken = true");
    let [one, other] = &expand(&kept)[..] else { panic!() };
    assert!([one, other].iter().all(|cell| cell.experiment.languages[2].distance == Some(0.5)));
    // Laid over the base's list, by name.
    let over = file::parse(&study, Path::new("a.toml"), &["languages.A.share=3".into()]).unwrap();
    assert!(cells(&over, Path::new("a.toml")).unwrap().iter().all(|it| it.experiment.languages[0].share == Some(3.0)));
}

#[test]
fn faults_in_families_are_sentences() {
    for (more, expected) in [
        ("[factors]\nlanguages.X.distance = [0.5]", "there is no language `X` in `languages`, which has A, B and C"),
        ("[factors]\nlanguages.C.distnace = [0.5]", "the nearest known key is `languages.C.distance`"),
        ("[factors]\nlanguages = [[], [3]]", "languages is no factor; vary a setting of one of its languages"),
        ("[[where]]\nlanguages.C.share = 1", "but the language C leaves `share` out"),
        ("[[where]]\nlanguages.X.share = 1", "there is no language `X` in `languages`, which has A, B and C"),
        ("[factors]\nlanguages.C.mask_share = [0.0]", "no language of `languages` that is spoken has a `mask_share`"),
        (
            "[factors]\nlanguages.C.parent = [\"C\"]",
            "`languages.C.parent` is `C`, but must be one of A, B, or left out",
        ),
    ] {
        let fault = fault(&family(more));
        assert!(fault.contains(expected) && !fault.contains('\n'), "{more}\n{fault}");
    }
}

/// The studies of families ask what their first lines say.
#[test]
fn the_studies_of_families() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/studies");
    for (name, count, seeds) in
        [("pivot", 96, 8), ("relatedness", 39, 3), ("script", 30, 5), ("order", 30, 5), ("many", 24, 3)]
    {
        let path = folder.join(name).with_extension("toml");
        let plan = file::read(&path, &[]).unwrap();
        let all = cells(&plan, &path).unwrap();
        assert_eq!((&*plan.name, all.len(), plan.data_seeds.len()), (name, count, seeds));
        for cell in &all {
            assert_eq!(cell.id, cell.experiment.id());
            let family = Family::new(&cell.experiment.language, &cell.experiment.languages).unwrap();
            let copies = cell.experiment.languages.iter().find(|entry| entry.name == "L").map(|entry| entry.copies);
            let spoken = family.languages().len();
            assert!(copies.map_or(spoken <= 3, |copies| spoken == 2 + copies), "{}", cell.label);
        }
    }
}

/// The studies of interventions have the cells that their first lines promise, and every cell is a valid experiment.
#[test]
fn the_studies_of_interventions() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/studies");
    for (name, count, seeds) in [
        ("sharing", 240, 8),
        ("sharing-quick", 40, 4),
        ("sharing-paper", 6, 3),
        ("cuts", 80, 5),
        ("withheld", 96, 8),
        ("imbalance", 80, 5),
        ("exposure", 96, 4),
        ("dropout", 60, 5),
        ("transliteration", 64, 4),
    ] {
        let path = folder.join(name).with_extension("toml");
        let plan = file::read(&path, &[]).unwrap();
        let all = cells(&plan, &path).unwrap();
        assert_eq!((&*plan.name, all.len(), plan.data_seeds.len()), (name, count, seeds));
        for cell in &all {
            cell.experiment.validate().unwrap();
            assert_eq!(cell.id, cell.experiment.id());
        }
    }
}

#[test]
fn every_prefix_of_the_work_is_balanced() {
    let all = expand(GRID);
    for until in 1..=all.len() {
        let mut seen: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
        for cell in &all[..until] {
            let factors = ["tokenizer.vocab", "language.distance"];
            for (key, level) in cell.experiment.flatten().iter().filter(|(key, _)| factors.contains(&key.as_str())) {
                *seen.entry(key.clone()).or_default().entry(level.to_string()).or_default() += 1;
            }
        }
        for (key, levels) in seen {
            let (least, most) = (levels.values().min().unwrap(), levels.values().max().unwrap());
            assert!(most - least <= 2, "{key} after {until}: {levels:?}");
        }
    }
}

#[test]
fn three_workers_share_a_study_of_large_models_and_not_one_of_few_small_ones() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/studies");
    let size = |name: &str, limit: usize| {
        let path = folder.join(name);
        let all = cells(&file::read(&path, &[]).unwrap(), &path).unwrap();
        PopulationSizes::new(all.iter().take(limit), 3).members(&all[0], 32)
    };
    assert_eq!((size("paper.toml", 576), size("paper.toml", 288)), (32, 32));
    assert_eq!((size("withheld.toml", 12), size("converged.toml", 12), size("converged.toml", 4)), (12, 4, 2));
}

#[test]
fn populations_share_a_shape_and_keep_data_seeds_together() {
    let all = expand(GRID);
    let open: Vec<Open> = all.iter().map(|cell| Open { cell, step: 0 }).collect();
    let groups = populations(open.iter().copied(), |_| 6);
    assert_eq!(groups.iter().map(Vec::len).sum::<usize>(), all.len());
    for members in &groups {
        assert_eq!(members.iter().map(|open| &open.cell.population_key).collect::<HashSet<_>>().len(), 1);
        assert_eq!(members.iter().map(|open| open.cell.data_seed).collect::<HashSet<_>>().len(), 1);
    }
    // Larger ones mix data seeds, but keep equal ones side by side.
    for members in populations(open.iter().copied(), |_| 12) {
        assert_eq!(members.len(), 12);
        assert!(members.is_sorted_by_key(|open| open.cell.data_seed));
    }
    // Cells that stand at a step train with their like first.
    let later = open.iter().enumerate().map(|(at, open)| Open { step: if at % 3 == 0 { 10 } else { 0 }, ..*open });
    let first = &populations(later, |_| 4)[0];
    assert!(first.iter().all(|open| open.step == 10));
}

#[test]
fn a_sweep_over_the_optimizer_is_one_population() {
    let sweep = |key: &str, levels: &str| {
        let all = expand(&format!(
            "name = \"sweep\"\n[factors]\ntrain.{key} = [{levels}]\n[seeds]\ndata = [0]\nmodel = [0]\n"
        ));
        assert!(all.len() > 1);
        let open: Vec<Open> = all.iter().map(|cell| Open { cell, step: 0 }).collect();
        populations(open, |_| 32).len()
    };
    for (key, levels) in [
        ("lr", "1e-4, 3e-4, 1e-3"),
        ("warmup", "0, 256"),
        ("decay", "\"cosine\", \"none\""),
        ("beta1", "0.8, 0.9"),
        ("beta2", "0.95, 0.99"),
        ("eps", "1e-10, 1e-6"),
        ("weight_decay", "0.0, 0.1"),
        ("clip", "0.0, 1.0"),
    ] {
        assert_eq!(sweep(key, levels), 1, "{key}");
    }
    assert_eq!((sweep("batch", "32, 64"), sweep("steps", "100, 200")), (2, 2));
}

#[test]
fn a_folder_keeps_to_its_study_unless_it_is_updated() {
    let place = tempfile::tempdir().unwrap();
    let folder = study_common::create(place.path(), &study_common::study(2, 1));
    let file = place.path().join("tiny.toml");
    std::fs::write(&file, study_common::study(3, 1)).unwrap();
    let create = |update| StudyFolder::create(&file, &[], &folder.path, None, update);
    let Err(fault) = create(false) else { panic!("another study was accepted") };
    assert!(fault.to_string().contains("holds a different version of a study"), "{fault}");
    let larger = create(true).unwrap();
    let old: HashSet<&str> = folder.cells.iter().map(|cell| cell.id.as_str()).collect();
    assert_eq!(larger.cells.iter().filter(|cell| old.contains(cell.id.as_str())).count(), 4);
    assert_eq!(StudyFolder::open(&folder.path).unwrap().cells.len(), 6);
}

#[test]
fn the_script_of_a_job_array_is_what_it_says() {
    let place = tempfile::tempdir().unwrap();
    let (file, out) = (place.path().join("paper.toml"), place.path().join("it's"));
    std::fs::write(&file, "name = \"paper\"\n[seeds]\ndata = [0, 1, 2]\n").unwrap();
    let folder = StudyFolder::planned(&file, &[], &out).unwrap();
    let request = slurm::SlurmRequest {
        partition: Some("gpu".into()),
        time: Some(Duration::from_secs(25 * 3600 + 61)),
        gres: Some("gpu:1".into()),
        profile: Some("#!/bin/bash\nmodule load cuda\n#SBATCH --account=lab\n".into()),
        at_once: Some(8),
        population: 1,
        program: "/opt/in vitro/invitro".into(),
        arguments: vec!["--device".into(), "cuda".into()],
    };
    let open: Vec<Open> = folder.cells.iter().map(|cell| Open { cell, step: 0 }).collect();
    let [submission] = &slurm::plan(&folder, &open, &request, 1001).unwrap()[..] else { panic!() };
    assert_eq!(submission.tasks.len(), 3);
    assert_eq!(
        submission.script.replace(place.path().to_str().unwrap(), "/home/x"),
        r#"#!/bin/bash
#SBATCH --job-name=invitro-paper
#SBATCH --array=0-2%8
#SBATCH --output=/home/x/it's/slurm/0001/task-%a.log
#SBATCH --open-mode=append
#SBATCH --signal=B:USR1@120
#SBATCH --partition=gpu
#SBATCH --time=1-01:01:01
#SBATCH --gres=gpu:1
#SBATCH --requeue
#SBATCH --account=lab

trap '' USR1
module load cuda
exec '/opt/in vitro/invitro' study run '/home/x/it'\''s' --task '/home/x/it'\''s/slurm/0001' --device cuda
"#
    );
}

/// A factor that the languages of the list leave nothing to decide would run the same cells under other names.
#[test]
fn a_factor_that_changes_nothing_is_refused() {
    let study = |factor: &str, distance: &str| {
        let list = "[[experiment.languages]]\nname = \"A\"\ndistance = 0.0\nshare = 1.0\n[[experiment.languages]]\nname = \"B\"\n\
                    share = 0.5\nmask_share = 0.25\n";
        let text = format!("name = \"s\"\nbase = \"quick\"\n{list}{distance}[factors]\n{factor} = [0.1, 0.2]\n");
        invitro_lab::study::file::parse(&text, std::path::Path::new("s.toml"), &[]).map(|_| ())
    };
    assert!(study("language.distance", "").is_ok(), "B has none of its own");
    for (factor, wanted) in [
        ("language.distance", "each language of the list has a `distance` of its own"),
        ("language.mask_share", "each language of the list has a `mask_share` of its own"),
        ("mixture.lambda", "each language of the list has a `share` of its own"),
    ] {
        let fault = study(factor, "distance = 0.2\n").unwrap_err().to_string();
        assert!(fault.contains(factor) && fault.contains(wanted), "{fault}");
    }
    // What an arm alone uses is used where arms are a factor.
    let arms = |factors: &str| {
        let text = format!("name = \"s\"\nbase = \"quick\"\n[factors]\n{factors}tokenizer.share_p = [0.25, 0.75]\n");
        invitro_lab::study::file::parse(&text, std::path::Path::new("s.toml"), &[]).map(|_| ())
    };
    assert!(arms("tokenizer.share = [\"all\", \"random\"]\n").is_ok());
    let fault = arms("").unwrap_err().to_string();
    assert!(fault.ends_with("it counts only with `tokenizer.share` = random"), "{fault}");
}
