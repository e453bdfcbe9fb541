//! Stores runs on this machine in one SQLite file: writes them phase by phase, lists, shows, tags
//! and exchanges them.
//!
//! This crate is the only user of SQLite and handles only records; the caller chooses the file and
//! determines whether its file system is a network file system. The table `run` has one row per
//! run, with the columns for searches and lists ([`Headline`](verdict::Headline)). Records are
//! compressed JSON in a separate table, so that lists need not read them. During a run, each phase
//! is added in one transaction ([`Archive::complete`]); at the end the complete record replaces
//! them ([`Archive::finish`]). A file of another program, a truncated one, or one of a newer
//! program is detected before anything is written (`probe`).
//!
//! If a run cannot be written to the archive, its record goes to a file beside it (`pending`),
//! which the next process that opens the archive for writing imports.
//!
//! A process must have at most one [`Archive`] of a file at a time: locks belong to the process,
//! and closing any descriptor of the file, as `probe` does, releases all of its locks on the file
//! (fcntl(2), "Advisory record locking").
//!
//! Records are compressed with zlib's format: compression to a few kilobytes takes a millisecond,
//! in safe Rust without another C library; its checksum detects changed bits.

mod archive;
mod content;
mod error;
mod filter;
mod mark;
mod open;
mod pending;
mod probe;
mod read;
mod remarks;
mod schema;
mod submissions;
mod write;

pub use archive::Archive;
pub use error::{ArchiveError, ArchiveErrorKind};
pub use filter::Filter;
pub use mark::own_mark;
pub use open::{JournalMode, Opening, Owner};
pub use pending::{Pending, Waiting, leave_beside, may_leave_beside, waiting};
pub use read::RunName;
pub use remarks::{InvalidNote, InvalidTag, NoteText, Remarks, Tag};
pub use schema::VERSION;
pub use submissions::SubmissionOutcome;
pub use write::Imported;
