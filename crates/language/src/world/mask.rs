//! The mask V†: descriptors whose forms in a language are withheld from training, each by itself or all values of a
//! property (`language.mask`). Every entity keeps both masked and unmasked descriptors that Γ allows.

use crate::error::{Error, Result};
use crate::family::{Family, Node};
use crate::world::World;
use crate::world::symbol::Symbol;
use invitro_base::random::{Rng, Stream};
use invitro_base::settings::{MaskUnit, SettingError};

/// The masked words of a language.
#[derive(Clone, Debug)]
pub struct Mask {
    masked: Vec<bool>,
    symbols: Vec<Symbol>,
}

impl Mask {
    /// The mask of every node; an error if a symbol would be masked in all languages.
    pub(crate) fn of_family(world: &World, family: &Family, seed: u64) -> Result<Vec<Mask>> {
        let nodes = family.nodes();
        let mut masks = vec![Mask::none(world); nodes.len()];
        let mut first = true;
        let purpose = match world.config.mask {
            MaskUnit::Descriptors => "mask",
            MaskUnit::Properties => "mask of properties",
        };
        for (at, node) in nodes.iter().enumerate().filter(|(_, node)| node.mask_share > 0.0) {
            // The first stream's name determines the paper's mask: it must not change.
            let name = if std::mem::take(&mut first) { purpose.to_owned() } else { format!("{purpose}/{}", node.name) };
            let stream = Stream::new(seed, &name);
            let drawn = |share: f64| Mask::new(world, share, &mut stream.at(0, 0));
            masks[at] = match drawn(node.mask_share) {
                Some(mask) => mask,
                None => return Err(unusable(world, node, drawn)),
            };
        }
        let languages = || nodes.iter().zip(&masks).filter(|(node, _)| node.language.is_some());
        let everywhere = world.descriptors().filter(|&symbol| languages().all(|(_, mask)| mask.contains(symbol)));
        match everywhere.count() {
            0 => Ok(masks),
            count => {
                let names: Vec<&str> = languages().map(|(node, _)| &*node.name).collect();
                Err(Error::mismatch(format!(
                    "{count} descriptors would be masked in every language ({}), so that no training text has them: \
                     leave one language's `mask_share` at 0",
                    names.join(", ")
                )))
            }
        }
    }

    /// No masked words.
    pub(crate) fn none(world: &World) -> Mask {
        Mask { masked: vec![false; world.len()], symbols: Vec::new() }
    }

    /// A mask of this share; `None` if it would leave an entity without masked or without unmasked valid descriptors.
    fn new(world: &World, share: f64, rng: &mut Rng) -> Option<Mask> {
        let masked = match world.config.mask {
            MaskUnit::Descriptors => Mask::draw_descriptors(world, share, rng)?,
            MaskUnit::Properties => Mask::draw_properties(world, share, rng)?,
        };
        let symbols = world.descriptors().filter(|s| masked[s.index()]).collect();
        Some(Mask { masked, symbols })
    }

    /// All values of a share of each class's properties.
    fn draw_properties(world: &World, share: f64, rng: &mut Rng) -> Option<Vec<bool>> {
        let mut masked = vec![false; world.len()];
        for class in world.classes() {
            let mut properties = world.properties(class).to_vec();
            let wanted = world.config.masked_properties(share, properties.len());
            if wanted == 0 || wanted == properties.len() {
                return None;
            }
            rng.shuffle(&mut properties);
            for &property in &properties[..wanted] {
                (0..world.config.values).for_each(|value| masked[world.descriptor(property, value).index()] = true);
            }
        }
        Some(masked)
    }

    /// A share of all descriptors.
    fn draw_descriptors(world: &World, share: f64, rng: &mut Rng) -> Option<Vec<bool>> {
        let mut order: Vec<Symbol> = world.descriptors().collect();
        let wanted = world.config.masked_words(share);
        rng.shuffle(&mut order);
        let mut masked = vec![false; world.len()];
        for &symbol in order.iter().take(wanted) {
            masked[symbol.index()] = true;
        }
        let repaired = wanted > 0 && wanted < order.len() && repair(world, &mut masked, rng);
        repaired.then_some(masked)
    }

    /// Whether a symbol is masked.
    #[inline]
    pub fn contains(&self, symbol: Symbol) -> bool {
        self.masked[symbol.index()]
    }

    /// The masked symbols in rising order.
    pub fn symbols(&self) -> &[Symbol] {
        &self.symbols
    }

    /// Whether a sentence has a masked word.
    #[inline]
    pub fn touches(&self, symbols: &[Symbol]) -> bool {
        !self.symbols.is_empty() && symbols.iter().any(|&s| self.contains(s))
    }
}

/// The error for a share that gives no mask, with the nearest hundredth that does.
fn unusable(world: &World, node: &Node, drawn: impl Fn(f64) -> Option<Mask>) -> Error {
    let all = world.descriptors().count();
    let mut shares: Vec<f64> = (1..100).map(|hundredth| f64::from(hundredth) / 100.0).collect();
    shares.sort_by(|a, b| (a - node.mask_share).abs().total_cmp(&(b - node.mask_share).abs()));
    let works = match (shares.into_iter().find(|share| drawn(*share).is_some()), world.config.mask) {
        (Some(share), _) => format!("{share} does here"),
        (None, MaskUnit::Descriptors) => {
            "none does in this world, which needs more descriptors for each entity".into()
        }
        (None, MaskUnit::Properties) => {
            "none does in this world, which needs at least 2 properties of descriptors for each class, beside those of its \
             nouns and names (`language.properties`)"
                .into()
        }
    };
    let given = format!("{} ({} of {all} descriptors)", node.mask_share, world.config.masked_words(node.mask_share));
    let allowed = format!("a share that leaves every entity both masked and unmasked valid descriptors: {works}");
    SettingError::Range { key: node.mask_key(), given, allowed }.into()
}

/// Swaps masked and unmasked descriptors until every entity has both kinds; false if this fails. The paper's world needs
/// no swap, tiny worlds need a few.
fn repair(world: &World, masked: &mut [bool], rng: &mut Rng) -> bool {
    // One entity represents all with the same Γ: those of a class whose keys agree modulo the number of values.
    let is_first = |e: &Symbol| world.key(*e).is_some_and(|key| (key as usize) < world.config.values);
    let kinds: Vec<Vec<Symbol>> = world.entities().filter(is_first).map(|e| world.allowed(e)).collect();
    let mut kinds_of = vec![Vec::new(); world.len()];
    for (kind, allowed) in kinds.iter().enumerate() {
        for d in allowed {
            kinds_of[d.index()].push(kind);
        }
    }
    let mut count: Vec<usize> =
        kinds.iter().map(|allowed| allowed.iter().filter(|d| masked[d.index()]).count()).collect();
    let descriptors: Vec<Symbol> = world.descriptors().collect();
    for _ in 0..1000 + 100 * kinds.len() {
        let lacking = (0..kinds.len()).find(|&k| count[k] == 0 || count[k] == kinds[k].len());
        let Some(kind) = lacking else { return true };
        let give = count[kind] == 0;
        let flip = kinds[kind][rng.index(kinds[kind].len())];
        // A random partner flips the other way, such that every other entity keeps both kinds.
        let partner = (0..200).map(|_| descriptors[rng.index(descriptors.len())]).find(|&d| {
            masked[d.index()] == give
                && kinds_of[d.index()]
                    .iter()
                    .all(|&k| k != kind && if give { count[k] > 1 } else { count[k] + 1 < kinds[k].len() })
        });
        let Some(partner) = partner else { continue };
        for (symbol, now) in [(flip, give), (partner, !give)] {
            masked[symbol.index()] = now;
            for &k in &kinds_of[symbol.index()] {
                count[k] = if now { count[k] + 1 } else { count[k] - 1 };
            }
        }
    }
    false
}
