//! Writes the results of each rank to disk after each phase, so that they remain if ranks are
//! killed. Each rank writes its own file in a directory. Rank 0 also writes the record that is
//! merged from all ranks. `postmark collect` joins the files into one record ([`join`]).
//!
//! Each line of a rank's file is a JSON document: the rank, the record at the beginning of the run,
//! then each part that the run completed. A last line follows if the rank's run ended. Each line is
//! on disk before the rank continues. If the file system does not respond, the rank shows a warning
//! and continues without writing its parts.

mod join;
mod lines;
mod read;
mod writer;

pub use join::{JoinedParts, join};
pub use lines::PartOf;
pub use writer::PartsWriter;
