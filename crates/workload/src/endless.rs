//! A number of transactions that no run comes to, for runs that something else ends; in JSON it is
//! null, since nobody has asked for it.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// More transactions than any run performs. Fingerprints are made of it: it must not change.
pub(crate) const ENDLESS: u64 = 1 << 40;

pub(crate) fn serialize<S: Serializer>(
    transactions: &u64,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let is_asked = *transactions != ENDLESS;
    is_asked.then_some(*transactions).serialize(serializer)
}

/// Records of before have the number itself.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    Option::deserialize(deserializer).map(|asked| asked.unwrap_or(ENDLESS))
}
