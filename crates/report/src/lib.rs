pub mod error;
pub mod stats;
pub use error::{Error, Result};
