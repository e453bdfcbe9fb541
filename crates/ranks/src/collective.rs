//! Collective operations from the view of one rank: merging values, broadcasting a value of rank 0,
//! and comparing clocks. Each operation advances as far as the received messages allow, and never
//! blocks.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::Sender;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::clocks::{ClockOffset, between};
use crate::communicator::{CommunicationError, Outcome};
use crate::links::Post;
use crate::message::{decode, encode};
use crate::tree::{children, parent};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress<T> {
    /// The operation is complete with this result.
    Done(T),
    /// A part of the operation is complete, and the next part can start.
    More,
    /// A message that the operation needs has not arrived yet.
    Waits,
}

/// A collective operation on this rank.
pub(crate) trait Meet: Send {
    type Value;

    /// Performs the next part of the operation, if the messages that the part needs have arrived.
    fn advance(&mut self, post: &mut Post<'_>) -> Outcome<Progress<Self::Value>>;
}

/// An operation that was started, with a channel for its result.
pub(crate) trait Begun: Send {
    /// Performs the next part of the operation; on completion, sends the result to the waiting
    /// thread.
    fn advance(&mut self, post: &mut Post<'_>) -> Outcome<Progress<()>>;

    /// Sends `why` to the waiting thread as the failure of the operation.
    fn fail(&self, why: &CommunicationError);
}

impl<M: Meet<Value: Send>> Begun for (M, Sender<Outcome<M::Value>>) {
    fn advance(&mut self, post: &mut Post<'_>) -> Outcome<Progress<()>> {
        Ok(match self.0.advance(post)? {
            Progress::Done(value) => {
                // The waiting thread may have dropped its receiver.
                let _ = self.1.send(Ok(value));
                Progress::Done(())
            }
            Progress::More => Progress::More,
            Progress::Waits => Progress::Waits,
        })
    }

    fn fail(&self, why: &CommunicationError) {
        let _ = self.1.send(Err(why.clone()));
    }
}

/// Merges the values of all ranks in the order of ranks, upwards in the tree, and returns the
/// result to all ranks.
pub(crate) struct Merge<T, M> {
    /// The result of merging up to now; `None` after it was sent to the parent.
    sum: Option<T>,
    merge: M,
    /// Number of children whose values are merged.
    merged: usize,
}

impl<T, M: FnMut(T, T) -> T> Merge<T, M> {
    pub(crate) fn new(own: T, merge: M) -> Self {
        Self {
            sum: Some(own),
            merge,
            merged: 0,
        }
    }

    fn add(&mut self, theirs: T) -> Outcome<()> {
        let Some(own) = self.sum.take() else {
            return Ok(());
        };
        // A panic would end the communication thread, and all other ranks would wait for this rank.
        let merged = catch_unwind(AssertUnwindSafe(|| (self.merge)(own, theirs)));
        self.sum = Some(merged.map_err(|_| CommunicationError::Refused {
            doing: Cow::Borrowed("merge what ranks have"),
            why: "it panicked".to_owned(),
        })?);
        Ok(())
    }
}

impl<T, M> Meet for Merge<T, M>
where
    T: Serialize + DeserializeOwned + Send,
    M: FnMut(T, T) -> T + Send,
{
    type Value = T;

    fn advance(&mut self, post: &mut Post<'_>) -> Outcome<Progress<T>> {
        let (rank, ranks) = (post.rank(), post.ranks());
        if let Some(child) = children(rank, ranks).nth(self.merged) {
            let Some(body) = post.take(child)? else {
                return Ok(Progress::Waits);
            };
            self.add(decode(&body, child)?)?;
            self.merged += 1;
            return Ok(Progress::More);
        }
        let (body, whole) = match (parent(rank), self.sum.take()) {
            (None, Some(sum)) => {
                let body = if ranks > 1 { encode(&sum)? } else { Vec::new() };
                (body, sum)
            }
            // `sum` is missing because an earlier merge failed. The error of that merge ends the
            // operation on all ranks.
            (None, None) => return Ok(Progress::Waits),
            (Some(parent), Some(sum)) => {
                post.send(parent, &encode(&sum)?)?;
                return Ok(Progress::More);
            }
            (Some(parent), None) => {
                let Some(body) = post.take(parent)? else {
                    return Ok(Progress::Waits);
                };
                let whole = decode(&body, parent)?;
                (body, whole)
            }
        };
        pass_on(post, &body)?;
        Ok(Progress::Done(whole))
    }
}

/// Sends a value of rank 0 to all ranks.
pub(crate) struct Broadcast<T>(pub(crate) Option<T>);

impl<T: Serialize + DeserializeOwned + Send> Meet for Broadcast<T> {
    type Value = T;

    fn advance(&mut self, post: &mut Post<'_>) -> Outcome<Progress<T>> {
        let (body, value) = match parent(post.rank()) {
            Some(parent) => {
                let Some(body) = post.take(parent)? else {
                    return Ok(Progress::Waits);
                };
                let value = decode(&body, parent)?;
                (body, value)
            }
            None => {
                let value = self.0.take().ok_or_else(|| CommunicationError::Refused {
                    doing: Cow::Borrowed("tell all ranks what rank 0 has"),
                    why: "it has nothing".to_owned(),
                })?;
                (encode(&value)?, value)
            }
        };
        pass_on(post, &body)?;
        Ok(Progress::Done(value))
    }
}

/// Sends a message to all children, starting with the child that has the largest subtree.
fn pass_on(post: &mut Post<'_>, body: &[u8]) -> Outcome<()> {
    children(post.rank(), post.ranks())
        .rev()
        .try_for_each(|child| post.send(child, body))
}

/// Measures the offset between this rank's clock and the clock of rank 0. The rank asks its parent
/// and adds the parent's offset. Then the rank answers its children one after another, because a
/// question that waits behind questions of other children would have a long round trip.
pub(crate) struct Clocks<N> {
    now_ns: N,
    questions: u32,
    /// The offset between the parent's clock and the clock of rank 0.
    above: Option<ClockOffset>,
    /// The answer with the smallest error up to now.
    best: Option<ClockOffset>,
    asked: u32,
    /// The time of the question that is not answered yet.
    asked_ns: Option<i64>,
    own: Option<ClockOffset>,
    /// Number of children whose measurements are finished. `answered` is the number of answers to
    /// the current child.
    below: usize,
    answered: Option<u32>,
}

impl<N: Fn() -> i64> Clocks<N> {
    /// Creates the operation. `now_ns` reads the clock in nanoseconds; at least one question is
    /// asked.
    pub(crate) fn new(now_ns: N, questions: u32) -> Self {
        Self {
            now_ns,
            questions: questions.max(1),
            above: None,
            best: None,
            asked: 0,
            asked_ns: None,
            own: None,
            below: 0,
            answered: None,
        }
    }

    fn ask(&mut self, parent: u32, post: &mut Post<'_>) -> Outcome<Progress<ClockOffset>> {
        let Some(above) = self.above else {
            let Some(body) = post.take(parent)? else {
                return Ok(Progress::Waits);
            };
            self.above = Some(decode(&body, parent)?);
            return Ok(Progress::More);
        };
        if self.asked == self.questions {
            let best = self.best.unwrap_or_default();
            self.own = Some(ClockOffset {
                offset_ns: best.offset_ns + above.offset_ns,
                error_ns: best.error_ns + above.error_ns,
                ..best
            });
            return Ok(Progress::More);
        }
        let Some(asked_ns) = self.asked_ns else {
            self.asked_ns = Some((self.now_ns)());
            post.send(parent, &[])?;
            return Ok(Progress::More);
        };
        let Some(body) = post.take(parent)? else {
            return Ok(Progress::Waits);
        };
        let found = between(asked_ns, decode(&body, parent)?, (self.now_ns)());
        if self.best.is_none_or(|best| found.error_ns < best.error_ns) {
            self.best = Some(found);
        }
        self.asked += 1;
        self.asked_ns = None;
        Ok(Progress::More)
    }

    fn be_asked(
        &mut self,
        own: ClockOffset,
        post: &mut Post<'_>,
    ) -> Outcome<Progress<ClockOffset>> {
        let Some(child) = children(post.rank(), post.ranks()).nth(self.below) else {
            return Ok(Progress::Done(own));
        };
        match self.answered {
            None => {
                post.send(child, &encode(&own)?)?;
                self.answered = Some(0);
            }
            Some(answered) if answered == self.questions => {
                self.below += 1;
                self.answered = None;
            }
            Some(answered) => {
                if post.take(child)?.is_none() {
                    return Ok(Progress::Waits);
                }
                post.send(child, &encode(&(self.now_ns)())?)?;
                self.answered = Some(answered + 1);
            }
        }
        Ok(Progress::More)
    }
}

impl<N: Fn() -> i64 + Send> Meet for Clocks<N> {
    type Value = ClockOffset;

    fn advance(&mut self, post: &mut Post<'_>) -> Outcome<Progress<ClockOffset>> {
        match (self.own, parent(post.rank())) {
            (Some(own), _) => self.be_asked(own, post),
            (None, Some(parent)) => self.ask(parent, post),
            (None, None) => {
                self.own = Some(ClockOffset {
                    at_ns: (self.now_ns)(),
                    ..ClockOffset::default()
                });
                Ok(Progress::More)
            }
        }
    }
}

/// Waits until the run that other ranks perform is closed.
pub(crate) struct Rest;

impl Meet for Rest {
    type Value = ();

    fn advance(&mut self, post: &mut Post<'_>) -> Outcome<Progress<()>> {
        if let Some(parent) = parent(post.rank()) {
            match post.take(parent) {
                // The parent has closed the run. If the parent also rests, it has waited for its
                // own parent to close the run.
                Err(CommunicationError::Stopped { .. }) => {}
                Err(why) => return Err(why),
                Ok(_) => return Ok(Progress::Waits),
            }
        }
        Ok(Progress::Done(()))
    }
}
