//! The work of today on real file systems, with the real binary: presets, shared pools, durability
//! and crashes, caches, frozen and full file systems, kept pools; on tmpfs, ext4, xfs and btrfs, in
//! images of the test's own.
//!
//! An expectation is stated once and holds on every file system. What goes wrong shows the command,
//! both streams, the tree and what the record says.
//!
//! Small here; `POSTMARK_RACES` (operations of the races, 40,000 unless given) and
//! `POSTMARK_CRASHES` (crashes of each file system, 3 unless given) make it what a release is
//! judged by. Tests that mount need root: without it they say so on standard error and pass, unless
//! everything is to be tested (`CI` is set, or `POSTMARK_TEST_ALL=1`).

mod cache;
mod counters;
mod crash;
mod direct;
mod durability;
mod errors;
mod frozen;
mod kept;
mod presets;
mod races;
mod sharing;
mod sizing;
mod sweeps;
