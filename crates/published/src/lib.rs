//! Published results as data, and comparisons of runs with published results.
//!
//! [`Library`] contains results that were printed from 1997 to 2004, cell by cell (`data/*.toml`).
//! Values that are missing in the sources are unavailable, with a reason. [`editions`] determines
//! which edition of the program produced a row, [`improvements`] recomputes printed improvements,
//! and [`beside()`] compares a run with the published rows of its configuration. [`submission`]
//! defines the file format in which users submit results to a table of many results
//! ([`submissions`]). The crate does no input and output: it converts text to text.
//!
//! Rendering is part of this crate and not of `report`, which must not import this crate.

mod cells;
pub mod collection;
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

pub use collection::{CollectedCell, CollectedRow, CollectedTable};
pub use compare_run::{Beside, beside};
pub use library::{Library, NoSuchName, Row};
pub use number::{Interval, PrintedNumber, Unit};
pub use plain::why_not_plain;
pub use shape::ConfigurationShape;
pub use source::{CellValue, Configuration, Figure, PublishedTable, Source, System};
pub use submission::{Submission, SubmissionError};
