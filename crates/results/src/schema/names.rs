//! Enums whose values have a name on disk and a meaning in the documentation, both spelled once.

use crate::UnknownName;
use std::str::FromStr;

/// Declares such an enum: `Variant = "name": "meaning"`. What [`invitro_base::named`] gives, `meaning` and `Display`.
macro_rules! recorded {
    ($(#[$about:meta])* $kind:ident { $($variant:ident = $name:literal: $meaning:literal,)+ }) => {
        invitro_base::named! {
            $(#[$about])*
            $kind { $(#[doc = $meaning] $variant = $name,)+ }
        }

        impl $kind {
            /// What it is, for the documentation.
            pub const fn meaning(self) -> &'static str {
                match self { $($kind::$variant => $meaning,)+ }
            }
        }

        impl std::fmt::Display for $kind {
            fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
                out.write_str(self.name())
            }
        }
    };
}

pub(crate) use recorded;

/// One part of a name; an error names the whole.
pub(crate) fn part<T: FromStr>(part: &str, whole: &str) -> Result<T, UnknownName> {
    part.parse().map_err(|_| UnknownName(whole.to_owned()))
}
