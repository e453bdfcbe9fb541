//! The source of a worker's intents: the stream of a private pool, the operations on a pool that
//! several workers share, or the replay of a trace.

use record::Histogram;
use workload::{End, Intent, Kept, Pause, Phase, PoolState};

use crate::listings::Expected;
use crate::private::Private;

/// A source of intents. Each intent belongs to a flight (a slot for an operation in flight). The
/// completion of an operation must be reported before another intent is drawn for the same flight.
///
/// This is an enum, so that the compiler can inline `draw` into the operation loop. With a trait
/// object, a transaction on the `null` engine takes 1 % more instructions.
pub(crate) enum Source {
    Private(Box<Private>),
    /// The operations of one worker among several on one pool.
    Shared(Box<dyn SharedIntents>),
}

/// The operations of one worker on a pool of several workers. A source documents the functions.
pub(crate) trait SharedIntents: Send {
    fn pause(&mut self, _: Phase) -> Pause {
        Pause::NONE
    }

    fn draw(&mut self, phase: Phase, intent: &mut Intent, flight: usize, may_wait: bool) -> bool;

    fn wants_one_landed(&self) -> bool {
        false
    }

    fn completed(&mut self, flight: usize, intent: &Intent, well: bool);

    fn remaining(&self, phase: Phase) -> u64;

    fn can_perform_any(&self, pool: &PoolState) -> bool;

    fn transactions_begun(&self) -> u64;

    fn pool(&self, all: bool, each: &mut dyn FnMut(Kept));

    fn is_drawn_before(&self) -> bool {
        false
    }

    fn lists(&self) -> bool;

    fn listing_begins(&mut self, _flight: usize, _place: u32) {}

    fn listing(&self, flight: usize, place: u32) -> Expected;

    fn take_waits(&mut self) -> Option<Histogram>;
}

macro_rules! of_pool {
    ($self:ident, $own:ident => $call:expr) => {
        match $self {
            Source::Private($own) => $call,
            Source::Shared($own) => $call,
        }
    };
}

impl Source {
    /// Whether the intents depend only on the workload. False for a shared pool, where they also
    /// depend on other workers.
    #[inline]
    pub(crate) fn is_pure(&self) -> bool {
        matches!(self, Self::Private(_))
    }

    /// Returns the think time and the busy time (`--compute`) before the next intent of a phase.
    /// Both are 0 for a private pool, whose intents contain these times, and on a second call for
    /// the same intent.
    #[inline]
    pub(crate) fn pause(&mut self, phase: Phase) -> Pause {
        of_pool!(self, own => own.pause(phase))
    }

    /// Draws the next intent of a phase into `intent`, for a flight. Returns `false` at the end of
    /// the phase, if the run stops, or if [an operation must complete
    /// first](Self::wants_one_landed). If `may_wait` is set, this method waits for a claimed file,
    /// which requires that none of the worker's operations is in flight.
    // Always inlined into the operation loop, because with a function call the loop takes 3 %
    // longer.
    #[inline(always)]
    pub(crate) fn draw(
        &mut self,
        phase: Phase,
        intent: &mut Intent,
        flight: usize,
        may_wait: bool,
    ) -> bool {
        of_pool!(self, own => own.draw(phase, intent, flight, may_wait))
    }

    /// Whether the last draw returned `false` because a file is claimed. One of the worker's
    /// operations must complete before the next draw.
    #[inline]
    pub(crate) fn wants_one_landed(&self) -> bool {
        of_pool!(self, own => own.wants_one_landed())
    }

    /// Reports that the operation of a flight has completed. `well` is false if the operation
    /// failed.
    #[inline]
    pub(crate) fn completed(&mut self, flight: usize, intent: &Intent, well: bool) {
        of_pool!(self, own => own.completed(flight, intent, well))
    }

    /// Number of files or transactions of a phase that this worker has not started.
    #[inline]
    pub(crate) fn remaining(&self, phase: Phase) -> u64 {
        of_pool!(self, own => own.remaining(phase))
    }

    /// Begins the next phase of the workload, if it has phases.
    pub(crate) fn next_phase(&mut self) {
        match self {
            Self::Private(own) => own.next_phase(),
            // Only private pools have phases.
            Self::Shared(_) => {}
        }
    }

    /// The reason why the transactions ended.
    pub(crate) fn end(&self) -> End {
        match self {
            Self::Private(own) => own.end(),
            Self::Shared(_) => End::Complete,
        }
    }

    /// Whether the pool allows any further operation of this worker, or of another worker that
    /// changes the pool.
    pub(crate) fn can_perform_any(&self, pool: &PoolState) -> bool {
        of_pool!(self, own => own.can_perform_any(pool))
    }

    pub(crate) fn transactions_begun(&self) -> u64 {
        of_pool!(self, own => own.transactions_begun())
    }

    /// Calls `each` for the entries in this worker's share of the pool, or for the whole pool if
    /// `all` is set. No operation may be in flight.
    pub(crate) fn pool(&self, all: bool, each: &mut dyn FnMut(Kept)) {
        of_pool!(self, own => own.pool(all, each))
    }

    /// Whether all operations were drawn before the run. `pool` then calls `each` for the entries
    /// after the last transaction.
    pub(crate) fn is_drawn_before(&self) -> bool {
        of_pool!(self, own => own.is_drawn_before())
    }

    /// Whether this worker lists the pool's directories when the names of the pool are checked. In
    /// a shared pool, only worker 0 does.
    pub(crate) fn lists(&self) -> bool {
        of_pool!(self, own => own.lists())
    }

    /// Reports that a listing of a directory is about to be issued.
    pub(crate) fn listing_begins(&mut self, flight: usize, place: u32) {
        of_pool!(self, own => own.listing_begins(flight, place))
    }

    /// The expected result of a listing that has just ended.
    pub(crate) fn listing(&self, flight: usize, place: u32) -> Expected {
        of_pool!(self, own => own.listing(flight, place))
    }

    /// Removes and returns the times that this worker has waited for claimed files; `None` for a
    /// private pool.
    pub(crate) fn take_waits(&mut self) -> Option<Histogram> {
        of_pool!(self, own => own.take_waits())
    }
}
