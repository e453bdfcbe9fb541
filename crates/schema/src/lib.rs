//! The derive macro `JsonSchema`, which the types of a record carry. Other crates import this crate
//! under the name `schemars` (`Cargo.toml` of the workspace).
//!
//! With the feature `on` this is the crate schemars. Without it the macro expands to nothing: a
//! program that only prints the published schema need not compile how it is made.

#[cfg(feature = "on")]
pub use schemars::*;

#[cfg(not(feature = "on"))]
pub use schema_derive::JsonSchema;
