//! What ranks do together: each of these is called by every rank, in the same order, and is over for all within its limit
//! or fails.
//!
//! Messages go along a [tree](crate::tree), so that no rank sends or takes more of them than the logarithm of the number
//! of ranks. A message begins with the running number of what is being done; one that comes early, from a rank that is
//! further, waits for its turn, and one that is late is an error and not a wrong value.
//!
//! A rank that does not hear from one below it in time says so to the rank above, which has waited a little longer for
//! that: whoever fails names the rank that is silent, not one between.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::communicator::{CommunicationError, Communicator, Message};
use crate::tree::{children, depth, height, parent};

/// So much longer than the ranks right below it does a rank wait.
const LONGER_BY_LEVEL: Duration = Duration::from_millis(100);

/// Before the body of a message: the number of what is done, and whether it is done well.
const HEAD_BYTES: usize = 9;
const WELL: u8 = 0;
const FAILED: u8 = 1;

type Outcome<T> = Result<T, CommunicationError>;

/// Ranks that do things together.
#[derive(Debug)]
pub struct Together<C> {
    communicator: C,
    /// How long anything that they do together may take.
    limit: Duration,
    /// What is done now has this number.
    step: u64,
    /// What came before its turn.
    early: VecDeque<(u64, Message)>,
}

impl<C: Communicator> Together<C> {
    /// Ranks that wait so long for one another at most.
    pub fn new(communicator: C, limit: Duration) -> Self {
        Self {
            communicator,
            limit,
            step: 0,
            early: VecDeque::new(),
        }
    }

    /// The number of this rank.
    pub fn rank(&self) -> u32 {
        self.communicator.rank()
    }

    /// How many ranks there are.
    pub fn ranks(&self) -> u32 {
        self.communicator.ranks()
    }

    /// What carries their messages.
    pub fn into_communicator(self) -> C {
        self.communicator
    }

    /// Waits until all ranks are here.
    ///
    /// # Errors
    /// Where one is not within the limit.
    pub fn barrier(&mut self) -> Outcome<()> {
        self.reduce_to_all((), |(), ()| ())
    }

    /// Gives every rank what rank 0 has. What other ranks pass is not looked at.
    ///
    /// # Errors
    /// Where it did not come within the limit, or is something else.
    ///
    /// # Panics
    /// Where rank 0 passes nothing.
    pub fn broadcast<T: Serialize + DeserializeOwned>(&mut self, value: Option<T>) -> Outcome<T> {
        let own = (self.rank() == 0).then(|| Ok(value.expect("rank 0 has what it tells the others")));
        self.spread(own)
    }

    /// Merges what all ranks have, in their order; rank 0 gets it. `merge` must be associative: ranks are merged by trees.
    ///
    /// # Errors
    /// Where a rank did not say what it has within the limit, or it is something else.
    pub fn reduce<T: Serialize + DeserializeOwned>(
        &mut self,
        own: T,
        mut merge: impl FnMut(T, T) -> T,
    ) -> Outcome<Option<T>> {
        const DOING: &str = "waiting for what other ranks have";
        let (rank, ranks) = (self.rank(), self.ranks());
        self.step += 1;
        let until = Instant::now() + self.limit + LONGER_BY_LEVEL * height(rank, ranks);
        let mut sum = Ok(own);
        for child in children(rank, ranks) {
            let theirs = self
                .take(child, DOING, until)
                .and_then(|body| decode(&body, child, DOING));
            // The first failure of all is the one that is told.
            sum = match (sum, theirs) {
                (Ok(sum), Ok(theirs)) => Ok(merge(sum, theirs)),
                (Err(why), _) | (_, Err(why)) => Err(why),
            };
        }
        let Some(parent) = parent(rank) else {
            return sum.map(Some);
        };
        self.tell(parent, &frame(&sum, DOING)?)?;
        self.communicator.flush(self.limit)?;
        sum.map(|_| None)
    }

    /// As [`reduce`](Self::reduce), and every rank gets it.
    ///
    /// # Errors
    /// As there, and every rank that can be reached gets the same one.
    pub fn reduce_to_all<T: Serialize + DeserializeOwned>(
        &mut self,
        own: T,
        merge: impl FnMut(T, T) -> T,
    ) -> Outcome<T> {
        let sum = self.reduce(own, merge);
        // Those that wait for the outcome hear of a failure as well, from whoever could be asked.
        let own = match sum {
            Ok(Some(sum)) => Some(Ok(sum)),
            Ok(None) => None,
            Err(why) => Some(Err(why)),
        };
        self.spread(own)
    }

    /// Sends a value to one rank, which takes it with [`receive`](Self::receive). No other rank has a part in it, but all
    /// must have done as much together before.
    ///
    /// # Errors
    /// Where it could not be sent.
    pub fn send<T: Serialize>(&mut self, to: u32, value: T) -> Outcome<()> {
        let body = frame(&Ok(value), "sending to one rank")?;
        self.tell(to, &body)?;
        self.communicator.flush(self.limit)
    }

    /// What one rank has sent to this one.
    ///
    /// # Errors
    /// Where it did not come within the limit.
    pub fn receive<T: DeserializeOwned>(&mut self, from: u32) -> Outcome<T> {
        const DOING: &str = "waiting for one rank";
        let body = self.take(from, DOING, Instant::now() + self.limit)?;
        decode(&body, from, DOING)
    }

    /// Tells all ranks below what came of something: what this rank knows of it, or what it hears from above.
    fn spread<T: Serialize + DeserializeOwned>(&mut self, own: Option<Outcome<T>>) -> Outcome<T> {
        const DOING: &str = "waiting for what rank 0 decides";
        let (rank, ranks) = (self.rank(), self.ranks());
        self.step += 1;
        let outcome = match (own, parent(rank)) {
            (Some(own), _) => own,
            (None, None) => unreachable!("rank 0 knows what came of it"),
            (None, Some(parent)) => {
                // It is told when the rank above has heard from rank 0, which waits for all below it, or has given up.
                let levels = height(0, ranks) + depth(rank);
                let until = Instant::now() + self.limit + LONGER_BY_LEVEL * levels;
                self.take(parent, DOING, until)
                    .and_then(|body| decode(&body, parent, DOING))
            }
        };
        let body = if ranks > 1 { frame(&outcome, DOING)? } else { Vec::new() };
        // The child with most ranks below it first.
        for child in children(rank, ranks).rev() {
            self.tell(child, &body)?;
        }
        self.communicator.flush(self.limit)?;
        outcome
    }

    fn tell(&mut self, to: u32, body: &[u8]) -> Outcome<()> {
        let mut bytes = Vec::with_capacity(8 + body.len());
        bytes.extend(self.step.to_le_bytes());
        bytes.extend(body);
        self.communicator.send(to, bytes)
    }

    /// What a rank says of what is being done.
    fn take(&mut self, from: u32, doing: &'static str, until: Instant) -> Outcome<Vec<u8>> {
        let step = self.step;
        let came = |(number, message): &(u64, Message)| *number == step && message.from == from;
        if let Some(index) = self.early.iter().position(came) {
            let (_, message) = self.early.remove(index).expect("it was just found");
            return body(message, doing);
        }
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let Some(message) = self.communicator.receive(left)? else {
                return Err(CommunicationError::Silent {
                    rank: from,
                    doing: Cow::Borrowed(doing),
                    limit: self.limit,
                });
            };
            let number = number(&message, doing)?;
            if number < step {
                return Err(CommunicationError::OutOfStep {
                    rank: message.from,
                    doing: Cow::Borrowed(doing),
                    theirs: number,
                    ours: step,
                });
            }
            if number == step && message.from == from {
                return body(message, doing);
            }
            self.early.push_back((number, message));
        }
    }
}

/// The number of what a message is about.
fn number(message: &Message, doing: &'static str) -> Outcome<u64> {
    match message.bytes.first_chunk::<8>() {
        Some(number) if message.bytes.len() >= HEAD_BYTES => Ok(u64::from_le_bytes(*number)),
        _ => Err(unreadable(
            message.from,
            doing,
            format!("it has {} bytes", message.bytes.len()),
        )),
    }
}

/// What a message says, or the failure that it tells of.
fn body(message: Message, doing: &'static str) -> Outcome<Vec<u8>> {
    let Message { from, mut bytes } = message;
    let kind = bytes[HEAD_BYTES - 1];
    bytes.drain(..HEAD_BYTES);
    match kind {
        WELL => Ok(bytes),
        FAILED => Err(decode::<CommunicationError>(&bytes, from, doing)?),
        other => Err(unreadable(from, doing, format!("it is of kind {other}"))),
    }
}

/// A message without its number.
fn frame<T: Serialize>(outcome: &Outcome<T>, doing: &'static str) -> Outcome<Vec<u8>> {
    let mut bytes = vec![if outcome.is_ok() { WELL } else { FAILED }];
    let written = match outcome {
        Ok(value) => serde_json::to_writer(&mut bytes, value),
        Err(why) => serde_json::to_writer(&mut bytes, why),
    };
    match written {
        Ok(()) => Ok(bytes),
        Err(error) => Err(CommunicationError::Refused {
            doing: Cow::Borrowed(doing),
            why: error.to_string(),
        }),
    }
}

fn decode<T: DeserializeOwned>(body: &[u8], rank: u32, doing: &'static str) -> Outcome<T> {
    serde_json::from_slice(body).map_err(|error| unreadable(rank, doing, error.to_string()))
}

fn unreadable(rank: u32, doing: &'static str, why: String) -> CommunicationError {
    CommunicationError::Unreadable {
        rank,
        doing: Cow::Borrowed(doing),
        why,
    }
}
