//! What the crate does, as others see it: one program with a module for each suite.

#![allow(clippy::unwrap_used, reason = "the helpers of tests are tests, too")]

mod browser;
mod compared;
mod golden;
mod hostile;
mod lists;
mod pages;
mod ranks;
mod servers;
mod studied;
mod terminal;

// What they share.
mod built;
mod imported;
mod noisy;
mod numbers;
mod paged;
