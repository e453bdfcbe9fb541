//! Errors in the description of a scratch file system.

/// The reason why a description is invalid, and what would be valid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidMakeSpec(pub(crate) String);

/// Creates an error whose message is formatted as by `format!`.
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
