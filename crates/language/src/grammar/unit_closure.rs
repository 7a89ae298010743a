//! Steps to Chomsky normal form: removing silent items with their probability, and summing chains of unit rules (the
//! unit closure) or finding the best chain.

use crate::grammar::{Grammar, RuleItem};

/// The probability that a nonterminal is silent, by iteration from 0.
pub fn silent_probability(grammar: &Grammar) -> Vec<f64> {
    let mut silent = vec![0.0; grammar.nonterminals().len()];
    for _ in 0..10_000 {
        let next: Vec<f64> = (0..silent.len())
            .map(|n| {
                let item_silent = |item: &RuleItem| match item {
                    RuleItem::Silent => 1.0,
                    RuleItem::Word(_) => 0.0,
                    RuleItem::Nonterminal(m) => silent[*m],
                };
                grammar.possible(n).map(|p| p.probability * p.items.iter().map(item_silent).product::<f64>()).sum()
            })
            .collect();
        let change = next.iter().zip(&silent).map(|(a, b): (&f64, &f64)| (a - b).abs()).fold(0.0, f64::max);
        silent = next;
        if change < 1e-16 {
            break;
        }
    }
    silent
}

/// Every way to omit silent items from a rule, with its weight.
pub fn without_silent(items: &[RuleItem], weight: f64, silent: &[f64]) -> Vec<(Vec<RuleItem>, f64)> {
    let mut ways = vec![(Vec::new(), weight)];
    for &item in items {
        match item {
            RuleItem::Silent => {}
            RuleItem::Word(_) => ways.iter_mut().for_each(|(kept, _)| kept.push(item)),
            RuleItem::Nonterminal(n) => {
                let dropped: Vec<_> = ways.iter().filter(|_| silent[n] > 0.0).cloned().collect();
                // A nonterminal that is always silent is always dropped.
                if silent[n] < 1.0 {
                    ways.iter_mut().for_each(|(kept, _)| kept.push(item));
                } else {
                    ways.clear();
                }
                ways.extend(dropped.into_iter().map(|(kept, w)| (kept, w * silent[n])));
            }
        }
    }
    ways
}

/// The sum over all chains of unit rules, (I - U)⁻¹, by Gauss and Jordan with the largest pivot.
pub fn unit_closure(units: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let n = units.len();
    let mut rows: Vec<Vec<f64>> = (0..n)
        .map(|i| {
            let left = (0..n).map(|j| f64::from(i == j) - units[i][j]);
            left.chain((0..n).map(|j| f64::from(i == j))).collect()
        })
        .collect();
    for column in 0..n {
        let pivot = (column..n)
            .max_by(|&a, &b| rows[a][column].abs().total_cmp(&rows[b][column].abs()))
            .expect("there is a row left");
        rows.swap(column, pivot);
        let scale = rows[column][column];
        rows[column].iter_mut().for_each(|v| *v /= scale);
        let leading = rows[column].clone();
        for (i, row) in rows.iter_mut().enumerate() {
            let factor = row[column];
            if i != column && factor != 0.0 {
                row.iter_mut().zip(&leading).for_each(|(v, l)| *v -= factor * l);
            }
        }
    }
    rows.into_iter().map(|row| row[n..].to_vec()).collect()
}

/// The most probable unit chain between each two nonterminals (Floyd and Warshall).
pub fn best_chains(units: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let n = units.len();
    let mut best = units.to_vec();
    for k in 0..n {
        for i in 0..n {
            for j in 0..n {
                best[i][j] = best[i][j].max(best[i][k] * best[k][j]);
            }
        }
    }
    best
}
