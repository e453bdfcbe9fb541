//! Messages between a rank and its neighbours in the tree.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::time::Instant;

use crate::communicator::{CommunicationError, Communicator, Outcome};
use crate::message::{Collective, Envelope, Head, Sort};

/// The epoch counts the starts and ends of runs. A rank that leaves enters this last epoch.
pub(crate) const LEFT: u64 = u64::MAX - 1;

/// A neighbour in the tree: the parent or a child.
pub(crate) struct Neighbour {
    pub(crate) rank: u32,
    pub(crate) heard: Instant,
    /// The epoch of the neighbour's newest message. `step`, `count` and `collective` are the step,
    /// the number of ranks and the operation of that message.
    pub(crate) epoch: u64,
    pub(crate) step: u64,
    pub(crate) count: u32,
    pub(crate) collective: Collective,
}

impl Neighbour {
    /// Stores that the neighbour is alive, and the epoch and the step of its newest message.
    pub(crate) fn hear(&mut self, head: Head) {
        self.heard = Instant::now();
        // A message of an operation that started earlier contains an older step, which is not
        // recorded.
        let is_newer = match head.count == self.count {
            true => (head.epoch, head.step) >= (self.epoch, self.step),
            false => head.epoch >= self.epoch,
        };
        if is_newer {
            (self.epoch, self.step) = (head.epoch, head.step);
            (self.count, self.collective) = (head.count, head.collective);
        }
    }
}

/// The connections of this rank to its neighbours in the tree.
pub(crate) struct Links {
    pub(crate) communicator: Box<dyn Communicator>,
    pub(crate) neighbours: Vec<Neighbour>,
    /// Messages that were received, but not processed yet.
    pub(crate) inbox: VecDeque<Envelope>,
}

/// Sends and receives the messages of one collective operation.
pub(crate) struct Post<'a> {
    pub(crate) links: &'a mut Links,
    pub(crate) head: Head,
}

impl Post<'_> {
    fn out_of_step(&self, rank: u32, does: &'static str) -> CommunicationError {
        CommunicationError::OutOfStep {
            rank,
            does: Cow::Borrowed(does),
            other: self.rank(),
            waits: Cow::Borrowed(self.head.collective.as_words()),
        }
    }

    pub(crate) fn rank(&self) -> u32 {
        self.links.communicator.rank()
    }

    /// Number of ranks that perform the operation: rank 0 to the rank below this number.
    pub(crate) fn ranks(&self) -> u32 {
        self.head.count
    }

    /// Returns the next message of a neighbour in the tree; `None` if the message has not arrived,
    /// and an error if it can no longer arrive.
    pub(crate) fn take(&mut self, from: u32) -> Outcome<Option<Vec<u8>>> {
        let Head {
            epoch, step, count, ..
        } = self.head;
        let is_it = |one: &Envelope| {
            let head = one.head;
            one.from == from
                && head.sort == Sort::Part
                && (head.epoch, head.count, head.step) == (epoch, count, step)
        };
        let found = self.links.inbox.iter().position(is_it);
        if let Some(envelope) = found.and_then(|at| self.links.inbox.remove(at)) {
            if envelope.head.collective != self.head.collective {
                return Err(self.out_of_step(from, envelope.head.collective.as_words()));
            }
            return Ok(Some(envelope.body));
        }
        // Messages of a rank arrive in order, so a rank that is already in a later operation will
        // not send the missing message.
        let Some(theirs) = self
            .links
            .neighbours
            .iter()
            .find(|other| other.rank == from)
        else {
            return Ok(None);
        };
        let does = match theirs.epoch {
            theirs if theirs < epoch => return Ok(None),
            LEFT if epoch < LEFT => Collective::Leave,
            theirs if theirs > epoch && epoch % 2 == 1 => {
                return Err(CommunicationError::Stopped { rank: from });
            }
            theirs if theirs > epoch => return Err(self.out_of_step(from, "perform another run")),
            _ if (theirs.count, theirs.step) == (count, step) => theirs.collective,
            _ => return Ok(None),
        };
        if does == self.head.collective {
            return Ok(None);
        }
        Err(self.out_of_step(from, does.as_words()))
    }

    pub(crate) fn send(&mut self, to: u32, body: &[u8]) -> Outcome<()> {
        self.links.communicator.send(to, self.head.with(body))
    }
}
