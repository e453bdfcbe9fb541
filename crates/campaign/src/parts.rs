//! Writes the progress of each rank of a run to disk after each phase: one file per rank in a
//! directory, so that results remain if ranks are killed. Rank 0 also writes the merged record of
//! all ranks so far. `postmark collect` joins the files into one record ([`join`]).
//!
//! Each line of a file is a JSON document: the rank; the record as it was when the run began; each
//! part completed after that; and a last line if the rank's run ended. Each line is on disk before
//! the rank continues. If the file system does not respond, the rank shows a warning and continues
//! without writing its parts.

mod join;
mod lines;
mod read;
mod writer;

pub use join::{JoinedParts, join};
pub use lines::PartOf;
pub use writer::PartsWriter;
