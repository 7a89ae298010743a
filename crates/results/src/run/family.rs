//! `language/family.json`: how an experiment's languages descend from each other, and how far apart they are.

use invitro_language::{Language, Languages, MixtureConfig};
use serde::{Deserialize, Serialize};

/// The tree of the languages, and their distances as measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FamilyTree {
    /// Every entry of the list, in its order.
    pub nodes: Vec<FamilyNode>,
    /// The distances of stems between the languages that are spoken, in the order of the list.
    pub stems: Vec<Vec<f64>>,
    /// The same of whole words.
    pub words: Vec<Vec<f64>>,
    /// Whether this is the pair A and B that needs no list, drawn 1 : λ: it has no tree to show.
    #[serde(skip)]
    pub is_pair: bool,
}

/// A language or an ancestor of some.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FamilyNode {
    /// Its name.
    pub name: String,
    /// The node it descends from; none for the proto-language.
    pub parent: Option<String>,
    /// Whether it has text.
    pub spoken: bool,
    /// The distance that was asked for; the measured one where the laws of a file decide it.
    pub asked: f64,
    /// Whether that is from its parent, or from the siblings that leave the parent with it.
    pub from: From,
    /// The distance of its stems from its parent's, measured.
    pub measured: f64,
    /// Its share of the training text, before rows with masked words are drawn again; none where it has no text.
    pub share: Option<f64>,
    /// Its word order.
    pub grammar: String,
    /// Its alphabet: 0 is the shared one.
    pub script: usize,
    /// The share of the descriptors that are masked, as asked.
    pub mask_share: f64,
    /// How many words are masked; none where it has no text.
    pub masked: usize,
}

/// What a distance is measured from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum From {
    /// The node it descends from.
    Parent,
    /// The others that descend from the same node without a distance of their own.
    Siblings,
}

impl FamilyTree {
    /// The tree of these languages.
    pub fn of(languages: &Languages, mixture: &MixtureConfig) -> FamilyTree {
        let family = &languages.family;
        let (nodes, distances) = (family.nodes(), languages.lexicon.distances());
        let shares = family.shares(mixture);
        let node = |(at, node): (usize, &invitro_language::Node)| {
            let branch = family.branches().iter().find(|branch| branch.nodes.contains(&at));
            let measured = distances.from_parent(at).relative;
            let siblings = branch.is_some_and(|branch| branch.nodes.len() > 1 || branch.sibling_of.is_some());
            FamilyNode {
                name: node.name.clone(),
                parent: node.parent.map(|parent| nodes[parent].name.clone()),
                spoken: node.language.is_some(),
                asked: branch.map_or(0.0, |branch| {
                    if branch.by_file { (measured * 1e3).round() / 1e3 } else { branch.distance }
                }),
                from: if siblings { From::Siblings } else { From::Parent },
                measured,
                share: node.language.map(|language| shares[language.index()]),
                grammar: node.grammar.clone(),
                script: node.script,
                mask_share: node.mask_share,
                masked: node.language.map_or(0, |language| languages.mask(language).symbols().len()),
            }
        };
        let matrix = |of: &dyn Fn(Language, Language) -> f64| {
            let all = languages.all();
            all.iter().map(|&one| all.iter().map(|&other| of(one, other)).collect()).collect()
        };
        FamilyTree {
            nodes: nodes.iter().enumerate().map(node).collect(),
            stems: matrix(&|one, other| if one == other { 0.0 } else { distances.stems(one, other).relative }),
            words: matrix(&|one, other| if one == other { 0.0 } else { distances.words(one, other).relative }),
            is_pair: !family.is_listed() && mixture.sampling == 1.0,
        }
    }

    /// The languages that are spoken, in the order of the list: the rows and columns of the matrices.
    pub fn languages(&self) -> impl Iterator<Item = &FamilyNode> {
        self.nodes.iter().filter(|node| node.spoken)
    }

    /// The places of the nodes that descend from one, or from the proto-language.
    pub fn children(&self, of: Option<usize>) -> Vec<usize> {
        let parent = of.map(|at| self.nodes[at].name.as_str());
        (0..self.nodes.len()).filter(|&at| self.nodes[at].parent.as_deref() == parent).collect()
    }

    /// The text of `language/family.json`.
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }
}
