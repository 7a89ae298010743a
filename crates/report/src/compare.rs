//! Groups of runs in one page: what differs, what they measured, and their curves.

use crate::claims::{ClaimAnswers, headline};
use crate::figures::{self, Figure};
use crate::page;
use crate::wording::counted;
use invitro_results::Comparison;
use invitro_results::claims::SEEDS;

/// The page, self-contained, and its figure.
pub fn page(comparison: &Comparison) -> (String, Vec<Figure>) {
    let drawn = vec![figures::compare(comparison)];
    (page::compare::page(comparison, &findings(comparison), &reading(comparison), &drawn), drawn)
}

/// Of one group, what a study of it says; of several, nothing beside their differences.
pub fn findings(comparison: &Comparison) -> Vec<String> {
    match comparison.groups[..] {
        [_] => headline(&comparison.study, &ClaimAnswers::new(&comparison.study)),
        _ => Vec::new(),
    }
}

/// How the numbers of the groups are meant.
pub fn reading(comparison: &Comparison) -> Vec<String> {
    let [first, others @ ..] = &comparison.groups[..] else { return Vec::new() };
    let mut notes = Vec::new();
    let seeds: Vec<usize> = comparison.groups.iter().map(|group| comparison.data_seeds(group)).collect();
    let few = seeds.iter().filter(|seeds| **seeds < SEEDS).count();
    if few < seeds.len() {
        notes.push("In brackets: 95 % intervals over data seeds.".to_owned());
    }
    if few > 0 {
        let which = match (few, seeds.len()) {
            (_, 1) => "The group has".to_owned(),
            (few, all) if few == all => "All groups have".to_owned(),
            (1, _) => format!("Group {} has", seeds.iter().position(|seeds| *seeds < SEEDS).unwrap_or(0) + 1),
            (few, all) => format!("{few} of {all} groups have"),
        };
        notes.push(format!(
            "{which} fewer than {SEEDS} data seeds: means without intervals, and differences may be chance."
        ));
    }
    if others.is_empty() {
        notes.push("All runs differ in their seeds alone, so there is one group and no difference.".to_owned());
        return notes;
    }
    if seeds.iter().filter(|seeds| **seeds >= SEEDS).count() > 1 {
        notes.push(differences(comparison, first, others));
    }
    notes
}

/// How differences are taken: within the same seeds, or between samples.
fn differences(
    comparison: &Comparison,
    first: &invitro_results::RunGroup,
    others: &[invitro_results::RunGroup],
) -> String {
    let shared: Vec<Option<usize>> = others.iter().map(|group| comparison.shared_seeds(group, first)).collect();
    let all = |group| comparison.data_seeds(group);
    let same =
        others.iter().zip(&shared).all(|(group, shared)| *shared == Some(all(group)) && all(group) == all(first));
    let how = if same {
        "Differences are from group 1, within the same seeds".to_owned()
    } else if let [Some(shared)] = shared[..] {
        format!("The difference is from group 1, over the {} that both have", counted(shared, "data seed"))
    } else if shared.iter().all(Option::is_none) {
        "Differences are from group 1, of independent samples, since the groups have other data seeds".to_owned()
    } else {
        "Differences are from group 1, over the data seeds that both have, or of independent samples where they share too few".to_owned()
    };
    format!("{how}; of 20 such intervals about one excludes 0 by chance.")
}
