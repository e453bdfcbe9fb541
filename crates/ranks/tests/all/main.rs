//! Tests of the public interface: collective operations of ranks in one process.

mod among;
mod clocks;
mod interleaved;
mod lost;
mod merged;
mod stopped;
mod threads;
