//! A family of languages: `[[languages]]` of an experiment file, read into a tree.
//!
//! The root of the tree is the proto-language, which has no entry. A language descends from its `parent`, or from the
//! root if it names none, and lies `distance` away from it. Languages of one parent that give no distance are siblings:
//! they drift at one rate, at which the first two of them are `language.distance` apart. So the pair A and B of the paper
//! is the family of two entries that say nothing but their names and B's mask, and it stays what it is when it gets more
//! siblings:
//!
//! ```
//! use invitro_language::{Family, LanguageConfig, LanguageEntry, MixtureConfig};
//! let config = LanguageConfig::default();
//! let family = Family::new(&config, &[]).unwrap();
//! assert_eq!(family.nodes().iter().map(|node| &*node.name).collect::<Vec<_>>(), ["A", "B"]);
//! let listed = [LanguageEntry::new("A"), LanguageEntry { mask_share: 0.25, ..LanguageEntry::new("B") }];
//! assert_eq!(Family::new(&config, &listed).unwrap().branches(), family.branches());
//! assert_eq!(family.shares(&MixtureConfig::default()), [0.8, 0.2]);
//! ```

use crate::error::{Error, Result};
use crate::world::symbol::Language;
use invitro_base::settings::{LanguageConfig, LanguageEntry, MixtureConfig, require};

/// The most entries a family may have.
pub const MOST: usize = 64;

/// An entry as a node of the tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// The node it descends from; none for the proto-language.
    pub parent: Option<usize>,
    /// The language it is, if it is spoken.
    pub language: Option<Language>,
    /// Its grammar, as it is given.
    pub grammar: String,
    /// Its alphabet.
    pub script: usize,
    /// The share of the descriptors that are masked.
    pub mask_share: f64,
    /// The size of its text, if it is given.
    share: Option<f64>,
    /// Whether it stands in a list, rather than being of the pair that needs none.
    listed: bool,
}

impl Node {
    /// The key that decides its mask.
    pub(crate) fn mask_key(&self) -> String {
        if self.listed { format!("languages.{}.mask_share", self.name) } else { "language.mask_share".into() }
    }
}

/// Where one language leaves its parent, or two siblings together.
#[derive(Clone, Debug, PartialEq)]
pub struct Branch {
    /// Where they leave from; none for the proto-language.
    pub parent: Option<usize>,
    /// One node, calibrated against its parent; or two siblings, calibrated against each other.
    pub nodes: Vec<usize>,
    /// How far.
    pub distance: f64,
    /// Of a further sibling, the place of the first two in the list of branches: their rate is its own.
    pub sibling_of: Option<usize>,
}

impl Branch {
    /// Whether it has the first two siblings of all, as the pair A and B are.
    pub(crate) fn is_founding(&self) -> bool {
        self.parent.is_none() && self.nodes.len() > 1
    }
}

/// The tree of an experiment's languages.
#[derive(Clone, Debug, PartialEq)]
pub struct Family {
    nodes: Vec<Node>,
    /// Every node once, parents before their children.
    branches: Vec<Branch>,
}

impl Family {
    /// The tree of a list, or A and B if it is empty.
    pub fn new(config: &LanguageConfig, list: &[LanguageEntry]) -> Result<Family> {
        let pair =
            [LanguageEntry::new("A"), LanguageEntry { mask_share: config.mask_share, ..LanguageEntry::new("B") }];
        let listed = !list.is_empty();
        let list = if listed { list } else { &pair };
        let count: usize = list.iter().map(|entry| entry.copies).fold(0, usize::saturating_add);
        require(count <= MOST, "languages", format!("a list of {count}"), format!("at most {MOST} languages"))?;
        let list: Vec<LanguageEntry> = list.iter().flat_map(LanguageEntry::copies).collect();
        let list = &list[..];
        check_names(list)?;
        let mut spoken = 0;
        let mut nodes = Vec::with_capacity(list.len());
        for entry in list {
            entry.validate()?;
            let parent = entry.parent.as_ref().map(|parent| find(list, entry, parent)).transpose()?;
            let language = entry.spoken.then(|| Language::new(spoken, &entry.name));
            spoken += usize::from(entry.spoken);
            nodes.push(Node {
                name: entry.name.clone(),
                parent,
                language,
                grammar: entry.grammar.clone().unwrap_or_else(|| config.grammar.clone()),
                script: entry.script,
                mask_share: entry.mask_share,
                share: entry.share,
                listed,
            });
        }
        if !nodes.iter().any(|node| node.language.is_some() && node.mask_share > 0.0) {
            return Err(Error::mismatch(
                "no language of `languages` that is spoken has a `mask_share` above 0, so that nothing would be hidden",
            ));
        }
        let branches = branches(config, list, &nodes)?;
        Ok(Family { nodes, branches })
    }

    /// Every entry, in the order of the list.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Whether it stands in a list; the pair A and B may, but needs none.
    pub fn is_listed(&self) -> bool {
        self.nodes.iter().any(|node| node.listed)
    }

    /// Why a setting does nothing, if every language of the list says for itself what it says for all.
    pub fn why_unused(list: &[LanguageEntry], key: &str) -> Option<&'static str> {
        let all_say = |says: fn(&LanguageEntry) -> bool| list.iter().all(says);
        let spoken = || list.iter().filter(|entry| entry.spoken && entry.copies > 0);
        match key {
            _ if list.is_empty() => None,
            "language.mask_share" => Some("each language of the list has a `mask_share` of its own"),
            "language.distance" if all_say(|entry| entry.distance.is_some()) => {
                Some("each language of the list has a `distance` of its own")
            }
            "mixture.lambda" if spoken().skip(1).all(|entry| entry.share.is_some()) => {
                Some("each language of the list has a `share` of its own")
            }
            "language.grammar" if all_say(|entry| entry.grammar.is_some()) => {
                Some("each language of the list has a `grammar` of its own")
            }
            _ => None,
        }
    }

    /// How the tree grows: every node is in one branch, after its parent.
    pub fn branches(&self) -> &[Branch] {
        &self.branches
    }

    /// The languages that are spoken.
    pub fn languages(&self) -> Vec<Language> {
        self.nodes.iter().filter_map(|node| node.language).collect()
    }

    /// The node of a language.
    pub fn node(&self, language: Language) -> &Node {
        self.nodes.iter().find(|node| node.language == Some(language)).expect("a language has its node")
    }

    /// Each language's share of the training rows, before masked ones are redrawn: its size to the power of
    /// `mixture.sampling`, over the sum. Under a schedule the mean of all stages.
    pub fn shares(&self, mixture: &MixtureConfig) -> Vec<f64> {
        let stages = self.stages(mixture);
        let mean = |language: usize| stages.iter().map(|shares| shares[language]).sum::<f64>() / stages.len() as f64;
        (0..stages[0].len()).map(mean).collect()
    }

    /// The shares in every stage of training: one stage unless there is a schedule, whose numbers the languages but the
    /// first have between them by their sizes.
    pub fn stages(&self, mixture: &MixtureConfig) -> Vec<Vec<f64>> {
        let sizes = self.sizes(mixture);
        let (first, sum) = (sizes[0], sizes.iter().sum::<f64>());
        let of_stage = |others: &f64| {
            let of = |(at, size): (usize, &f64)| if at == 0 { 1.0 - others } else { others * size / (sum - first) };
            sizes.iter().enumerate().map(of).collect()
        };
        match &mixture.schedule[..] {
            [] => vec![sizes.iter().map(|size| size / sum).collect()],
            schedule => schedule.iter().map(of_stage).collect(),
        }
    }

    /// The sizes of their texts to the power of `mixture.sampling`: 1 and λ for the pair.
    pub fn sizes(&self, mixture: &MixtureConfig) -> Vec<f64> {
        let sizes = self.nodes.iter().filter(|node| node.language.is_some()).enumerate();
        let size = |(at, node): (usize, &Node)| node.share.unwrap_or(if at == 0 { 1.0 } else { mixture.lambda });
        sizes.map(size).map(|size| size.powf(mixture.sampling)).collect()
    }

    /// The branch that a node is on.
    pub(crate) fn branch_of(&self, node: usize) -> &Branch {
        self.branches.iter().find(|branch| branch.nodes.contains(&node)).expect("every node has its branch")
    }

    /// Pairs that have nothing between them but affixes: a language with a mask, and another one of its script.
    pub fn clones(&self) -> Vec<[Language; 2]> {
        let spoken = || self.nodes.iter().enumerate().filter_map(|(at, node)| Some((at, node, node.language?)));
        let masked = spoken().filter(|(_, node, _)| node.mask_share > 0.0);
        let pairs = masked.flat_map(|masked| spoken().map(move |other| (masked, other)));
        let alike = |&((one, node, _), (other, like, _)): &((usize, &Node, Language), (usize, &Node, Language))| {
            one != other && node.script == like.script && self.are_together(one, other)
        };
        pairs.filter(alike).map(|((.., masked), (.., other))| [masked, other]).collect()
    }

    /// Whether nothing is asked to change on the way from one node to the other.
    pub(crate) fn are_together(&self, one: usize, other: usize) -> bool {
        let up = |from: usize| std::iter::successors(Some(from), |&node| self.nodes[node].parent).collect::<Vec<_>>();
        let (one, other) = (up(one), up(other));
        let moved = |node: &usize| self.branch_of(*node).distance > 0.0;
        let apart = |path: &[usize], from: &[usize]| path.iter().filter(|node| !from.contains(node)).any(moved);
        !apart(&one, &other) && !apart(&other, &one)
    }
}

fn check_names(list: &[LanguageEntry]) -> Result<()> {
    for (at, LanguageEntry { name, .. }) in list.iter().enumerate() {
        let plain = name.chars().next().is_some_and(|c| c.is_ascii_alphabetic())
            && name.chars().all(|c| c.is_ascii_alphanumeric())
            && name.len() <= 20
            && name != "all";
        let given = format!("`{name}`");
        require(plain, "languages.name", &given, "a letter, then letters and digits, 20 at most, and not `all`")?;
        let once = !list[..at].iter().any(|other| other.name.eq_ignore_ascii_case(name));
        require(once, "languages.name", &given, "a name that no other language has, in small letters or capitals")?;
    }
    Ok(())
}

fn find(list: &[LanguageEntry], entry: &LanguageEntry, parent: &str) -> Result<usize> {
    let others: Vec<&str> = list.iter().map(|other| &*other.name).filter(|name| *name != entry.name).collect();
    let found = list.iter().position(|other| other.name == parent && other.name != entry.name);
    let allowed = match &others[..] {
        [] => "left out: there is no other language".into(),
        others => format!("one of {}, or left out for the proto-language", others.join(", ")),
    };
    require(found.is_some(), format!("languages.{}.parent", entry.name), format!("`{parent}`"), allowed)?;
    Ok(found.unwrap_or(0))
}

/// Parents before children, siblings together; an error if some node never comes.
fn branches(config: &LanguageConfig, list: &[LanguageEntry], nodes: &[Node]) -> Result<Vec<Branch>> {
    let mut branches: Vec<Branch> = Vec::new();
    let mut parents = vec![None];
    let mut next = 0;
    while next < parents.len() {
        let parent = parents[next];
        next += 1;
        let children: Vec<usize> = (0..nodes.len()).filter(|&node| nodes[node].parent == parent).collect();
        let siblings: Vec<usize> = children.iter().copied().filter(|&node| list[node].distance.is_none()).collect();
        let (first, further) = siblings.split_at(siblings.len().min(2));
        let distance = config.distance;
        if !first.is_empty() {
            branches.push(Branch { parent, nodes: first.to_vec(), distance, sibling_of: None });
        }
        let sibling_of = branches.len().checked_sub(1);
        branches.extend(further.iter().map(|&node| Branch { parent, nodes: vec![node], distance, sibling_of }));
        for &node in &children {
            if let Some(distance) = list[node].distance {
                branches.push(Branch { parent, nodes: vec![node], distance, sibling_of: None });
            }
        }
        parents.extend(children.into_iter().map(Some));
    }
    match (0..nodes.len()).find(|&node| !parents.contains(&Some(node))) {
        None => Ok(branches),
        Some(lost) => Err(Error::mismatch(format!("`languages` goes in a circle: {}", circle(nodes, lost)))),
    }
}

/// `B descends from C, C from B`
fn circle(nodes: &[Node], start: usize) -> String {
    // So many steps up lead into the circle, wherever the start is.
    let parent = |node: usize| nodes[node].parent.unwrap_or(node);
    let inside = (0..nodes.len()).fold(start, |node, _| parent(node));
    let mut steps = vec![format!("{} descends from {}", nodes[inside].name, nodes[parent(inside)].name)];
    let mut node = parent(inside);
    while node != inside {
        steps.push(format!("{} from {}", nodes[node].name, nodes[parent(node)].name));
        node = parent(node);
    }
    steps.join(", ")
}
