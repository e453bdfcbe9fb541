//! The contract of a storage, and its implementations.
//!
//! The worker loop hands whole operations to a [`Session`], each with a [`Ticket`], and takes their outcomes:
//! at once from a session that performs one at a time, later from one that has several in flight. Nothing here
//! knows workloads, prints, or reads a clock; the simulated storage *advances* one.

pub mod contract;
pub mod null;
pub mod path;
pub mod posix;
pub mod raw;
pub mod simulated;
pub mod stdio;

mod buffers;
mod calls;
mod direct;
mod system;

pub use path::PathBuffer;

pub use contract::{
    Cause, Durability, DurabilityError, Errno, Failure, Identity, Listing, Location, Name, Need, NoSteps, OpenError,
    Operation, OperationKind, Outcome, Session, Settings, Step, Steps, Storage, Submitted, Ticket, Unsupported,
    name_digest,
};
pub use direct::{DIRECT_ALIGNMENT, probe_direct};
