//! A worker's results of the current phase: segments, the current interval, and the slowest
//! operations.

use std::collections::BTreeMap;

use measure::Slowest;
use measure::steady::WINDOW_ROUNDS;
use record::{Segment, SegmentKind};
use workload::{Action, Phase, Role, Skipped};

use super::flights::Flights;
use crate::stopwatch::{Meters, SlowThing};

/// A worker's results in a segment of a phase.
#[derive(Clone, Debug)]
pub(crate) struct SegmentReport {
    /// Number of the segment in the phase, from 0.
    pub number: u32,
    /// The results. The supervisor decides the kind of the segment later.
    pub done: Segment,
    pub operations: u64,
    pub bytes: u64,
}

/// Results of the current phase so far.
pub(super) struct Done {
    pub(super) phase: Phase,
    pub(super) origin_ns: u64,
    pub(super) phase_began_ns: u64,
    pub(super) role: Role,
    /// Number of the current interval. `slice_ends_ns` is its end, or `u64::MAX` without intervals.
    pub(super) slice: u64,
    pub(super) slice_ends_ns: u64,
    pub(super) ended: Vec<SegmentReport>,
    /// Files or transactions that have been handled, successfully or not.
    pub(super) published: u64,
    /// Files or transactions that have completed.
    pub(super) completed: u64,
    /// Number of the first segment after a warm-up.
    pub(super) first_round: u32,
    /// The slowest operations of the whole phase.
    pub(super) slowest: BTreeMap<Action, Slowest<SlowThing>>,
    pub(super) current: Current,
}

/// The current segment.
pub(super) struct Current {
    pub(super) number: u32,
    pub(super) began_ns: u64,
    pub(super) meters: Meters,
    pub(super) issued: u64,
    pub(super) transactions: u64,
    pub(super) skipped: Skipped,
}

impl Done {
    /// Ends the current segment and starts the next one.
    pub(super) fn turn(&mut self, next: Current, now_ns: u64) {
        let mut ended = std::mem::replace(&mut self.current, next);
        for (action, slowest) in ended.meters.take_slowest() {
            self.slowest.entry(action).or_default().merge(slowest);
        }
        let (operations, bytes) = ended.meters.totals();
        self.ended.push(SegmentReport {
            number: ended.number,
            done: Segment {
                kind: SegmentKind::Measured,
                began_ns: ended.began_ns.saturating_sub(self.origin_ns),
                ended_ns: now_ns.saturating_sub(self.origin_ns),
                issued: ended.issued,
                transactions: ended.transactions,
                skipped: ended.skipped,
                operations: ended.meters.into_records(self.role),
            },
            operations,
            bytes,
        });
        self.merge_old();
    }

    /// Merges old rounds that cannot be in the final window, because only their sum is reported.
    fn merge_old(&mut self) {
        let first = self
            .ended
            .iter()
            .position(|segment| segment.number >= self.first_round)
            .unwrap_or(0);
        // Keeps one round more than a window, because the transactions may end within a round.
        while self.ended.len() > first + WINDOW_ROUNDS + 2 {
            let next = self.ended.remove(first + 1);
            let old = &mut self.ended[first];
            old.operations += next.operations;
            old.bytes += next.bytes;
            old.done.add(next.done);
        }
    }

    pub(super) fn finish(&mut self, now_ns: u64) -> Vec<SegmentReport> {
        let none = Current {
            number: 0,
            began_ns: now_ns,
            meters: Meters::default(),
            issued: 0,
            transactions: 0,
            skipped: Skipped::default(),
        };
        self.turn(none, now_ns);
        std::mem::take(&mut self.ended)
    }
}

/// Transactions that were counted and of which another operation may still complete.
pub(super) struct Counted {
    transactions: Vec<u64>,
    most: usize,
    last: Option<u64>,
}

impl Counted {
    /// Creates an empty list for `depth` operations in flight.
    pub(super) fn new(depth: usize) -> Self {
        // Operations in flight belong to at most `depth` transactions, and one more is being
        // issued.
        let most = depth + 1;
        Self {
            transactions: Vec::with_capacity(most),
            most,
            last: None,
        }
    }

    /// As [`Self::take`], if operations complete in the order of the stream: only the last
    /// transaction is compared.
    #[inline]
    pub(super) fn take_next(&mut self, transaction: u64) -> bool {
        self.last.replace(transaction) != Some(transaction)
    }

    /// Counts a transaction. Returns false if it was counted before.
    pub(super) fn take(&mut self, transaction: u64, current: u64, flights: &Flights) -> bool {
        if self.transactions.contains(&transaction) {
            return false;
        }
        if self.transactions.len() == self.most {
            self.transactions
                .retain(|counted| *counted == current || flights.has(*counted));
        }
        self.transactions.push(transaction);
        true
    }
}

/// Consecutive skipped operations.
#[derive(Debug, Default)]
pub(super) struct Skips {
    pub(super) in_a_row: u64,
    /// Number of consecutive skips at which the pool is next checked for possible operations.
    pub(super) asked_at: u64,
    /// Number of issued operations when the skips started.
    pub(super) issued_before: u64,
    /// Whether no operation that the worker may draw can be performed.
    pub(super) can_do_nothing: bool,
}
