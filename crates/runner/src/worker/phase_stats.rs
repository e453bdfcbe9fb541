//! What a worker has done in a phase so far: its segments, the second that goes on, the slowest
//! operations.

use std::collections::BTreeMap;

use measure::Slowest;
use measure::steady::WINDOW_ROUNDS;
use record::{Segment, SegmentKind};
use workload::{Action, Phase, Role, Skipped};

use super::flights::Flights;
use crate::stopwatch::{Meters, SlowThing};

/// What a worker did in a segment of a phase.
#[derive(Clone, Debug)]
pub(crate) struct SegmentReport {
    /// Its number in the phase, from 0.
    pub number: u32,
    /// What was done; its kind is not known yet.
    pub done: Segment,
    pub operations: u64,
    pub bytes: u64,
}

/// What was done in a phase so far.
pub(super) struct Done {
    pub(super) phase: Phase,
    pub(super) origin_ns: u64,
    pub(super) phase_began_ns: u64,
    pub(super) role: Role,
    /// The slice that goes on, and when it ends; never, where there are none.
    pub(super) slice: u64,
    pub(super) slice_ends_ns: u64,
    pub(super) ended: Vec<SegmentReport>,
    /// Files or transactions that are done, well or not.
    pub(super) published: u64,
    /// Those that were completed.
    pub(super) completed: u64,
    /// The number of the first segment after a warm-up.
    pub(super) first_round: u32,
    /// Of the whole phase.
    pub(super) slowest: BTreeMap<Action, Slowest<SlowThing>>,
    pub(super) current: Current,
}

/// The segment that goes on.
pub(super) struct Current {
    pub(super) number: u32,
    pub(super) began_ns: u64,
    pub(super) meters: Meters,
    pub(super) issued: u64,
    pub(super) transactions: u64,
    pub(super) skipped: Skipped,
}

impl Done {
    /// Ends the current segment, and goes on with another.
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

    /// Rounds that a window can no longer begin with become one: what they came to is in no number
    /// but theirs together.
    fn merge_old(&mut self) {
        let first = self
            .ended
            .iter()
            .position(|segment| segment.number >= self.first_round)
            .unwrap_or(0);
        // One more than a window: the transactions may end within a round.
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

/// The transactions that were counted, as long as another operation of theirs may complete.
pub(super) struct Counted {
    transactions: Vec<u64>,
    most: usize,
    last: Option<u64>,
}

impl Counted {
    /// For so many operations in flight.
    pub(super) fn new(depth: usize) -> Self {
        // Those in flight are of as many transactions at most, and one is being issued.
        let most = depth + 1;
        Self {
            transactions: Vec::with_capacity(most),
            most,
            last: None,
        }
    }

    /// The same where operations complete in the order of the stream: nothing is looked for.
    #[inline]
    pub(super) fn take_next(&mut self, transaction: u64) -> bool {
        self.last.replace(transaction) != Some(transaction)
    }

    /// Whether a transaction is counted now, and was not before.
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

/// Operations that were skipped in a row.
#[derive(Debug, Default)]
pub(super) struct Skips {
    pub(super) in_a_row: u64,
    /// Length of the row at which it is asked again whether anything can be performed.
    pub(super) asked_at: u64,
    /// Operations that had been issued when the row began.
    pub(super) issued_before: u64,
    /// Nothing that the worker may draw can be performed.
    pub(super) can_do_nothing: bool,
}
