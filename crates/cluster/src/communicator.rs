//! What carries messages between ranks.

use std::borrow::Cow;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A message, and who sent it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The rank that sent it.
    pub from: u32,
    /// What it sent.
    pub bytes: Vec<u8>,
}

/// Why ranks could not do something together. Ranks tell it to one another, so that all name the same cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum CommunicationError {
    /// A rank did not say in time what was waited for.
    #[error("rank {rank} did not answer within {} s ({doing})", .limit.as_secs_f64())]
    Silent {
        /// The rank that was waited for.
        rank: u32,
        /// What was being done.
        doing: Cow<'static, str>,
        /// How long it was waited for.
        limit: Duration,
    },
    /// A rank is at another point of the run than this one.
    #[error(
        "rank {rank} is at step {theirs} where this rank is at step {ours} ({doing}): do all ranks run the same command?"
    )]
    OutOfStep {
        /// The rank that sent it.
        rank: u32,
        /// What was being done.
        doing: Cow<'static, str>,
        /// The number of what it does.
        theirs: u64,
        /// The number of what is done here.
        ours: u64,
    },
    /// A message is not what it must be.
    #[error("the message of rank {rank} cannot be read ({doing}): {why}")]
    Unreadable {
        /// The rank that sent it.
        rank: u32,
        /// What was being done.
        doing: Cow<'static, str>,
        /// What is wrong with it.
        why: String,
    },
    /// What carries the messages refused one.
    #[error("cannot {doing}: {why}")]
    Refused {
        /// What was being done.
        doing: Cow<'static, str>,
        /// What was answered.
        why: String,
    },
}

/// Carries messages between ranks, which are numbered from 0. What one rank sends to another arrives whole, once and in its
/// order, or not at all.
pub trait Communicator {
    /// The number of this rank.
    fn rank(&self) -> u32;

    /// How many ranks there are, at least 1.
    fn ranks(&self) -> u32;

    /// Sends a message to another rank. Does not wait until that takes it.
    ///
    /// # Errors
    /// Where it could not be handed over.
    fn send(&mut self, to: u32, bytes: Vec<u8>) -> Result<(), CommunicationError>;

    /// The next message of any rank; nothing where none came within the limit.
    ///
    /// # Errors
    /// Where what carries them failed.
    fn receive(&mut self, limit: Duration) -> Result<Option<Message>, CommunicationError>;

    /// Waits until all that was sent has left, as long as the limit at most.
    ///
    /// # Errors
    /// Where it has not.
    fn flush(&mut self, limit: Duration) -> Result<(), CommunicationError>;
}
