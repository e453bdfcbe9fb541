//! Performs runs: resolves intents, performs them on an I/O engine, takes timestamps, counts, and
//! removes the files of the run.
//!
//! [`run()`] performs a complete run. A [`Run`] is a handle for callers that apply their own loads.
//! Callers supply everything that differs between runs. These inputs include the description
//! ([`RunSpec`]), the I/O engine, the clock, the directory ([`rundir`]), the stop handle
//! ([`Control`]) and the event sink ([`Events`]). This crate prints nothing.

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
mod replay;
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
