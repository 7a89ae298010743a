//! Sound laws: ordered changes of letters in contexts, without exceptions but their own.

pub(crate) mod drawn;
pub(crate) mod law;
pub(crate) mod notation;
