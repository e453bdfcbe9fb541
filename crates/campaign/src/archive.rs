//! Where the records of runs go: which archive, where it lies, and how a run is kept in it while it
//! goes on.

mod choice;
mod keeper;
mod place;

pub use choice::{Chosen, chosen_for_run, directory_of_runs, is_none, place_of_one, record_called};
pub use keeper::{Archiving, Keeper};
pub use place::ArchivePlace;
