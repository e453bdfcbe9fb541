//! What the crate does, as others see it: one program with a module for each suite.

#![allow(clippy::unwrap_used, reason = "the helpers of tests are tests, too")]

mod ack_log;
mod corruptions;
mod depth;
mod driving;
mod faults;
mod home;
mod keeping;
mod machine;
mod mixes;
mod overhead;
mod sleepy;
mod stalled;
mod steady;
mod told;
