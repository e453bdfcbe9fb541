//! One record of several runs.

use record::{End, Fact, Record, merge};
use spec::RunSpec;

/// The first step's record as that of the whole sweep.
pub(crate) fn first(spec: &RunSpec, mut record: Record) -> Record {
    record.spec.drive.clone_from(&spec.drive);
    record.actual.phases = Vec::new();
    record.actual.classic = None;
    for rank in record.cluster.iter_mut().flat_map(|cluster| &mut cluster.ranks) {
        rank.worker_hashes = Vec::new();
    }
    record.actual.stream_hash = record
        .actual
        .stream_hash
        .and_then(|_| Fact::Unavailable("each step has a run, and with it a stream, of its own".to_owned()));
    record
}

/// What the whole sweep has with another step.
pub(crate) fn merge(mut all: Record, one: Record) -> Record {
    // Ranks end as their last step did.
    let ranks = all.cluster.iter_mut().flat_map(|cluster| &mut cluster.ranks);
    for (rank, last) in ranks.zip(one.cluster.iter().flat_map(|cluster| &cluster.ranks)) {
        rank.outcome = last.outcome.clone();
        rank.clock.end = last.clock.end.clone();
        if rank.end == Fact::Known(End::Complete) {
            rank.end = last.end.clone();
        }
    }
    let (sum, one) = (&mut all.actual, one.actual);
    sum.outcome = one.outcome;
    if sum.end == Fact::Known(End::Complete) {
        sum.end = one.end;
    }
    merge::errors(&mut sum.errors, one.errors);
    sum.stalled.extend(one.stalled);
    sum.check = match (std::mem::replace(&mut sum.check, Fact::NotApplicable), one.check) {
        (Fact::Known(one), Fact::Known(next)) => Fact::Known(one.then(next)),
        (Fact::Known(_), other) | (other, _) => other,
    };
    if one.clean_up.is_some() {
        sum.clean_up = one.clean_up;
    }
    all
}
