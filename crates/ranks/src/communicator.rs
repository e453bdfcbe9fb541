//! The interface of message transports between ranks.

use std::borrow::Cow;
use std::time::Duration;

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub from: u32,
    pub bytes: Vec<u8>,
}

/// The failure of a collective operation. Ranks send the failure to one another, so all ranks
/// report the same cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum CommunicationError {
    /// A rank gave no sign of life: its process or host is stopped, or the network is interrupted.
    #[error("rank {rank} gave no sign of life for {} s", .limit.as_secs_f64())]
    Silent {
        rank: u32,
        /// The minimum duration of the silence.
        limit: Duration,
    },
    /// A rank stopped the run, or closed the run before the other ranks.
    #[error("rank {rank} has stopped the run")]
    Stopped { rank: u32 },
    /// Two ranks perform different operations.
    #[error(
        "ranks are out of step: rank {rank} is to {does} where rank {other} is to {waits}: do all \
         ranks run the same command?"
    )]
    OutOfStep {
        /// The rank whose operation differs from that of `other`.
        rank: u32,
        /// The operation of `rank`, as a verb that can follow `is to`.
        does: Cow<'static, str>,
        /// The rank that detected the difference.
        other: u32,
        /// The operation of `other`, in the same form.
        waits: Cow<'static, str>,
    },
    #[error("a message of rank {rank} cannot be read: {why}")]
    Unreadable { rank: u32, why: String },
    /// The transport or the system rejected an action.
    #[error("cannot {doing}: {why}")]
    Refused {
        /// The rejected action, as a verb that can follow `cannot`.
        doing: Cow<'static, str>,
        why: String,
    },
}

pub(crate) type Outcome<T> = Result<T, CommunicationError>;

/// A transport of messages between ranks, which are numbered from 0. Messages from one rank to
/// another arrive completely, once and in order, or not at all.
pub trait Communicator {
    /// The number of this rank, starting at 0.
    fn rank(&self) -> u32;

    /// The number of ranks, at least 1.
    fn ranks(&self) -> u32;

    /// Sends a message to another rank without waiting until it is received.
    ///
    /// # Errors
    /// Returns an error if the transport does not accept the message.
    fn send(&mut self, to: u32, bytes: Vec<u8>) -> Result<(), CommunicationError>;

    /// Receives the next message of any rank; returns `None` if no message arrives within the
    /// limit.
    ///
    /// # Errors
    /// Returns an error if the transport fails.
    fn receive(&mut self, limit: Duration) -> Result<Option<Message>, CommunicationError>;

    /// Waits until all messages were transmitted, at most for `limit`.
    ///
    /// # Errors
    /// Returns an error if the limit is exceeded.
    fn flush(&mut self, limit: Duration) -> Result<(), CommunicationError>;
}
