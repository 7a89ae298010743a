//! Tokenizers over a grid of settings, measured and bridged, without a model anywhere.

use crate::bridge::{Bridges, Similarity};
use crate::config::{Regime, TokenizerConfig};
use crate::error::Result;
use crate::measure::Measures;
use crate::sample::{SENTENCES, Sample};
use crate::segmentation::Segmentation;
use crate::tokenizer::Tokenizer;
use invitro_language::{LanguageConfig, Languages, MixtureConfig};
use rayon::prelude::*;
use serde::Serialize;

/// The levels of each factor; every combination is a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    pub vocab: Vec<usize>,
    pub regime: Vec<Regime>,
    pub lambda: Vec<f64>,
    pub distance: Vec<f64>,
    pub seeds: Vec<u64>,
}

impl Grid {
    /// The paper's factors.
    pub fn paper() -> Grid {
        Grid {
            vocab: vec![2048, 4096, 8192],
            regime: vec![Regime::Vanilla, Regime::Balanced],
            lambda: vec![0.05, 0.1, 0.25, 0.5],
            distance: vec![0.0, 0.25, 0.5, 0.75],
            seeds: vec![0],
        }
    }

    /// How many cells there are.
    pub fn len(&self) -> usize {
        self.vocab.len() * self.regime.len() * self.lambda.len() * self.distance.len() * self.seeds.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// One combination of levels and what came of it.
#[derive(Clone, Debug, Serialize)]
pub struct Cell {
    pub vocab: usize,
    pub regime: Regime,
    pub lambda: f64,
    pub distance: f64,
    pub seed: u64,
    /// |V| as reached.
    pub reached: usize,
    pub measures: Measures,
    pub bridge: Similarity,
    pub cognate_bridge: Similarity,
}

/// Every cell of the grid, seeds and distances outermost, in order; on all cores. `done` is told of every few that are.
pub fn sweep(
    grid: &Grid,
    language: &LanguageConfig,
    mixture: &MixtureConfig,
    tokenizer: &TokenizerConfig,
    done: &(dyn Fn(usize) + Sync),
) -> Result<Vec<Cell>> {
    let languages: Vec<(u64, f64)> =
        grid.seeds.iter().flat_map(|&seed| grid.distance.iter().map(move |&distance| (seed, distance))).collect();
    let grounds: Vec<(Languages, Sample)> = languages
        .into_par_iter()
        .map(|(seed, distance)| {
            let languages = Languages::new(&LanguageConfig { distance, ..language.clone() }, seed)?;
            let sample = Sample::text(&languages, SENTENCES)?;
            Ok((languages, sample))
        })
        .collect::<Result<_>>()?;
    let mut cells = Vec::with_capacity(grid.len());
    for ground in &grounds {
        for &regime in &grid.regime {
            // One tokenizer serves all levels of a mixture it does not see.
            let seen = if regime.sees_mixture() { &grid.lambda[..] } else { &grid.lambda[..1] };
            for &lambda in seen {
                for &vocab in &grid.vocab {
                    cells.push((ground, regime, lambda, vocab));
                }
            }
        }
    }
    let cell = |((languages, sample), regime, lambda, vocab): (&(Languages, Sample), Regime, f64, usize)| {
        let mixture = MixtureConfig { lambda, ..mixture.clone() };
        let trained = Tokenizer::train(languages, &TokenizerConfig { vocab, regime, ..tokenizer.clone() }, &mixture)?;
        let segmentation = Segmentation::new(&trained, languages)?;
        let bridges = Bridges::new(&segmentation, languages);
        let cell = Cell {
            vocab,
            regime,
            lambda,
            distance: languages.config.distance,
            seed: languages.seed,
            reached: trained.vocab_size(),
            measures: Measures::new(&segmentation, languages, sample),
            bridge: bridges.mean(),
            cognate_bridge: bridges.mean_cognate(),
        };
        let serves = if regime.sees_mixture() { vec![lambda] } else { grid.lambda.clone() };
        done(serves.len());
        Ok(serves.into_iter().map(|lambda| Cell { lambda, ..cell.clone() }).collect::<Vec<_>>())
    };
    let cells: Vec<Vec<Cell>> = cells.into_par_iter().map(cell).collect::<Result<_>>()?;
    let mut cells: Vec<Cell> = cells.into_iter().flatten().collect();
    let place = |levels: &[f64], level: f64| levels.iter().position(|&l| l == level);
    cells.sort_by_key(|c| {
        let seed = grid.seeds.iter().position(|&s| s == c.seed);
        let regime = grid.regime.iter().position(|&r| r == c.regime);
        let vocab = grid.vocab.iter().position(|&v| v == c.vocab);
        (seed, place(&grid.distance, c.distance), regime, place(&grid.lambda, c.lambda), vocab)
    });
    Ok(cells)
}
