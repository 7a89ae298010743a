//! The numbers behind a figure, as CSV.

use invitro_results::table::csv_cell;
use invitro_stats::Estimate;

/// What stands behind every cell and every row, and in none.
const CELL_END: char = '\u{1f}';
const ROW_END: char = '\u{1e}';

#[derive(Debug, Clone, Default)]
pub struct FigureTable {
    header: Vec<String>,
    rows: usize,
    /// All cells in one text: a figure may have a row for every run, and a string for every cell takes many times its letters.
    cells: String,
    /// Places of keys that mean nothing in this study.
    without: Vec<usize>,
    /// Whether rows of estimates end without the number of runs.
    is_of_run: bool,
}

impl FigureTable {
    pub fn new<'a>(header: impl IntoIterator<Item = &'a str>) -> Self {
        Self { header: header.into_iter().map(str::to_owned).collect(), ..Self::default() }
    }

    /// A header that ends in mean, low, high, runs. Keys without a name are left out, here and in every row.
    pub fn of_estimates<'a>(keys: impl IntoIterator<Item = &'a str>) -> Self {
        let keys: Vec<&str> = keys.into_iter().collect();
        let without = (0..keys.len()).filter(|place| keys[*place].is_empty()).collect();
        let named = keys.into_iter().filter(|key| !key.is_empty());
        Self { without, ..Self::new(named.chain(["mean", "low", "high", "runs"])) }
    }

    /// A header that ends in value, low, high: the numbers of one run.
    pub fn of_run<'a>(keys: impl IntoIterator<Item = &'a str>) -> Self {
        Self { is_of_run: true, ..Self::new(keys.into_iter().chain(["value", "low", "high"])) }
    }

    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        for cell in cells {
            self.cells.push_str(&cell);
            self.cells.push(CELL_END);
        }
        self.cells.push(ROW_END);
        self.rows += 1;
    }

    /// A row that ends in an estimate; a missing one leaves its cells empty.
    pub fn estimate<'a>(&mut self, keys: impl IntoIterator<Item = &'a str>, estimate: Option<&Estimate>) {
        let named = keys.into_iter().enumerate().filter(|(place, _)| !self.without.contains(place));
        let mut cells: Vec<String> = named.map(|(_, key)| key.replace('*', "")).collect();
        let bound = |high: bool| {
            let interval = estimate.and_then(|estimate| estimate.interval);
            interval.map_or(String::new(), |it| format!("{}", if high { it.high } else { it.low }))
        };
        cells.push(estimate.map_or(String::new(), |estimate| format!("{}", estimate.value)));
        cells.extend([bound(false), bound(true)]);
        if !self.is_of_run {
            cells.push(estimate.map_or("0".into(), |estimate| estimate.runs.to_string()));
        }
        self.row(cells);
    }

    pub fn len(&self) -> usize {
        self.rows
    }

    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// With six digits of numbers that have more: enough for a page.
    pub fn to_short_csv(&self) -> String {
        let short = |cell: &str| match cell.parse::<f64>() {
            Ok(value) if cell.len() > 8 => {
                format!("{value:.5e}").parse::<f64>().map(|rounded| rounded.to_string()).ok()
            }
            _ => None,
        };
        self.csv(|cell| short(cell).unwrap_or_else(|| csv_cell(cell)))
    }

    pub fn to_csv(&self) -> String {
        self.csv(csv_cell)
    }

    fn csv(&self, cell: impl Fn(&str) -> String) -> String {
        let header: Vec<String> = self.header.iter().map(|name| csv_cell(name)).collect();
        let mut csv = header.join(",") + "\n";
        for row in self.cells.split_terminator(ROW_END) {
            let cells: Vec<String> = row.split_terminator(CELL_END).map(&cell).collect();
            csv.push_str(&cells.join(","));
            csv.push('\n');
        }
        csv
    }
}
