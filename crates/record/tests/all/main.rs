//! Tests of the public interface: one program with a module for each suite.

#![allow(clippy::unwrap_used, reason = "the helpers of tests are tests, too")]

mod join;
