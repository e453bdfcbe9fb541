//! Collective operations on one rank: processes received messages, advances operations as far as
//! possible, and never blocks.
//!
//! Messages are sent along a [tree](crate::tree), so each rank communicates only with its parent
//! and its children. Their number is at most the logarithm of the number of ranks. Every message
//! contains its epoch, which is incremented when a run starts and when it ends, and its step within
//! the epoch. Messages of an older epoch are dropped; those of a newer one are kept until this rank
//! reaches it.
//!
//! The first ranks may perform operations without the others. Their tree is the same without these,
//! and their steps are counted separately for each number of ranks. Epochs, pulses, stops and
//! losses always concern all ranks.
//!
//! A rank that [watches](Together::watch) does not count the runs of the others: it follows the
//! epoch of its parent until that starts an operation with all ranks.
//!
//! The duration of the work before a barrier is not limited. Therefore the only time limit concerns
//! silence: each rank regularly sends its neighbours in the tree a sign of life, a pulse. A
//! neighbour without a sign of life for the limit is lost. The rank that detects this informs all
//! others along the tree, as does a rank that stops the run. So all ranks name the same rank.

mod messages;
mod runs;
mod state;
mod stops;

pub use state::StopReason;
pub(crate) use state::{Heard, Tie, Together};

#[cfg(test)]
mod tests;
