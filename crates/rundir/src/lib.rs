//! The directories of a run on its target: the mark that it leaves there, kept pools, how all of it
//! goes again; and the acknowledgement log of acknowledged operations with its check.
//!
//! The rule is: own only what you made. A place is looked through before the first file is made;
//! whatever bears a name that the run would use keeps the run from starting. Files are reached
//! through the run's namespace alone ([`engine::namespace`]), so that a storage needs no paths of
//! a kernel.

pub mod ack_log;
pub mod advice;
pub mod clean;
pub mod heartbeat;
pub mod joined;
pub mod landmark;
pub mod manifest;
pub mod names;
pub mod ownership;
pub mod prepare;
pub mod reuse;
pub mod run_directory;
pub mod verify_log;
pub mod worker_status;

mod dir_snapshot;
mod file_pattern;
mod found_manifest;
mod pool_contents;
mod removal;

pub use ack_log::loss::{Loss, LossKind, VerifyError};
pub use ack_log::{AckLog, AckLogRefused, Entered, Log, NotLogged};
pub use clean::{CleanError, Cleaned, clean};
pub use heartbeat::Life;
pub use verify_log::{Acknowledged, LossCount, Verified, verify_log};
