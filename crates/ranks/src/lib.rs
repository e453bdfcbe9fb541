//! Processes on several machines that perform one run.
//!
//! A [`Communicator`] transports messages between ranks. [`in_process`] provides one between
//! threads, for tests and simulations; the crate `ranks-mpi` one between processes that a launcher
//! started. All collective operations use this interface, and [`Ranks`] is their handle. It merges
//! values of all ranks and broadcasts values of rank 0, both by trees. It also distributes stops,
//! and the loss of a rank, which all ranks report. MPI's own collective operations are not used,
//! because they have no time limit: a stopped rank would block all others. [`clocks`] measures the
//! offsets between the clocks of ranks.
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
