//! Runs kept on this machine, in one SQLite file: written phase by phase while they go on, listed,
//! shown, tagged, exchanged.
//!
//! It is the only user of SQLite, and knows records only: where the file lies, and whether its file
//! system is one of a network, its caller says. How it works:
//! `run` has a row for every run, with what is searched and listed in columns
//! ([`Headline`](verdict::Headline)); the record itself is JSON, compressed, in a table of its own,
//! so that a list reads none of it. While a run goes on its phases lie beside that
//! ([`Archive::complete`]), each written in one transaction; at its end the whole record takes
//! their place ([`Archive::finish`]). A file that is not ours, is cut off, or comes from a newer
//! program is told apart before anything is written (`look`).
//!
//! A run that could not be written to the archive has its record in a file beside it (`pending`),
//! which the next one to open the archive for writing takes in.
//!
//! A process has one [`Archive`] of a file at a time: locks are a process's, and whoever opens the
//! file and closes it, as the look does, lets go of all that the process has on it (fcntl(2),
//! "Advisory record locking").
//!
//! Contents are compressed with zlib's format: a record is a few kilobytes then, which takes a
//! millisecond, in safe Rust and without another library in C; its checksum tells of bits that have
//! changed.

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
