//! What follows from a record: the numbers that reports show, whether they are worth anything, and
//! the check of a record of others.
//!
//! A [`record::Record`] has what was measured, nothing derived; [`Summary`] is what follows from
//! it, defined once (`docs/specification.md`), so that every view shows the same numbers.

pub mod check;
mod json;
pub mod list_row;
pub mod rules;
pub mod summary;
pub mod sweep;

pub use check::{BrokenRule, CheckedRecord, Difference, Differences, Rule};
pub use json::{WrittenRun, to_json};
pub use list_row::{Headline, ListedRun, State};
pub use rules::{Level, Reason, Verdict};
pub use summary::{
    MachineSummary, OperationSummary, PaperFigures, PhaseSummary, Rate, Spread, StepSummary,
    Summary,
};
pub use sweep::{Limit, SloSummary, SweepStepOperation, SweepStepSummary, SweepSummary};
