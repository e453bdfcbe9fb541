//! Tests of the crate's public interface: one program with a module for each suite.

#![allow(clippy::unwrap_used, reason = "the helpers of tests are tests, too")]

mod opening;
mod pending;
mod runs;

// Shared by the suites.
mod support;
