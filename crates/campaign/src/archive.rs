//! Stores the records of runs: which archive is used, where it is, and how the record of an active
//! run is written to it.

mod choice;
mod keeper;
mod place;

pub use choice::{Chosen, chosen_for_run, directory_of_runs, is_none, place_of_one, record_called};
pub use keeper::{Archiving, Keeper};
pub use place::ArchivePlace;
