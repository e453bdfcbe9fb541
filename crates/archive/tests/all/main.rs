//! Tests of the crate's public interface. All suites are modules of one test program.

#![allow(clippy::unwrap_used, reason = "the helpers of tests are tests, too")]

mod opening;
mod pending;
mod runs;

mod support;
