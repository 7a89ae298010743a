//! Enums whose variants have a name on disk and a meaning in the documentation, both spelled once.

/// Declares such an enum: `Variant = "name": "meaning"`, with `ALL`, `name`, `meaning`, `Display` and `FromStr`.
macro_rules! named {
    ($(#[$about:meta])* $kind:ident { $($variant:ident = $name:literal: $meaning:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(missing_docs, reason = "each variant's meaning is its documentation")]
        pub enum $kind { $(#[doc = $meaning] $variant,)+ }

        impl $kind {
            /// Every variant, in the order tables show them.
            pub const ALL: &[$kind] = &[$($kind::$variant,)+];

            /// The name on disk.
            pub const fn name(self) -> &'static str {
                match self { $($kind::$variant => $name,)+ }
            }

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

        impl std::str::FromStr for $kind {
            type Err = $crate::UnknownName;

            fn from_str(name: &str) -> Result<$kind, $crate::UnknownName> {
                $kind::ALL.iter().copied().find(|one| one.name() == name).ok_or_else(|| $crate::UnknownName(name.to_owned()))
            }
        }
    };
}

pub(crate) use named;
