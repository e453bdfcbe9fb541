//! Performs runs: resolves intents, performs them on a storage, stamps moments, counts, and leaves
//! nothing behind.
//!
//! [`run()`] is the whole of it, and a [`Run`] the handle for those who apply other loads than its
//! own. What differs from run to run are values given to it: its description ([`RunSpec`]), the
//! storage, the clock, the place ([`rundir`]), who may stop it ([`Control`]) and who watches
//! ([`Events`]). Nothing here prints.

pub mod clock;
pub mod control;
pub mod dispatch;
pub mod error;
pub mod events;
pub mod free_space;
pub mod memory;
pub mod observers;
pub mod run;

mod acknowledged;
mod counter_baseline;
mod entries;
mod failures;
mod initial_record;
mod listings;
mod overhead;
mod pace;
mod path_builder;
mod pauses;
mod preflight;
mod private;
mod processes;
mod ranks;
mod run_target;
mod servers;
mod setup;
mod shared;
mod source;
mod stopwatch;
mod supervisor;
mod teardown;
mod timed_call;
mod worker;
mod workers;

pub use clock::{Clock, SystemClock};
pub use control::{Control, TakeControl};
pub use error::{NoAnswer, Refused};
pub use events::{Event, Events, NoEvents, Progress, Second, Stage};
pub use observers::Observers;
pub use preflight::judge;
pub use run::{Finished, Run, prepare, run};
pub use spec::{Cache, Drive, EngineName, Keeping, OnError, Pace, Place, RunSpec, Stop};
pub use timed_call::within;
