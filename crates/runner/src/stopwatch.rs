//! How latencies are taken: not at all, of operations, or of their steps, too.

use engine::{NoSteps, Step, Steps, Ticket};
use measure::{Histogram, Meter, SliceMeter, Slowest};
use record::{OperationRecord, StepRecord};
use workload::{Action, Intent, Role};

use crate::clock::{Clock as _, RunClock};

/// What operations of a segment came to, by action.
#[derive(Debug, Default)]
pub(crate) struct Meters {
    by_action: [Option<Box<Kind>>; Action::COUNT],
    steps: Vec<(Action, Step, Histogram)>,
}

/// The first operation of a kind: an ordinary one finds its meter without a call.
#[cold]
fn first(none: &mut Option<Box<Kind>>) -> &mut Kind {
    none.get_or_insert_default()
}

/// What operations of one kind came to.
#[derive(Debug, Default)]
struct Kind {
    meter: Meter,
    /// Latencies of the slice that goes on; where there are slices, they come to the meter with
    /// its end.
    slice: Option<Histogram>,
    /// Operations, bytes and failures when the slice began.
    before: (u64, u64, u64),
    slowest: Slowest<SlowThing>,
}

/// One of the slowest operations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlowThing {
    pub issued_ns: u64,
    pub place: u32,
    pub number: u64,
    /// The longest of its steps, where these were timed.
    pub step: Option<(Step, u64)>,
}

/// What is recorded besides latencies.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Recorded {
    /// Service times apart from latencies.
    pub service: bool,
    /// Slices of a second.
    pub slices: bool,
}

impl Meters {
    /// With a meter ready for each of these.
    pub(crate) fn ready_for(actions: &[Action], recorded: Recorded) -> Self {
        let mut meters = Self::default();
        for action in actions {
            let kind = meters.kind(*action);
            kind.meter.service = recorded.service.then(Histogram::default);
            kind.slice = recorded.slices.then(Histogram::default);
        }
        meters
    }

    #[inline]
    fn kind(&mut self, action: Action) -> &mut Kind {
        match &mut self.by_action[action as usize] {
            Some(kind) => kind,
            none => first(none),
        }
    }

    /// The meter of an action.
    #[inline]
    pub(crate) fn of(&mut self, action: Action) -> &mut Meter {
        &mut self.kind(action).meter
    }

    /// Counts an operation. Latency is from due to completed; where nothing was due, from issued,
    /// which is the service time.
    #[inline]
    fn record(
        &mut self,
        intent: &Intent,
        moments: Moments,
        step: impl FnOnce() -> Option<(Step, u64)>,
    ) {
        let kind = self.kind(intent.action);
        kind.meter.count(intent.bytes);
        let service_ns = moments.completed_ns.saturating_sub(moments.issued_ns);
        let ns = match moments.due_ns {
            Some(due_ns) => moments.completed_ns.saturating_sub(due_ns),
            None => service_ns,
        };
        match &mut kind.slice {
            Some(slice) => slice.record(ns),
            None => kind.meter.latency.record(ns),
        }
        if let Some(service) = &mut kind.meter.service {
            service.record(service_ns);
        }
        kind.slowest.offer(ns, || SlowThing {
            issued_ns: moments.issued_ns,
            place: intent.place,
            number: intent.number,
            step: step(),
        });
    }

    /// What was done since this was last asked, by action; what was not done is left out.
    pub(crate) fn take_slice(&mut self) -> Vec<(Action, SliceMeter)> {
        let mut slice = Vec::new();
        for (action, kind) in Action::ALL.iter().zip(&mut self.by_action) {
            let Some((kind, latencies)) = kind.as_mut().map(|kind| {
                let latencies = kind
                    .slice
                    .as_mut()
                    .map(Histogram::take_sparse)
                    .unwrap_or_default();
                (kind, latencies)
            }) else {
                continue;
            };
            latencies.add_to(&mut kind.meter.latency);
            let now = (kind.meter.operations, kind.meter.bytes, kind.meter.failed);
            let before = std::mem::replace(&mut kind.before, now);
            if now != before {
                let meter = SliceMeter {
                    operations: now.0 - before.0,
                    bytes: now.1 - before.1,
                    failed: now.2 - before.2,
                    latency: latencies,
                };
                slice.push((*action, meter));
            }
        }
        slice
    }

    /// The slowest, by action.
    pub(crate) fn take_slowest(&mut self) -> Vec<(Action, Slowest<SlowThing>)> {
        let kinds = Action::ALL.iter().zip(&mut self.by_action);
        kinds
            .filter_map(|(action, kind)| {
                Some((*action, std::mem::take(&mut kind.as_mut()?.slowest)))
            })
            .filter(|(_, slowest)| !slowest.is_empty())
            .collect()
    }

    fn step(&mut self, action: Action, step: Step, ns: u64) {
        let known = self
            .steps
            .iter_mut()
            .find(|known| (known.0, known.1) == (action, step));
        match known {
            Some((_, _, histogram)) => histogram.record(ns),
            None => {
                let mut histogram = Histogram::default();
                histogram.record(ns);
                self.steps.push((action, step, histogram));
            }
        }
    }

    /// Operations and bytes of all actions.
    pub(crate) fn totals(&self) -> (u64, u64) {
        self.by_action
            .iter()
            .flatten()
            .fold((0, 0), |(operations, bytes), kind| {
                (operations + kind.meter.operations, bytes + kind.meter.bytes)
            })
    }

    /// Those that occurred.
    pub(crate) fn into_records(self, role: Role) -> Vec<OperationRecord> {
        let steps = self.steps;
        Action::ALL
            .iter()
            .zip(self.by_action)
            .filter_map(|(action, kind)| Some((*action, kind?.meter)))
            .filter(|(_, meter)| meter.operations + meter.failed + meter.missed > 0)
            .map(|(action, meter)| OperationRecord {
                role,
                action,
                meter,
                steps: steps
                    .iter()
                    .filter(|(of, _, _)| *of == action)
                    .map(|(_, step, latency)| StepRecord {
                        step: step.name().to_owned(),
                        latency: latency.clone(),
                    })
                    .collect(),
            })
            .collect()
    }
}

/// When an operation was due (where arrivals say so), issued and completed, by the run's clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moments {
    pub due_ns: Option<u64>,
    pub issued_ns: u64,
    pub completed_ns: u64,
}

/// Takes the moments of operations, and of their steps.
pub(crate) struct Stopwatch {
    clock: RunClock,
    /// Whether operations are timed at all.
    is_on: bool,
    /// Where steps are timed.
    laps: Option<Laps>,
    no_steps: NoSteps,
}

impl Stopwatch {
    /// Times operations or not, and their steps where it is given a number of flights.
    pub(crate) fn new(clock: RunClock, is_on: bool, steps_of: Option<usize>) -> Self {
        let laps = steps_of.map(|depth| Laps::new(clock.clone(), depth));
        Self {
            clock,
            is_on,
            laps,
            no_steps: NoSteps,
        }
    }

    /// Now.
    #[inline]
    pub(crate) fn moment(&self) -> u64 {
        if self.is_on { self.clock.now_ns() } else { 0 }
    }

    /// Who is to be told of the steps of an operation that is issued now, on a flight.
    #[inline]
    pub(crate) fn steps(&mut self, flight: usize, issued_ns: u64) -> &mut dyn Steps {
        match &mut self.laps {
            Some(laps) => {
                laps.begin(flight, issued_ns);
                laps
            }
            None => &mut self.no_steps,
        }
    }

    /// Who is to be told of the steps of operations in flight.
    pub(crate) fn steps_in_flight(&mut self) -> &mut dyn Steps {
        match &mut self.laps {
            Some(laps) => laps,
            None => &mut self.no_steps,
        }
    }

    /// Counts an operation that has completed on a flight, and its time.
    #[inline]
    pub(crate) fn record(
        &mut self,
        flight: usize,
        intent: &Intent,
        meters: &mut Meters,
        moments: Moments,
    ) {
        match &self.laps {
            Some(laps) => laps.record(flight, intent, meters, moments),
            None if self.is_on => meters.record(intent, moments, || None),
            None => meters.of(intent.action).count(intent.bytes),
        }
    }
}

/// The steps of the operations that are under way.
struct Laps {
    clock: RunClock,
    /// By flight.
    flights: Vec<LapsOfOne>,
    /// Whose step ends next.
    current: usize,
}

struct LapsOfOne {
    last_ns: u64,
    laps: Vec<(Step, u64)>,
}

impl Laps {
    fn new(clock: RunClock, depth: usize) -> Self {
        let none = || LapsOfOne {
            last_ns: 0,
            // More than any operation has.
            laps: Vec::with_capacity(32),
        };
        Self {
            clock,
            flights: (0..depth).map(|_| none()).collect(),
            current: 0,
        }
    }

    fn begin(&mut self, flight: usize, issued_ns: u64) {
        self.current = flight;
        let of_flight = &mut self.flights[flight];
        of_flight.last_ns = issued_ns;
        of_flight.laps.clear();
    }

    fn record(&self, flight: usize, intent: &Intent, meters: &mut Meters, moments: Moments) {
        let laps = &self.flights[flight].laps;
        meters.record(intent, moments, || {
            laps.iter().copied().max_by_key(|(_, ns)| *ns)
        });
        for (step, ns) in laps {
            meters.step(intent.action, *step, *ns);
        }
    }
}

impl Steps for Laps {
    fn of(&mut self, ticket: Ticket) {
        self.current = ticket.flight();
    }

    fn ended(&mut self, step: Step) {
        let now_ns = self.clock.now_ns();
        let flight = &mut self.flights[self.current];
        flight
            .laps
            .push((step, now_ns.saturating_sub(flight.last_ns)));
        flight.last_ns = now_ns;
    }
}
