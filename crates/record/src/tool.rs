//! The program that wrote a record.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workload::fingerprint;

/// The program that wrote a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tool {
    /// `postmark`.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The version of its generators: what a fingerprint is of, besides the workload.
    pub generators: u32,
}

impl Tool {
    /// This program.
    pub fn this() -> Self {
        Self {
            name: "postmark".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            generators: fingerprint::GENERATORS_VERSION,
        }
    }
}
