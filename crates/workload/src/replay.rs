//! Replays of traces: the operations of an application in their order, with what they depend on.
//!
//! A [`Trace`] contains the operations that were recognized in a trace. [`Built`] follows them on a
//! simulated pool, twice: first to find how large the files were that existed before the trace, and
//! then to determine the operations of each worker. Names of the trace do not occur in a replay:
//! files and directories have numbers. Directories are nested as in the trace.
//!
//! Each worker performs the operations of a thread. An operation that depends on operations of
//! other workers starts only when these are complete.

mod build;
mod convert;
mod convert_names;
mod description;
mod deviation;
mod lanes;
mod objects;
mod order;
mod own_time;
mod simulation;
mod step;
mod stream;
mod traced;

pub use build::Built;
pub use description::{Loaded, Replay, Timing};
pub use deviation::Deviation;
pub use step::{Dependency, Step, Steps};
pub use stream::{ReplayStream, removal};
pub use traced::{NameIndex, Trace, TracedKind, TracedName, TracedOperation, TracedOwnTime};
