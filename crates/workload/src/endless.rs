//! Serialises a number of transactions. Runs with another limit, such as a duration, use the number
//! [`ENDLESS`], which is null in JSON.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A number of transactions that no run reaches. Fingerprints include this number, so it must not
/// change.
pub(crate) const ENDLESS: u64 = 1 << 40;

pub(crate) fn serialize<S: Serializer>(
    transactions: &u64,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let is_asked = *transactions != ENDLESS;
    is_asked.then_some(*transactions).serialize(serializer)
}

/// Accepts null, and also the number [`ENDLESS`] itself, which records of earlier versions contain.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    Option::deserialize(deserializer).map(|asked| asked.unwrap_or(ENDLESS))
}
