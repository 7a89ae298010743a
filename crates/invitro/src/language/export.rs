//! `invitro language export`: the languages as files that other programs read. Column names are stable.

use crate::experiment::ExperimentArgs;
use crate::output::StagedDir;
use anyhow::Result;
use invitro_language::{Class, LanguageConfig, Languages};
use serde::Serialize;
use std::path::PathBuf;
use std::process::ExitCode;

/// Write the world, the grammar and the lexicons as files for other programs
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    experiment: ExperimentArgs,
    /// The folder to write
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Replace the folder if it is such an export
    #[arg(long)]
    force: bool,
}

const README: &str = include_str!("export.md");

const CONTENTS: [&str; 4] = ["world.json", "grammar.txt", "lexicon.tsv", "README.md"];

#[derive(Serialize)]
struct World<'a> {
    seed: u64,
    config: &'a LanguageConfig,
    symbols: usize,
    classes: Vec<ClassEntry>,
    properties: Vec<PropertyEntry>,
    relations: Vec<RelationEntry>,
    masked: Vec<String>,
    distance: Measured,
}

#[derive(Serialize)]
struct ClassEntry {
    class: u16,
    role: &'static str,
    nouns: usize,
    names: usize,
}

#[derive(Serialize)]
struct PropertyEntry {
    property: u16,
    class: u16,
    /// The values valid for the entity with key 0.
    valid: Vec<u16>,
}

#[derive(Serialize)]
struct RelationEntry {
    relation: String,
    subject_class: u16,
    object_class: u16,
}

#[derive(Serialize)]
struct Measured {
    asked: f64,
    stems: f64,
    words: f64,
}

pub fn run(args: Args) -> Result<ExitCode> {
    let (experiment, languages) = args.experiment.languages()?;
    let staged = StagedDir::new(&args.out, args.force, &CONTENTS)?;
    staged.write("world.json", serde_json::to_string_pretty(&world(&languages))? + "\n")?;
    staged.write("grammar.txt", languages.grammar.text())?;
    staged.write("lexicon.tsv", languages.lexicon_tsv())?;
    staged.write(
        "README.md",
        README.replace("{name}", &experiment.name).replace("{seed}", &languages.seed.to_string()),
    )?;
    staged.finish()?;
    note!("wrote {} symbols to {}", languages.world.len(), args.out.display());
    Ok(ExitCode::SUCCESS)
}

fn world(languages: &Languages) -> World<'_> {
    let world = &languages.world;
    let subjects = world.subject_class_count() as u16;
    let role = |class: Class| if class.0 < subjects { "subject" } else { "object" };
    let classes = world.classes().map(|class| ClassEntry {
        class: class.0,
        role: role(class),
        nouns: world.noun_count(),
        names: world.entity_count(class) - world.noun_count(),
    });
    let mut properties: Vec<PropertyEntry> = world
        .classes()
        .flat_map(|class| world.properties(class).iter().map(move |&property| (class, property)))
        .map(|(class, property)| {
            let descriptors = (0..world.valid_count()).map(|i| world.valid_descriptor(0, property, i));
            let valid = descriptors.filter_map(|d| world.descriptor_of(d)).map(|(_, value)| value).collect();
            PropertyEntry { property: property.0, class: class.0, valid }
        })
        .collect();
    properties.sort_by_key(|p| p.property);
    let relations = world
        .classes()
        .flat_map(|class| world.relations(class).iter().map(move |&verb| (class, verb)))
        .map(|(class, verb)| RelationEntry {
            relation: world.label(verb),
            subject_class: class.0,
            object_class: world.object_class(class).0,
        });
    World {
        seed: languages.seed,
        config: &languages.config,
        symbols: world.len(),
        classes: classes.collect(),
        properties,
        relations: relations.collect(),
        masked: languages.mask.symbols().iter().map(|&s| world.label(s)).collect(),
        distance: Measured {
            asked: languages.config.distance,
            stems: languages.lexicon.stem_distance().relative,
            words: languages.lexicon.word_distance().relative,
        },
    }
}
