//! What the crate does, as others see it: one program with a module for each subject.

#![allow(clippy::unwrap_used, reason = "the helpers of tests are tests, too")]

mod comparing;
mod designs;
mod gates;
mod metrics;
mod shares;
mod simulated;

// What they share.
mod made;
