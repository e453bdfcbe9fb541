//! The ranks of a run as the program uses them: a handle to a thread that communicates with the
//! other ranks.
//!
//! Only this thread uses the communicator, so this rank answers other ranks even while the program
//! is busy. Without orders, the thread sleeps, checks for messages 20 times a second, and sends
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

/// Number of questions in a measurement of a clock's offset; the answer with the shortest round
/// trip is used.
const QUESTIONS: u32 = 16;

/// Connects this process with the other processes of its launcher. A rank that is silent for the
/// given time is lost. See [`Ranks::join`].
pub type Connect = fn(Duration) -> Result<Ranks, CommunicationError>;

/// The ranks that perform one run, from the view of this rank. Clones stand for the same rank.
#[derive(Clone)]
pub struct Ranks {
    shared: Arc<Shared>,
    /// Number of ranks that take part: rank 0 to the rank below this number.
    count: u32,
    /// Number of ranks that perform runs: rank 0 to the rank below this number. The other ranks
    /// only watch.
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
    /// Starts the communication thread. Only this thread calls `join` and uses the communicator, as
    /// MPI requires. A neighbour in the tree without a sign of life for `limit` is considered lost,
    /// which ends the run on all ranks. The limit must be the same on all ranks.
    ///
    /// # Errors
    /// Returns the error of `join`, or an error if the thread cannot be started.
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

    /// The number of this rank, starting at 0.
    pub fn rank(&self) -> u32 {
        self.shared.rank
    }

    /// The number of ranks of this handle, at least 1.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The number of launched ranks, excluding ranks that only watch.
    pub fn launched(&self) -> u32 {
        self.performing
    }

    /// Returns a handle for the first `performing` ranks. The other ranks only
    /// [watch](Self::watch), and neither open nor close runs. All ranks are informed of stops and
    /// losses. Operations with all ranks use the original handle.
    #[must_use]
    pub fn without_watching(&self, performing: u32) -> Self {
        let performing = performing.clamp(1, self.performing);
        Self {
            shared: Arc::clone(&self.shared),
            count: performing,
            performing,
        }
    }

    /// Watches the runs of the other ranks, on a rank that performs no runs. The result is
    /// available when rank 0 starts an operation with all ranks. That operation must be a
    /// [`broadcast`](Self::broadcast), and this rank must then start it as well.
    pub fn watch(&self) -> Meeting<()> {
        let (answer, meeting) = mpsc::channel();
        self.order(|together| together.watch(answer), None);
        Meeting { answer: meeting }
    }

    /// Returns a handle for the first `count` ranks, whose operations exclude the other ranks. Runs
    /// start and end for all ranks: each excluded rank opens the run, [rests](Self::rest), and
    /// closes it. All ranks are informed of stops and losses.
    #[must_use]
    pub fn among(&self, count: u32) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            count: count.clamp(1, self.performing),
            performing: self.performing,
        }
    }

    /// Returns a handle for all ranks that perform runs.
    #[must_use]
    pub fn all(&self) -> Self {
        self.among(self.performing)
    }

    /// Whether this rank belongs to the handle; other ranks must not use the handle.
    pub fn is_one(&self) -> bool {
        self.shared.rank < self.count
    }

    /// Waits until the other ranks close the open run that they perform. There is no time limit:
    /// the run may take hours, and the loss of a rank is detected.
    ///
    /// # Errors
    /// Returns an error if a rank stopped the run or is lost.
    pub fn rest(&self) -> Result<(), CommunicationError> {
        self.all().ask(Collective::Rest, Rest).finish()
    }

    /// Connects the ranks with a run. `stopping` is called about 20 times a second while a run is
    /// open, and once when the run is closed; a reason that `stopping` returns is sent to all
    /// ranks. `stop` is called when another rank stops the run or any rank is lost. Both functions
    /// are called by the communication thread and must not block. A later call replaces the
    /// functions of an earlier call.
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

    /// Starts to merge the values of all ranks in the order of ranks, and does not wait; all ranks
    /// receive the result. `merge` must be associative, because values are merged along a tree. All
    /// ranks must start the same operations in the same order.
    pub fn begin<T>(&self, own: T, merge: impl FnMut(T, T) -> T + Send + 'static) -> Meeting<T>
    where
        T: Serialize + DeserializeOwned + Send + 'static,
    {
        if self.shared.launched == 1 {
            return Meeting::done(own);
        }
        self.ask(Collective::Merge, Merge::new(own, merge))
    }

    /// Performs the same merge as [`begin`](Self::begin) and waits for the result. There is no time
    /// limit: a rank may work for hours, and the loss of a rank is detected.
    ///
    /// # Errors
    /// Returns an error if a rank stopped the run, is lost, or performs another operation.
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

    /// Sends the value of rank 0 to all ranks; values of other ranks are ignored. Rank 0 does not
    /// wait for the other ranks.
    ///
    /// # Errors
    /// Returns the errors of [`meet`](Self::meet), and an error if rank 0 passes `None`.
    pub fn broadcast<T>(&self, value: Option<T>) -> Result<T, CommunicationError>
    where
        T: Serialize + DeserializeOwned + Send + 'static,
    {
        self.ask(Collective::Broadcast, Broadcast(value)).finish()
    }

    /// Measures the offset of this rank's clock, which `now_ns` reads in nanoseconds, from the
    /// clock of rank 0. Ranks are asked one after another along the tree; a barrier follows.
    ///
    /// # Errors
    /// Returns the errors of [`meet`](Self::meet).
    pub fn clock_offset(
        &self,
        now_ns: impl Fn() -> i64 + Send + 'static,
    ) -> Result<ClockOffset, CommunicationError> {
        let clocks = Clocks::new(now_ns, QUESTIONS);
        let offset = self.ask(Collective::Clocks, clocks).finish()?;
        // All ranks wait here, because messages of later operations would distort the measurements
        // of other ranks.
        self.meet((), |(), ()| ())?;
        Ok(offset)
    }

    /// Calls `tell` once, from the communication thread, as soon as a rank is lost. Other ranks
    /// exit soon afterwards, and the launcher then ends this process. A later call replaces the
    /// function of an earlier call.
    pub fn when_lost(&self, tell: impl FnOnce(&CommunicationError) + Send + 'static) {
        self.do_now(|together| together.when_lost(Box::new(tell)));
    }

    /// Opens a run; every rank calls this before its first operation of the run.
    pub fn open(&self) {
        self.do_now(Together::open);
    }

    /// Closes a run; every rank calls this once, even if the run was stopped. Incomplete operations
    /// of the run fail with [`CommunicationError::Stopped`], on this rank and on ranks that wait
    /// for it. Stops are ignored from then on, because all ranks perform the work after a run, such
    /// as cleaning up and merging records.
    pub fn close(&self) {
        self.do_now(Together::close);
    }

    /// The failure that ended all operations, usually a lost rank; `None` if operations are
    /// possible.
    pub fn lost(&self) -> Option<CommunicationError> {
        self.heard(|heard| heard.lost.clone())
    }

    /// The rank that stopped the current or last run, as far as this rank knows.
    pub fn stopped_by(&self) -> Option<u32> {
        self.heard(|heard| heard.stopped).map(|(rank, _)| rank)
    }

    /// The reason for which a rank stopped the current or last run, as far as this rank knows.
    pub fn stop_reason(&self) -> Option<StopReason> {
        self.heard(|heard| heard.stopped).map(|(_, reason)| reason)
    }

    /// Waits for all other ranks and ends the communication; no operation is possible afterwards.
    /// If a rank is lost, this rank waits at most half a second, so that the other ranks are
    /// informed and write their data. Then the process must exit with a status other than 0, after
    /// which the launcher ends the other processes.
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
            // The thread has already printed the reason of a panic.
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

    /// Executes a function on the communication thread and waits until it returns.
    fn do_now(&self, act: impl FnOnce(&mut Together) + Send + 'static) {
        let (done, answer) = mpsc::channel();
        self.order(act, Some(done));
        let _ = answer.recv();
    }

    fn order(&self, act: impl FnOnce(&mut Together) + Send + 'static, done: Option<Sender<()>>) {
        let act = Box::new(act);
        // If the thread has ended, the order and its channel are dropped, so waiting for a result
        // fails at once.
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

/// A collective operation that was started.
#[derive(Debug)]
pub struct Meeting<T> {
    answer: Receiver<Outcome<T>>,
}

impl<T> Meeting<T> {
    /// Returns a completed operation, for a single rank.
    fn done(own: T) -> Self {
        let (done, answer) = mpsc::channel();
        let _ = done.send(Ok(own));
        Self { answer }
    }

    /// Returns the result once; `None` if it is not available within the limit.
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
