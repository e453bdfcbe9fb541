//! Merges parts of a record that come from several workers, segments, ranks or load levels.
//!
//! Each function is associative. Merged lists contain the entries of the first argument before
//! those of the second.

use std::cmp::Reverse;

use measure::SLOWEST_KEPT;
use system::Fact;
use workload::End;

use crate::run::{Check, ClaimWaits, ErrorRecord, OperationRecord, SlowestRecord};

/// Adds counts and latencies of `more` to the entry with the same role and kind of operation.
pub fn operation(all: &mut Vec<OperationRecord>, more: OperationRecord) {
    let same =
        |known: &&mut OperationRecord| (known.role, known.action) == (more.role, more.action);
    let Some(known) = all.iter_mut().find(same) else {
        return all.push(more);
    };
    known.meter.merge(&more.meter);
    for step in more.steps {
        match known.steps.iter_mut().find(|known| known.step == step.step) {
            Some(same) => same.latency.merge(&step.latency),
            None => known.steps.push(step),
        }
    }
}

/// Merges the slowest operations of one kind, and keeps at most [`SLOWEST_KEPT`]. Of equally slow
/// operations, those of `all` are kept.
pub fn slowest(all: &mut Vec<SlowestRecord>, more: SlowestRecord) {
    let Some(known) = all.iter_mut().find(|known| known.action == more.action) else {
        return all.push(more);
    };
    known.operations.extend(more.operations);
    known.operations.sort_by_key(|slow| Reverse(slow.ns));
    known.operations.truncate(SLOWEST_KEPT);
}

/// Adds the waits of `more` to the entry with the same role.
pub fn claim_waits(all: &mut Vec<ClaimWaits>, more: ClaimWaits) {
    match all.iter_mut().find(|known| known.role == more.role) {
        Some(known) => known.wait.merge(&more.wait),
        None => all.push(more),
    }
}

/// Adds the counts of `more` to the entries with the same operation, call and error number. Path
/// and message remain those of the first error.
pub fn errors(all: &mut Vec<ErrorRecord>, more: Vec<ErrorRecord>) {
    for error in more {
        let same = |known: &&mut ErrorRecord| {
            (&known.operation, &known.step, &known.errno)
                == (&error.operation, &error.step, &error.errno)
        };
        match all.iter_mut().find(same) {
            Some(known) => known.count += error.count,
            None => all.push(error),
        }
    }
}

/// Merges the last moments at which workers kept up with their arrivals: returns the earliest
/// moment, or `None` if a worker never kept up.
pub fn caught_up(each: impl IntoIterator<Item = Option<u64>>) -> Option<u64> {
    let each: Option<Vec<u64>> = each.into_iter().collect();
    each?.into_iter().min()
}

/// Merges the reasons why the transactions of several workers or ranks ended. The first reason
/// other than complete, such as an empty pool, has precedence. Unavailable if a worker or rank did
/// not reach the end, or if the list is empty.
pub fn ends(each: impl IntoIterator<Item = Option<End>>) -> Fact<End> {
    let (mut all_complete, mut any) = (true, false);
    for end in each {
        any = true;
        match end {
            Some(End::Complete) => {}
            Some(end) => return Fact::Known(end),
            None => all_complete = false,
        }
    }
    if all_complete && any {
        Fact::Known(End::Complete)
    } else {
        Fact::Unavailable("the run did not reach the end of its transactions".to_owned())
    }
}

impl Check {
    /// Adds the counts of two checks that ran at the same time. The duration is that of the longer
    /// check.
    #[must_use]
    pub fn beside(self, other: Self) -> Self {
        Self {
            duration_ns: self.duration_ns.max(other.duration_ns),
            ..self.then(other)
        }
    }

    /// Adds the counts and the durations of two checks that ran one after the other.
    #[must_use]
    pub fn then(self, other: Self) -> Self {
        Self {
            names: self.names + other.names,
            directories: self.directories + other.directories,
            wrong: self.wrong + other.wrong,
            left_out: self.left_out + other.left_out,
            duration_ns: self.duration_ns + other.duration_ns,
        }
    }
}

/// Merges two facts. A fact that is not applicable adds nothing. An unavailable fact makes the
/// result unavailable.
pub fn facts<T>(one: Fact<T>, other: Fact<T>, merge: impl FnOnce(T, T) -> T) -> Fact<T> {
    match (one, other) {
        (Fact::Known(one), Fact::Known(other)) => Fact::Known(merge(one, other)),
        (Fact::Unavailable(why), _) | (Fact::Known(_), Fact::Unavailable(why)) => {
            Fact::Unavailable(why)
        }
        (Fact::NotApplicable, fact) | (fact, Fact::NotApplicable) => fact,
    }
}

/// Adds two counts. A count that is not applicable adds nothing.
pub fn added(one: Fact<u64>, other: Fact<u64>) -> Fact<u64> {
    facts(one, other, u64::saturating_add)
}

/// Merges two options; `None` adds nothing.
pub fn options<T>(one: Option<T>, other: Option<T>, merge: impl FnOnce(T, T) -> T) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(merge(one, other)),
        (one, other) => one.or(other),
    }
}
