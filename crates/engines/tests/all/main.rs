//! What the crate does, as others see it: one program with a module for each suite.

#![allow(clippy::unwrap_used, reason = "the helpers of tests are tests, too")]

mod contents;
mod every_engine;
mod held;
mod lacking;
mod nfs;
mod operations;
mod registry;
mod simulated;

// What they share.
mod support;
