//! Collective operations on one rank: processes received messages, advances operations as far as
//! possible, and never blocks.
//!
//! Messages are sent along a [tree](crate::tree), so each rank communicates only with its parent
//! and its children. A rank of 1,000 has at most 10 children. Every message contains an epoch and a
//! step. The epoch is incremented when a run starts and when the run ends. The step is the number
//! of the operation within the epoch. Messages of an older epoch are dropped; messages of a newer
//! epoch are kept until this rank reaches that epoch.
//!
//! The ranks with the lowest numbers may perform operations without the others. The tree of such an
//! operation is the tree of all ranks without the excluded ranks. Steps are counted separately for
//! each number of ranks. Epochs, pulses, stops and losses always concern all ranks.
//!
//! A rank that [watches](Together::watch) does not count the runs of the other ranks: it follows
//! the epoch of its parent until the parent starts an operation with all ranks.
//!
//! The duration of the work before a barrier is not limited. Therefore the only time limit concerns
//! silence: each rank regularly sends its neighbours in the tree a sign of life, a pulse. A
//! neighbour that sent no pulse within the time limit is lost. The rank that detects a loss informs
//! all other ranks along the tree, and so does a rank that stops the run. All ranks therefore
//! report the same rank as the cause.

mod messages;
mod runs;
mod state;
mod stops;

pub use state::StopReason;
pub(crate) use state::{Heard, Tie, Together};

#[cfg(test)]
mod tests;
