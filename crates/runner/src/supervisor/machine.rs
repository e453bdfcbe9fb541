//! What is read of the machine goes to the record, and to whoever watches.

use measure::SliceMeter;
use workload::{Action, Phase};

use super::state::Supervisor;
use crate::events::{Event, Second};
use crate::pauses::PauseWatch;

impl Supervisor<'_> {
    /// A phase has ended, or is left.
    pub(super) fn end_counting(&mut self, phase: Phase) {
        let now_ns = self.now_ns();
        let observations = self.watched.of_phase(phase);
        observations.machine = self.machine.end(now_ns);
        observations.pauses = self.watch.pauses.as_ref().map(PauseWatch::end);
        observations.evidence = self.evidence.end();
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
        self.tell(Event::Second(Second {
            phase,
            number,
            meters,
            machine,
        }));
    }

    /// Tells of the seconds before this one in which no operation came to its end.
    pub(super) fn tell_idle_seconds(&mut self, phase: Phase, before: u64) {
        while let Some(slice) = self.machine.before(before) {
            self.tell(Event::Second(Second {
                phase,
                number: slice.index,
                meters: Vec::new(),
                machine: Some(Box::new(slice)),
            }));
        }
    }
}
