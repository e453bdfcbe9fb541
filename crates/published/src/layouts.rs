//! Shows the results of a study in the layout of a published paper. `measured` and `studied`
//! compute the values of the study's runs, and `printed` adds published values of the same work.
//! `findings` and `ratios` check which statements of the paper are confirmed today. The other
//! modules produce tables, CSV and charts.
//!
//! Values of a study are medians over its blocks, with minimum and maximum. Ratios are geometric
//! means of pairs within blocks, as in the study's comparisons.

mod arrangements;
mod assembly;
mod blocks;
mod csv;
mod figures;
mod findings;
mod graphs;
mod measured;
mod printed;
mod ratios;
mod results;
mod rows;
mod studied;
mod tables;

pub use assembly::{LayoutError, check};
pub use csv::csv;
pub(crate) use figures::label;
pub use graphs::graphs;
pub use measured::PaperRun;
pub use results::LayoutResults;
pub use rows::LayoutView;
pub use tables::document;
