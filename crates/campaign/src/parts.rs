//! What each rank of a run has done, on disk at every border: a file for each rank in a directory,
//! so that something is left of a run whose ranks were killed; and, in that of rank 0, the record
//! of all up to that border. `postmark collect` makes one record of them ([`join`]).
//!
//! A file has a JSON document on each line: which rank this is; the record as it was when the run
//! began; each part that was completed after it; and, where the rank's run came to its end, a line
//! that says so. Each line is on the disk before the rank goes on, unless the file system does not
//! answer: then the rank goes on without its parts, and says so.

mod join;
mod lines;
mod read;
mod writer;

pub use join::{JoinedParts, join};
pub use lines::PartOf;
pub use writer::PartsWriter;
