//! The derive macro `JsonSchema` for the types of a record. Other crates import this crate under
//! the name `schemars` (`Cargo.toml` of the workspace).
//!
//! With the feature `on`, this crate re-exports schemars. Without it, the macro expands to nothing,
//! so that a program that only prints the published schema does not compile the generator.

#[cfg(feature = "on")]
pub use schemars::*;

#[cfg(not(feature = "on"))]
pub use schema_derive::JsonSchema;
