//! Results of a study in the tables of a paper: what its runs came to ([`measured`]), cell by cell
//! with what was printed of the same work ([`results`]), what of the paper holds today ([`holds`]),
//! and all of it as tables ([`tables`]) and graphs ([`graphs`](mod@graphs)).
//!
//! Numbers of a study are medians over its blocks, with the least and the greatest; ratios are
//! geometric means of pairs within blocks, as in its comparisons.

pub mod findings;
pub mod graphs;
pub mod measured;
pub mod results;
pub mod tables;
mod user_space;

pub use graphs::graphs;
pub use measured::PaperRun;
pub use results::{LayoutError, LayoutResults, check};
pub use tables::{LayoutView, csv, document};
