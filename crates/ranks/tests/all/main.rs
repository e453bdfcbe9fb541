//! The face of the crate: what ranks do together, in process.

mod among;
mod clocks;
mod interleaved;
mod lost;
mod merged;
mod stopped;
mod threads;
