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

/// Why ranks could not do something together. Ranks tell it to one another, so that all name the
/// same cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum CommunicationError {
    /// A rank gave no sign of life: it is stopped, its host is, or nothing comes through to it.
    #[error("rank {rank} gave no sign of life for {} s", .limit.as_secs_f64())]
    Silent {
        /// The rank that was not heard.
        rank: u32,
        /// For how long at least.
        limit: Duration,
    },
    /// A rank has stopped the run that all perform, or has ended it before the others.
    #[error("rank {rank} has stopped the run")]
    Stopped {
        /// The rank that did it.
        rank: u32,
    },
    /// Two ranks do different things.
    #[error(
        "ranks are out of step: rank {rank} is to {does} where rank {other} is to {waits}: do all \
         ranks run the same command?"
    )]
    OutOfStep {
        /// A rank.
        rank: u32,
        /// What it does.
        does: Cow<'static, str>,
        /// The one that found it out.
        other: u32,
        /// What that one does.
        waits: Cow<'static, str>,
    },
    /// A message is not what it must be.
    #[error("a message of rank {rank} cannot be read: {why}")]
    Unreadable {
        /// The rank that sent it.
        rank: u32,
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

/// What came of something.
pub(crate) type Outcome<T> = Result<T, CommunicationError>;

/// Carries messages between ranks, which are numbered from 0. What one rank sends to another
/// arrives whole, once and in its order, or not at all.
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
