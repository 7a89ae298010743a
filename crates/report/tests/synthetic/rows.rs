//! The rows of the collected tables: their columns, and the cells of each run.

use super::Plan;
use super::curves::{Config, Row};
use super::tables::Cells;
use invitro_report::stats::stream::{below, stream};

/// (name, kind) with t text, n number, i integer.
pub const RUN_COLUMNS: &[(&str, char)] = &[
    ("run", 't'),
    ("study", 't'),
    ("state", 't'),
    ("steps", 'i'),
    ("language.distance", 'n'),
    ("mixture.lambda", 'n'),
    ("tokenizer.vocab", 'i'),
    ("tokenizer.regime", 't'),
    ("tokenizer.kind", 't'),
    ("seeds.data", 'i'),
    ("seeds.model", 'i'),
    ("fertility.A", 'n'),
    ("fertility.B", 'n'),
    ("fertility.B_masked", 'n'),
    ("continuation.A", 'n'),
    ("continuation.B", 'n'),
    ("continuation.B_masked", 'n'),
    ("overlap", 'n'),
    ("bridge.jaccard", 'n'),
    ("bridge.dice", 'n'),
    ("bridge.containment", 'n'),
    ("cognate_bridge.jaccard", 'n'),
    ("seconds.train", 'n'),
    ("device", 't'),
    ("version", 't'),
];

pub const METRIC_COLUMNS: &[(&str, char)] = &[
    ("run", 't'),
    ("step", 'i'),
    ("condition", 't'),
    ("task", 't'),
    ("metric", 't'),
    ("value", 'n'),
    ("low", 'n'),
    ("high", 'n'),
    ("n", 'i'),
];

pub const WORD_COLUMNS: &[(&str, char)] = &[
    ("run", 't'),
    ("symbol", 't'),
    ("form_A", 't'),
    ("form_B", 't'),
    ("pieces_A", 't'),
    ("pieces_B", 't'),
    ("bridge", 'n'),
    ("bridge_form", 't'),
    ("bridge_language", 't'),
    ("cognate_bridge", 'n'),
    ("reachable_from", 'i'),
];

/// A row per run; of one that has not `ran`, the config alone.
pub fn run_columns(configs: &[Config], plan: &Plan, ran: impl Fn(&Config) -> bool) -> Cells {
    const MEASURED: [&str; 4] = ["steps", "seconds.train", "device", "version"];
    let mut cells = Cells::new(RUN_COLUMNS.len());
    for config in configs {
        let (ran, measures) = (ran(config), config.measures());
        for (column, (name, kind)) in RUN_COLUMNS.iter().enumerate() {
            match *name {
                "state" => cells.text(column, Some(if ran { "done" } else { "waiting" })),
                name if !ran && (MEASURED.contains(&name) || measures.iter().any(|it| it.0 == name)) => {
                    if *kind == 't' { cells.text(column, None) } else { cells.number(column, None) }
                }
                "run" => cells.text(column, Some(&config.id())),
                "study" => cells.text(column, Some("synthetic")),
                "steps" => cells.number(column, Some(f64::from(plan.steps))),
                "language.distance" => cells.number(column, Some(config.distance)),
                "mixture.lambda" => cells.number(column, Some(config.lambda)),
                "tokenizer.vocab" => cells.number(column, Some(f64::from(config.vocab))),
                "tokenizer.regime" => cells.text(column, Some(config.regime)),
                "tokenizer.kind" => cells.text(column, Some("bpe")),
                "seeds.data" => cells.number(column, Some(f64::from(config.data))),
                "seeds.model" => cells.number(column, Some(f64::from(config.model))),
                "seconds.train" => cells.number(column, Some(61.0)),
                "device" => cells.text(column, Some("cpu")),
                "version" => cells.text(column, Some(env!("CARGO_PKG_VERSION"))),
                name => cells.number(column, measures.iter().find(|it| it.0 == name).map(|it| it.1)),
            }
        }
    }
    cells
}

pub fn metric_cells(cells: &mut Cells, run: &str, step: u32, row: &Row) {
    cells.text(0, Some(run));
    cells.number(1, Some(f64::from(step)));
    cells.text(2, Some(row.condition));
    cells.text(3, Some(row.task));
    cells.text(4, Some(row.metric));
    cells.number(5, Some(row.value));
    cells.number(6, row.interval.map(|it| it.0));
    cells.number(7, row.interval.map(|it| it.1));
    cells.number(8, Some(200.0));
}

const SYLLABLES: [&str; 16] =
    ["xuc", "bo", "pz", "iw", "ka", "le", "mo", "ru", "hed", "qui", "va", "sor", "ti", "gne", "ul", "fa"];

/// The forms depend on the data seed and the symbol; d changes some syllables in B; |V| joins some pieces.
pub fn word_cells(cells: &mut Cells, config: &Config, plan: &Plan) {
    for symbol in 0..plan.words {
        let mut rng = stream(&format!("word {} {symbol}", config.data));
        let a: Vec<&str> = (0..4).map(|_| SYLLABLES[below(&mut rng, 16)]).collect();
        let b: Vec<&str> = a
            .iter()
            .map(|piece| {
                if (below(&mut rng, 100) as f64) < config.distance * 100.0 {
                    SYLLABLES[below(&mut rng, 16)]
                } else {
                    piece
                }
            })
            .collect();
        let joined = |pieces: &[&str]| {
            if config.vocab > 4096 {
                format!("{} {}", pieces[..2].concat(), pieces[2..].concat())
            } else {
                pieces.join(" ")
            }
        };
        cells.text(0, Some(&config.id()));
        cells.text(1, Some(&format!("value:{}:{symbol}", symbol % 40)));
        cells.text(2, Some(&a.concat()));
        cells.text(3, Some(&b.concat()));
        cells.text(4, Some(&joined(&a)));
        cells.text(5, Some(&joined(&b)));
        cells.number(6, Some(config.bridge()));
        cells.text(7, Some(&a.concat()));
        cells.text(8, Some("A"));
        cells.number(9, Some(config.cognate()));
        let reached = below(&mut rng, 3) > 0;
        cells.number(10, reached.then(|| f64::from(plan.steps / 2 + 100 * config.model)));
    }
}
