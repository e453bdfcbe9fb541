//! Results of a study in the tables of a paper: what its runs came to (`measured`, `studied`), cell
//! by cell with what was printed of the same work (`printed`), what of the paper holds today
//! (`findings`, `ratios`), and all of it as tables, lines for spreadsheets and graphs.
//!
//! Numbers of a study are medians over its blocks, with the least and the greatest; ratios are
//! geometric means of pairs within blocks, as in its comparisons.

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
