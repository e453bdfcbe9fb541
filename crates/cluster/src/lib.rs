//! Processes on many machines that perform one run.
//!
//! A [`Communicator`] carries messages between ranks, and knows nothing else: [`in_process`] has one between threads, for
//! tests and simulations, and `over_mpi` (feature `mpi`) one between the processes that a launcher has started. All that
//! ranks do together is built on it once, in [`Together`]: barriers, broadcasts and reductions by trees, each with a
//! deadline, because MPI's own have none and a rank that is stopped would hang all others. [`clocks`] measures how far the
//! clocks of ranks are apart.
//!
//! Nothing here knows files, runs or records: what is sent is any value that serde knows, as JSON.

pub mod clocks;
pub mod in_process;
#[cfg(feature = "mpi")]
pub mod over_mpi;

mod communicator;
mod together;
mod tree;

pub use communicator::{CommunicationError, Communicator, Message};
pub use together::Together;
