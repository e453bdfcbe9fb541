//! Ladders that need a pool for each rung: several runs, of which one record is made.

use record::ladder::next_load;
use record::{
    Check, Completed, Crew, End, ErrorRecord, Fact, Fetched, Load, Outcome, Part, Record, Rung, RungRun, RungSummary,
};
use runner::{Event, Events, Pace, Refused, Request, SystemClock};
use workload::arrivals::ArrivalProcess;

use crate::perform::{Signals, perform_with};
use crate::said::StorageName;

/// Whether each rung is to have a pool of its own.
pub fn is_of_runs(request: &Request) -> bool {
    request.drive.ladder.as_ref().is_some_and(|ladder| ladder.asked.fresh)
}

/// Climbs the ladder, a run for each rung, until one does not come to its end. The record is the first one's, with all rungs.
///
/// # Errors
/// Where the first run was refused: nothing was touched. What becomes of a later one is in the record.
pub fn climb(
    request: &Request,
    storage: StorageName,
    signals: &mut Signals,
    events: &mut dyn Events,
) -> Result<Record, Refused> {
    // Between two of the runs, too, a signal is to leave the rungs that were climbed.
    let Some(ladder) = &request.drive.ladder else {
        return perform_with(request, storage, &SystemClock, signals, events);
    };
    let mut climbed: Vec<RungSummary> = Vec::new();
    let mut all: Option<Record> = None;
    while let Some(load) = next_load(&ladder.asked, &climbed) {
        if let (Some(signal), Some(all)) = (signals.caught(), &mut all) {
            all.actual.outcome = Outcome::Interrupted { signal };
            signals.followed();
            break;
        }
        let number = climbed.len();
        events.event(Event::Rung(number as u32, load));
        let mut of_rung = OfRung {
            events: &mut *events,
            request,
            is_first: number == 0,
        };
        let performed = perform_with(
            &rung(request, load, number),
            storage,
            &SystemClock,
            signals,
            &mut of_rung,
        );
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
            workers: record.workload.crew.workers(),
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
            None => first(request, record),
            Some(sum) => merge(sum, record),
        };
        if events.takes_records() && is_whole {
            events.event(Event::Completed(Box::new(Completed {
                part: Part::Rung(climbed_now.clone()),
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
        None => Err(Refused::Contradiction("--ladder: it has no rung".to_owned())),
    }
}

/// What the run of a rung tells those who watch the ladder: its phases are the rung's, and the first one begins the ladder's record.
struct OfRung<'a> {
    events: &'a mut dyn Events,
    request: &'a Request,
    is_first: bool,
}

impl Events for OfRung<'_> {
    fn event(&mut self, event: Event) {
        match event {
            Event::Opened(head) if self.is_first => {
                self.events.event(Event::Opened(Box::new(first(self.request, *head))));
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
fn rung(request: &Request, load: Load, number: usize) -> Request {
    let mut request = request.clone();
    // It is the same for all, and that of the first is in the record.
    request.own_cost &= number == 0;
    let ladder = request.drive.ladder.take();
    let arrivals = ladder.map_or(ArrivalProcess::Poisson, |ladder| ladder.arrivals);
    match load {
        Load::Closed => request.drive.pace = Pace::Closed,
        Load::Rate(rate) => request.drive.pace = Pace::Open { rate, arrivals },
        Load::Workers(workers) => request.workload.crew = Crew::Private { workers },
    }
    request
}

/// The first rung's record as that of the whole ladder.
fn first(request: &Request, mut record: Record) -> Record {
    record.how.driven.ladder = request.drive.ladder.as_ref().map(|ladder| ladder.asked.clone());
    record.how.driven.arrivals = None;
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
