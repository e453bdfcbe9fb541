//! What ranks do together, on one rank: it takes what comes, acts as far as it can, and never waits
//! by itself.
//!
//! Messages go along a [tree](crate::tree), so that no rank sends or takes more of them than the
//! logarithm of the number of ranks. Every message says its epoch, which is counted up where a run
//! begins and where its end does, and its step within that: what is of an older epoch is dropped,
//! what is of a newer one waits for its turn.
//!
//! Some things the first ranks do without the others: their tree is the same without those, and
//! their steps are counted apart, by how many they are. Epochs are those of all ranks, as are
//! pulses, stops and losses.
//!
//! A rank that [watches](Together::watch) does not count the runs of the others itself: it is where
//! the rank above it is, until that one does something with all.
//!
//! How long a rank works until it meets the others, nobody can know. So nothing has a deadline but
//! silence: each rank gives its neighbours in the tree a sign of life, a pulse, whatever it does,
//! and one that was not heard for long is lost. The neighbour that finds it tells all others, along
//! the tree, as does a rank that stops the run: all name the same rank.

mod messages;
mod runs;
mod state;
mod stops;

pub use state::StopReason;
pub(crate) use state::{Heard, Tie, Together};

#[cfg(test)]
mod tests;
