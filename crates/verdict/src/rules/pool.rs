//! Whether the pool kept its size while it was measured.

use workload::Phase;

use super::limits::POOL_CHANGED_MAX;
use super::{Reason, is_partial};
use record::run::{PhaseRecord, Record, Segment, SegmentKind};

pub(super) fn reasons(record: &Record) -> Vec<Reason> {
    if is_partial(record) {
        return Vec::new();
    }
    let steps = &record.actual.sweep_steps;
    // Steps with a run of their own have a pool of their own; all others share the run's.
    let (own, shared): (Vec<_>, Vec<_>) = steps.iter().partition(|step| step.of_run.is_some());
    let of_steps = shared.iter().flat_map(|step| &step.phases);
    let of_run: Vec<&PhaseRecord> = record.actual.phases.iter().chain(of_steps).collect();
    let of_own = own.iter().map(|step| step.phases.iter().collect());
    let mut pools = std::iter::once(of_run).chain(of_own);
    pools
        .find_map(|phases| changed(&phases))
        .into_iter()
        .collect()
}

/// By the phases that one pool went through.
fn changed(phases: &[&PhaseRecord]) -> Option<Reason> {
    let of = |phase| phases.iter().filter(move |record| record.phase == phase);
    let transactions = || of(Phase::Transactions).flat_map(|phase| &phase.segments);
    if is_one_way(transactions()) {
        return None;
    }
    let mut files = match of(Phase::Prepare).next() {
        Some(prepare) => prepare.segments.iter().map(grown).sum::<i64>(),
        // A kept pool: known by what was left of it, where that was removed.
        None => {
            let delete = of(Phase::Delete).find(|phase| phase.complete)?;
            -delete
                .segments
                .iter()
                .chain(transactions())
                .map(grown)
                .sum::<i64>()
        }
    };
    let mut measured: Option<(i64, i64)> = None;
    for segment in transactions() {
        let before = files;
        files = files.saturating_add(grown(segment));
        if segment.kind == SegmentKind::Measured {
            measured = Some((measured.map_or(before, |(first, _)| first), files));
        }
    }
    let (before, after) = measured?;
    let (files_before, files_after) = (u64::try_from(before).ok()?, u64::try_from(after).ok()?);
    let limit = files_before as f64 * POOL_CHANGED_MAX;
    (files_before.abs_diff(files_after) as f64 > limit).then_some(Reason::PoolChangedSize {
        files_before,
        files_after,
    })
}

/// By how many files a pool grew.
fn grown(segment: &Segment) -> i64 {
    let counts = segment.operations.iter().map(|operation| {
        let count = i64::try_from(operation.meter.operations).unwrap_or(i64::MAX);
        match operation.action.changes_count() {
            Some(true) => count,
            Some(false) => -count,
            None => 0,
        }
    });
    counts.fold(0, i64::saturating_add)
}

/// Whether all operations make files, or all remove some: a pool that changes is what such work is.
fn is_one_way<'segment>(segments: impl Iterator<Item = &'segment Segment>) -> bool {
    let operations = segments.flat_map(|segment| &segment.operations);
    let mut done = operations.filter(|operation| operation.meter.operations > 0);
    let first = done
        .next()
        .and_then(|operation| operation.action.changes_count());
    first.is_some() && done.all(|operation| operation.action.changes_count() == first)
}
