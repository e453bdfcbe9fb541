//! What a worker has done in a phase so far: its segments, the second that goes on, the slowest operations.

use std::collections::BTreeMap;

use contract::Session;
use measure::steady::WINDOW_ROUNDS;
use measure::{SLICE_NS, Slice, Slow, Slowest};
use record::{OperationRecord, SlowOperation, SlowStep, SlowestRecord};
use workload::{Action, Phase, Role};

use super::{Rendezvous, Worker};
use crate::clock::Clock;
use crate::crew::sum;
use crate::source::Source;
use crate::stopwatch::{Meters, Recorded, SlowThing, Stopwatch};

/// What a worker did in a segment of a phase.
#[derive(Clone, Debug)]
pub(crate) struct SegmentReport {
    /// Its number in the phase, from 0.
    pub number: u32,
    pub began_ns: u64,
    pub ended_ns: u64,
    pub transactions: u64,
    pub nothing: u64,
    pub skipped: u64,
    pub operations: u64,
    pub bytes: u64,
    pub records: Vec<OperationRecord>,
}

/// What was done in a phase so far.
pub(super) struct Done {
    pub(super) origin_ns: u64,
    pub(super) phase_began_ns: u64,
    pub(super) role: Role,
    /// The slice that goes on, and when it ends; never, where there are none.
    pub(super) slice: u64,
    pub(super) slice_ends_ns: u64,
    pub(super) ended: Vec<SegmentReport>,
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
    pub(super) transactions: u64,
    pub(super) nothing: u64,
    pub(super) skipped: u64,
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
            began_ns: ended.began_ns.saturating_sub(self.origin_ns),
            ended_ns: now_ns.saturating_sub(self.origin_ns),
            transactions: ended.transactions,
            nothing: ended.nothing,
            skipped: ended.skipped,
            operations,
            bytes,
            records: ended.meters.into_records(self.role),
        });
        self.merge_old();
    }

    /// Rounds that a window can no longer begin with become one: what they came to is in no number but theirs together.
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
            old.ended_ns = next.ended_ns;
            old.transactions += next.transactions;
            old.nothing += next.nothing;
            old.skipped += next.skipped;
            old.operations += next.operations;
            old.bytes += next.bytes;
            for record in next.records {
                sum::add(&mut old.records, record);
            }
        }
    }

    pub(super) fn finish(&mut self, now_ns: u64) -> Vec<SegmentReport> {
        let none = Current {
            number: 0,
            began_ns: now_ns,
            meters: Meters::default(),
            transactions: 0,
            nothing: 0,
            skipped: 0,
        };
        self.turn(none, now_ns);
        std::mem::take(&mut self.ended)
    }
}

impl<O, S, C, W, R> Worker<O, S, C, W, R>
where
    O: Source,
    S: Session,
    C: Clock,
    W: Stopwatch,
    R: Rendezvous,
{
    /// A segment that begins, with its meters.
    pub(super) fn segment(&self, phase: Phase, began_ns: u64) -> Current {
        let number = if phase == Phase::Transactions {
            self.tools.control.segment()
        } else {
            0
        };
        Current {
            number,
            began_ns,
            meters: Meters::ready_for(
                &self.duty.actions[phase as usize],
                Recorded {
                    service: phase == Phase::Transactions && self.tools.pacer.is_open(),
                    slices: self.duty.slices,
                },
            ),
            transactions: 0,
            nothing: 0,
            skipped: 0,
        }
    }

    /// Hands over what was done since the last time, and goes on with the slice of this moment.
    #[cold]
    pub(super) fn end_slice(&mut self, done: &mut Done, now_ns: u64) {
        if done.slice_ends_ns == u64::MAX {
            return;
        }
        let meters = done.current.meters.take_slice();
        if !meters.is_empty() {
            let index = done.slice;
            self.rendezvous.slice(done.role, Slice { index, meters });
        }
        done.slice = now_ns.saturating_sub(done.phase_began_ns) / SLICE_NS;
        done.slice_ends_ns = done.phase_began_ns + (done.slice + 1) * SLICE_NS;
    }

    /// The slowest operations with their paths.
    pub(super) fn name_slowest(&mut self, slowest: BTreeMap<Action, Slowest<SlowThing>>) -> Vec<SlowestRecord> {
        let worker = self.tools.worker;
        let origin_ns = self.tools.origin_ns;
        let namer = &mut self.duty.namer;
        let mut record = |action: Action, slow: Slow<SlowThing>| {
            let thing = slow.what;
            let name = match action {
                Action::List | Action::ListWithStat => namer.directory(thing.place),
                _ => namer.name(thing.place, action.named(), thing.number),
            };
            SlowOperation {
                ns: slow.ns,
                worker,
                issued_ns: thing.issued_ns.saturating_sub(origin_ns),
                path: name.path.to_string_lossy().into_owned(),
                step: thing.step.map(|(step, ns)| SlowStep {
                    step: step.name().to_owned(),
                    ns,
                }),
            }
        };
        slowest
            .into_iter()
            .map(|(action, slowest)| SlowestRecord {
                action,
                operations: slowest
                    .into_sorted()
                    .into_iter()
                    .map(|slow| record(action, slow))
                    .collect(),
            })
            .collect()
    }
}
