//! Where a worker's intents come from: the stream of a private pool, or a pool that several workers
//! share.

use record::Histogram;
use workload::{End, Intent, Kept, Phase, PoolState};

use crate::listings::Expected;
use crate::private::Private;
use crate::shared::SharedSource;

/// See the module's text. An intent is given to a flight, and its end is told before that flight
/// gets another.
///
/// One type and no trait object, so that the draw of an intent is compiled into the loop: a trait
/// object takes 1 % more instructions a transaction on the engine `null`.
pub(crate) enum Source {
    Private(Box<Private>),
    Shared(Box<SharedSource>),
}

/// Calls a method of whichever pool it is.
macro_rules! of_pool {
    ($self:ident, $own:ident => $call:expr) => {
        match $self {
            Source::Private($own) => $call,
            Source::Shared($own) => $call,
        }
    };
}

impl Source {
    /// Whether the intents are a function of the workload alone.
    #[inline]
    pub(crate) fn is_pure(&self) -> bool {
        of_pool!(self, own => own.is_pure())
    }

    /// What is thought, in nanoseconds, before the next intent of a phase can be asked for. Asked
    /// again it gives 0.
    #[inline]
    pub(crate) fn think_ns(&mut self, phase: Phase) -> u64 {
        of_pool!(self, own => own.think_ns(phase))
    }

    /// Puts the next intent of a phase, for the flight of this number, into `intent`. `false` at
    /// the phase's end, where the run stops while a file is waited for, and where one [is not to
    /// be waited for](Self::wants_one_landed). Others' files are waited for only where none of
    /// the worker's own operations is in flight.
    // What the loop does between two operations is one function: calls of it take 3 % more.
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

    /// Whether the last answer was nothing because a file is somebody's: one of the worker's own
    /// operations in flight must complete before it is asked for again.
    #[inline]
    pub(crate) fn wants_one_landed(&self) -> bool {
        of_pool!(self, own => own.wants_one_landed())
    }

    /// The intent of a flight has been performed, well or not.
    #[inline]
    pub(crate) fn completed(&mut self, flight: usize, intent: &Intent, well: bool) {
        of_pool!(self, own => own.completed(flight, intent, well))
    }

    /// How many files or transactions this worker still has in a phase.
    #[inline]
    pub(crate) fn remaining(&self, phase: Phase) -> u64 {
        of_pool!(self, own => own.remaining(phase))
    }

    /// Why the transactions ended.
    pub(crate) fn end(&self) -> End {
        of_pool!(self, own => own.end())
    }

    /// Whether any operation that may come could be performed on this pool: one of this worker, or
    /// one of another worker that changes the pool.
    pub(crate) fn can_perform_any(&self, pool: &PoolState) -> bool {
        of_pool!(self, own => own.can_perform_any(pool))
    }

    /// Transactions that have begun.
    pub(crate) fn transactions_begun(&self) -> u64 {
        of_pool!(self, own => own.transactions_begun())
    }

    /// This worker's share of what the pool holds, or all of it. Nobody is at work then.
    pub(crate) fn pool(&self, all: bool, each: &mut dyn FnMut(Kept)) {
        of_pool!(self, own => own.pool(all, each))
    }

    /// Whether it is this worker that lists the pool's directories when the names are checked.
    pub(crate) fn lists(&self) -> bool {
        of_pool!(self, own => own.lists())
    }

    /// A listing of a place is about to be issued, on a flight.
    pub(crate) fn listing_begins(&mut self, flight: usize, place: u32) {
        of_pool!(self, own => own.listing_begins(flight, place))
    }

    /// What the listing of a place that has just ended, on a flight, may show.
    pub(crate) fn listing(&self, flight: usize, place: u32) -> Expected {
        of_pool!(self, own => own.listing(flight, place))
    }

    /// Waits for claimed files since the last time this was asked.
    pub(crate) fn take_waits(&mut self) -> Option<Histogram> {
        of_pool!(self, own => own.take_waits())
    }
}
