//! The identity of a run, and its text of 32 hexadecimal digits.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The identity of a run: 128 bits, written as 32 hexadecimal digits.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String", extend("pattern" = "^[0-9a-f]{32}$"))]
pub struct RunId(u128);

/// Error for a text that is not 32 hexadecimal digits in lower case.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected {} hexadecimal digits in lower case as the identity of a run",
    RunId::DIGITS
)]
pub struct InvalidRunId;

impl RunId {
    /// Number of hexadecimal digits in the text of an identity.
    pub const DIGITS: usize = 32;

    /// Creates an identity from 128 bits. The runner uses a hash of the host, the boot, the process
    /// and the time.
    pub const fn new(bits: u128) -> Self {
        Self(bits)
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl FromStr for RunId {
    type Err = InvalidRunId;

    fn from_str(text: &str) -> Result<Self, InvalidRunId> {
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if text.len() != Self::DIGITS || !text.bytes().all(is_digit) {
            return Err(InvalidRunId);
        }
        u128::from_str_radix(text, 16)
            .map(Self)
            .map_err(|_| InvalidRunId)
    }
}

impl TryFrom<String> for RunId {
    type Error = InvalidRunId;

    fn try_from(text: String) -> Result<Self, InvalidRunId> {
        text.parse()
    }
}

impl From<RunId> for String {
    fn from(id: RunId) -> Self {
        id.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identity_survives_text_and_json() {
        let id = RunId::new(0x0012_3456_789a_bcde_f012_3456_789a_bcde);
        assert_eq!(id.to_string(), "00123456789abcdef0123456789abcde");
        assert_eq!(id.to_string().parse(), Ok(id));
        let json = serde_json::to_string(&id).unwrap();
        assert_eq!(serde_json::from_str::<RunId>(&json).unwrap(), id);
    }

    #[test]
    fn invalid_identities_are_rejected() {
        for text in [
            "",
            "0",
            "00123456789ABCDEF0123456789ABCDE",
            "+0123456789abcdef0123456789abcde",
            "00123456789abcdef0123456789abcde0",
            "g0123456789abcdef0123456789abcde",
        ] {
            assert_eq!(text.parse::<RunId>(), Err(InvalidRunId), "{text}");
            assert!(serde_json::from_str::<RunId>(&format!("\"{text}\"")).is_err());
        }
    }
}
