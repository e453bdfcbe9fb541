//! Sequences of runs over the runner's handle: the sweep over loads, the calibration before a run,
//! and studies with their environment; and where the records of all of them go. A kind of campaign
//! is a file here.
//!
//! Nothing here prints, and storages, clocks and signals are the caller's: a [`Prepare`] takes a
//! run's description to a run whose pool is there, and a [`User`] is told of what goes on.

pub mod archive;
pub mod calibration;
pub mod classic;
pub mod import;
pub mod input;
pub mod page;
pub mod parts;
pub mod plan;
pub mod publications;
pub mod ranks;
pub mod record_source;
pub mod run_spec;
pub mod same_file;
pub mod similar;
pub mod sizing;
pub mod study;
pub mod sweep;

mod error;
mod loads;
mod mailbox;
mod merge;
mod perform;
mod user;

pub use error::{Error, ErrorForm};
pub use perform::{exit_status, exit_status_of, left_something, perform, run};
pub use sweep::Prepare;
pub use user::User;
