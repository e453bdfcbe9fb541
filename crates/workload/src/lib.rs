//! What a run is asked to do, and what each worker therefore intends.
//!
//! Everything here is pure: no file system, no clock, no environment. The same [`Classic`] workload gives
//! the same [`ClassicStream`] of [`Intent`]s on every machine, for ever; [`plan`] adds up what that stream
//! would do, and [`fingerprint`] names it.

pub mod classic;
pub mod edition;
pub mod fingerprint;
pub mod generator;
pub mod intent;
pub mod plan;
pub mod presets;
pub mod quantity;
pub mod stream;
pub mod table;

pub use classic::{Bias, Classic, InvalidWorkload};
pub use edition::Edition;
pub use fingerprint::{Fingerprint, StreamHash, StreamHasher};
pub use intent::{Action, End, Intent, Phase, Stream};
pub use plan::{Plan, Planner, Volume};
pub use stream::ClassicStream;
