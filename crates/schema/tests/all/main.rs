//! Checks that the published JSON Schema of a run (`docs/schema/run-1.json`) equals the one
//! generated from the Rust types.

#![allow(clippy::unwrap_used, reason = "the helpers of tests are tests, too")]

mod published;
