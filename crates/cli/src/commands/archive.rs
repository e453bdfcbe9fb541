//! The commands about archived runs.

mod edit;
mod exchange;
mod opened;
mod report;
mod show;

pub use edit::{delete, note, tag};
pub use exchange::{export, import};
pub use opened::open;
pub use report::{needs_file, report};
pub use show::{list, show};
