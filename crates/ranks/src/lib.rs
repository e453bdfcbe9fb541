//! Processes on several machines that perform one run.
//!
//! A [`Communicator`] transports messages between ranks. The module [`in_process`] provides a
//! communicator between threads, for tests and simulations. The crate `ranks-mpi` provides a
//! communicator between processes that a launcher started. Programs use [`Ranks`], a handle that
//! works with any communicator. [`Ranks`] merges values of all ranks and broadcasts values of rank
//! 0, both along a tree. It also informs all ranks if a rank stops the run or is lost. MPI's own
//! collective operations are not used, because they have no time limit: a stopped rank would block
//! all others. [`clocks`] measures the offsets between the clocks of ranks.
//!
//! The crate does not depend on files, runs or records: messages contain any value that serde
//! supports, as JSON.

pub mod clocks;
pub mod in_process;

mod collective;
mod communicator;
mod links;
mod message;
mod ranks;
mod together;
mod tree;

pub use clocks::ClockOffset;
pub use communicator::{CommunicationError, Communicator, Message};
pub use ranks::{Connect, Meeting, Ranks};
pub use together::StopReason;
