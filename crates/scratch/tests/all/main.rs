//! Tests of the crate's public interface. All suites are modules of one test program.

#![allow(clippy::unwrap_used, reason = "the helpers of tests are tests, too")]

mod every_kind;
mod exchanged;
mod faults;
mod fullness;
mod killed;
mod words;

mod support;
