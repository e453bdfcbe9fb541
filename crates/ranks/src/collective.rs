//! What ranks do together, as each of them sees it: values that are merged, a value that rank 0
//! tells, clocks that are compared. Each is advanced as far as the messages that came allow, and
//! never waits.

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

/// How far something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress<T> {
    /// It is done, and came to this.
    Done(T),
    /// A part is done, and the next one can be.
    More,
    /// A message is missing.
    Waits,
}

/// One thing that ranks do together.
pub(crate) trait Meet: Send {
    /// What it comes to.
    type Value;

    /// Does the next part.
    fn advance(&mut self, post: &mut Post<'_>) -> Outcome<Progress<Self::Value>>;
}

/// Something that was begun, and whoever waits for it.
pub(crate) trait Begun: Send {
    /// Does the next part; what it came to was answered where it is done.
    fn advance(&mut self, post: &mut Post<'_>) -> Outcome<Progress<()>>;

    /// Answers that it failed.
    fn fail(&self, why: &CommunicationError);
}

impl<M: Meet<Value: Send>> Begun for (M, Sender<Outcome<M::Value>>) {
    fn advance(&mut self, post: &mut Post<'_>) -> Outcome<Progress<()>> {
        Ok(match self.0.advance(post)? {
            Progress::Done(value) => {
                // Whoever asked may have gone.
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

/// Merges what all have, up the tree in the order of ranks, and tells all what it came to.
pub(crate) struct Merge<T, M> {
    /// What is merged so far; nothing once it was told to the rank above.
    sum: Option<T>,
    merge: M,
    /// How many of the ranks right below are in the sum.
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
        // A panic would end the thread that talks, and all others would wait for it.
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
            // Merging has failed, and with it all that is done together.
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

/// Tells all what rank 0 has.
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

/// To all right below; to the one with most ranks below it first.
fn pass_on(post: &mut Post<'_>, body: &[u8]) -> Outcome<()> {
    children(post.rank(), post.ranks())
        .rev()
        .try_for_each(|child| post.send(child, body))
}

/// Finds how far this rank's clock is from that of rank 0: asks the rank above, whose own offset is
/// added, then is asked by those below, one after another, since a question that waits for another
/// rank's is a long round trip.
pub(crate) struct Clocks<N> {
    now_ns: N,
    questions: u32,
    /// What the rank above knows of its clock.
    above: Option<ClockOffset>,
    /// The best answer so far.
    best: Option<ClockOffset>,
    asked: u32,
    /// When the question that was not answered yet was asked.
    asked_ns: Option<i64>,
    own: Option<ClockOffset>,
    /// How many of the ranks right below are done, and how many questions the next one has asked.
    below: usize,
    answered: Option<u32>,
}

impl<N: Fn() -> i64> Clocks<N> {
    /// With a clock that gives nanoseconds, and so many questions to be asked, at least 1.
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

/// Waits until the run that others perform is closed, or nothing is to be waited for any more.
pub(crate) struct Rest;

impl Meet for Rest {
    type Value = ();

    fn advance(&mut self, post: &mut Post<'_>) -> Outcome<Progress<()>> {
        if let Some(parent) = parent(post.rank()) {
            match post.take(parent) {
                // It has closed the run, in its turn after the one above it.
                Err(CommunicationError::Stopped { .. }) => {}
                Err(why) => return Err(why),
                Ok(_) => return Ok(Progress::Waits),
            }
        }
        Ok(Progress::Done(()))
    }
}
