//! Tests of the crate's public interface: one program, with a module for each subject.

#![allow(clippy::unwrap_used, reason = "the helpers of tests are tests, too")]

mod editions;
mod layouts;
mod printed;
mod submitted;
