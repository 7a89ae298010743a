//! The family: the tree of the languages beside their measured distances. Runs whose languages differ have one each.

use super::figure::{Chooser, Drawing, Figure, Variant, choices};
use super::table::FigureTable;
use crate::data::{Factor, FactorWords, Study};
use crate::draw::{DrawTarget, Width, plain_text};
use crate::family::FamilyPicture;
use invitro_results::{FamilyNode, FamilyTree, column};
use std::collections::BTreeMap;

/// So many families are on the page.
const MOST: usize = 24;

/// `None` where the languages are the pair A and B.
pub fn figure(study: &Study) -> Option<Figure> {
    let varying: Vec<Factor> = study.varying().into_iter().filter(|factor| factor.shapes_family()).collect();
    let mut families: BTreeMap<Vec<Option<usize>>, (usize, &FamilyTree)> = BTreeMap::new();
    for (place, tree) in &study.families {
        let levels = varying.iter().map(|factor| study.runs[*place].level(*factor)).collect();
        let seed = |place: usize| study.runs[place].seed.data;
        let entry = families.entry(levels).or_insert((*place, tree));
        if seed(*place) < seed(entry.0) {
            *entry = (*place, tree);
        }
    }
    let families: Vec<_> = families.into_values().take(MOST).collect();
    let (_, first) = families.first()?;
    let caption = FamilyPicture::new((*first).clone()).caption();
    let named = |place: usize| {
        let level = |factor: &Factor| plain_text(&factor.with_level(study.level(&study.runs[place], *factor)));
        varying.iter().map(level).collect::<Vec<_>>().join(", ")
    };
    let options = families.iter().map(|(place, _)| named(*place)).filter(|name| !name.is_empty());
    let choosers = vec![Chooser::new("family", "with", options)];
    let mut table = FigureTable::new([
        "with", "language", "other", "relation", "asked", "stems", "words", "share", "grammar", "script", "masked",
    ]);
    let variants = choices(&choosers)
        .into_iter()
        .map(|choice| {
            let (place, tree) = families[choice.options[0]];
            rows(&named(place), tree, &mut table);
            let seed = study.runs[place].number(column::DATA_SEED);
            let runs = seed.map_or("One data seed".to_owned(), |seed| format!("Data seed {seed}"));
            Variant { choice: choice.options, drawing: Box::new(FamilyPicture::new(tree.clone())), runs, caption: None }
        })
        .collect();
    Some(Figure { name: "family", title: "The family of languages".into(), caption, choosers, variants, table })
}

/// Every node with its parent, and every pair of languages.
fn rows(with: &str, tree: &FamilyTree, table: &mut FigureTable) {
    let number = |number: f64| number.to_string();
    for node in &tree.nodes {
        let parent = node.parent.clone().unwrap_or_else(|| "proto-language".into());
        let share = node.share.map_or(String::new(), number);
        let relation = if node.from == invitro_results::DistanceFrom::Parent { "parent" } else { "parent of siblings" };
        table.row(
            [
                with,
                &node.name,
                &parent,
                relation,
                &number(node.asked),
                &number(node.measured),
                "",
                &share,
                &node.grammar,
            ]
            .map(str::to_owned)
            .into_iter()
            .chain([node.script.to_string(), node.masked.to_string()]),
        );
    }
    let languages: Vec<&FamilyNode> = tree.languages().collect();
    for (i, one) in languages.iter().enumerate() {
        for (j, other) in languages.iter().enumerate().skip(i + 1) {
            let (stems, words) = (number(tree.stems[i][j]), number(tree.words[i][j]));
            let cells = [with, &one.name, &other.name, "pair", "", &stems, &words, "", "", "", ""];
            table.row(cells.map(str::to_owned));
        }
    }
}

impl Drawing for FamilyPicture {
    fn is_empty(&self) -> bool {
        false
    }

    fn render(&self, width: Width, target: DrawTarget, description: &str) -> String {
        self.svg(width, target, description)
    }

    fn finding(&self) -> String {
        self.description()
    }
}
