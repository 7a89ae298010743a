//! Files and folders that are written whole or not at all, and read as they were written or not at all.
//!
//! Everything is first written to a hidden partial file beside its final path, `.NAME.MACHINE-PROCESS-NUMBER.part`, then
//! synced to disk and renamed. A reader sees the old content or the new one, never half of either. An error removes the
//! partial file; only a killed process leaves one behind, and [`remove_partials`] or [`remove_abandoned`]
//! clears it away.
//!
//! ```
//! # let folder = tempfile::tempdir().unwrap();
//! let path = folder.path().join("status.json");
//! invitro_files::write(&path, b"{}")?;
//! assert_eq!(std::fs::read(&path)?, b"{}");
//! # Ok::<(), std::io::Error>(())
//! ```

mod caught;
mod file;
mod folder;
pub mod named;
mod partial;
pub mod sealed;

pub use caught::caught;
pub use file::{PartialFile, write, write_with};
pub use folder::{PartialFolder, replace_folder};
pub use partial::{is_partial, remove_abandoned, remove_partials};
