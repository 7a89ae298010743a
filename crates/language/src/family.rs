//! A family of languages: the tree of the `[[languages]]` of an experiment file.
//!
//! The root of the tree is the proto-language, which has no entry. A language descends from its `parent`, by default the
//! root, at a given `distance`. Children of one parent without a distance are siblings: they drift at one rate, which
//! puts the first two `language.distance` apart. The paper's pair A and B is a family of two siblings, and further
//! siblings do not change it:
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
use crate::lexicon::history::laws::law::Laws;
use crate::world::symbol::Language;
use invitro_base::settings::{LanguageConfig, LanguageEntry, MixtureConfig, Morphology, require};

/// The most entries a family may have.
pub const MOST: usize = 64;

/// How the stems of a language change from its parent's.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// By edits of letters.
    Edits,
    /// By sound laws that are drawn at random.
    Rules,
    /// By the sound laws of a file.
    Laws(Laws),
}

impl Change {
    fn new(given: &str) -> Result<Change> {
        Ok(match given {
            "edits" => Change::Edits,
            "rules" => Change::Rules,
            file => Change::Laws(Laws::load(file)?),
        })
    }

    /// Whether it is without exceptions.
    pub(crate) fn is_regular(&self) -> bool {
        *self != Change::Edits
    }
}

/// An entry as a node of the tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// The node it descends from; `None` for the proto-language.
    pub parent: Option<usize>,
    /// Its language, if it is spoken.
    pub language: Option<Language>,
    /// Its grammar: a built-in name or a file.
    pub grammar: String,
    /// The number of its alphabet.
    pub script: usize,
    /// The share of descriptors that are masked.
    pub mask_share: f64,
    /// How its stems change from its parent's.
    pub change: Change,
    /// How its words are made of their stems.
    pub morphology: Morphology,
    /// Whether affixes agree with the stem's vowels.
    pub harmony: bool,
    /// The share of its words with stems of the first language.
    pub loans: f64,
    /// The share of its words that mean something else in the first language.
    pub false_friends: f64,
    /// The size of its text, if given.
    share: Option<f64>,
    /// Whether an experiment file lists it; the default pair needs no list.
    listed: bool,
}

impl Node {
    /// The setting of its mask.
    pub(crate) fn mask_key(&self) -> String {
        if self.listed { format!("languages.{}.mask_share", self.name) } else { "language.mask_share".into() }
    }
}

/// A branch of the tree: one language, or two siblings, leaving a parent.
#[derive(Clone, Debug, PartialEq)]
pub struct Branch {
    /// The parent node; `None` for the proto-language.
    pub parent: Option<usize>,
    /// One node, calibrated against its parent; or two siblings, calibrated against each other.
    pub nodes: Vec<usize>,
    /// The lexical distance to calibrate for.
    pub distance: f64,
    /// Whether the laws of a file decide the distance.
    pub by_file: bool,
    /// For a further sibling, the index of the first two siblings' branch, whose rate it shares.
    pub sibling_of: Option<usize>,
}

impl Branch {
    /// Whether these are two siblings of the root, such as A and B.
    pub(crate) fn is_root_pair(&self) -> bool {
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
    /// The tree of a list of entries; A and B if the list is empty.
    pub fn new(config: &LanguageConfig, list: &[LanguageEntry]) -> Result<Family> {
        let mut pair =
            [LanguageEntry::new("A"), LanguageEntry { mask_share: config.mask_share, ..LanguageEntry::new("B") }];
        let listed = !list.is_empty();
        if !matches!(&*config.change, "edits" | "rules") {
            // The file's laws make B from the proto-language, which A preserves.
            pair[0] = LanguageEntry { distance: Some(0.0), change: Some("edits".into()), ..pair[0].clone() };
            require(
                !listed || list.iter().all(|entry| entry.change.is_some()),
                "language.change",
                "the path of a file",
                "edits or rules beside `languages`: give the file as `change` of the languages that it makes",
            )?;
        }
        let list = if listed { list } else { &pair };
        let count: usize = list.iter().map(|entry| entry.copies).fold(0, usize::saturating_add);
        require(count <= MOST, "languages", format!("a list of {count}"), format!("at most {MOST} languages"))?;
        let list: Vec<LanguageEntry> = list.iter().flat_map(LanguageEntry::copies).collect();
        let list = &list[..];
        check_names(list)?;
        let mut languages = 0;
        let mut nodes = Vec::with_capacity(list.len());
        for entry in list {
            entry.validate()?;
            let parent = entry.parent.as_ref().map(|parent| find_parent(list, entry, parent)).transpose()?;
            let language = entry.spoken.then(|| Language::new(languages, &entry.name));
            // The first language is the one that others have loans and false friends of.
            let is_donor = languages == 0;
            let share = |own: Option<f64>, shared: f64| own.unwrap_or(if is_donor { 0.0 } else { shared });
            let (loans, false_friends) =
                (share(entry.loans, config.loans), share(entry.false_friends, config.false_friends));
            for (key, given) in [("loans", loans), ("false_friends", false_friends)] {
                let (key, allowed) =
                    (format!("languages.{}.{key}", entry.name), "0: others take them from the first language");
                require(given == 0.0 || !is_donor, key, given, allowed)?;
            }
            languages += usize::from(entry.spoken);
            nodes.push(Node {
                name: entry.name.clone(),
                parent,
                language,
                grammar: entry.grammar.clone().unwrap_or_else(|| config.grammar.clone()),
                script: entry.script,
                mask_share: entry.mask_share,
                morphology: entry.morphology.unwrap_or(config.morphology),
                harmony: entry.harmony.unwrap_or(config.harmony),
                loans,
                false_friends,
                change: Change::new(entry.change.as_ref().unwrap_or(&config.change))?,
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

    /// Whether an experiment file lists the languages.
    pub fn is_listed(&self) -> bool {
        self.nodes.iter().any(|node| node.listed)
    }

    /// Why a setting has no effect, if every language of the list overrides it.
    pub fn why_unused(list: &[LanguageEntry], key: &str) -> Option<&'static str> {
        let (unused, why) = match key {
            "language.mask_share" => (true, "each language of the list has a `mask_share` of its own"),
            "language.distance" => {
                let all = list.iter().all(|entry| entry.distance.is_some());
                (all, "each language of the list has a `distance` of its own")
            }
            "mixture.lambda" => {
                let mut languages = list.iter().filter(|entry| entry.spoken && entry.copies > 0).skip(1);
                (languages.all(|entry| entry.share.is_some()), "each language of the list has a `share` of its own")
            }
            "language.grammar" => {
                let all = list.iter().all(|entry| entry.grammar.is_some());
                (all, "each language of the list has a `grammar` of its own")
            }
            _ => return None,
        };
        (unused && !list.is_empty()).then_some(why)
    }

    /// The branches: every node is in one branch, after its parent.
    pub fn branches(&self) -> &[Branch] {
        &self.branches
    }

    /// The languages that are spoken.
    pub fn languages(&self) -> Vec<Language> {
        self.nodes.iter().filter_map(|node| node.language).collect()
    }

    /// The node of a language.
    pub fn node(&self, language: Language) -> &Node {
        &self.nodes[self.position(language)]
    }

    /// The place of a language's node.
    pub fn position(&self, language: Language) -> usize {
        self.nodes.iter().position(|node| node.language == Some(language)).expect("a language has its node")
    }

    /// Each language's share of the training rows, before masked rows are redrawn: its size to the power of
    /// `mixture.sampling`, over the sum. With a schedule, the mean over all stages.
    pub fn shares(&self, mixture: &MixtureConfig) -> Vec<f64> {
        let stages = self.stages(mixture);
        let mean = |language: usize| stages.iter().map(|shares| shares[language]).sum::<f64>() / stages.len() as f64;
        (0..stages[0].len()).map(mean).collect()
    }

    /// The shares in every stage of training; one stage without a schedule. A schedule gives the joint share of all
    /// languages but the first, which they divide by their sizes.
    pub fn stages(&self, mixture: &MixtureConfig) -> Vec<Vec<f64>> {
        let sizes = self.sizes(mixture);
        let (first, sum) = (sizes[0], sizes.iter().sum::<f64>());
        let stage = |joint: &f64| {
            let share = |(at, size): (usize, &f64)| if at == 0 { 1.0 - joint } else { joint * size / (sum - first) };
            sizes.iter().enumerate().map(share).collect()
        };
        match &mixture.schedule[..] {
            [] => vec![sizes.iter().map(|size| size / sum).collect()],
            schedule => schedule.iter().map(stage).collect(),
        }
    }

    /// The languages' text sizes to the power of `mixture.sampling`: 1 and λ for the pair.
    pub fn sizes(&self, mixture: &MixtureConfig) -> Vec<f64> {
        let sizes = self.nodes.iter().filter(|node| node.language.is_some()).enumerate();
        let size = |(at, node): (usize, &Node)| node.share.unwrap_or(if at == 0 { 1.0 } else { mixture.lambda });
        sizes.map(size).map(|size| size.powf(mixture.sampling)).collect()
    }

    /// The branch of a node.
    pub(crate) fn branch_of(&self, node: usize) -> &Branch {
        self.branches.iter().find(|branch| branch.nodes.contains(&node)).expect("every node has its branch")
    }

    /// Pairs that differ in affixes only: a masked language, and another language with the same script.
    pub fn clones(&self) -> Vec<[Language; 2]> {
        let languages = || self.nodes.iter().enumerate().filter_map(|(at, node)| Some((at, node, node.language?)));
        let mut pairs = Vec::new();
        for (one, masked, language) in languages().filter(|(_, node, _)| node.mask_share > 0.0) {
            for (other, node, clone) in languages() {
                if one != other && masked.script == node.script && self.have_equal_stems(one, other) {
                    pairs.push([language, clone]);
                }
            }
        }
        pairs
    }

    /// Whether all distances on the path between two nodes are 0.
    pub(crate) fn have_equal_stems(&self, one: usize, other: usize) -> bool {
        let up = |from: usize| std::iter::successors(Some(from), |&node| self.nodes[node].parent).collect::<Vec<_>>();
        let (one, other) = (up(one), up(other));
        let drifted = |node: &usize| self.branch_of(*node).distance > 0.0 || self.branch_of(*node).by_file;
        let differ = |path: &[usize], from: &[usize]| path.iter().filter(|node| !from.contains(node)).any(drifted);
        !differ(&one, &other) && !differ(&other, &one)
    }
}

fn check_names(list: &[LanguageEntry]) -> Result<()> {
    for (at, LanguageEntry { name, .. }) in list.iter().enumerate() {
        let is_valid = name.chars().next().is_some_and(|c| c.is_ascii_alphabetic())
            && name.chars().all(|c| c.is_ascii_alphanumeric())
            && name.len() <= 20
            && name != "all";
        let given = format!("`{name}`");
        require(is_valid, "languages.name", &given, "a letter, then letters and digits, 20 at most, and not `all`")?;
        let is_unique = !list[..at].iter().any(|other| other.name.eq_ignore_ascii_case(name));
        require(
            is_unique,
            "languages.name",
            &given,
            "a name that no other language has, in small letters or capitals",
        )?;
    }
    Ok(())
}

fn find_parent(list: &[LanguageEntry], entry: &LanguageEntry, parent: &str) -> Result<usize> {
    let candidates: Vec<&str> = list.iter().map(|other| &*other.name).filter(|name| *name != entry.name).collect();
    let found = list.iter().position(|other| other.name == parent && other.name != entry.name);
    let allowed = match &candidates[..] {
        [] => "left out: there is no other language".into(),
        names => format!("one of {}, or left out for the proto-language", names.join(", ")),
    };
    require(found.is_some(), format!("languages.{}.parent", entry.name), format!("`{parent}`"), allowed)?;
    Ok(found.unwrap_or(0))
}

/// The branches, parents before children; an error if parents form a circle.
fn branches(config: &LanguageConfig, list: &[LanguageEntry], nodes: &[Node]) -> Result<Vec<Branch>> {
    let mut branches: Vec<Branch> = Vec::new();
    let mut parents = vec![None];
    let mut next = 0;
    while next < parents.len() {
        let parent = parents[next];
        next += 1;
        let children: Vec<usize> = (0..nodes.len()).filter(|&node| nodes[node].parent == parent).collect();
        let by_file = |&node: &usize| matches!(nodes[node].change, Change::Laws(_));
        let is_sibling = |&node: &usize| list[node].distance.is_none() && !by_file(&node);
        let siblings: Vec<usize> = children.iter().copied().filter(is_sibling).collect();
        if let Some(other) = siblings.iter().find(|&&node| nodes[node].change != nodes[siblings[0]].change) {
            return Err(Error::mismatch(format!(
                "{} and {} change in different ways, so that no rate is theirs in common: give each a `distance`",
                nodes[siblings[0]].name, nodes[*other].name
            )));
        }
        let (first, further) = siblings.split_at(siblings.len().min(2));
        let distance = config.distance;
        if !first.is_empty() {
            branches.push(Branch { parent, nodes: first.to_vec(), distance, by_file: false, sibling_of: None });
        }
        let sibling_of = branches.len().checked_sub(1);
        let further = further.iter();
        branches.extend(further.map(|&node| Branch {
            parent,
            nodes: vec![node],
            distance,
            by_file: false,
            sibling_of,
        }));
        for &node in &children {
            let by_file = by_file(&node);
            require(
                !by_file || list[node].distance.is_none(),
                format!("languages.{}.distance", nodes[node].name),
                list[node].distance.unwrap_or_default(),
                "left out: the sound laws of its file decide how far it is from its parent",
            )?;
            if let Some(distance) = list[node].distance.or(by_file.then_some(0.0)) {
                branches.push(Branch { parent, nodes: vec![node], distance, by_file, sibling_of: None });
            }
        }
        parents.extend(children.into_iter().map(Some));
    }
    match (0..nodes.len()).find(|&node| !parents.contains(&Some(node))) {
        None => Ok(branches),
        Some(node) => Err(Error::mismatch(format!("`languages` goes in a circle: {}", circle(nodes, node)))),
    }
}

/// `B descends from C, C from B`
fn circle(nodes: &[Node], start: usize) -> String {
    // After as many steps up as there are nodes, the node is inside the circle.
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
