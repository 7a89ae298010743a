//! What a report is made of: a [`Study`] of `results`, and the words for its factors.

mod factors;

pub use factors::{FactorWords, setting_name};
pub use invitro_results::{Factor, Levels, ReadCache, Run, Study, fingerprint};
