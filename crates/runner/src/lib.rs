//! Performs runs: resolves intents, performs them on a storage, stamps moments, counts, and leaves
//! nothing behind.
//!
//! [`run()`] is the whole of it, and a [`Run`] the handle for those who apply other loads than its
//! own. What differs from run to run are values given to it: its description ([`RunSpec`]), the
//! storage, the clock, the place ([`rundir`]), who may stop it ([`Control`]) and who watches
//! ([`Events`]). Nothing here prints.

pub mod clock;
pub mod control;
pub mod events;
pub mod memory;
pub mod named;
pub mod observers;
pub mod refused;
pub mod room;
pub mod run;

mod acknowledged;
mod entries;
mod failures;
mod head;
mod leaving;
mod looked;
mod naming;
mod overhead;
mod pace;
mod pauses;
mod place;
mod ranks;
mod servers;
mod shared;
mod since;
mod source;
mod stopwatch;
mod supervisor;
mod taken;
mod waiting;
mod worker;
mod workers;

pub use clock::{Clock, SystemClock};
pub use control::{Control, TakeControl};
pub use events::{Event, Events, NoEvents, Progress, Second, Stage};
pub use looked::judge;
pub use observers::Observers;
pub use refused::Refused;
pub use run::{Finished, Run, prepare, run};
pub use spec::{Cache, Drive, Keeping, OnError, Pace, Place, RunSpec, Stop, StorageName};
pub use waiting::{NoAnswer, within};
