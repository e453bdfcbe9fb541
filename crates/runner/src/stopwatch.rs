//! How latencies are taken: not at all, of operations, or of their steps, too.

use measure::{Histogram, Meter};
use record::{OperationRecord, StepRecord};
use storage::{NoSteps, Step, Steps};
use workload::{Action, Role};

use crate::clock::Clock;

/// What operations of a phase came to, by action.
#[derive(Debug, Default)]
pub(crate) struct Meters {
    by_action: [Option<Box<Meter>>; Action::COUNT],
    steps: Vec<(Action, Step, Histogram)>,
}

impl Meters {
    /// With a meter ready for each of these.
    pub(crate) fn ready_for(actions: &[Action]) -> Self {
        let mut meters = Self::default();
        for action in actions {
            meters.of(*action);
        }
        meters
    }

    /// The meter of an action.
    #[inline]
    pub(crate) fn of(&mut self, action: Action) -> &mut Meter {
        self.by_action[action as usize].get_or_insert_default()
    }

    fn step(&mut self, action: Action, step: Step, ns: u64) {
        let known = self.steps.iter_mut().find(|known| (known.0, known.1) == (action, step));
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
            .fold((0, 0), |(operations, bytes), meter| {
                (operations + meter.operations, bytes + meter.bytes)
            })
    }

    /// Those that occurred.
    pub(crate) fn into_records(self, role: Role) -> Vec<OperationRecord> {
        let steps = self.steps;
        Action::ALL
            .iter()
            .zip(self.by_action)
            .filter_map(|(action, meter)| Some((*action, *meter?)))
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

/// See the module's text.
pub(crate) trait Stopwatch {
    /// A moment.
    type Moment: Copy;
    /// Is told of steps.
    type Steps: Steps;

    /// Now.
    fn moment(&self) -> Self::Moment;

    /// Who is to be told of the steps of an operation that is issued now.
    fn steps(&mut self, issued: Self::Moment) -> &mut Self::Steps;

    /// Counts a completed operation's time.
    fn record(&mut self, action: Action, meters: &mut Meters, issued: Self::Moment, completed: Self::Moment);
}

/// Every operation is timed, or nothing but phases is.
pub(crate) struct Timed<C> {
    clock: C,
    /// Not a type of its own: a branch that always goes the same way costs nothing that can be measured, and a second
    /// copy of the whole loop takes long to compile.
    is_on: bool,
    steps: NoSteps,
}

impl<C: Clock> Timed<C> {
    pub(crate) fn new(clock: C, is_on: bool) -> Self {
        Self {
            clock,
            is_on,
            steps: NoSteps,
        }
    }
}

impl<C: Clock> Stopwatch for Timed<C> {
    type Moment = u64;
    type Steps = NoSteps;

    #[inline]
    fn moment(&self) -> u64 {
        if self.is_on { self.clock.now_ns() } else { 0 }
    }

    #[inline]
    fn steps(&mut self, _: u64) -> &mut NoSteps {
        &mut self.steps
    }

    #[inline]
    fn record(&mut self, action: Action, meters: &mut Meters, issued: u64, completed: u64) {
        if self.is_on {
            meters.of(action).latency.record(completed.saturating_sub(issued));
        }
    }
}

/// Every operation and every step of it is timed.
pub(crate) struct TimedSteps<C>(Laps<C>);

/// The steps of the operation that is under way.
pub(crate) struct Laps<C> {
    clock: C,
    last_ns: u64,
    laps: Vec<(Step, u64)>,
}

impl<C: Clock> Steps for Laps<C> {
    #[inline]
    fn ended(&mut self, step: Step) {
        let now_ns = self.clock.now_ns();
        self.laps.push((step, now_ns.saturating_sub(self.last_ns)));
        self.last_ns = now_ns;
    }
}

impl<C: Clock> TimedSteps<C> {
    pub(crate) fn new(clock: C) -> Self {
        Self(Laps {
            clock,
            last_ns: 0,
            // More than any operation has.
            laps: Vec::with_capacity(32),
        })
    }
}

impl<C: Clock> Stopwatch for TimedSteps<C> {
    type Moment = u64;
    type Steps = Laps<C>;

    #[inline]
    fn moment(&self) -> u64 {
        self.0.clock.now_ns()
    }

    #[inline]
    fn steps(&mut self, issued: u64) -> &mut Laps<C> {
        self.0.last_ns = issued;
        self.0.laps.clear();
        &mut self.0
    }

    fn record(&mut self, action: Action, meters: &mut Meters, issued: u64, completed: u64) {
        meters.of(action).latency.record(completed.saturating_sub(issued));
        for (step, ns) in &self.0.laps {
            meters.step(action, *step, *ns);
        }
    }
}
