//! Presets, shared pools, durability and crashes, caches, frozen and full file systems and kept
//! pools, with the real binary on real file systems: tmpfs, ext4, xfs and btrfs in images of each
//! test.
//!
//! An expectation is written once and must hold on every file system. A failure shows the command,
//! its output, the directory tree and the record.
//!
//! The tests are small by default. A release uses more: `POSTMARK_RACES` is the number of
//! operations of the races (default 40,000), and `POSTMARK_CRASHES` the number of crashes of each
//! file system (default 3). Tests that mount need root. Without it they print that they are
//! skipped, unless all tests must run (`CI` is set, or `POSTMARK_TEST_ALL=1`).

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
