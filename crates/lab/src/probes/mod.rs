//! Probes: what a model is asked at an evaluation, and what is measured from its answers.
//!
//! A [`Probe`] states its [`Queries`]: prompts to decode, continuations to score and rank, sequences for a loss or a
//! gradient, hidden states, scores with some hidden states replaced, weights. An [`evaluation`] sends the queries of all probes to a language
//! model together, and hands each probe the [`Answers`] to its own.
//!
//! To add a probe, write a file here with a `probe` function and add a line to `PROBES`. `inside/residual_norm.rs` is a
//! small example. What a probe asks is fixed for a data seed and a tokenizer, and shared by all members that have both.

pub mod by_logits;
pub mod contrast;
mod contrast_queries;
pub mod evaluation;
pub mod forms;
mod friends;
pub mod generation;
pub mod held_out;
pub mod inside;
pub mod language_model;
pub mod ngrams;
pub mod reachability;
mod symbol_kinds;

use crate::error::{Error, Result};
use crate::experiment::Experiment;
use crate::inputs::tokenized::TokenizedText;
use contrast::ContrastProbe;
use invitro_language::{Language, Languages, Symbol};
use invitro_model::inference::{HiddenQuery, LayerStates};
use invitro_model::{ContinuationScores, Decoded, Loss, Prompt, ScoreQuery, TokenSequence};
use invitro_results::words::{Contrasts, Sample};
use invitro_results::{Rows, Scorer};
use invitro_tokenizer::{Kind, Segmentation, Tokenizer, TokenizerConfig};
use language_model::{LayerGradients, ModelWeights};
use reachability::ReachabilityProbe;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

type MakeProbe = fn(&Setup) -> Result<Option<Arc<dyn Probe>>>;

/// Every probe with its name, in the order in which their rows are written.
const PROBES: &[(&str, MakeProbe)] = &[
    ("generation", generation::probe),
    ("reach", reachability::probe),
    ("contrast", contrast::probe),
    ("forms", forms::probe),
    ("friends", friends::probe),
    ("ngrams", ngrams::probe),
    ("loss", held_out::probe),
    ("residual_norm", inside::residual_norm::probe),
    ("words", inside::words::probe),
    ("sentences", inside::sentences::probe),
    ("lens", inside::lens::probe),
    ("gradients", inside::gradients::probe),
    ("piece_rows", inside::piece_rows::probe),
    ("patching", inside::patching::probe),
];

/// Something that is measured by asking a model.
pub trait Probe: Send + Sync {
    /// What it asks at a step.
    fn queries(&self, step: u64) -> Queries;
    /// Turns the answers to its queries into rows.
    fn record(&self, answers: &Answers, record: &mut Record);
    /// What the settings ask for and this world does not have, a sentence each.
    fn notes(&self, _experiment: &Experiment) -> Vec<String> {
        Vec::new()
    }
}

/// What a probe asks of one model. Order matters: answers come back in the same.
#[derive(Clone, Debug, Default)]
pub struct Queries {
    /// Prompts to decode.
    pub prompts: Vec<Prompt>,
    /// Continuations to score and rank.
    pub scores: Vec<ScoreQuery>,
    /// Batches of sequences whose loss is wanted, each of at most [`batch_rows`] rows.
    pub losses: Vec<Vec<TokenSequence>>,
    /// Hidden states at layers and positions.
    pub hidden: Vec<HiddenQuery>,
    /// Continuations to score while hidden states are replaced.
    pub patched: Vec<PatchQuery>,
    /// Batches of sequences whose gradients are wanted, each of at most [`batch_rows`] rows.
    pub gradients: Vec<Vec<TokenSequence>>,
    /// Whether the weights are wanted.
    pub weights: bool,
}

/// A score query whose prompt is read with the hidden state at one layer and position taken from another sequence.
#[derive(Clone, Debug)]
pub struct PatchQuery {
    pub query: ScoreQuery,
    pub layer: usize,
    /// Position in the prompt.
    pub position: usize,
    /// The sequence that gives the state, and the position it is read at.
    pub donor: (Vec<u32>, usize),
}

/// The answers to a probe's queries, kind by kind in the order of the queries.
#[derive(Clone, Default)]
pub struct Answers {
    pub decoded: Vec<Decoded>,
    pub scores: Vec<ContinuationScores>,
    pub losses: Vec<Loss>,
    pub hidden: Vec<LayerStates>,
    pub patched: Vec<ContinuationScores>,
    pub gradients: Vec<LayerGradients>,
    pub weights: Option<Arc<ModelWeights>>,
}

/// What one evaluation of one model measured.
pub struct Record<'a> {
    pub step: u64,
    /// Whose answers these are: the network's or an n-gram model's.
    pub scorer: Scorer,
    /// Whether to write the rows of n-gram models, which are the same at every step.
    pub with_baselines: bool,
    pub languages: &'a Languages,
    pub text: &'a TokenizedText,
    pub rows: Rows,
    pub samples: Vec<Sample>,
    pub contrasts: Contrasts,
}

/// What probes are made from.
pub struct Setup<'a> {
    pub experiment: &'a Experiment,
    pub languages: &'a Languages,
    pub text: &'a TokenizedText,
    /// The words of the contrast, which other probes use as well.
    pub contrast: Arc<ContrastProbe>,
    pub reachability: Arc<ReachabilityProbe>,
    /// The probes made so far.
    pub probes: Vec<Arc<dyn Probe>>,
}

/// The probes of one data seed and tokenizer.
#[derive(Clone)]
pub struct ProbeSet {
    names: Vec<&'static str>,
    probes: Vec<Arc<dyn Probe>>,
    contrast: Arc<ContrastProbe>,
    reachability: Arc<ReachabilityProbe>,
    /// With `eval.rank`: see [`ranks`].
    ranks: HashMap<(Language, Symbol), u32>,
}

impl ProbeSet {
    pub fn new(experiment: &Experiment, languages: &Languages, text: &TokenizedText) -> Result<ProbeSet> {
        let contrast = Arc::new(ContrastProbe::new(languages, text, &experiment.eval, text.vocab()));
        let reachability = Arc::new(ReachabilityProbe::new(languages, text, &experiment.eval, text.vocab()));
        let mut setup = Setup { experiment, languages, text, contrast, reachability, probes: Vec::new() };
        let mut names = Vec::new();
        for (name, probe) in PROBES {
            if let Some(made) = probe(&setup)? {
                names.push(*name);
                setup.probes.push(made);
            }
        }
        let Setup { probes, contrast, reachability, .. } = setup;
        let ranks = if experiment.eval.rank { ranks(experiment, languages)? } else { HashMap::new() };
        Ok(ProbeSet { names, probes, contrast, reachability, ranks })
    }

    /// The probes of these names alone.
    pub fn only(&self, wanted: &[String]) -> Result<ProbeSet> {
        if let Some(unknown) = wanted.iter().find(|name| !self.names.contains(&name.as_str())) {
            let is_off = PROBES.iter().any(|(name, _)| name == unknown);
            let why = if is_off { "is switched off in this experiment" } else { "is no probe" };
            return Err(Error::Inputs(format!("`{unknown}` {why}: there are {}", self.names.join(", "))));
        }
        let own = self.names.iter().zip(&self.probes).filter(|(name, _)| wanted.iter().any(|one| one == *name));
        let (names, probes) = own.map(|(name, probe)| (*name, probe.clone())).unzip();
        Ok(ProbeSet { names, probes, ..self.clone() })
    }

    /// Adds a probe of the caller's own after these.
    pub fn push(&mut self, probe: Arc<dyn Probe>) {
        self.names.push("own");
        self.probes.push(probe);
    }

    /// What the settings ask for and this world does not have, a sentence each.
    pub fn notes(&self, experiment: &Experiment) -> Vec<String> {
        self.probes.iter().flat_map(|probe| probe.notes(experiment)).collect()
    }

    /// The masked words of the contrast, in the order of their values in [`Contrasts`], each with the language it is masked
    /// in.
    pub fn contrast_words(&self) -> impl Iterator<Item = (Language, Symbol)> {
        self.contrast.masked()
    }

    /// The masked words that reachability may find, each with the language it is masked in.
    pub fn reachable_words(&self) -> HashSet<(Symbol, Language)> {
        self.reachability.masked_targets()
    }

    /// A masked word's rank, with `eval.rank`.
    pub fn rank(&self, word: (Language, Symbol)) -> Option<u32> {
        self.ranks.get(&word).copied()
    }
}

/// The ranks of the masked words that a tokenizer of 2 |V| pieces has as one piece: the piece's id, and ids are in the order of
/// learning. Since merges are learned one by one, the tokenizer of |V| pieces has those below |V| as one piece, and no others.
fn ranks(experiment: &Experiment, languages: &Languages) -> Result<HashMap<(Language, Symbol), u32>> {
    let own = &experiment.tokenizer;
    if !own.file.is_empty() || !matches!(own.kind, Kind::Bpe | Kind::Wordpiece) {
        return Ok(HashMap::new());
    }
    let config = TokenizerConfig { vocab: 2 * own.vocab, allow_shortfall: true, ..own.clone() };
    let tokenizer = Tokenizer::train(languages, &config, &experiment.mixture)?;
    let segmentation = Segmentation::new(&tokenizer, languages)?;
    let words = languages
        .masked()
        .flat_map(|language| languages.mask(language).symbols().iter().map(move |&symbol| (language, symbol)));
    let rank = |(language, symbol)| match segmentation.core(symbol, language) {
        &[piece] => Some(((language, symbol), piece)),
        _ => None,
    };
    Ok(words.filter_map(rank).collect())
}

/// Rows of a batch of held-out sequences, which a population must have room for. The same for every population, however
/// its members are made up: sums are taken batch by batch, and a member's must not depend on who is evaluated beside it.
pub fn batch_rows(context: usize) -> usize {
    4 * context
}

impl<'a> Record<'a> {
    pub fn new(step: u64, languages: &'a Languages, text: &'a TokenizedText, with_baselines: bool) -> Record<'a> {
        Record {
            step,
            scorer: Scorer::Network,
            with_baselines,
            languages,
            text,
            rows: Rows::new(step),
            samples: Vec::new(),
            contrasts: Contrasts { step, ..Contrasts::default() },
        }
    }
}
