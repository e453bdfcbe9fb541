//! Measures the latencies of operations, and optionally those of their calls.

use engine::{NoSteps, Step, Steps, Ticket};
use measure::{Histogram, Meter, SliceMeter, Slowest};
use record::{OperationRecord, StepRecord};
use workload::{Action, Intent, Role};

use crate::clock::{Clock as _, RunClock};

/// Results of the operations of a segment, by action.
#[derive(Debug)]
pub(crate) struct Meters {
    by_action: [Option<Box<Kind>>; Action::COUNT],
    steps: Vec<(Action, Step, Histogram)>,
}

impl Default for Meters {
    fn default() -> Self {
        Self {
            by_action: [const { None }; Action::COUNT],
            steps: Vec::new(),
        }
    }
}

/// Creates the meter of an action. Marked as cold, so that the usual path, on which the meter
/// exists, contains no call.
#[cold]
fn first(none: &mut Option<Box<Kind>>) -> &mut Kind {
    none.get_or_insert_default()
}

#[derive(Debug, Default)]
struct Kind {
    meter: Meter,
    /// Latencies of the current interval, which are added to the meter when the interval ends.
    slice: Option<Histogram>,
    /// Total number of operations, bytes and failures at the start of the current interval.
    before: (u64, u64, u64),
    slowest: Slowest<SlowThing>,
}

/// One of the slowest operations. The path of its file is built only for the record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlowThing {
    pub issued_ns: u64,
    pub place: u32,
    pub number: u64,
    /// The longest call of the operation and its duration in nanoseconds; `None` if calls are not
    /// timed.
    pub step: Option<(Step, u64)>,
}

/// Measurements that are recorded only if requested.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Recorded {
    /// Whether service times are recorded in addition to latencies, which are response times in an
    /// open loop.
    pub service: bool,
    /// Whether results are recorded for each second.
    pub slices: bool,
}

impl Meters {
    /// Creates the meters of these actions in advance, so that they are not allocated while
    /// operations are timed.
    pub(crate) fn ready_for(actions: &[Action], recorded: Recorded) -> Self {
        let mut meters = Self::default();
        for action in actions {
            let kind = meters.kind(*action);
            kind.meter.service = recorded.service.then(Histogram::default);
            kind.slice = recorded.slices.then(Histogram::default);
            kind.meter.per_file = action.is_on_tree().then(Histogram::default);
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

    #[inline]
    pub(crate) fn of(&mut self, action: Action) -> &mut Meter {
        &mut self.kind(action).meter
    }

    /// Counts an operation. The latency is measured from the due time in an open loop, and from
    /// issue in a closed loop. The service time is always measured from issue.
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
        if let (Some(per_file), Some(ns)) = (&mut kind.meter.per_file, ns.checked_div(intent.other))
        {
            per_file.record(ns);
        }
        kind.slowest.offer(ns, || SlowThing {
            issued_ns: moments.issued_ns,
            place: intent.place,
            number: intent.number,
            step: step(),
        });
    }

    /// Returns the operations since the last call of this method, by action. Actions without
    /// operations are omitted.
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

    /// Removes and returns the slowest operations, by action.
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

    /// Number of operations and number of bytes, each summed over all actions.
    pub(crate) fn totals(&self) -> (u64, u64) {
        self.by_action
            .iter()
            .flatten()
            .fold((0, 0), |(operations, bytes), kind| {
                (operations + kind.meter.operations, bytes + kind.meter.bytes)
            })
    }

    /// Converts the meters of actions that occurred into records.
    pub(crate) fn into_records(self, role: Role) -> Vec<OperationRecord> {
        let steps = self.steps;
        Action::ALL
            .iter()
            .zip(self.by_action)
            .filter_map(|(action, kind)| Some((*action, kind?.meter)))
            .filter(|(_, meter)| meter.operations + meter.failed > 0)
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

/// Times at which an operation was due (in an open loop), issued and completed, by the run's clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moments {
    pub due_ns: Option<u64>,
    pub issued_ns: u64,
    pub completed_ns: u64,
}

/// Takes timestamps of operations and of their calls.
pub(crate) struct Stopwatch {
    clock: RunClock,
    /// Whether operations are timed.
    is_on: bool,
    /// Receives the calls of operations; `None` if calls are not timed.
    laps: Option<Laps>,
    no_steps: NoSteps,
}

impl Stopwatch {
    /// `steps_of` is the maximum number of operations in flight; `None` if their calls are not
    /// timed.
    pub(crate) fn new(clock: RunClock, is_on: bool, steps_of: Option<usize>) -> Self {
        let laps = steps_of.map(|depth| Laps::new(clock.clone(), depth));
        Self {
            clock,
            is_on,
            laps,
            no_steps: NoSteps,
        }
    }

    /// The current time; 0 if operations are not timed.
    #[inline]
    pub(crate) fn moment(&self) -> u64 {
        if self.is_on { self.clock.now_ns() } else { 0 }
    }

    /// Starts timing the calls of an operation that is issued now, and returns the receiver of
    /// these calls.
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

    /// Returns the receiver for calls of operations that are already in flight.
    pub(crate) fn steps_in_flight(&mut self) -> &mut dyn Steps {
        match &mut self.laps {
            Some(laps) => laps,
            None => &mut self.no_steps,
        }
    }

    /// Counts an operation that has completed, with its latency.
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

/// Timed calls of the operations in flight.
struct Laps {
    clock: RunClock,
    flights: Vec<LapsOfOne>,
    /// The flight (slot of an operation in flight) to which the call that ends next belongs.
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
            // Capacity for more calls than any operation makes.
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
