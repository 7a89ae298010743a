//! The rows of pieces in the embedding and the unembedding, by where the pieces occur: rows that training never touches
//! only decay.

use super::super::{Answers, Probe, Queries, Record, Setup};
use super::{Cadence, pieces_of};
use crate::error::Result;
use invitro_language::{Language, Symbol};
use invitro_results::{Condition, Measure, PieceKind, PieceMatrix, PieceRows, RowStatistic};
use invitro_stats::alignment::{dot, mean_vector};
use std::sync::Arc;

struct PieceRowsProbe {
    cadence: Cadence,
    /// Per language, the pieces of every kind.
    conditions: Vec<(Condition, Vec<(PieceKind, Vec<usize>)>)>,
    /// All pieces, without special tokens.
    pieces: Vec<usize>,
}

pub fn probe(setup: &Setup) -> Result<Option<Arc<dyn Probe>>> {
    let Setup { experiment, languages, text, .. } = setup;
    let Some(cadence) = Cadence::of(experiment) else { return Ok(None) };
    let said = |language: Language| {
        let is_said = move |&word: &Symbol| !languages.mask(language).contains(word);
        pieces_of(text, languages.world.symbols().filter(is_said), language)
    };
    let special = text.tokenizer.special().count();
    let is_piece = |&id: &u32| !text.segmentation.is_boundary(id);
    let pieces: Vec<u32> = (special..text.rows() as u32).filter(is_piece).collect();
    let condition = |&language: &Language| {
        let seen = said(language);
        let elsewhere: Vec<_> =
            languages.all().iter().filter(|&&other| other != language).map(|&it| said(it)).collect();
        let masked = pieces_of(text, languages.mask(language).symbols().iter().copied(), language);
        let kind = |piece: &u32| match () {
            () if seen.contains(piece) => PieceKind::Seen,
            () if elsewhere.iter().any(|other| other.contains(piece)) => PieceKind::Elsewhere,
            () if masked.contains(piece) => PieceKind::Masked,
            () => PieceKind::Never,
        };
        let of_kind = |&own: &PieceKind| {
            (own, pieces.iter().filter(|piece| kind(piece) == own).map(|&piece| piece as usize).collect())
        };
        (Condition::new(language.name(), false), PieceKind::ALL.iter().map(of_kind).collect())
    };
    let conditions = languages.all().iter().map(condition).collect();
    let pieces = pieces.iter().map(|&piece| piece as usize).collect();
    Ok(Some(Arc::new(PieceRowsProbe { cadence, conditions, pieces })))
}

impl Probe for PieceRowsProbe {
    fn queries(&self, step: u64) -> Queries {
        Queries { weights: self.cadence.has(step), ..Queries::default() }
    }

    fn record(&self, answers: &Answers, record: &mut Record) {
        let Some(weights) = &answers.weights else { return };
        for matrix in PieceMatrix::ALL {
            let row = |piece: usize| match matrix {
                PieceMatrix::Input => weights.input(piece),
                PieceMatrix::Output => weights.output(piece),
            };
            let mean = mean_vector(self.pieces.iter().map(|&piece| row(piece)));
            let norm = |row: &[f32]| f64::from(dot(row, row)).sqrt();
            for (condition, kinds) in &self.conditions {
                for (kind, pieces) in kinds {
                    for statistic in RowStatistic::ALL {
                        let value = |&piece: &usize| match statistic {
                            RowStatistic::Norm => norm(row(piece)),
                            RowStatistic::Cosine => {
                                f64::from(dot(row(piece), &mean)) / (norm(row(piece)) * norm(&mean))
                            }
                        };
                        let value = pieces.iter().map(value).sum::<f64>() / pieces.len() as f64;
                        let measure = Measure::PieceRows(PieceRows { matrix, statistic, kind: *kind });
                        record.rows.push(Some(condition), measure, value, pieces.len());
                    }
                }
            }
        }
    }
}
