//! Serialises a number of transactions. Runs that something else ends, such as a duration, use the
//! number [`ENDLESS`], which is null in JSON.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// More transactions than any run performs. Fingerprints depend on this number, so it must not
/// change.
pub(crate) const ENDLESS: u64 = 1 << 40;

pub(crate) fn serialize<S: Serializer>(
    transactions: &u64,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let is_asked = *transactions != ENDLESS;
    is_asked.then_some(*transactions).serialize(serializer)
}

/// Accepts null, and the number itself, which records of earlier versions contain.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    Option::deserialize(deserializer).map(|asked| asked.unwrap_or(ENDLESS))
}
