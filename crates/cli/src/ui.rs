//! The terminal: output, progress, signals and error messages.

pub mod limits;
pub mod live;
pub mod output;
pub mod perform;
pub mod problem;
pub mod progress;
pub mod refused;
pub mod screen;
pub mod signals;
pub mod terminal;
pub mod watchdog_process;
pub mod width;
