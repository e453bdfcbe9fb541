//! Detects and reports stalled workers, and decides when to abandon a run.

use std::time::{Duration, Instant};

use record::Stalled;
use workload::Action;

use super::state::{SeenFlight, Supervisor};
use crate::events::Event;
use crate::timed_call::{GIVE_UP_AFTER, GRACE};
use rundir::worker_status::{Aside, Doing, UnderWay};

impl Supervisor<'_> {
    pub(super) fn name_stalled(&mut self, stalled: Stalled) {
        self.tell(Event::Stalled(stalled.clone()));
        self.waiter.stalled.push(stalled);
    }

    /// Checks the current operation of each worker, and reports operations that exceed the stall
    /// timeout.
    pub(super) fn look_for_stalled(&mut self) {
        self.name_those_after(self.waiter.stall_timeout);
    }

    /// Reports the operations that cause the run to be abandoned.
    pub(super) fn name_the_last(&mut self) {
        self.name_those_after(GRACE.min(self.waiter.stall_timeout));
    }

    fn name_those_after(&mut self, limit: Duration) {
        for index in 0..self.seen.len() {
            let seen = &mut self.seen[index];
            let under_way = self.watch.slots[seen.worker][seen.flight].under_way();
            if under_way != seen.under_way {
                if let Some(index) = seen.stalled.take() {
                    let stalled = &mut self.waiter.stalled[index];
                    stalled.came_back = true;
                    stalled.ns = seen.since.elapsed().as_nanos() as u64;
                }
                seen.under_way = under_way;
                seen.since = Instant::now();
                continue;
            }
            let elapsed = seen.since.elapsed();
            let Some(under_way) = under_way else {
                continue;
            };
            match seen.stalled {
                Some(index) => self.waiter.stalled[index].ns = elapsed.as_nanos() as u64,
                None if elapsed >= limit => {
                    seen.stalled = Some(self.waiter.stalled.len());
                    let worker = seen.worker;
                    let stalled = self.describe(worker, under_way, elapsed);
                    self.name_stalled(stalled);
                }
                None => {}
            }
        }
    }

    fn describe(&mut self, worker: usize, under_way: UnderWay, elapsed: Duration) -> Stalled {
        let UnderWay {
            doing,
            place,
            number,
            ..
        } = under_way;
        let namer = &mut self.watch.pools[worker].namer;
        let operation = match doing {
            Doing::Operation(action) => action.name(),
            Doing::Aside(aside, _) => aside.name(),
        };
        let name = match doing {
            Doing::Operation(Action::List | Action::ListWithStat)
            | Doing::Aside(Aside::ListToLook, _) => namer.directory(place),
            Doing::Operation(action) => namer.name(place, action.named(), number),
            Doing::Aside(Aside::OpenSession, _) => namer.relative(0, b""),
            Doing::Aside(Aside::MakeDirectory | Aside::RemoveDirectory, _) => {
                let directories = namer.naming().directories();
                let directory = directories
                    .get(number as usize)
                    .map_or(&b""[..], Vec::as_slice);
                namer.relative(place as usize, directory)
            }
            Doing::Aside(_, kind) => namer.name(place, kind, number),
        };
        Stalled {
            worker: Some(self.watch.first_worker + worker as u32),
            operation: operation.to_owned(),
            path: name.path.to_string_lossy().into_owned(),
            ns: elapsed.as_nanos() as u64,
            came_back: false,
        }
    }

    /// Whether the run must be abandoned because a worker does not return from a call.
    pub(super) fn is_to_be_given_up(&mut self) -> bool {
        let limit = self.waiter.stall_timeout * GIVE_UP_AFTER;
        let gone = |seen: &SeenFlight| seen.under_way.is_some() && seen.since.elapsed() >= limit;
        if self.alive > 0 && self.seen.iter().any(gone) {
            return true;
        }
        if !self.is_stopping() || self.alive == 0 {
            return false;
        }
        let since = *self.stopping_since.get_or_insert_with(Instant::now);
        let busy = |seen: &SeenFlight| seen.under_way.is_some() && seen.since.elapsed() >= GRACE;
        since.elapsed() >= GRACE && self.seen.iter().any(busy)
    }
}
