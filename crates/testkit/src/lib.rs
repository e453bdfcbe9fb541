//! Helpers that tests of several crates share. Only tests depend on this crate, not the program.

#![allow(clippy::unwrap_used, reason = "the helpers of tests are tests, too")]

mod assert;
pub mod nfs;
mod random;
pub mod records;
pub mod runs;
mod table;
mod timed;

pub use assert::{Assert, Shows};
pub use random::{Random, number_of};
pub use records::{kept, transactions};
pub use runs::{run, simulate};
pub use table::{rows, table};
pub use timed::{Timed, Virtual};
