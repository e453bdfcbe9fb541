//! What happens at its time: warm-up and transactions end, and watchers are told of seconds that are over.

use std::collections::BTreeMap;
use std::time::Duration;

use measure::{Merge, Slice, SliceMeter};
use workload::{Action, Phase, Role};

use super::{HANDED_OVER_WITHIN, Supervisor, TELL_EVERY};
use crate::events::Stage;
use crate::request::{Drive, Stop};

/// Seconds of the phase that goes on that nobody was told of yet.
#[derive(Default)]
pub(super) struct Seconds {
    pub(super) open: BTreeMap<u64, BTreeMap<Action, SliceMeter>>,
    /// What was told reaches so far.
    pub(super) next: u64,
}

impl Supervisor<'_, '_> {
    /// Ends the warm-up and the transactions at their time.
    pub(super) fn drive(&mut self) {
        let Some(began) = self.transactions_began else {
            return;
        };
        let Drive { warm_up, stop, .. } = self.watch.drive;
        let elapsed = began.elapsed();
        if !warm_up.is_zero() && elapsed >= warm_up {
            self.watch.control.begin_segment(1);
        }
        if let Stop::After(time) = stop {
            if elapsed >= warm_up + time {
                self.watch.control.end_transactions();
                self.transactions_began = None;
            }
        }
    }

    /// How long messages may be waited for.
    pub(super) fn until_next_turn(&self) -> Duration {
        let Some(began) = self.transactions_began else {
            return TELL_EVERY;
        };
        let Drive { warm_up, stop, .. } = self.watch.drive;
        let elapsed = began.elapsed();
        let end = match stop {
            Stop::Transactions => None,
            Stop::After(time) => Some(warm_up + time),
        };
        let turns = [Some(warm_up), end].into_iter().flatten();
        turns
            .filter_map(|turn| turn.checked_sub(elapsed))
            .fold(TELL_EVERY, Duration::min)
    }

    /// Of the phase that goes on: nobody begins another before all have ended it, and told what they did.
    pub(super) fn take_slice(&mut self, role: Role, slice: Slice<Action>) {
        let Some(Stage::Phase(phase)) = self.current else {
            return;
        };
        let slices = self.watched.slices.entry(phase).or_default();
        for (action, meter) in slice.meters {
            if slice.index >= self.seconds.next {
                let second = self.seconds.open.entry(slice.index).or_default();
                second.entry(action).or_default().merge(&meter);
            }
            slices.add(slice.index, (role, action), meter);
        }
    }

    /// Tells of the seconds that are over: of all of them where the phase is, else of those after which workers have had
    /// half a second to hand over what they did.
    pub(super) fn tell_seconds(&mut self, phase: Phase, is_over: bool) {
        let late = self.stage_began.elapsed().saturating_sub(HANDED_OVER_WITHIN).as_secs();
        while let Some(entry) = self.seconds.open.first_entry() {
            let number = *entry.key();
            if !is_over && number >= late {
                break;
            }
            let meters = entry.remove().into_iter().collect();
            self.seconds.next = number + 1;
            self.tell_second(phase, number, meters);
        }
        if is_over {
            self.tell_idle_seconds(phase, u64::MAX);
        }
    }
}
