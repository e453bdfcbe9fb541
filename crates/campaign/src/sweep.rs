//! Performs a load sweep level by level, either on one pool or with a separate run for each load
//! level. `loads` chooses the next load.

use std::time::{Duration, Instant};

use document::units::counted;
use record::{
    Completed, CompletedPart, End, Fact, Load, Outcome, Phase, PhaseRecord, Record, SweepStep,
    SweepStepRun, SystemDuring,
};
use runner::{Control, Event, Events, Finished, Pace, Refused, Run, RunSpec};
use spec::{Climb, Drive, PhaseLoad, Stop, Sweep};
use verdict::SweepStepSummary;
use workload::arrivals::{ArrivalProcess, check_rate};
use workload::fingerprint::Fingerprint;

use crate::loads::{left_max, next_load};
use crate::merge::{first, merge};

/// A function that prepares a run on the I/O engine of its run spec, as [`runner::prepare`] does.
pub type Prepare<'p> =
    dyn for<'e> FnMut(&RunSpec, &'e mut dyn Events) -> Result<Run<'e>, Refused> + 'p;

/// Estimates the remaining time of a sweep from the load levels that have ended.
struct LevelPace {
    began: Instant,
    /// Duration of the first load level. `None` if the time of its transactions or of its pool is
    /// not known in advance.
    first: Option<Duration>,
}

impl LevelPace {
    fn new(drive: Option<&Drive>) -> Self {
        let first = drive.and_then(|drive| match drive.stop {
            Stop::After(length) => Some(drive.warm_up + length),
            Stop::Transactions | Stop::Steady(_) => None,
        });
        Self {
            began: Instant::now(),
            first,
        }
    }

    /// Returns the maximum duration of all load levels after `steps`.
    fn left(&self, asked: &Sweep, steps: &[SweepStepSummary]) -> Option<Duration> {
        let levels = u32::try_from(left_max(asked, steps)).ok()?;
        let each = match u32::try_from(steps.len()).ok()? {
            0 => self.first?,
            done => self.began.elapsed() / done,
        };
        Some(each * levels)
    }
}

/// Applies the loads of a sweep to one pool, until a load level does not complete. In the record,
/// the load levels are in `sweep_steps`, and the other phases in `phases`.
pub(crate) fn of_one_pool(
    spec: &RunSpec,
    asked: &Sweep,
    prepare: &mut Prepare<'_>,
    events: &mut dyn Events,
) -> Result<Record, Refused> {
    let mut run = prepare(spec, events)?;
    let pace = LevelPace::new(Some(&spec.drive));
    let mut begun: Vec<Load> = Vec::new();
    let mut steps: Vec<SweepStepSummary> = Vec::new();
    while run.takes_loads() {
        let Some(load) = next_load(asked, &steps) else {
            break;
        };
        // The sweep ends at a rate for which no arrivals can be generated. It also ends at a load
        // with another number of workers: such a load needs other pools and therefore a separate
        // run.
        if load.count().is_some() || load.rate().is_some_and(|rate| check_rate(rate).is_err()) {
            break;
        }
        let left = pace.left(asked, &steps);
        let number = begun.len() as u32;
        run.tell(match phase_name(spec, load) {
            Some(name) => Event::WorkloadPhase(number, name),
            None => Event::Load(number, load, left),
        });
        begun.push(load);
        let applied = match phase_load(spec, load) {
            Some(of_phase) => run.apply_phase(of_phase),
            None => run.apply(load.rate()),
        };
        let Some(phase) = applied else {
            break;
        };
        let of_all = step(spec, load, Some(phase.clone()));
        steps.push(SweepStepSummary::of(&of_all));
        // The reported part contains the results of this process only, but the number of workers is
        // that of all ranks.
        let workers = of_all.workers;
        run.tell_load(|phase| {
            CompletedPart::SweepStep(SweepStep {
                workers,
                ..step(spec, load, Some(phase))
            })
        });
    }
    Ok(with_steps(run.finish(), spec, begun))
}

/// Moves the phases of a record that are load levels to its `sweep_steps`.
fn with_steps(mut record: Record, spec: &RunSpec, begun: Vec<Load>) -> Record {
    let actual = &mut record.actual;
    let phases = std::mem::take(&mut actual.phases).into_iter();
    let (applied, others): (Vec<_>, Vec<_>) =
        phases.partition(|phase| phase.phase == Phase::Transactions);
    actual.phases = others;
    let mut applied = applied.into_iter();
    actual.sweep_steps = begun
        .into_iter()
        .map(|load| step(spec, load, applied.next()))
        .collect();
    // The original's report describes a single load, so a sweep has no such report.
    actual.classic = None;
    record
}

/// Returns the results of a load level on the pool that all load levels share. `phase` is `None` if
/// no worker returned from the phase.
fn step(spec: &RunSpec, load: Load, phase: Option<PhaseRecord>) -> SweepStep {
    SweepStep {
        load,
        name: phase_name(spec, load),
        workers: phase.as_ref().map_or(0, |phase| phase.workers.len() as u32),
        phases: phase.into_iter().collect(),
        of_run: None,
    }
}

/// Returns the load of a phase of the workload; `None` for a load level.
fn phase_load(spec: &RunSpec, load: Load) -> Option<&PhaseLoad> {
    match load {
        Load::Phase(number) => spec.phase_loads().get(number as usize),
        _ => None,
    }
}

/// Returns the name of a phase of the workload; `None` for a load level.
fn phase_name(spec: &RunSpec, load: Load) -> Option<String> {
    match load {
        Load::Phase(number) => Some(spec.phases().get(number as usize)?.name.clone()),
        _ => None,
    }
}

/// Performs one run for each load level, until a run does not complete. Returns the record of the
/// first run, extended by all load levels.
pub(crate) fn of_runs(
    spec: &RunSpec,
    asked: &Sweep,
    prepare: &mut Prepare<'_>,
    events: &mut dyn Events,
) -> Result<Record, Refused> {
    let mut sum = Sum {
        spec,
        record: None,
        steps: Vec::new(),
        parts: Parts::default(),
    };
    let mut control = Control::default();
    // `None`: the time to create the pool of the first level is not known in advance.
    let pace = LevelPace::new(None);
    while let Some(load) = next_load(asked, &sum.steps) {
        let number = sum.steps.len();
        let left = pace.left(asked, &sum.steps);
        events.event(Event::Load(number as u32, load, left));
        let mut of_step = OfStep {
            events: &mut *events,
            spec,
            fingerprint: sum.record.as_ref().map(|sum| sum.fingerprint.clone()),
            parts: &mut sum.parts,
        };
        let mut run = match prepare(&of_load(spec, load, number), &mut of_step) {
            Ok(run) => run,
            Err(refused) => {
                let Some(sum) = &mut sum.record else {
                    return Err(refused);
                };
                // If a signal ended a run of several ranks before the run began, the refusal is no
                // failure.
                sum.actual.outcome = match control.ended_between_runs() {
                    Some(interrupted @ Outcome::Interrupted { .. }) => interrupted,
                    _ => Outcome::Failed {
                        why: format!("level {} was refused: {refused}", number + 1),
                    },
                };
                break;
            }
        };
        run.apply_own();
        control = run.control();
        let finished = run.finish_parts();
        let is_whole = sum.add(load, finished, &control, events);
        if !is_whole || next_load(asked, &sum.steps).is_none() {
            break;
        }
        // If a signal arrived between two runs, the completed load levels remain in the record.
        if let (Some(outcome), Some(sum)) = (control.ended_between_runs(), &mut sum.record) {
            sum.actual.outcome = outcome;
            break;
        }
    }
    // This error does not occur, because a sweep always contains at least one load level.
    sum.record
        .ok_or_else(|| Refused::Unable("--sweep: it has no load level".to_owned()))
}

struct Sum<'a> {
    spec: &'a RunSpec,
    /// The record of all load levels so far; `None` before the first one.
    record: Option<Record>,
    steps: Vec<SweepStepSummary>,
    parts: Parts,
}

impl Sum<'_> {
    /// Adds the run of a load level, and reports the new parts of the record. Returns `false` if
    /// the run did not complete or ran out of files. The sweep then ends.
    fn add(
        &mut self,
        load: Load,
        Finished { record, own }: Finished,
        control: &Control,
        events: &mut dyn Events,
    ) -> bool {
        let is_whole = record.actual.outcome == Outcome::Complete
            && record.actual.end == Fact::Known(End::Complete);
        let number = self.steps.len();
        let step = step_of_run(load, number, &record);
        self.steps.push(SweepStepSummary::of(&step));
        let mut sum = match self.record.take() {
            None => first(self.spec, record),
            Some(sum) => merge(sum, record),
        };
        if events.takes_records() && is_whole {
            let own = own.map(|own| step_of_run(load, number, &own));
            let part = own.unwrap_or_else(|| match self.spec.ranks {
                ..=1 => step.clone(),
                _ => of_others(&step),
            });
            self.parts.add(part, &sum.during, events);
        }
        sum.actual.sweep_steps.push(step);
        if events.takes_records() && sum.cluster.is_some() && control.is_first() {
            let mut merged = Box::new(sum.clone());
            merged.actual.outcome = Outcome::Unfinished;
            events.event(Event::RecordMerged(merged));
        }
        self.record = Some(sum);
        is_whole
    }
}

/// Returns the results of a load level that had a separate run and a separate pool.
fn step_of_run(load: Load, number: usize, record: &Record) -> SweepStep {
    SweepStep {
        load,
        name: None,
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
    }
}

/// Returns this process's part of a load level that only other ranks performed: it contains no
/// phases.
fn of_others(step: &SweepStep) -> SweepStep {
    SweepStep {
        phases: Vec::new(),
        of_run: None,
        ..step.clone()
    }
}

/// Reports the parts of this process's record: the initial record when its first run begins, and
/// then its part of each load level.
#[derive(Default)]
struct Parts {
    is_opened: bool,
    /// Load levels before the first run of this process, which only other ranks performed.
    of_others: Vec<SweepStep>,
}

impl Parts {
    fn open(&mut self, head: Record, events: &mut dyn Events) {
        self.is_opened = true;
        let during = head.during.clone();
        events.event(Event::RecordOpened(Box::new(head)));
        for step in self.of_others.drain(..) {
            tell(step, during.clone(), events);
        }
    }

    fn add(&mut self, part: SweepStep, during: &SystemDuring, events: &mut dyn Events) {
        match self.is_opened {
            true => tell(part, during.clone(), events),
            false => self.of_others.push(part),
        }
    }
}

fn tell(step: SweepStep, during: SystemDuring, events: &mut dyn Events) {
    let part = CompletedPart::SweepStep(step);
    events.event(Event::PhaseRecorded(Box::new(Completed { part, during })));
}

/// Forwards the events of a load level's run to the observers of the sweep. The initial record of
/// the first run becomes that of the sweep.
struct OfStep<'a> {
    events: &'a mut dyn Events,
    spec: &'a RunSpec,
    /// The fingerprint of the first load level; `None` before that level was performed.
    fingerprint: Option<Fingerprint>,
    parts: &'a mut Parts,
}

impl Events for OfStep<'_> {
    fn event(&mut self, event: Event) {
        match event {
            Event::RecordOpened(head) if !self.parts.is_opened => {
                let mut head = first(self.spec, *head);
                if let Some(of_first) = self.fingerprint.take() {
                    head.fingerprint = of_first;
                }
                self.parts.open(head, self.events);
            }
            Event::RecordOpened(_) | Event::PhaseRecorded(_) | Event::RecordMerged(_) => {}
            event => self.events.event(event),
        }
    }

    fn takes_records(&self) -> bool {
        self.events.takes_records()
    }
}

/// Returns the load levels of a sweep of workers or ranks, from the smallest to the largest, each
/// with the spec of its run. Returns no levels for other runs.
pub(crate) fn levels_of_counts(spec: &RunSpec) -> Vec<(Load, RunSpec)> {
    let loads: Vec<Load> = match spec.drive.sweep.as_ref().map(|asked| &asked.climb) {
        Some(Climb::Workers(counts)) => counts.iter().copied().map(Load::Workers).collect(),
        Some(Climb::Ranks(counts)) => counts.iter().copied().map(Load::Ranks).collect(),
        Some(Climb::Rates(_) | Climb::OfClosedLoop(_) | Climb::Phases(_)) | None => Vec::new(),
    };
    let levels = loads.into_iter().enumerate();
    levels
        .map(|(number, load)| (load, of_load(spec, load, number)))
        .collect()
}

/// Returns the spec of the run that performs only this load level.
fn of_load(spec: &RunSpec, load: Load, number: usize) -> RunSpec {
    let mut spec = match load {
        Load::Closed | Load::Rate(_) | Load::Phase(_) => spec.clone(),
        Load::Workers(each) => spec.of_workers(each),
        Load::Ranks(ranks) => spec.of_ranks(ranks),
    };
    // The overhead is the same at all load levels, so only the first run measures it.
    spec.overhead &= number == 0;
    let asked = spec.drive.sweep.take();
    let arrivals = asked.map_or(ArrivalProcess::Poisson, |asked| asked.arrivals);
    spec.drive.pace = match load {
        Load::Closed | Load::Workers(_) | Load::Ranks(_) | Load::Phase(_) => Pace::Closed,
        Load::Rate(per_second) => Pace::Open {
            per_second,
            arrivals,
        },
    };
    spec
}

/// Returns a message that names the smallest load level that cannot begin, the reason, and the
/// number of levels above it. The levels are in ascending order, so the levels above do not fit
/// either.
pub(crate) fn first_level_without(
    levels: &[(Load, RunSpec)],
    mut lack: impl FnMut(&RunSpec) -> Option<String>,
) -> Option<String> {
    let (number, why) = levels
        .iter()
        .enumerate()
        .find_map(|(number, (_, spec))| Some((number, lack(spec)?)))?;
    let level = report::plan::level(levels[number].0);
    Some(match levels.len() - number - 1 {
        0 => format!("the load level with {level}: {why}"),
        above => format!(
            "the load level with {level} (and {} above it): {why}",
            counted(above as u64, "level")
        ),
    })
}
