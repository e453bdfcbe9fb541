//! Ladders that need a pool for each rung: several runs, of which one record is made.

use record::ladder::next_load;
use record::{
    Check, Completed, CompletedPart, Crew, End, ErrorRecord, Fact, Fetched, Load, Outcome, Record, Rung, RungRun,
    RungSummary,
};
use runner::{Event, Events, Pace, Refused, RunSpec, SystemClock};
use workload::arrivals::ArrivalProcess;

use crate::perform::{Signals, perform_with};

/// Whether each rung is to have a pool of its own.
pub fn is_of_runs(spec: &RunSpec) -> bool {
    spec.drive.ladder.as_ref().is_some_and(|ladder| ladder.fresh)
}

/// Climbs the ladder, a run for each rung, until one does not come to its end. The record is the first one's, with all rungs.
///
/// # Errors
/// Where the first run was refused: nothing was touched. What becomes of a later one is in the record.
pub fn climb(spec: &RunSpec, signals: &mut Signals, events: &mut dyn Events) -> Result<Record, Refused> {
    // Between two of the runs, too, a signal is to leave the rungs that were climbed.
    let Some(ladder) = &spec.drive.ladder else {
        return perform_with(spec, &SystemClock, signals, events);
    };
    let mut climbed: Vec<RungSummary> = Vec::new();
    let mut all: Option<Record> = None;
    while let Some(load) = next_load(ladder, &climbed) {
        if let (Some(signal), Some(all)) = (signals.caught(), &mut all) {
            all.actual.outcome = Outcome::Interrupted { signal };
            signals.followed();
            break;
        }
        let number = climbed.len();
        events.event(Event::Rung(number as u32, load));
        let mut of_rung = OfRung {
            events: &mut *events,
            spec,
            is_first: number == 0,
        };
        let performed = perform_with(&rung(spec, load, number), &SystemClock, signals, &mut of_rung);
        let record = match (performed, &mut all) {
            (Ok(record), _) => record,
            (Err(refused), None) => return Err(refused),
            (Err(refused), Some(all)) => {
                all.actual.outcome = Outcome::Failed {
                    why: format!("rung {} was refused: {refused}", number + 1),
                };
                break;
            }
        };
        // Of a pool that has run dry nothing is told by more.
        let is_whole = record.actual.outcome == Outcome::Complete && record.actual.end == Fact::Known(End::Complete);
        let climbed_now = Rung {
            load,
            workers: record.spec.workload.crew.workers(),
            phases: record.actual.phases.clone(),
            of_run: (number > 0).then(|| {
                Box::new(RungRun {
                    fingerprint: record.fingerprint.clone(),
                    origin: record.origin,
                    during: record.during.clone(),
                    room: record.room.clone(),
                })
            }),
        };
        climbed.push(RungSummary::of(&climbed_now));
        let mut sum = match all.take() {
            None => first(spec, record),
            Some(sum) => merge(sum, record),
        };
        if events.takes_records() && is_whole {
            events.event(Event::Completed(Box::new(Completed {
                part: CompletedPart::Rung(climbed_now.clone()),
                during: sum.during.clone(),
            })));
        }
        sum.actual.rungs.push(climbed_now);
        all = Some(sum);
        if !is_whole {
            break;
        }
    }
    match all {
        Some(record) => Ok(record),
        // Nobody can say a ladder without rungs.
        None => Err(Refused::Unable("--ladder: it has no rung".to_owned())),
    }
}

/// What the run of a rung tells those who watch the ladder: its phases are the rung's, and the first one begins the ladder's record.
struct OfRung<'a> {
    events: &'a mut dyn Events,
    spec: &'a RunSpec,
    is_first: bool,
}

impl Events for OfRung<'_> {
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

/// The run of one rung.
fn rung(spec: &RunSpec, load: Load, number: usize) -> RunSpec {
    let mut spec = spec.clone();
    // It is the same for all, and that of the first is in the record.
    spec.own_cost &= number == 0;
    let ladder = spec.drive.ladder.take();
    let arrivals = ladder.map_or(ArrivalProcess::Poisson, |ladder| ladder.arrivals);
    match load {
        Load::Closed => spec.drive.pace = Pace::Closed,
        Load::Rate(per_second) => spec.drive.pace = Pace::Open { per_second, arrivals },
        Load::Workers(workers) => spec.workload.crew = Crew::Private { workers },
    }
    spec
}

/// The first rung's record as that of the whole ladder.
fn first(spec: &RunSpec, mut record: Record) -> Record {
    record.spec.drive.clone_from(&spec.drive);
    record.actual.phases = Vec::new();
    record.actual.classic = None;
    record.actual.stream_hash = record
        .actual
        .stream_hash
        .and_then(|_| Fact::Unavailable("each rung has a run, and with it a stream, of its own".to_owned()));
    record
}

/// What the whole ladder has with another rung.
fn merge(mut all: Record, one: Record) -> Record {
    let (sum, one) = (&mut all.actual, one.actual);
    sum.outcome = one.outcome;
    if sum.end == Fact::Known(End::Complete) {
        sum.end = one.end;
    }
    for error in one.errors {
        let same = |known: &&mut ErrorRecord| {
            (&known.operation, &known.step, &known.errno, &known.message)
                == (&error.operation, &error.step, &error.errno, &error.message)
        };
        match sum.errors.iter_mut().find(same) {
            Some(known) => known.count += error.count,
            None => sum.errors.push(error),
        }
    }
    sum.stuck.extend(one.stuck);
    sum.fetched = match (sum.fetched.take(), one.fetched) {
        (Some(a), Some(b)) => Some(Fetched {
            device_bytes: a.device_bytes.and_then(|a| b.device_bytes.map(|b| a + b)),
            read_bytes: a.read_bytes + b.read_bytes,
        }),
        (a, b) => a.or(b),
    };
    sum.check = match (std::mem::replace(&mut sum.check, Fact::NotApplicable), one.check) {
        (Fact::Known(a), Fact::Known(b)) => Fact::Known(Check {
            names: a.names + b.names,
            directories: a.directories + b.directories,
            wrong: a.wrong + b.wrong,
            left_out: a.left_out + b.left_out,
            duration_ns: a.duration_ns + b.duration_ns,
        }),
        (Fact::Known(_), other) | (other, _) => other,
    };
    if one.clean_up.is_some() {
        sum.clean_up = one.clean_up;
    }
    all
}
