//! Runs that were archived: where they are kept, how a run gets there, and the commands about them.

mod compared;
mod edit;
mod exchange;
mod opened;
mod page_run;
mod report;
mod show;

pub use compared::study_page;
pub use edit::{delete, note, tag};
pub use exchange::{export, import, is_submission};
pub use opened::{delete_submission, open, submissions};
pub use report::{needs_file, page_of, report};
pub use show::{list, show};
