//! Which cells train together: the next population, from the cells nobody has taken.
//!
//! It starts with the first open cell of the study's order and is filled with cells of the same
//! [`Experiment::population_key`]:
//! those at the same step first (others would have to wait for them), of the same data seed (their batches have
//! nearly the same number of tokens, so little is padded), and then in the study's order.

use super::file::Cell;
use crate::experiment::Experiment;
use std::collections::{BTreeMap, HashMap, VecDeque};

/// A cell that may be taken, and the step it stands at.
#[derive(Debug, Clone, Copy)]
pub struct Open<'a> {
    pub cell: &'a Cell,
    pub step: u64,
}

/// Open cells, sorted by what may train together.
pub struct OpenCells<'a> {
    /// By population key, step and data seed; each queue in the study's order.
    queues: BTreeMap<(&'a str, u64, u64), VecDeque<(usize, Open<'a>)>>,
}

impl<'a> OpenCells<'a> {
    /// `open` in the study's order.
    pub fn new(open: impl IntoIterator<Item = Open<'a>>) -> OpenCells<'a> {
        let mut queues: BTreeMap<_, VecDeque<_>> = BTreeMap::new();
        for (at, open) in open.into_iter().enumerate() {
            let place = (open.cell.population_key.as_str(), open.step, open.cell.data_seed);
            queues.entry(place).or_default().push_back((at, open));
        }
        OpenCells { queues }
    }

    /// The cell the next population starts with.
    pub fn first(&self) -> Option<Open<'a>> {
        self.queues.values().filter_map(VecDeque::front).min_by_key(|(at, _)| *at).map(|(_, open)| *open)
    }

    /// Takes the cell that trains best with `first`; `None` when no other may train with it.
    pub fn take_with(&mut self, first: Open) -> Option<Open<'a>> {
        let fit = |((key, step, data), queue): (&(&'a str, u64, u64), &VecDeque<(usize, Open<'a>)>)| {
            let at = queue.front()?.0;
            let fits = *key == first.cell.population_key;
            fits.then_some(((*step != first.step, *data != first.cell.data_seed, at), (*key, *step, *data)))
        };
        let (_, best) = self.queues.iter().filter_map(fit).min()?;
        let queue = self.queues.get_mut(&best)?;
        let taken = queue.pop_front().map(|(_, open)| open);
        if queue.is_empty() {
            self.queues.remove(&best);
        }
        taken
    }
}

/// Members below which a population is not made smaller for the sake of balance: eight of the paper's model and batch give
/// a GPU enough to do, fewer where a member's step is more work.
fn least(experiment: &Experiment) -> usize {
    let (model, batch) = (&experiment.model, experiment.train.batch);
    let work = model.width * model.width * model.layers * batch;
    (8 * 256 * 256 * 4 * 64usize).div_ceil(work.max(1)).clamp(1, 8)
}

/// How large populations are where several workers train at once: as large as may be, and such that the workers have as
/// many to do each. A function of the study's cells, of what fits and of the number of workers, and not of what is
/// done already: on a GPU the last bits of a run depend on the size of its population.
#[derive(Debug)]
pub struct PopulationSizes {
    by_key: HashMap<String, usize>,
    all: usize,
    workers: usize,
}

impl PopulationSizes {
    pub fn new<'a>(cells: impl IntoIterator<Item = &'a Cell>, workers: usize) -> PopulationSizes {
        let mut sizes = PopulationSizes { by_key: HashMap::new(), all: 0, workers };
        for cell in cells {
            *sizes.by_key.entry(cell.population_key.clone()).or_default() += 1;
            sizes.all += 1;
        }
        sizes
    }

    /// Members of populations of cells like this one; at most `capacity` may train together.
    pub fn members(&self, cell: &Cell, capacity: usize) -> usize {
        let alike = self.by_key.get(&cell.population_key).copied().unwrap_or(1);
        match self.workers {
            0 | 1 => capacity,
            workers => balanced(alike, self.all, capacity, workers, least(&cell.experiment)),
        }
    }
}

/// Members of the populations of `alike` cells, out of `all`; `least` of them keep a GPU busy.
///
/// ```
/// use invitro_lab::study::grouping::balanced;
/// assert_eq!(balanced(96, 96, 32, 2, 8), 24); // two populations each, instead of 32, 32 and 32
/// assert_eq!(balanced(288, 864, 32, 2, 8), 29); // ten of each of three shapes
/// assert_eq!(balanced(12, 12, 32, 2, 8), 12); // six would leave a GPU too little to do
/// assert_eq!(balanced(12, 12, 12, 3, 1), 4); // but not four larger models
/// assert_eq!(balanced(5, 5, 4, 2, 8), 3); // more than fit are never put together
/// ```
pub fn balanced(alike: usize, all: usize, capacity: usize, workers: usize, least: usize) -> usize {
    let rounds = all.div_ceil(capacity * workers).max(1);
    let size = all.div_ceil(rounds * workers).max(1);
    let enough = (alike / least.min(capacity)).max(alike.div_ceil(capacity));
    let populations = alike.div_ceil(size).min(enough).max(1);
    alike.div_ceil(populations).max(1)
}

/// All cells as populations of at most `size` members each: what `plan` shows and a Slurm array runs.
pub fn populations<'a>(open: impl IntoIterator<Item = Open<'a>>, size: impl Fn(&Cell) -> usize) -> Vec<Vec<Open<'a>>> {
    let mut pool = OpenCells::new(open);
    let mut all = Vec::new();
    while let Some(first) = pool.first() {
        let size = size(first.cell).max(1);
        let mut members: Vec<Open> = std::iter::from_fn(|| pool.take_with(first)).take(size).collect();
        // Equal data seeds side by side.
        members.sort_by_key(|member| member.cell.data_seed);
        all.push(members);
    }
    all
}
