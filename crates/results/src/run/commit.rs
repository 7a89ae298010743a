//! The commit of the program that writes results. A library does not know it: the program tells.

use std::sync::OnceLock;

static COMMIT: OnceLock<&'static str> = OnceLock::new();

/// Says which commit the program is of; the first time counts.
pub fn set_commit(commit: &'static str) {
    let _ = COMMIT.set(commit);
}

/// The program's commit, `unknown` where it was not told.
pub fn commit() -> &'static str {
    COMMIT.get().copied().unwrap_or("unknown")
}
