//! Published results as data, and what can be said of them and beside them.
//!
//! [`Library`] holds what was printed from 1997 to 2004, cell by cell (`data/*.toml`); what the
//! sources lack is unavailable, with the reason. [`editions`] says which edition of the program
//! made a row, [`improvements`] computes printed comparisons anew, [`beside()`] sets a run beside
//! the published rows of its configuration, and [`submission`] is the file with which somebody's
//! result travels into a table of many ([`submissions`]). Pure: text in, text out.
//!
//! Rendering is here and not in `report`, which may not import this crate.

mod cells;
pub mod compare_run;
pub mod compare_tables;
pub mod editions;
pub mod improvements;
pub mod layouts;
pub mod library;
pub mod number;
pub mod plain;
pub mod shape;
pub mod show;
pub mod source;
pub mod submission;
pub mod submission_tables;
pub mod submissions;

pub use compare_run::{Beside, beside};
pub use library::{Library, NoSuchName, Row};
pub use number::{Interval, PrintedNumber, Unit};
pub use plain::why_not_plain;
pub use shape::ConfigurationShape;
pub use source::{CellValue, Configuration, Figure, PublishedTable, Source, System};
pub use submission::{Submission, SubmissionError};
