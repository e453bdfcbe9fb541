//! What a run is asked to do, and what each worker therefore intends.
//!
//! Everything here is pure: no file system, no clock, no environment. The same [`Classic`] workload
//! gives the same [`ClassicStream`] of [`Intent`]s on every machine, for ever; [`plan`] adds up
//! what that stream would do, and [`fingerprint`] names it.

#[macro_use]
mod error;
#[macro_use]
mod text_form;

pub mod arrivals;
pub mod classic;
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
pub mod plan;
pub mod pool;
pub mod popularity;
pub mod prepared;
pub mod presets;
pub mod quantity;
pub mod random;
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
pub use intent::{Action, End, Intent, Kept, Phase, PoolState, Stream};
pub use mix::{Mix, Weights};
pub use mix_stream::MixStream;
pub use plan::followed::Followed;
pub use plan::{Plan, Planner, Volume};
pub use skip::{SkipReason, Skipped};
pub use stream::ClassicStream;
pub use whole::{AnyStream, Role, Work, WorkerSeeds, Workers, Workload};
