//! Derives the numbers of reports and the verdict from a record, and checks records of unknown
//! origin.
//!
//! A [`record::Record`] contains measurements and no derived values. [`Summary`] contains the
//! derived values, each defined once (`docs/reference/metrics.md`), so that every view shows the
//! same numbers.

pub mod check;
mod intervals;
mod json;
pub mod limits;
pub mod list_row;
pub mod rules;
pub mod summary;
pub mod sweep;

pub use check::{BrokenRule, CheckedRecord, Difference, Differences, Rule};
pub use json::{WrittenRun, to_json};
pub use limits::{LimitPart, LimitSummary, RunLimit};
pub use list_row::{Headline, ListedRun, State};
pub use rules::{Level, Reason, Verdict};
pub use summary::{
    MachineSummary, OperationSummary, PaperFigures, PhaseSummary, Rate, Spread, StepSummary,
    Summary,
};
pub use sweep::{Limit, SloSummary, SweepStepOperation, SweepStepSummary, SweepSummary};
