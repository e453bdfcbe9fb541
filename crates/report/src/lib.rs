//! Views of records: pure functions from what was measured to a string. Nothing is computed here that a
//! record does not define, and nothing is read or written.

pub mod check;
pub mod classic;
mod environment;
pub mod export;
pub mod list;
pub mod plan;
pub mod reason;
pub mod sizing;
mod steps;
pub mod text;
