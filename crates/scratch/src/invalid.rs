//! What can be wrong with the description of a file system that is to be made.

/// Why a description makes no file system: what is wrong, and what would be right. Nothing was
/// touched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidMakeSpec(pub(crate) String);

/// The error with a message as of `format!`.
macro_rules! invalid {
    ($($message:tt)*) => {
        $crate::InvalidMakeSpec(format!($($message)*))
    };
}

pub(crate) fn control_character(key: &str) -> InvalidMakeSpec {
    invalid!("'{key}' has a control character (remove it)")
}

pub(crate) fn invalid_fullness(percent: &dyn std::fmt::Display) -> InvalidMakeSpec {
    invalid!("invalid fullness '{percent}': expected a whole percentage from 1 to 95")
}
