//! Which program this is: its version and the commit it was built from.

/// Twelve digits, `unknown` where git did not tell, and with `changed` behind it where the sources were not the commit's.
pub const COMMIT: &str = env!("INVITRO_COMMIT");

pub const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("INVITRO_COMMIT"), ")");
