//! Stores the records of runs. Chooses the archive file, and writes the record of an active run to
//! it.

mod choice;
pub mod crashes;
mod earlier;
mod keeper;
mod place;

pub use choice::{Chosen, chosen_for_run, directory_of_runs, is_none, place_of_one, record_called};
pub use earlier::Earlier;
pub use keeper::{Archiving, Keeper};
pub use place::ArchivePlace;
