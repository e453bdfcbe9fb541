//! The sweep over loads, step by step: on one pool, or with a run for each step. Which load comes next, `loads` says.

use record::{
    Completed, CompletedPart, End, Fact, Load, Outcome, Phase, PhaseRecord, Record, SweepStep, SweepStepRun,
    SweepStepSummary,
};
use runner::{Event, Events, Pace, Refused, RunSpec};
use spec::Sweep;
use workload::Workers;
use workload::arrivals::{ArrivalProcess, check_rate};

use crate::Prepare;
use crate::loads::next_load;
use crate::merge::{first, merge};

/// Applies the loads to one pool, one after another, until one does not come to its end. The record has them apart from the
/// phases that they lie between.
pub(crate) fn of_one_pool(
    spec: &RunSpec,
    asked: &Sweep,
    prepare: &mut Prepare<'_>,
    events: &mut dyn Events,
) -> Result<Record, Refused> {
    let mut run = prepare(spec, events)?;
    let mut begun: Vec<Load> = Vec::new();
    let mut steps: Vec<SweepStepSummary> = Vec::new();
    while run.takes_loads() {
        let Some(load) = next_load(asked, &steps) else {
            break;
        };
        // Nothing can arrive at any other rate; other workers have other pools, and are for other runs.
        if load.workers().is_some() || load.rate().is_some_and(|rate| check_rate(rate).is_err()) {
            break;
        }
        run.tell(Event::Load(begun.len() as u32, load));
        begun.push(load);
        let Some(phase) = run.apply(load.rate()) else {
            break;
        };
        steps.push(SweepStepSummary::of(&step(load, Some(phase.clone()))));
        run.tell_load(|phase| CompletedPart::SweepStep(step(load, Some(phase))));
    }
    let mut record = run.finish();
    let actual = &mut record.actual;
    let phases = std::mem::take(&mut actual.phases).into_iter();
    let (applied, others): (Vec<_>, Vec<_>) = phases.partition(|phase| phase.phase == Phase::Transactions);
    actual.phases = others;
    let mut applied = applied.into_iter();
    actual.sweep_steps = begun.into_iter().map(|load| step(load, applied.next())).collect();
    // The original's report has one load.
    actual.classic = None;
    Ok(record)
}

/// A step on a pool that all have; nobody has told what was done in one that no worker came back from.
fn step(load: Load, phase: Option<PhaseRecord>) -> SweepStep {
    SweepStep {
        load,
        workers: phase.as_ref().map_or(0, |phase| phase.workers.len() as u32),
        phases: phase.into_iter().collect(),
        of_run: None,
    }
}

/// Performs a run for each load, until one does not come to its end. The record is the first one's, with all steps.
pub(crate) fn of_runs(
    spec: &RunSpec,
    asked: &Sweep,
    prepare: &mut Prepare<'_>,
    events: &mut dyn Events,
) -> Result<Record, Refused> {
    let mut steps: Vec<SweepStepSummary> = Vec::new();
    let mut all: Option<Record> = None;
    while let Some(load) = next_load(asked, &steps) {
        let number = steps.len();
        events.event(Event::Load(number as u32, load));
        let mut of_step = OfStep {
            events: &mut *events,
            spec,
            is_first: number == 0,
        };
        let mut run = match (prepare(&of_load(spec, load, number), &mut of_step), &mut all) {
            (Ok(run), _) => run,
            (Err(refused), None) => return Err(refused),
            (Err(refused), Some(all)) => {
                all.actual.outcome = Outcome::Failed {
                    why: format!("step {} was refused: {refused}", number + 1),
                };
                break;
            }
        };
        run.apply_own();
        let control = run.control();
        let record = run.finish();
        // Of a pool that has run dry nothing is told by more.
        let is_whole = record.actual.outcome == Outcome::Complete && record.actual.end == Fact::Known(End::Complete);
        let step = SweepStep {
            load,
            workers: record.spec.workload.workers.count(),
            phases: record.actual.phases.clone(),
            of_run: (number > 0).then(|| {
                Box::new(SweepStepRun {
                    fingerprint: record.fingerprint.clone(),
                    origin: record.origin,
                    during: record.during.clone(),
                    room: record.room.clone(),
                })
            }),
        };
        steps.push(SweepStepSummary::of(&step));
        let mut sum = match all.take() {
            None => first(spec, record),
            Some(sum) => merge(sum, record),
        };
        if events.takes_records() && is_whole {
            events.event(Event::Completed(Box::new(Completed {
                part: CompletedPart::SweepStep(step.clone()),
                during: sum.during.clone(),
            })));
        }
        sum.actual.sweep_steps.push(step);
        // Between two of the runs, too, a signal leaves the steps that were made.
        let signal = control
            .signal_caught()
            .filter(|_| is_whole && next_load(asked, &steps).is_some());
        if let Some(signal) = signal {
            sum.actual.outcome = Outcome::Interrupted { signal };
        }
        all = Some(sum);
        if !is_whole || signal.is_some() {
            break;
        }
    }
    // Nobody can ask for a sweep without steps.
    all.ok_or_else(|| Refused::Unable("--sweep: it has no step".to_owned()))
}

/// What the run of a step tells those who watch the sweep: its phases are the step's, and the first one begins the sweep's record.
struct OfStep<'a> {
    events: &'a mut dyn Events,
    spec: &'a RunSpec,
    is_first: bool,
}

impl Events for OfStep<'_> {
    fn event(&mut self, event: Event) {
        match event {
            Event::Opened(head) if self.is_first => {
                self.events.event(Event::Opened(Box::new(first(self.spec, *head))));
            }
            Event::Opened(_) | Event::Completed(_) => {}
            event => self.events.event(event),
        }
    }

    fn takes_records(&self) -> bool {
        self.events.takes_records()
    }
}

/// The run of one load.
fn of_load(spec: &RunSpec, load: Load, number: usize) -> RunSpec {
    let mut spec = spec.clone();
    // It is the same for all, and that of the first is in the record.
    spec.overhead &= number == 0;
    let asked = spec.drive.sweep.take();
    let arrivals = asked.map_or(ArrivalProcess::Poisson, |asked| asked.arrivals);
    match load {
        Load::Closed => spec.drive.pace = Pace::Closed,
        Load::Rate(per_second) => spec.drive.pace = Pace::Open { per_second, arrivals },
        Load::Workers(workers) => spec.workload.workers = Workers::Private { workers },
    }
    spec
}
