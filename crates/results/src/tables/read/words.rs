//! An even sample of many words.

use crate::error::{Error, Result};
use crate::words::{self, MaskedWord, MeasuredWord};
use rayon::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;

/// Masked words that a page can carry: about 4 MB.
const MOST_WORDS: usize = 60_000;

/// Masked words out of tables: an even sample that a page can carry, each with its run.
pub(super) struct SampledWords {
    pub words: Vec<(String, MaskedWord)>,
    pub scored: Vec<(Arc<str>, MeasuredWord)>,
    pub in_all: usize,
    /// Tables that could not be read.
    pub errors: Vec<Error>,
}

impl SampledWords {
    pub fn read<'a>(files: impl Iterator<Item = &'a PathBuf>) -> SampledWords {
        let files: Vec<&PathBuf> = files.collect();
        let in_all = files.par_iter().filter_map(|path| words::count(path).ok()).sum::<usize>();
        let stride = in_all.div_ceil(MOST_WORDS).max(1);
        let read = |path: &&PathBuf| -> Result<(Vec<_>, Vec<_>)> {
            let (mut read, mut scored) = (Vec::new(), Vec::new());
            let mut last: Arc<str> = "".into();
            words::read(path, stride, |run, word| read.push((run.to_owned(), word)))?;
            words::read_scored(path, |run, word| {
                if *last != *run {
                    last = run.into();
                }
                scored.push((last.clone(), word));
            })?;
            Ok((read, scored))
        };
        let mut found = SampledWords { words: Vec::new(), scored: Vec::new(), in_all, errors: Vec::new() };
        for all in files.par_iter().map(read).collect::<Vec<_>>() {
            match all {
                Ok((mut read, mut scored)) => {
                    found.words.append(&mut read);
                    found.scored.append(&mut scored);
                }
                Err(error) => found.errors.push(error),
            }
        }
        found
    }
}
