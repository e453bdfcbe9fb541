//! Ladders that need a pool for each rung: several runs, of which one record is made.

use record::ladder::next_load;
use record::{Check, Crew, End, ErrorRecord, Fact, Fetched, Load, Outcome, Record, Rung, RungSummary};
use runner::{Event, Events, Pace, Refused, Request, SystemClock};
use workload::arrivals::ArrivalProcess;

use crate::perform::perform;
use crate::said::StorageName;

/// Whether each rung is to have a pool of its own.
pub fn is_of_runs(request: &Request) -> bool {
    request.drive.ladder.as_ref().is_some_and(|ladder| ladder.asked.fresh)
}

/// Climbs the ladder, a run for each rung, until one does not come to its end. The record is the first one's, with all rungs.
///
/// # Errors
/// Where a run was refused: the runs before have removed what they made.
pub fn climb(request: &Request, storage: StorageName, events: &mut dyn Events) -> Result<Record, Refused> {
    let Some(ladder) = &request.drive.ladder else {
        return perform(request, storage, &SystemClock, events);
    };
    let mut climbed: Vec<RungSummary> = Vec::new();
    let mut all: Option<Record> = None;
    while let Some(load) = next_load(&ladder.asked, &climbed) {
        events.event(Event::Rung(climbed.len() as u32, load));
        let record = perform(&rung(request, load, climbed.len()), storage, &SystemClock, events)?;
        // Of a pool that has run dry nothing is told by more.
        let is_whole = record.actual.outcome == Outcome::Complete && record.actual.end == Fact::Known(End::Complete);
        let climbed_now = Rung {
            load,
            workers: record.workload.crew.workers(),
            phases: record.actual.phases.clone(),
        };
        climbed.push(RungSummary::of(&climbed_now));
        let mut sum = match all.take() {
            None => first(request, record),
            Some(sum) => merge(sum, record),
        };
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
