//! Claims for people: which ones a study is asked, and how their answers are written.
//!
//! - [`ClaimAnswers`]: the question and the answered claims of a study
//! - [`Rendered`]: an answer as texts, from which sentences, rows and cards are made
//! - [`describe()`]: what was estimated, in words
//! - [`in_plain_words`]: three sentences for those who ran one experiment
//! - [`template`]: pages with places for claims

mod describe;
mod measures;
mod rendered;
mod rounds;
mod summary;
pub mod template;

pub use describe::{describe, describe_short, held, statistic};
pub use measures::{measure_noun, metric_label, predictor_symbol, unit};
pub use rendered::{
    Rendered, coefficients, headline, is_part, is_shown, levels_label, reason_words, table_value, withheld_noun,
};
pub use rounds::next_step;
pub use summary::in_plain_words;

use crate::error::{Error, Result};
use invitro_results::claims::{Answer, Claims, answer, built_in};
use invitro_results::{Plan, Study};
use std::path::Path;

/// The question and the answered claims of a study.
pub struct ClaimAnswers {
    pub question: Option<String>,
    pub answers: Vec<Answer>,
}

impl ClaimAnswers {
    /// The claims that a study states, or else the standard ones.
    pub fn new(study: &Study) -> ClaimAnswers {
        ClaimAnswers::of_claims(study, own_claims(study))
    }

    /// The answers to these claims.
    pub fn of_claims(study: &Study, claims: Claims) -> ClaimAnswers {
        ClaimAnswers { answers: answer(study, &claims), question: claims.question }
    }

    /// The answer to a claim, or the first of those for each masked condition.
    pub fn by_id(&self, id: &str) -> Option<&Answer> {
        self.answers.iter().find(|answer| answer.claim.id == id)
    }
}

/// The claims of a study's plan; the standard ones where it has none.
pub fn own_claims(study: &Study) -> Claims {
    let standard = || built_in("standard").expect("the built-in claims can be read");
    match study.plan.as_ref().and_then(Plan::claims) {
        Some(own) if own.claims.is_empty() => Claims { question: own.question, ..standard() },
        Some(own) => own,
        None => standard(),
    }
}

/// The claims of a file.
pub fn read_claims(path: &Path) -> Result<Claims> {
    let wrong = |why: String| Error::Claims { path: path.to_owned(), why };
    let text = std::fs::read_to_string(path).map_err(|why| wrong(why.to_string()))?;
    Claims::parse(&text).map_err(|why| wrong(why.to_string()))
}
