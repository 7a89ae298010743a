//! Lines that are given to a command, in a file or on standard input.

use crate::study::format::count;
use crate::terminal;
use anyhow::{Context, Result};
use invitro_base::limits;
use std::io::{BufReader, Read};
use std::path::Path;

pub struct GivenLines {
    input: BufReader<Box<dyn Read>>,
    /// The source, as errors name it.
    pub name: String,
    /// The number of the line read last; the first is 1.
    pub number: usize,
    ended: bool,
    /// Lines without text, which are left out.
    empty: usize,
}

impl GivenLines {
    /// Of a file, or of standard input where there is none or it is `-`.
    pub fn open(file: Option<&Path>) -> Result<GivenLines> {
        let (input, name): (Box<dyn Read>, String) = match file {
            Some(path) if path != Path::new("-") => {
                let failed = || format!("`{}` cannot be read", path.display());
                (Box::new(std::fs::File::open(path).with_context(failed)?), format!("`{}`", path.display()))
            }
            _ => (Box::new(std::io::stdin()), "standard input".into()),
        };
        Ok(GivenLines { input: BufReader::new(input), name, number: 0, ended: false, empty: 0 })
    }

    /// The place of the line read last.
    pub fn place(&self) -> String {
        format!("line {} of {}", self.number, self.name)
    }

    /// The next line that has text; none at the end.
    pub fn read(&mut self) -> Result<Option<String>> {
        while !self.ended {
            self.number += 1;
            let mut bytes = Vec::new();
            self.ended = limits::read_line(&mut self.input, &mut bytes).with_context(|| self.place())? == 0;
            let line = std::str::from_utf8(&bytes).with_context(|| self.place())?.trim_end_matches(['\n', '\r']);
            // A byte order mark is not text.
            let line = if self.number == 1 { line.trim_start_matches('\u{feff}') } else { line };
            if !line.trim().is_empty() {
                return Ok(Some(line.to_owned()));
            }
            self.empty += usize::from(!self.ended);
        }
        Ok(None)
    }

    /// Warns of lines that were left out.
    pub fn warn_of_empty(&self) {
        if self.empty > 0 {
            let (lines, are) = (count(self.empty, "line"), if self.empty == 1 { "is" } else { "are" });
            terminal::warn(&format!("{lines} without a sentence {are} left out"));
        }
    }
}
