//! The face of the crate: what ranks do together, in process.

mod clocks;
mod merged;
mod threads;
