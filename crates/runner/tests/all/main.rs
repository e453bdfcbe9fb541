//! What the crate does, as others see it: one program with a module for each suite.

#![allow(clippy::unwrap_used, reason = "the helpers of tests are tests, too")]

mod corruptions;
mod depth;
mod driving;
mod faults;
mod home;
mod journal;
mod keeping;
mod machine;
mod mixes;
mod own_cost;
mod sleepy;
mod steady;
mod stuck;
mod told;
