//! One record of several runs.

use record::{Check, End, ErrorRecord, Fact, Record};
use spec::RunSpec;

/// The first step's record as that of the whole sweep.
pub(crate) fn first(spec: &RunSpec, mut record: Record) -> Record {
    record.spec.drive.clone_from(&spec.drive);
    record.actual.phases = Vec::new();
    record.actual.classic = None;
    record.actual.stream_hash = record
        .actual
        .stream_hash
        .and_then(|_| Fact::Unavailable("each step has a run, and with it a stream, of its own".to_owned()));
    record
}

/// What the whole sweep has with another step.
pub(crate) fn merge(mut all: Record, one: Record) -> Record {
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
    sum.stalled.extend(one.stalled);
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
