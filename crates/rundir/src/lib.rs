//! The directories of a run on its target: their manifests, kept pools and removal. Also the
//! acknowledgement log and its verification.
//!
//! The rule is: a run owns only files that it made. Before it makes its first file, the run
//! inspects the target directory. The run refuses to start if a name that it would use already
//! exists. All file access uses the run's namespace ([`engine::namespace`]), so an I/O engine needs
//! no kernel paths.

pub mod ack_log;
pub mod advice;
pub mod clean;
pub mod crash_moments;
pub mod crash_round;
pub mod crash_rounds;
pub mod heartbeat;
pub mod joined;
pub mod landmark;
pub mod loss_share;
pub mod manifest;
pub mod names;
pub mod ownership;
pub mod prepare;
pub mod repair;
pub mod reuse;
pub mod run_directory;
pub mod verify_log;
pub mod worker_status;

mod dir_snapshot;
mod file_pattern;
mod found_manifest;
mod pool_contents;
mod removal;

pub use ack_log::acknowledged::Acknowledged;
pub use ack_log::loss::{Loss, LossKind, VerifyError};
pub use ack_log::outcome::Outcome;
pub use ack_log::{AckLog, AckLogRefused, Entered, Log, NotLogged};
pub use clean::{CleanError, Cleaned, clean};
pub use crash_moments::MomentOutcome;
pub use crash_round::{CrashRound, LossExample, RoundEnd};
pub use crash_rounds::{CRASH_SCHEMA, CrashReport, CrashSubject};
pub use heartbeat::Life;
pub use repair::{Repaired, repair};
pub use verify_log::{LossCount, Verified, history, verify_log, verify_logs};
