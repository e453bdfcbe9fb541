//! Processes on many machines that perform one run.
//!
//! A [`Communicator`] carries messages between ranks, and knows nothing else: [`in_process`] has
//! one between threads, for tests and simulations, and the module `mpi` one between the
//! processes that a launcher has started. All that ranks do together is built on it once, and
//! [`Ranks`] is the handle of it: merging what all have, telling what rank 0 has, by trees; stops
//! that all hear of; and the loss of a rank, which all name, because MPI's own collectives have no
//! deadline and a rank that is stopped would hang all others. [`clocks`] says how far the clocks of
//! ranks are apart.
//!
//! Nothing here knows files, runs or records: what is sent is any value that serde knows, as JSON.

pub mod clocks;
pub mod in_process;

mod collective;
mod communicator;
mod links;
mod message;
#[cfg(feature = "mpi")]
pub mod mpi;
mod ranks;
mod together;
mod tree;

pub use clocks::ClockOffset;
pub use communicator::{CommunicationError, Communicator, Message};
pub use ranks::{Meeting, Ranks};
pub use together::StopReason;
