//! Integration tests of the crate: one program with a module for each subject.

#![allow(clippy::unwrap_used, reason = "the helpers of tests are tests, too")]

mod contents;
mod every_engine;
mod held;
mod lacking;
mod nfs;
mod operations;
mod registry;
mod s3;
mod simulated;
mod trees;
mod uring;

mod support;
