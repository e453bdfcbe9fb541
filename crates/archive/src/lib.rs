//! Stores the runs of this machine in one SQLite file: writes their records phase by phase, and
//! lists, returns, tags, imports and exports them.
//!
//! This crate is the only user of SQLite and handles only records. The caller chooses the file and
//! determines whether its file system is a network file system. The table `run` contains one row
//! per run or result of crash rounds, with the columns for searches and lists
//! ([`Headline`](verdict::Headline)). Records are compressed JSON in a separate table, so that
//! lists need not read them. During a run, each completed phase is added in one transaction
//! ([`Archive::complete`]). At the end, the complete record replaces these parts
//! ([`Archive::finish`]). A file of another program, a truncated one, or one of a newer program is
//! detected before anything is written (`probe`).
//!
//! If a run cannot be written to the archive, its record is written to a file beside the archive
//! (`pending`). The next process that opens the archive for writing imports this file.
//!
//! A process must open at most one [`Archive`] of a file at a time. Locks belong to the process.
//! Closing any descriptor of the file, as `probe` does, releases all locks of the process on the
//! file (fcntl(2), "Advisory record locking").
//!
//! Records are compressed with zlib's format. Compression takes a millisecond per record, and needs
//! only safe Rust without another C library. The checksum of the format detects changed bits.

mod archive;
mod content;
mod crashes;
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
mod work_word;
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
