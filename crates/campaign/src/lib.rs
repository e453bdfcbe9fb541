//! Sequences of runs on top of the runner: load sweeps, calibration before a run, and studies with
//! their environment. Also stores the records of all runs. Each kind of campaign has its own file.
//!
//! This crate itself prints nothing. The caller chooses I/O engines, clocks and signals. A
//! [`Prepare`] turns a run spec into a run whose pool exists, and a [`User`] shows messages.

pub mod archive;
pub mod calibration;
pub mod classic;
pub mod crash;
pub mod estimate;
pub mod history;
pub mod import;
pub mod input;
pub mod page;
pub mod parts;
pub mod plan;
pub mod publications;
pub mod quiet;
pub mod ranks;
pub mod record_source;
pub mod run_spec;
pub mod same_file;
pub mod similar;
pub mod site;
pub mod sizing;
pub mod study;
pub mod sweep;

mod error;
mod loads;
mod mailbox;
mod merge;
mod perform;
mod rates;
mod replay;
mod target_key;
mod user;

pub use error::{Error, ErrorForm};
pub use perform::{exit_status, exit_status_of, left_something, perform, run};
pub use sweep::Prepare;
pub use user::User;
