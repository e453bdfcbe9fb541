//! Tests of the crate through its public interface: one program with a module for each subject.

#![allow(clippy::unwrap_used, reason = "the helpers of tests are tests, too")]

mod comparing;
mod designs;
mod forecasts;
mod gate_doubts;
mod gates;
mod history;
mod how_many_blocks;
mod metrics;
mod repeats;
mod shares;
mod simulated;

// Helpers of several modules.
mod made;
