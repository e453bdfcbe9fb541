//! The ranks of a run as the program sees them: a handle, behind which a thread talks to the
//! others.
//!
//! The thread alone has the communicator, so that this rank answers whatever the program does.
//! While nothing is asked it sleeps, looks 20 times a second whether something came, and gives its
//! signs of life.

use std::borrow::Cow;
use std::fmt;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::clocks::ClockOffset;
use crate::collective::{Broadcast, Clocks, Meet, Merge, Rest};
use crate::communicator::{CommunicationError, Communicator, Outcome};
use crate::message::Collective;
use crate::together::{Heard, StopReason, Tie, Together};

mod thread;

use thread::{Order, serve};

/// So often a clock is asked for.
const QUESTIONS: u32 = 16;

/// The ranks that perform one run, seen from one of them. Its copies are the same rank.
#[derive(Clone)]
pub struct Ranks {
    shared: Arc<Shared>,
    /// How many of them, from the first on, this handle is of.
    count: u32,
    /// How many of them perform runs, from the first on.
    performing: u32,
}

struct Shared {
    rank: u32,
    launched: u32,
    orders: Sender<Order>,
    heard: Arc<Mutex<Heard>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl fmt::Debug for Ranks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ranks")
            .field("rank", &self.shared.rank)
            .field("count", &self.count)
            .finish_non_exhaustive()
    }
}

impl Ranks {
    /// Starts the thread that talks. It calls `join` for the communicator, and no other thread ever
    /// uses that: MPI wants it so. A neighbour in the tree that gave no sign of life for
    /// `limit` is lost, and with it the run of all; the limit must be the same on all ranks.
    ///
    /// # Errors
    /// Those of `join`, and where there can be no thread.
    pub fn join<C: Communicator + 'static>(
        limit: Duration,
        join: impl FnOnce() -> Result<C, CommunicationError> + Send + 'static,
    ) -> Result<Self, CommunicationError> {
        let heard = Arc::new(Mutex::new(Heard::default()));
        let (orders, to_do) = mpsc::channel();
        let (joined, answer) = mpsc::channel();
        let told = Arc::clone(&heard);
        let talk = move || match join() {
            Ok(communicator) => {
                let _ = joined.send(Ok((communicator.rank(), communicator.ranks())));
                serve(Together::new(communicator, limit, told), &to_do, limit);
            }
            Err(why) => drop(joined.send(Err(why))),
        };
        let thread = Builder::new().name("ranks".to_owned()).spawn(talk);
        let thread = thread.map_err(|error| CommunicationError::Refused {
            doing: Cow::Borrowed("start a thread"),
            why: error.to_string(),
        })?;
        let (rank, count) = answer.recv().unwrap_or_else(|_| Err(gone()))?;
        Ok(Self {
            count,
            performing: count,
            shared: Arc::new(Shared {
                rank,
                launched: count,
                orders,
                heard,
                thread: Mutex::new(Some(thread)),
            }),
        })
    }

    /// The number of this rank, from 0.
    pub fn rank(&self) -> u32 {
        self.shared.rank
    }

    /// How many ranks this handle is of, at least 1.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// How many ranks there are, without those that only watch.
    pub fn launched(&self) -> u32 {
        self.performing
    }

    /// The first ranks as if there were no others: those behind them only [watch](Self::watch), and
    /// open and close no run. All hear of stops and losses. What is done with those behind them
    /// is done by the handle that this one was made of.
    #[must_use]
    pub fn without_watching(&self, performing: u32) -> Self {
        let performing = performing.clamp(1, self.performing);
        Self {
            shared: Arc::clone(&self.shared),
            count: performing,
            performing,
        }
    }

    /// Begins to watch, on a rank that performs nothing, the runs of those before it. It is done
    /// when rank 0 begins something with all ranks, which this rank must then begin, too; that
    /// must be something that rank 0 begins, a [`broadcast`](Self::broadcast).
    pub fn watch(&self) -> Meeting<()> {
        let (answer, meeting) = mpsc::channel();
        self.order(|together| together.watch(answer), None);
        Meeting { answer: meeting }
    }

    /// The first ranks alone, as many as said of those that there are: what is done together by
    /// this handle, they do without the others. Runs begin and end for all: a rank that is none
    /// of them opens the run, [rests](Self::rest), and closes it. All ranks hear of stops and
    /// losses.
    #[must_use]
    pub fn among(&self, count: u32) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            count: count.clamp(1, self.performing),
            performing: self.performing,
        }
    }

    /// All ranks.
    #[must_use]
    pub fn all(&self) -> Self {
        self.among(self.performing)
    }

    /// Whether this rank is one of those that the handle is of. Others do nothing by it.
    pub fn is_one(&self) -> bool {
        self.shared.rank < self.count
    }

    /// Waits until the run that is open, which other ranks perform, is closed by them: without end,
    /// as in [`meet`](Self::meet).
    ///
    /// # Errors
    /// Where a rank stopped the run, or one is lost.
    pub fn rest(&self) -> Result<(), CommunicationError> {
        self.all().ask(Collective::Rest, Rest).finish()
    }

    /// Ties them to a run: `stopping` is looked at about 20 times a second while a run is open, and
    /// once more where it is closed, and a reason is told to all ranks; `stop` is called when
    /// another rank stops or any is lost. Both are called by the thread that talks and must not
    /// wait. A later call replaces an earlier one.
    pub fn tie(
        &self,
        stopping: impl Fn() -> Option<StopReason> + Send + 'static,
        stop: impl Fn() + Send + 'static,
    ) {
        let tie = Tie {
            stopping: Box::new(stopping),
            stop: Box::new(stop),
        };
        self.do_now(|together| together.tie(tie));
    }

    /// Begins to merge what all ranks have, in their order, and does not wait; all get it. `merge`
    /// must be associative: ranks are merged by trees. All ranks must do the same things in the
    /// same order.
    pub fn begin<T>(&self, own: T, merge: impl FnMut(T, T) -> T + Send + 'static) -> Meeting<T>
    where
        T: Serialize + DeserializeOwned + Send + 'static,
    {
        if self.shared.launched == 1 {
            return Meeting::done(own);
        }
        self.ask(Collective::Merge, Merge::new(own, merge))
    }

    /// As [`begin`](Self::begin), and waits for it without end: a rank that works for hours is no
    /// failure, one that is lost is found.
    ///
    /// # Errors
    /// Where a rank stopped the run, is lost, or does something else.
    pub fn meet<T>(
        &self,
        own: T,
        merge: impl FnMut(T, T) -> T + Send + 'static,
    ) -> Result<T, CommunicationError>
    where
        T: Serialize + DeserializeOwned + Send + 'static,
    {
        self.begin(own, merge).finish()
    }

    /// Gives all ranks what rank 0 has. What others pass is not looked at. Rank 0 does not wait for
    /// them.
    ///
    /// # Errors
    /// As those of [`meet`](Self::meet), and where rank 0 passes nothing.
    pub fn broadcast<T>(&self, value: Option<T>) -> Result<T, CommunicationError>
    where
        T: Serialize + DeserializeOwned + Send + 'static,
    {
        self.ask(Collective::Broadcast, Broadcast(value)).finish()
    }

    /// How far this rank's clock, which `now_ns` reads in nanoseconds, is from that of rank 0. All
    /// ranks are asked one after another, along the tree, and meet at the end.
    ///
    /// # Errors
    /// As those of [`meet`](Self::meet).
    pub fn clock_offset(
        &self,
        now_ns: impl Fn() -> i64 + Send + 'static,
    ) -> Result<ClockOffset, CommunicationError> {
        let clocks = Clocks::new(now_ns, QUESTIONS);
        let offset = self.ask(Collective::Clocks, clocks).finish()?;
        // What others do next would disturb those that still measure.
        self.meet((), |(), ()| ())?;
        Ok(offset)
    }

    /// Calls this as soon as a rank is lost, once, by the thread that talks: whatever this rank
    /// does then, others end soon, and their launcher ends this one. A later call replaces an
    /// earlier one.
    pub fn when_lost(&self, tell: impl FnOnce(&CommunicationError) + Send + 'static) {
        self.do_now(|together| together.when_lost(Box::new(tell)));
    }

    /// A run begins: the first thing that every rank does in it.
    pub fn open(&self) {
        self.do_now(Together::open);
    }

    /// The end of the run begins, which every rank calls once, whether it stopped or not. What was
    /// begun in the run and is not done fails with [`CommunicationError::Stopped`], here and on
    /// ranks that wait for this one. Stops are not looked at any more: what follows, such as
    /// cleaning up and merging records, is done by all.
    pub fn close(&self) {
        self.do_now(Together::close);
    }

    /// The rank that is lost, or what else ended all that ranks do together.
    pub fn lost(&self) -> Option<CommunicationError> {
        self.heard(|heard| heard.lost.clone())
    }

    /// The rank that stopped this run, or the last one, as far as this rank has heard.
    pub fn stopped_by(&self) -> Option<u32> {
        self.heard(|heard| heard.stopped).map(|(rank, _)| rank)
    }

    /// Why that rank stopped it.
    pub fn stop_reason(&self) -> Option<StopReason> {
        self.heard(|heard| heard.stopped).map(|(_, reason)| reason)
    }

    /// Waits for all others, and ends: nothing can be done together afterwards. Where a rank is
    /// lost it waits for half a second at most, in which others hear of it and write what they
    /// have; then the process is to exit with a status that is not 0, upon which its launcher
    /// ends the others.
    pub fn leave(&self) {
        let (answer, _) = mpsc::channel();
        let leave = (Merge::new((), |(), ()| ()), answer);
        self.order(|together| together.leave(Box::new(leave)), None);
        let thread = self
            .shared
            .thread
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(thread) = thread {
            // It has said why it panicked.
            let _ = thread.join();
        }
    }

    fn ask<M>(&self, collective: Collective, meet: M) -> Meeting<M::Value>
    where
        M: Meet<Value: Send> + 'static,
    {
        let (answer, meeting) = mpsc::channel();
        let (begun, count) = (Box::new((meet, answer)), self.count);
        self.order(
            move |together| together.begin(collective, begun, count),
            None,
        );
        Meeting { answer: meeting }
    }

    /// Has the thread do something, and waits until that is done.
    fn do_now(&self, act: impl FnOnce(&mut Together) + Send + 'static) {
        let (done, answer) = mpsc::channel();
        self.order(act, Some(done));
        let _ = answer.recv();
    }

    fn order(&self, act: impl FnOnce(&mut Together) + Send + 'static, done: Option<Sender<()>>) {
        let act = Box::new(act);
        // Where the thread has gone, it drops what would answer.
        let _ = self.shared.orders.send(Order { act, done });
    }

    fn heard<T>(&self, of: impl FnOnce(&Heard) -> T) -> T {
        of(&self
            .shared
            .heard
            .lock()
            .unwrap_or_else(PoisonError::into_inner))
    }
}

/// Something that was begun together.
#[derive(Debug)]
pub struct Meeting<T> {
    answer: Receiver<Outcome<T>>,
}

impl<T> Meeting<T> {
    /// Of a rank that has no others.
    fn done(own: T) -> Self {
        let (done, answer) = mpsc::channel();
        let _ = done.send(Ok(own));
        Self { answer }
    }

    /// What came of it, once; nothing where that is not known within the limit.
    pub fn wait(&mut self, limit: Duration) -> Option<Result<T, CommunicationError>> {
        match self.answer.recv_timeout(limit) {
            Ok(outcome) => Some(outcome),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Err(gone())),
        }
    }

    fn finish(self) -> Result<T, CommunicationError> {
        self.answer.recv().unwrap_or_else(|_| Err(gone()))
    }
}

fn gone() -> CommunicationError {
    CommunicationError::Refused {
        doing: Cow::Borrowed("talk to other ranks"),
        why: "this rank has left them".to_owned(),
    }
}
