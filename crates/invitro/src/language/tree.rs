//! The tree of a family in text, and tables of what is measured between its languages.
//!
//! ```text
//!   proto-language    from parent  asked  share  word order  script  masked
//!   ├─ A                    0.000      0  0.667  svo              0
//!   │  └─ B                 0.300    0.3  0.167  svo              0
//!   └─ (North)              0.412    0.4
//! ```

use crate::table;
use invitro_results::{DistanceFrom, FamilyNode, FamilyTree};

/// The tree, a node a line.
pub fn tree(family: &FamilyTree, width: Option<usize>) -> String {
    let heads = ["  proto-language", "from parent", "asked", "share", "word order", "script", "masked"];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    branches(family, None, "  ", &mut rows);
    table::numbers(&rows, width)
}

fn branches(family: &FamilyTree, of: Option<usize>, margin: &str, rows: &mut Vec<Vec<String>>) {
    let children = family.children(of);
    for (place, &child) in children.iter().enumerate() {
        let (joint, below) = if place + 1 == children.len() { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        rows.push(row(&family.nodes[child], &format!("{margin}{joint}")));
        branches(family, Some(child), &format!("{margin}{below}"), rows);
    }
}

fn row(node: &FamilyNode, before: &str) -> Vec<String> {
    let name = if node.spoken { node.name.clone() } else { format!("({})", node.name) };
    let requested = match node.from {
        DistanceFrom::Parent => node.asked.to_string(),
        DistanceFrom::Siblings => format!("{} apart", node.asked),
    };
    let mut cells = vec![format!("{before}{name}"), format!("{:.3}", node.measured), requested];
    if node.spoken {
        cells.push(node.share.map_or(String::new(), |share| format!("{share:.3}")));
        cells.extend([node.grammar.clone(), node.script.to_string()]);
        cells.push(if node.masked > 0 { node.masked.to_string() } else { String::new() });
    }
    cells
}

/// What the tree's lines leave to be said.
pub fn legend(family: &FamilyTree) -> Vec<&'static str> {
    let any = |of: fn(&FamilyNode) -> bool| family.nodes.iter().any(of);
    let mut sentences = vec!["Distances are of stems, from 0 to 1 for unrelated words."];
    if any(|node| node.from == DistanceFrom::Siblings) {
        sentences.push("Siblings are asked to be so far apart from each other.");
    }
    if any(|node| !node.spoken) {
        sentences.push("In brackets: without text.");
    }
    if any(|node| node.script > 0) {
        sentences.push("Script 0 is the shared alphabet; words are compared before another one is written.");
    }
    sentences
}

/// A table of numbers between languages: a row and a column for each, as many columns as the width takes at a time.
pub fn matrix(names: &[&str], head: &str, width: Option<usize>, cell: impl Fn(usize, usize) -> Option<f64>) -> String {
    let mut rows = vec![std::iter::once(head).chain(names.iter().copied()).map(str::to_owned).collect::<Vec<_>>()];
    for (row, name) in names.iter().enumerate() {
        let cells =
            (0..names.len()).map(|column| cell(row, column).map_or("–".into(), |number| format!("{number:.3}")));
        rows.push(std::iter::once(format!("  {name}")).chain(cells).collect());
    }
    table::numbers(&rows, width)
}
