//! Enums whose values have a name each, the same in files, arguments and messages, spelled once.

/// Declares such an enum: `Variant = "name"`, with `ALL`, `name` and `FromStr`, which takes names in either case.
#[macro_export]
macro_rules! named {
    ($(#[$about:meta])* $kind:ident { $($(#[$meaning:meta])* $variant:ident = $name:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        #[repr(u8)]
        pub enum $kind { $($(#[$meaning])* #[serde(rename = $name)] $variant,)+ }

        impl $kind {
            /// Every value, in order.
            pub const ALL: [$kind; [$($name,)+].len()] = [$($kind::$variant,)+];

            /// As in files.
            pub fn name(self) -> &'static str {
                match self { $($kind::$variant => $name,)+ }
            }
        }

        impl $crate::settings::SettingValue for $kind {
            fn choices() -> Option<Vec<&'static str>> {
                Some($kind::ALL.map($kind::name).into())
            }
        }

        impl std::str::FromStr for $kind {
            type Err = String;

            fn from_str(given: &str) -> std::result::Result<$kind, String> {
                let found = $kind::ALL.into_iter().find(|one| one.name().eq_ignore_ascii_case(given));
                found.ok_or_else(|| format!("must be one of {}", $kind::ALL.map($kind::name).join(", ")))
            }
        }
    };
}
