//! A study's tables made small, to be kept with a paper or a repository: what a report on the study shows, numbers that are
//! no shares to four decimals, and many runs in a group of rows, so that what they have in common stands there
//! once and values of a metric, which are alike, stand together.

use crate::Measure;
use crate::error::{At, Result};
use crate::metrics::ShortRows;
use crate::table::{self, Column, Columns, TableReader};
use crate::words;
use rayon::prelude::*;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Rows that make a group, some forty runs of metrics; more are never in memory at once, but for a group that is larger.
const ROWS: usize = 1 << 18;

/// Words that are kept in all, and those that tie with the last.
const WORDS: usize = 60_000;

/// Where words that were not asked for are among them.
const WITH_UNASKED: usize = 3_000;

/// Those of them whose pieces, and contrast over training, are kept: a page shows these whole.
const WHOLE: usize = 1_000;

/// Joins the metrics of runs: those that a report on a study shows and those that its claims read, and a run's own intervals
/// only of the contrast of facts in nats.
pub fn join_metrics(parts: &[PathBuf], whole: &Path, claimed: &HashSet<Measure>) -> Result<()> {
    let read = |table: &TableReader, group| ShortRows::read(table, group, claimed);
    join(parts, whole, read, |groups| {
        ShortRows::columns(&groups).into_iter().map(|(name, column)| (name.to_owned(), column)).collect()
    })
}

/// Joins the words of runs: those with a contrast, then those that were asked for, then others, as many as there is room
/// for. Of a kind those with the smallest hashes stay, so that runs keep the same words, and tables that were made small
/// before come to what all their runs would have come to at once.
pub fn join_words(parts: &[PathBuf], whole: &Path) -> Result<()> {
    let mut hashes = [const { Vec::new() }; 3];
    for (kind, hash) in parts.par_iter().map(|part| words::ranked_all(part)).collect::<Result<Vec<_>>>()?.concat() {
        hashes[kind].push(hash);
    }
    hashes.iter_mut().for_each(|hashes| hashes.sort_unstable());
    let mut taken = 0;
    let cutoffs = [(0, WORDS), (1, WORDS), (2, WITH_UNASKED)].map(|(kind, most)| {
        let cutoff = cutoff(&hashes[kind], most.saturating_sub(taken));
        taken += hashes[kind].partition_point(|&hash| Some(hash) <= cutoff);
        cutoff
    });
    let whole_words = cutoff(&hashes[0], WHOLE);
    let read = |table: &TableReader, group: usize| {
        let mut rows = table.group_rows(group)?;
        rows.retain_mut(|row| {
            let (kind, hash) = words::ranked_row(row);
            words::shorten(row, Some(hash) <= whole_words);
            Some(hash) <= cutoffs[kind]
        });
        Ok(rows)
    };
    let (union, _) = table::union(parts)?;
    join(parts, whole, read, |groups| {
        let rows: Vec<Columns> = groups.into_iter().flatten().collect();
        union.par_iter().map(|(name, like)| (name.clone(), like.of_rows(name, &rows))).collect()
    })
}

/// The largest hash of those that are kept, the `most` smallest.
fn cutoff(sorted: &[u32], most: usize) -> Option<u32> {
    sorted[..most.min(sorted.len())].last().copied()
}

/// Joins tables: `read` takes what is to stay of a group of rows, `columns` makes columns of many such groups.
fn join<T: Send>(
    parts: &[PathBuf],
    whole: &Path,
    read: impl Fn(&TableReader, usize) -> Result<T> + Sync,
    columns: impl Fn(Vec<T>) -> Vec<(String, Column)>,
) -> Result<()> {
    let sizes = parts.par_iter().map(|part| Ok(TableReader::open(part)?.groups())).collect::<Result<Vec<_>>>()?;
    let of_part =
        |(part, sizes): (_, Vec<usize>)| sizes.into_iter().enumerate().map(move |(at, rows)| (part, at, rows));
    let groups: Vec<(&PathBuf, usize, usize)> = parts.iter().zip(sizes).flat_map(of_part).collect();
    table::write_with(whole, |out| {
        let mut writer = table::TableWriter::compact(out, &columns(Vec::new())).writing(whole)?;
        let mut remaining = &groups[..];
        while !remaining.is_empty() {
            let mut rows = 0;
            let fit = remaining.iter().take_while(|(.., own)| {
                rows += own;
                rows <= ROWS
            });
            let (next, after) = remaining.split_at(fit.count().max(1));
            let read = |(part, at, _): &(&PathBuf, usize, usize)| read(&TableReader::open(part)?, *at);
            let groups = next.par_iter().map(read).collect::<Result<Vec<T>>>()?;
            writer.group(&columns(groups)).writing(whole)?;
            remaining = after;
        }
        writer.seal();
        writer.finish().writing(whole)
    })
}
