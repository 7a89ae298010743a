//! What the reader should know about the data before its findings: a banner where an older schema measured it, then
//! the other notes.

use crate::data::{Run, Study};
use crate::draw::escape;
use invitro_results::outdated;

/// For the top of the overview, before the finding.
pub fn notes(study: &Study) -> String {
    let schema = study.runs.iter().filter_map(|run: &Run| run.schema()).min();
    let banner = schema.and_then(outdated);
    let note = |note: &String| {
        if Some(note) == banner.as_ref() {
            format!(
                "<div class=\"banner\" role=\"note\"><b>Measured under an older schema.</b> {}</div>\n",
                escape(note)
            )
        } else {
            format!("<p class=\"note\">{}</p>\n", escape(note))
        }
    };
    study.notes.iter().map(note).collect()
}
