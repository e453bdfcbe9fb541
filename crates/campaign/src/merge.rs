//! Merges the records of a sweep's load levels into one record.

use record::ranks::ClusterRecord;
use record::{Check, Climb, End, Fact, Record, Stale, merge};
use spec::RunSpec;

/// Converts the record of the first load level into the record of the sweep. `merge` adds the
/// other load levels.
pub(crate) fn first(spec: &RunSpec, mut record: Record) -> Record {
    record.spec.drive.clone_from(&spec.drive);
    if let Some(Climb::Ranks(_)) = spec.drive.sweep.as_ref().map(|sweep| &sweep.climb) {
        // The run spec in the record is that of all launched ranks. The fingerprint remains that of
        // the first load level.
        (record.spec.ranks, record.spec.workload.workers) = (spec.ranks, spec.workload.workers);
    }
    record.actual.phases = Vec::new();
    record.actual.classic = None;
    record.cluster = record.cluster.map(without_hashes);
    record.actual.stream_hash = record.actual.stream_hash.and_then(|_| {
        Fact::Unavailable("each load level has a run, and with it a stream, of its own".to_owned())
    });
    record
}

/// Removes the hashes of operation streams, because each load level has its own streams.
fn without_hashes(mut cluster: ClusterRecord) -> ClusterRecord {
    for rank in &mut cluster.ranks {
        rank.worker_hashes = Vec::new();
    }
    cluster
}

/// Adds the record of another load level to the record of the sweep.
pub(crate) fn merge(mut all: Record, mut one: Record) -> Record {
    // In a sweep over ranks, each load level has more ranks than the one before. The record keeps
    // the ranks of the last load level. No failure is lost: a sweep ends at the first load level
    // that is incomplete, so every earlier load level is complete.
    let count = |record: &Record| {
        record
            .cluster
            .as_ref()
            .map_or(0, |cluster| cluster.ranks.len())
    };
    if count(&one) > count(&all) {
        all.cluster = one.cluster.take().map(without_hashes);
    }
    // For each rank, the record contains the outcome of its last load level.
    let ranks = all
        .cluster
        .iter_mut()
        .flat_map(|cluster| &mut cluster.ranks);
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
    let check = std::mem::replace(&mut sum.check, Fact::NotApplicable);
    sum.check = check.and_then(|check| one.check.map(|next| check.then(next)));
    sum.check_across = merge::options(sum.check_across.take(), one.check_across, Check::then);
    sum.stale = merge::options(sum.stale.take(), one.stale, Stale::and);
    if one.clean_up.is_some() {
        sum.clean_up = one.clean_up;
    }
    all
}
