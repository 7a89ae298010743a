//! Leases: which worker may run which cell. Nothing but a shared file system is needed.
//!
//! What it needs of a shared one is in `docs/formats.md`. A lease is a file `runs/.leases/<cell>.<generation>` that names
//! its worker. The highest generation counts, and is
//! taken over by creating the next one, which only one contender can: files are made complete under another name and
//! then linked, and a link fails where the name exists. None is ever removed. So a contender that judged generation 3
//! dead on old news cannot take generation 5 from a living worker: it would have to create 4, which exists.
//!
//! ```text
//! abc.0  n1-4711   running…  (node n1 dies)
//! abc.1  n2-815    taken over, running…          n1-4711, if it still lives, sees abc.1 and stops without writing
//! ```

use super::worker::{Watch, Worker};
use crate::error::{At, Result};
use invitro_base::files::PartialFile;
use invitro_results::folder::write_file;
use std::collections::HashMap;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;

/// A lease this process holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    cell: String,
    generation: u64,
}

/// The leases of a run store.
pub struct Leases {
    folder: PathBuf,
}

/// The highest generation of every cell that was ever leased.
pub type Generations = HashMap<String, u64>;

/// What a lease holds when its worker gave it back.
const RETURNED: &str = "returned";

impl Leases {
    pub fn new(folder: PathBuf) -> Leases {
        Leases { folder }
    }

    pub fn generations(&self) -> Result<Generations> {
        let mut highest = Generations::new();
        // A folder of tables alone has no runs that could be leased.
        if !self.folder.exists() {
            return Ok(highest);
        }
        for entry in std::fs::read_dir(&self.folder).reading(&self.folder)? {
            let name = entry.reading(&self.folder)?.file_name();
            let Some((cell, generation)) = name.to_str().and_then(|name| name.rsplit_once('.')) else { continue };
            let Ok(generation) = generation.parse() else { continue };
            let known = highest.entry(cell.to_owned()).or_insert(generation);
            *known = generation.max(*known);
        }
        Ok(highest)
    }

    /// The worker a lease names; `None` if it was given back or is not there.
    pub fn holder(&self, cell: &str, generation: u64) -> Option<String> {
        let text = std::fs::read_to_string(self.path(cell, generation)).ok()?;
        (!text.is_empty() && text != RETURNED).then_some(text)
    }

    /// Takes the cell for the worker if nobody alive holds it. `None`: somebody does, or was faster.
    pub fn take(
        &self,
        cell: &str,
        worker: &Worker,
        generations: &Generations,
        watch: &mut Watch,
    ) -> Result<Option<Lease>> {
        let generation = match generations.get(cell) {
            None => 0,
            Some(&generation) => {
                if self.holder(cell, generation).is_some_and(|holder| !watch.dead(&holder)) {
                    return Ok(None);
                }
                generation + 1
            }
        };
        let path = self.path(cell, generation);
        let make = || {
            let mut file = PartialFile::new(&path)?;
            file.writer().write_all(worker.id.as_bytes())?;
            file.finish_new()
        };
        match make() {
            Ok(()) => Ok(Some(Lease { cell: cell.to_owned(), generation })),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(None),
            Err(error) => Ok(Err(error).writing(&path)?),
        }
    }

    /// Whether the lease is still ours. To be asked before anything is written for the cell.
    pub fn holds(&self, lease: &Lease) -> bool {
        !self.path(&lease.cell, lease.generation + 1).exists() && self.path(&lease.cell, lease.generation).exists()
    }

    /// Gives the cell back: another worker may take it at once.
    pub fn give_back(&self, lease: &Lease) -> Result<()> {
        if !self.holds(lease) {
            return Ok(());
        }
        let path = self.path(&lease.cell, lease.generation);
        // A full disk has no room for another file; to empty the one there is takes none.
        let empty = || std::fs::OpenOptions::new().write(true).truncate(true).open(&path).map(|_| ());
        Ok(write_file(&path, RETURNED.as_bytes()).or_else(|_| empty().writing(&path))?)
    }

    fn path(&self, cell: &str, generation: u64) -> PathBuf {
        self.folder.join(format!("{cell}.{generation}"))
    }
}
