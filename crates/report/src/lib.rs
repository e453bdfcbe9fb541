//! Views of records: pure functions from records to text. All numbers come from the records and
//! their summaries. No function reads or writes files.

pub mod check;
pub mod classic;
pub mod clean;
pub mod comparison;
pub mod crash;
pub mod engines;
mod environment;
pub mod estimated;
pub mod export;
pub mod figures;
pub mod gate;
pub mod history;
mod latencies;
pub mod list;
mod load_levels;
pub mod page;
mod pictures;
pub mod plan;
pub mod presets;
pub mod repeats;
pub mod site;
pub mod sizing;
mod steps;
pub mod study;
pub mod terminal;
pub mod text;
pub mod verify_log;
