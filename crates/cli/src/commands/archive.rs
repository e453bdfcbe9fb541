//! The commands that read or change an archive, for example `list`, `show` and `export`.

pub mod crashes;
mod edit;
mod exchange;
mod opened;
mod report;
mod show;

pub use edit::{delete, note, tag};
pub use exchange::{export, import};
pub use opened::{filter, open};
pub use report::{needs_file, report};
pub use show::{list, show};
