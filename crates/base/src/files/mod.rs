//! Files and folders that are written completely or not at all.
//!
//! Everything is first written to a hidden partial file beside its final path, `.NAME.MACHINE-PROCESS-NUMBER.part`, then
//! synced to disk and renamed. A reader sees the old content or the new one, never half of either. An error removes the
//! partial file. Only a killed process leaves one behind; [`remove_partials`] or [`remove_abandoned`] deletes it.
//!
//! ```
//! # let folder = tempfile::tempdir().unwrap();
//! use invitro_base::files;
//! let path = folder.path().join("status.json");
//! files::write(&path, b"{}")?;
//! assert_eq!(std::fs::read(&path)?, b"{}");
//! # Ok::<(), std::io::Error>(())
//! ```

mod file;
mod folder;
mod partial;

pub use file::{PartialFile, open, read, read_to_string, write, write_with};
pub use folder::{PartialFolder, replace_folder};
pub use partial::{is_partial, remove_abandoned, remove_partials};
