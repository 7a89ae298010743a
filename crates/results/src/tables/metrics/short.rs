//! Rows of metrics for a study's compact tables.

use super::COLUMNS;
use super::names::{self, NameCursor};
use crate::Measure;
use crate::error::Result;
use crate::schema::measure::REACH;
use crate::table::{self, Column, ColumnBatch, TableReader};
use invitro_stats::Scale;
use std::collections::{HashMap, HashSet};

/// Rows that a report on a study shows or its claims read, with less in them: numbers that are no shares to four decimals, and the run's own
/// interval only where the report reads it.
#[derive(Default)]
pub(crate) struct ShortRows {
    cursor: NameCursor,
    runs: Vec<String>,
    /// By run: its place, and the last step at which its words were reached for.
    places: HashMap<String, usize>,
    ends: Vec<u64>,
    rows: Vec<ShortRow>,
    /// The run of the last row, which the next is likely of too.
    current: usize,
}

struct ShortRow {
    run: usize,
    /// The place of its name.
    name: usize,
    measure: Measure,
    step: u64,
    value: f64,
    low: f64,
    high: f64,
    n: f64,
}

impl ShortRows {
    /// Those of one group of rows.
    pub(crate) fn read(table: &TableReader, group: usize, claimed: &HashSet<Measure>) -> Result<ShortRows> {
        let mut short = ShortRows::default();
        table.group_batches(group, &COLUMNS, |columns, rows| short.add(columns, rows, claimed))?;
        let ShortRows { ends, rows, .. } = &mut short;
        let at_end = |measure: Measure| measure.is_shown_at_end() && !claimed.contains(&measure);
        rows.retain(|row| !at_end(row.measure) || ends[row.run] == row.step);
        Ok(short)
    }

    fn add(&mut self, columns: &[ColumnBatch], rows: usize, claimed: &HashSet<Measure>) {
        let mut names = names::known();
        for row in 0..rows {
            let number = |column: usize| columns[column].number(row).unwrap_or(f64::NAN);
            let run = self.run(&columns[0], row);
            if columns[3].bytes(row) == REACH.as_bytes() {
                self.ends[run] = self.ends[run].max(number(1) as u64);
            }
            let name = self.cursor.find_row(&mut names, columns, row);
            let Some(quantity) = names.name(name).quantity else { continue };
            let measure = names.quantity(quantity).quantity.measure;
            if !measure.is_in_study_report() && !claimed.contains(&measure) {
                continue;
            }
            // Shares are compared with thresholds, where they may be equal.
            let short = |value| if measure.scale() == Scale::Plain { table::shorten(value) } else { value };
            let has_interval = [Measure::KNOWLEDGE, Measure::KNOWLEDGE.masked_elsewhere()].contains(&measure);
            let bound = |column: usize| if has_interval { short(number(column)) } else { f64::NAN };
            self.rows.push(ShortRow {
                run,
                name,
                measure,
                step: number(1) as u64,
                value: short(number(5)),
                low: bound(6),
                high: bound(7),
                n: number(8),
            });
        }
    }

    fn run(&mut self, column: &ColumnBatch, row: usize) -> usize {
        if self.runs.get(self.current).is_some_and(|run| run.as_bytes() == column.bytes(row)) {
            return self.current;
        }
        let name = column.text(row).unwrap_or_default();
        self.current = match self.places.get(name) {
            Some(&place) => place,
            None => {
                self.runs.push(name.to_owned());
                self.ends.push(0);
                self.places.insert(name.to_owned(), self.runs.len() - 1);
                self.runs.len() - 1
            }
        };
        self.current
    }

    /// All of them as columns. Similar values come next to each other: shares, many of them equal, before other
    /// numbers; then by metric, task and condition.
    pub(crate) fn columns(groups: &[ShortRows]) -> Vec<(&'static str, Column)> {
        let names = names::known();
        // By name, where it comes in that order, and the place that its texts have in the columns.
        let mut found: Vec<(bool, [&str; 3], usize)> = Vec::new();
        let mut ranks = vec![usize::MAX; names.len()];
        for row in groups.iter().flat_map(|group| &group.rows) {
            if ranks[row.name] == usize::MAX {
                ranks[row.name] = 0;
                let texts = [2, 1, 0].map(|column| names.name(row.name).texts[column].as_str());
                found.push((row.measure.scale() == Scale::Plain, texts, row.name));
            }
        }
        found.sort_unstable();
        found.iter().enumerate().for_each(|(rank, (.., name))| ranks[*name] = rank);
        let mut runs: Vec<String> = Vec::new();
        let mut rows: Vec<(&ShortRow, usize)> = Vec::new();
        for group in groups {
            rows.extend(group.rows.iter().map(|row| (row, runs.len() + row.run)));
            runs.extend(group.runs.iter().cloned());
        }
        rows.sort_by_key(|(row, _)| ranks[row.name]);
        let text = |column: usize| Column::Repeated {
            texts: found.iter().map(|(_, texts, _)| texts[2 - column].to_owned()).collect(),
            rows: rows.iter().map(|(row, _)| ranks[row.name]).collect(),
        };
        let number = |of: fn(&ShortRow) -> f64| {
            Column::Number(rows.iter().map(|(row, _)| Some(of(row)).filter(|value| !value.is_nan())).collect())
        };
        let columns = [
            Column::Repeated { rows: rows.iter().map(|(_, run)| *run).collect(), texts: runs },
            Column::Whole(rows.iter().map(|(row, _)| Some(row.step as i64)).collect()),
            text(0),
            text(1),
            text(2),
            number(|row| row.value),
            number(|row| row.low),
            number(|row| row.high),
            Column::Whole(rows.iter().map(|(row, _)| (!row.n.is_nan()).then_some(row.n as i64)).collect()),
        ];
        COLUMNS.into_iter().zip(columns).collect()
    }
}
