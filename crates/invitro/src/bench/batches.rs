//! Real batches: of a study's cells that share a data seed.

use anyhow::Result;
use invitro_lab::Experiment;
use invitro_lab::inputs::{InputCache, on_threads};
use invitro_lab::training::data_loader::DataLoader;
use invitro_model::TokenSequence;

/// Experiments of `members` cells: λ, regime and d vary, three model seeds each, as the paper's study orders them.
pub fn cells(vocab: usize, members: usize, settings: &[String]) -> Result<Vec<Experiment>> {
    let levels = |i: usize| {
        let lambda = [0.05, 0.1, 0.25, 0.5][i % 4];
        let regime = ["vanilla", "balanced"][i / 4 % 2];
        let distance = [0.0, 0.25, 0.5, 0.75][i / 8 % 4];
        [
            format!("mixture.lambda={lambda}"),
            format!("tokenizer.regime={regime}"),
            format!("language.distance={distance}"),
            format!("tokenizer.vocab={vocab}"),
            "seeds.data=0".into(),
        ]
    };
    (0..members)
        .map(|member| {
            let mut overrides = levels(member / 3).to_vec();
            overrides.push(format!("seeds.model={}", member % 3));
            overrides.extend_from_slice(settings);
            Ok(Experiment::load(Some("paper"), None, &overrides)?)
        })
        .collect()
}

/// The batches of the first steps, `[step][member]`.
pub fn real(cells: &[Experiment], steps: usize) -> Result<Vec<Vec<Vec<TokenSequence>>>> {
    let cache = InputCache::default();
    let inputs = on_threads(cells, |cell| cache.get(cell)).into_iter().zip(cells);
    let inputs = inputs.map(|(made, cell)| Ok((cell.clone(), made?))).collect::<Result<Vec<_>>>()?;
    let mut loader = DataLoader::start(inputs, 0, rayon::current_num_threads().min(8));
    (0..steps).map(|_| Ok(loader.take()?)).collect()
}

pub fn tokens(batch: &[Vec<TokenSequence>]) -> usize {
    batch.iter().flatten().map(|sequence| sequence.tokens.len() - 1).sum()
}
