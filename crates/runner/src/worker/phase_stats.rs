//! A worker's results of the current phase: segments, the current interval, and the slowest
//! operations.

use std::collections::BTreeMap;

use measure::Slowest;
use measure::steady::WINDOW_ROUNDS;
use record::{ComputeRecord, Segment, SegmentKind};
use workload::{Action, Phase, Role, Skipped};

use super::flights::Flights;
use crate::stopwatch::{Meters, SlowThing};

#[derive(Clone, Debug)]
pub(crate) struct SegmentReport {
    /// Number of the segment within the phase, from 0.
    pub number: u32,
    /// The results of the segment. Whether it was warm-up or measured is determined later by the
    /// supervisor.
    pub done: Segment,
    pub operations: u64,
    pub bytes: u64,
}

/// A worker's results of the current phase.
pub(super) struct Done {
    pub(super) phase: Phase,
    pub(super) origin_ns: u64,
    pub(super) phase_began_ns: u64,
    pub(super) role: Role,
    /// Number of the current interval within the phase, from 0.
    pub(super) slice: u64,
    /// End of the current interval; `u64::MAX` if intervals are not recorded.
    pub(super) slice_ends_ns: u64,
    pub(super) ended: Vec<SegmentReport>,
    /// Number of files or transactions that were performed or skipped, including failed ones.
    pub(super) published: u64,
    /// Number of files or transactions that have completed.
    pub(super) completed: u64,
    /// Number of the first segment after the warm-up.
    pub(super) first_round: u32,
    /// The slowest operations of the whole phase.
    pub(super) slowest: BTreeMap<Action, Slowest<SlowThing>>,
    pub(super) current: Current,
}

/// Results of the current segment.
pub(super) struct Current {
    pub(super) number: u32,
    pub(super) began_ns: u64,
    pub(super) meters: Meters,
    pub(super) issued: u64,
    pub(super) transactions: u64,
    pub(super) skipped: Skipped,
    pub(super) compute: ComputeRecord,
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
                compute: ended.compute,
                operations: ended.meters.into_records(self.role),
            },
            operations,
            bytes,
        });
        self.merge_old();
    }

    /// Merges old rounds that can no longer be in the steady-state window. Only their totals are
    /// reported.
    fn merge_old(&mut self) {
        let first = self
            .ended
            .iter()
            .position(|segment| segment.number >= self.first_round)
            .unwrap_or(0);
        // Keeps one entry for all merged rounds, and one round more than a window. The additional
        // round is needed because the transactions may end within a round.
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
            compute: ComputeRecord::default(),
        };
        self.turn(none, now_ns);
        std::mem::take(&mut self.ended)
    }
}

/// Transactions that were counted when their first operation completed. The second operation of a
/// pair must not count its transaction again.
pub(super) struct Counted {
    transactions: Vec<u64>,
    most: usize,
    last: Option<u64>,
}

impl Counted {
    /// Returns an empty list for `depth` operations in flight.
    pub(super) fn new(depth: usize) -> Self {
        // Operations in flight belong to at most `depth` transactions. One more transaction is
        // being issued.
        let most = depth + 1;
        Self {
            transactions: Vec::with_capacity(most),
            most,
            last: None,
        }
    }

    /// A faster form of [`Self::take`] for operations that complete in the order of the stream.
    /// Comparing with the last counted transaction then suffices.
    #[inline]
    pub(super) fn take_next(&mut self, transaction: u64) -> bool {
        self.last.replace(transaction) != Some(transaction)
    }

    /// Counts a transaction and returns true. Returns false if the transaction is already counted.
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

/// Skipped operations since the last performed one.
#[derive(Debug, Default)]
pub(super) struct Skips {
    pub(super) in_a_row: u64,
    /// Number of consecutive skips after which the worker next checks whether any operation is
    /// possible on the pool.
    pub(super) asked_at: u64,
    /// Number of operations that the worker had issued when the skips started.
    pub(super) issued_before: u64,
    /// Whether the pool allows none of the operations that the worker may draw.
    pub(super) can_do_nothing: bool,
}
