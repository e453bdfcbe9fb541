//! Tests with the real program on real file systems: tmpfs, and ext4, xfs and btrfs in image files
//! that each test creates. They cover presets, shared pools, durability, crashes, caches, frozen
//! and full file systems, and kept pools.
//!
//! Each test states what must hold on every file system. Its failure message contains the command,
//! its output, the directory tree and the record.
//!
//! The tests are small by default. The tests before a release use higher numbers: `POSTMARK_RACES`
//! is the number of operations in `races` (default 40,000). `POSTMARK_CRASHES` is the number of
//! crashes of each file system (default 3). Tests that mount need root. Without root, these tests
//! print that they are skipped, unless all tests must run (`CI` is set, or `POSTMARK_TEST_ALL=1`).

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
