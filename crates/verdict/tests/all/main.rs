//! Tests of the crate through its public interface: one program with a module for each suite.

#![allow(clippy::unwrap_used, reason = "the helpers of tests are tests, too")]

mod limits;
mod list_row;
mod schema;
mod specification;
mod summary;
mod verdict;
mod versions;
