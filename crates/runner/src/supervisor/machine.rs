//! What is read of the machine goes to the record, and to whoever watches.

use measure::SliceMeter;
use workload::{Action, Phase};

use super::Supervisor;
use crate::events::{Event, Second};

impl Supervisor<'_> {
    /// A phase has ended, or is left.
    pub(super) fn end_counting(&mut self, phase: Phase) {
        let now_ns = self.now_ns();
        if let Some(over_time) = self.machine.end(now_ns) {
            self.watched.machine.insert(phase, over_time);
        }
        if let Some(watch) = &self.watch.pauses {
            self.watched.pauses.insert(phase, watch.end());
        }
        if let Some(evidence) = self.evidence.end() {
            self.watched.evidence.insert(phase, evidence);
        }
    }

    /// Tells of a second, and before it of those since the last one in which no operation came to
    /// its end.
    pub(super) fn tell_second(
        &mut self,
        phase: Phase,
        number: u64,
        meters: Vec<(Action, SliceMeter)>,
    ) {
        self.tell_idle_seconds(phase, number);
        let machine = self.machine.of(number).map(Box::new);
        self.waiter.events.event(Event::Second(Second {
            phase,
            number,
            meters,
            machine,
        }));
    }

    /// Tells of the seconds before this one in which no operation came to its end.
    pub(super) fn tell_idle_seconds(&mut self, phase: Phase, before: u64) {
        while let Some(slice) = self.machine.before(before) {
            self.waiter.events.event(Event::Second(Second {
                phase,
                number: slice.index,
                meters: Vec::new(),
                machine: Some(Box::new(slice)),
            }));
        }
    }
}
