use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workload::fingerprint;

/// The program that wrote a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tool {
    /// Name of the program: `postmark`.
    pub name: String,
    /// Version of the program, such as `1.0.0`.
    pub version: String,
    /// Version of the generators of the operation stream. A fingerprint depends on this version and
    /// on the workload.
    pub generators: u32,
}

impl Tool {
    /// Describes the running program.
    pub fn this() -> Self {
        Self {
            name: "postmark".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            generators: fingerprint::GENERATORS_VERSION,
        }
    }
}
