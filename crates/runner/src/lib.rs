//! Performs runs: resolves intents, performs them on a storage, stamps moments, counts, and leaves nothing behind.
//!
//! [`run()`] is the whole of it. What differs from run to run are values given to it: its description ([`RunSpec`]), the storage, the clock, the
//! place ([`rundir`]), who may stop it ([`Control`]) and who watches ([`Events`]). Nothing here prints.

pub mod clock;
pub mod control;
pub mod events;
pub mod memory;
pub mod refused;
pub mod room;
pub mod run;

mod crew;
mod failures;
mod head;
mod naming;
mod operations;
mod own_cost;
mod pace;
mod shared;
mod source;
mod stopwatch;
mod supervisor;
mod taken;
mod waiting;
mod worker;

pub use clock::{Clock, SystemClock};
pub use control::Control;
pub use events::{Event, Events, NoEvents, Progress, Second, Stage};
pub use refused::Refused;
pub use run::{TakeControl, judge, judge_room, run};
pub use spec::{Cache, Drive, Keeping, Ladder, OnError, Pace, Place, RunSpec, Stop};
pub use waiting::{NoAnswer, within};
