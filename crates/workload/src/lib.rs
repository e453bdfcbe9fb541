//! Workloads, and the sequences of operations that their workers perform.
//!
//! This crate uses no file system, no clock and no environment. A [`Classic`] workload produces the
//! same [`ClassicStream`] of [`Intent`]s on every machine and in every version. [`plan`] sums the
//! operations of a stream. [`fingerprint`] computes a hash that identifies a workload.

#[macro_use]
mod error;
#[macro_use]
mod text_form;
mod trees;

pub mod arrivals;
pub mod births;
pub mod classic;
pub mod compute;
pub mod contents;
pub mod edition;
mod endless;
pub mod extent;
pub mod extras;
pub mod fingerprint;
pub mod generator;
pub mod intent;
pub mod layout;
pub mod mix;
pub mod mix_stream;
pub mod mixer;
pub mod names;
pub mod phases;
pub mod plan;
pub mod pool;
pub mod popularity;
pub mod prepared;
pub mod presets;
pub mod quantity;
pub mod random;
pub mod replay;
pub mod replayed;
mod sequence;
pub mod sizes;
pub mod skip;
pub mod stream;
pub mod table;
pub mod whole;
mod workers;

pub use classic::{Bias, Classic};
pub use contents::ContentSpec;
pub use edition::Edition;
pub use error::WorkloadError;
pub use extent::Extent;
pub use fingerprint::{Fingerprint, StreamHash, StreamHasher};
pub use intent::{Action, End, Intent, Kept, Pause, Phase, PoolState, Stream};
pub use mix::{Mix, Weights};
pub use mix_stream::MixStream;
pub use phases::{PhaseOperations, PhaseWork};
pub use plan::followed::Followed;
pub use plan::{Plan, Planner, Volume};
pub use skip::{SkipReason, Skipped};
pub use stream::ClassicStream;
pub use whole::{AnyStream, Role, Work, WorkerSeeds, Workers, Workload};
