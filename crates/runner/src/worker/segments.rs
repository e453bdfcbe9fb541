//! Starts new segments and intervals within a phase of a worker, and reports those that ended.

use std::collections::BTreeMap;

use measure::{SLICE_NS, Slice, Slow, Slowest};
use record::{ComputeRecord, SlowOperation, SlowStep, SlowestRecord};
use workload::{Action, Phase, Skipped};

use super::phase_stats::{Current, Done};
use super::state::Worker;
use crate::clock::Clock as _;
use crate::stopwatch::{Meters, Recorded, SlowThing};

impl Worker {
    /// Returns a new segment with empty meters.
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
                &self.config.actions[phase as usize],
                Recorded {
                    service: phase == Phase::Transactions && self.tools.pacer.is_open(),
                    slices: self.config.slices,
                },
            ),
            issued: 0,
            transactions: 0,
            skipped: Skipped::default(),
            compute: ComputeRecord::default(),
        }
    }

    /// Changes to the next segment if the supervisor has started one.
    #[inline]
    pub(super) fn turn_where_due(&mut self, done: &mut Done) {
        if self.tools.control.segment() != done.current.number && done.phase == Phase::Transactions
        {
            self.turn_segment(done);
        }
    }

    #[cold]
    fn turn_segment(&mut self, done: &mut Done) {
        let now_ns = self.tools.clock.now_ns();
        self.end_slice(done, now_ns);
        done.turn(self.segment(done.phase, now_ns), now_ns);
    }

    /// Sends the results of the current interval to the supervisor, and starts the interval that
    /// contains `now_ns`.
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

    /// Converts the slowest operations of each action into records that contain the paths of their
    /// files.
    pub(super) fn name_slowest(
        &mut self,
        slowest: BTreeMap<Action, Slowest<SlowThing>>,
    ) -> Vec<SlowestRecord> {
        let worker = self.tools.worker;
        let origin_ns = self.tools.origin_ns;
        let namer = &mut self.config.namer;
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
