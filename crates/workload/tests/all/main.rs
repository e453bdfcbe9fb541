//! Tests of the crate's public interface. They are one program, with a module for each subject.

#![allow(clippy::unwrap_used, reason = "the helpers of tests are tests, too")]

mod fingerprints;
mod phases;
mod published;
mod replay;
