//! Tests of the public interface: one program with a module for each suite.

#![allow(clippy::unwrap_used, reason = "the helpers of tests are tests, too")]

mod browser;
mod compared;
mod gated;
mod golden;
mod hostile;
mod lists;
mod pages;
mod planned;
mod presets;
mod ranks;
mod repeated;
mod servers;
mod sites;
mod studied;
mod study_plans;
mod swept;
mod terminal;

// Modules that the suites share.
mod built;
mod imported;
mod noisy;
mod numbers;
mod paged;
