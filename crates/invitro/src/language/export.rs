//! `invitro language export`: the languages as files that other programs read. Column names are stable.

use crate::experiment::ExperimentArgs;
use crate::output::StagedDir;
use anyhow::Result;
use invitro_base::settings::{Section, SettingMark};
use invitro_language::{Class, Language, LanguageConfig, Languages};
use invitro_results::FamilyTree;
use serde::Serialize;
use std::collections::BTreeMap;
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
    /// Write a CLDF wordlist too, with cognate sets and borrowings, for programs such as LingPy
    #[arg(long)]
    cldf: bool,
    /// Replace the folder if it is such an export
    #[arg(long)]
    force: bool,
}

const README: &str = include_str!("export.md");

/// The part of the file on sound laws.
const LAWS: &str = "
## {laws}
The sound laws that made that language's stems from its parent's, in order: `target > outcome / context // exception`. Each
applies everywhere at once.
";

/// A language with a word order of its own has its grammar by its name.
const CONTENTS: [&str; 12] = [
    "world.json",
    "grammar.txt",
    "grammar.*.txt",
    "laws.*.txt",
    "lexicon.tsv",
    "README.md",
    "languages.csv",
    "parameters.csv",
    "forms.csv",
    "cognates.csv",
    "borrowings.csv",
    "Wordlist-metadata.json",
];

#[derive(Serialize)]
struct WorldTable<'a> {
    seed: u64,
    config: &'a LanguageConfig,
    symbols: usize,
    classes: Vec<ClassEntry>,
    properties: Vec<PropertyEntry>,
    relations: Vec<RelationEntry>,
    /// Masked in some language.
    masked: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    distance: Option<MeasuredDistance>,
    #[serde(skip_serializing_if = "Option::is_none")]
    family: Option<FamilyTree>,
    /// By language that has a mask.
    #[serde(skip_serializing_if = "Option::is_none")]
    masks: Option<BTreeMap<&'static str, Vec<String>>>,
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
struct MeasuredDistance {
    /// None where the laws of a file decide it.
    #[serde(skip_serializing_if = "Option::is_none")]
    asked: Option<f64>,
    stems: f64,
    words: f64,
}

pub fn run(args: Args) -> Result<ExitCode> {
    let (experiment, languages) = args.experiment.languages()?;
    let staged = StagedDir::new(&args.out, args.force, &CONTENTS)?;
    let family = FamilyTree::of(&languages, &experiment.mixture);
    let readme = readme(&languages, &family);
    staged.write("world.json", without_neutral(&serde_json::to_string_pretty(&world(&languages, family))?) + "\n")?;
    for (name, text) in languages.grammar_files() {
        staged.write(&name, text)?;
    }
    for (name, text) in languages.law_files() {
        staged.write(&name, text)?;
    }
    staged.write("lexicon.tsv", languages.lexicon_tsv())?;
    if args.cldf {
        for (name, text) in languages.cldf()? {
            staged.write(name, text)?;
        }
    }
    let readme = match &languages.law_files()[..] {
        [] => readme,
        files => {
            let names = files.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
            readme + &LAWS.replace("{laws}", &names)
        }
    };
    staged.write(
        "README.md",
        readme.replace("{name}", &experiment.name).replace("{seed}", &languages.seed.to_string()),
    )?;
    staged.finish()?;
    note!("wrote {} symbols to {}", languages.world.len(), args.out.display());
    Ok(ExitCode::SUCCESS)
}

/// The file without settings that came later and have their default, as it was before there were any.
fn without_neutral(text: &str) -> String {
    let neutral =
        LanguageConfig::settings().into_iter().filter(|setting| setting.marks.contains(&SettingMark::neutral));
    let neutral: Vec<String> =
        neutral.map(|setting| format!("    \"{}\": {}", setting.name(), setting.default)).collect();
    let is_used = |line: &&str| !neutral.iter().any(|unused| unused == line.trim_end_matches(','));
    let left = text.lines().filter(is_used).collect::<Vec<_>>().join("\n");
    // The last setting has no comma after it.
    left.replace(",\n  }", "\n  }")
}

/// What the files are, of these languages.
fn readme(languages: &Languages, family: &FamilyTree) -> String {
    let names: Vec<&str> = languages.all().iter().map(|language| language.name()).collect();
    let columns =
        |kind: &str, of: &[&str]| of.iter().map(|name| format!("{kind}_{name}")).collect::<Vec<_>>().join(", ");
    let masked: Vec<&str> = languages.masked().map(|language| language.name()).collect();
    let (masks, in_which) = match &masked[..] {
        [only] => ("masked".to_owned(), (*only).to_owned()),
        several => (columns("masked", several), "that language".to_owned()),
    };
    let files = languages.grammar_files();
    let other_files: Vec<&str> = files[1..].iter().map(|(name, _)| name.as_str()).collect();
    let whose = match other_files[..] {
        [] => String::new(),
        _ => " Languages with another word order have theirs by their name.".to_owned(),
    };
    let title = if names.len() == 2 {
        "A pair of languages".to_owned()
    } else {
        format!("A family of {} languages", names.len())
    };
    let measured = if family.is_pair {
        "- `distance`: what was asked, and what was measured of stems and of whole words"
    } else {
        concat!(
            "- `family`: every language and ancestor with its parent, the distance that was asked from it or from its\n",
            "  siblings, the measured one of stems, share of text, word order, script and mask; the measured distances\n",
            "  between all languages that have text, of stems and of whole words\n",
            "- `masks`: the masked symbols of each language"
        )
    };
    README
        .replace("{title}", &title)
        .replace("{forms}", &columns("form", &names))
        .replace("{stems}", &columns("stem", &names))
        .replace("{masks}", &masks)
        .replace("{masked}", &in_which)
        .replace("{measured}", measured)
        .replace("{grammars}", &[&["grammar.txt"], &other_files[..]].concat().join(", "))
        .replace("{whose}", &whose)
}

fn world(languages: &Languages, family: FamilyTree) -> WorldTable<'_> {
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
    let masks = |language: Language| {
        (language.name(), languages.mask(language).symbols().iter().map(|&symbol| world.label(symbol)).collect())
    };
    WorldTable {
        seed: languages.seed,
        config: &languages.config,
        symbols: world.len(),
        classes: classes.collect(),
        properties,
        relations: relations.collect(),
        masked: world.symbols().filter(|&s| languages.is_masked(s)).map(|s| world.label(s)).collect(),
        distance: family.is_pair.then(|| MeasuredDistance {
            asked: (!languages.family.branches().iter().any(|branch| branch.by_file))
                .then_some(languages.config.distance),
            stems: family.stems[0][1],
            words: family.words[0][1],
        }),
        masks: (!family.is_pair).then(|| languages.masked().map(masks).collect()),
        family: (!family.is_pair).then_some(family),
    }
}
