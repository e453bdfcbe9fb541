//! **`pool-changed-size`** (DOUBTFUL). The pool had another number of files at the end of the
//! measurement than at its start, so the numbers are not those of one pool size. Equal weights of
//! creations and deletions do not keep a small pool's size: n random draws change it by about the
//! square root of n. *Threshold*: more than 20 % of the files at the start, twice the drift that is
//! allowed for a steady run. Not judged for work that only creates or only deletes, because its mix
//! implies the change; for phases, which may create or remove a whole pool; for replays, whose
//! change is that of the trace; for partial runs; and for a reused pool that is kept again, because
//! its size is not known. *Evidence*: the creations, deliveries and deletions that were completed
//! in the preparation, in warm-ups and in the measured time; for a sweep on one pool, over all its
//! levels. *What to do*: if the weights of creations and deletions differ by at most 10 %, use more
//! files; otherwise use a mix that creates as often as it deletes.

use record::run::{Segment, SegmentKind};
use spec::RunSpec;
use workload::{Action, Bias, Work};

use super::rule::*;

/// Maximum change of a pool's number of files during the measurement: twice the 10 % by which the
/// rate of a steady run may change. Operations are drawn at random, so the number of files changes
/// even if creations and deletions have equal weights.
const MAX: f64 = 0.20;

/// The pool had another number of files at the end of the measurement than at its start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct PoolChangedSize {
    /// Files in all pools at the start of the measurement.
    pub files_before: u64,
    /// Files in all pools at the end of the measurement.
    pub files_after: u64,
    /// Whether creations and deletions have about equal weights; absent if not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_balanced: bool,
}

impl Rule for PoolChangedSize {
    fn find(record: &Record, _: &Seen) -> Option<Self> {
        if record.actual.is_partial() || !is_one_mix(&record.spec) {
            return None;
        }
        let steps = &record.actual.sweep_steps;
        // A load level with a separate run has a separate pool. Other load levels share the run's
        // pool.
        let (own, shared): (Vec<_>, Vec<_>) = steps.iter().partition(|step| step.of_run.is_some());
        let of_steps = shared.iter().flat_map(|step| &step.phases);
        let of_run: Vec<&PhaseRecord> = record.actual.phases.iter().chain(of_steps).collect();
        let of_own = own.iter().map(|step| step.phases.iter().collect());
        let mut pools = std::iter::once(of_run).chain(of_own);
        let is_balanced = is_balanced(&record.spec.workload.work);
        pools.find_map(|phases| Self::of_pool(&phases, is_balanced))
    }

    /// If a number of transactions ends the run, the plan determines the number of files at the
    /// end. Otherwise, the function estimates after how many transactions the pool has changed too
    /// much.
    fn foresee(planned: &Planned<'_>) -> Option<Foreseen<Self>> {
        let (spec, plan) = (planned.spec(), &planned.record.plan);
        // The size of a reused pool that is kept again is never recorded, so the rule will not
        // apply.
        if (spec.keeping.reuse && spec.keeping.keep) || !is_one_mix(spec) {
            return None;
        }
        let count = |is_one: &dyn Fn(Option<bool>) -> bool| {
            planned.operations(Phase::Transactions, |action| is_one(action.changes_count()))
        };
        let all = count(&|_| true);
        let [created, deleted] =
            [true, false].map(|is_creation| count(&|changes| changes == Some(is_creation)));
        if created == all || deleted == all {
            return None;
        }
        let files = planned.files();
        let change = created.abs_diff(deleted) as f64;
        let limit = files as f64 * MAX;
        let is_balanced = is_balanced(&spec.workload.work);
        let reason = Self {
            files_before: files,
            files_after: files.saturating_add(created).saturating_sub(deleted),
            is_balanced,
        };
        if planned.is_exact() {
            return (change > limit).then(|| Foreseen {
                sentence: reason.changed(["grows", "shrinks"]),
                reason,
                occurs: Occurs::Always,
            });
        }
        // n random draws change the number of files by about the square root of n. So `limit`²
        // draws change this number by `limit`.
        let of_plan = match is_balanced {
            true => limit * limit / (created as f64 + deleted as f64),
            false => limit / change,
        };
        let occurs = planned.reaches(of_plan * plan.transactions as f64)?;
        let what = match is_balanced {
            true => "random creations and deletions change",
            false => "creations and deletions change",
        };
        Some(Foreseen {
            sentence: format!(
                "{what} the pool of {} by more than {}",
                counted(files, "file"),
                percent(MAX)
            ),
            reason,
            occurs,
        })
    }

    fn sentence(&self) -> String {
        self.changed(["grew", "shrank"])
    }

    fn advice(&self) -> &'static str {
        match self.is_balanced {
            true => "use more --files, like --files 20k",
            false => "use a mix that creates as often as it deletes",
        }
    }
}

impl PoolChangedSize {
    fn changed(&self, [grew, shrank]: [&str; 2]) -> String {
        format!(
            "the pool {} from {} to {}, limit {} of change",
            if self.files_after > self.files_before {
                grew
            } else {
                shrank
            },
            counted(self.files_before, "file"),
            grouped(self.files_after),
            percent(MAX)
        )
    }

    /// Checks one pool. `phases` contains the phases that used this pool.
    fn of_pool(phases: &[&PhaseRecord], is_balanced: bool) -> Option<Self> {
        let of = |phase| phases.iter().filter(move |record| record.phase == phase);
        let transactions = || of(Phase::Transactions).flat_map(|phase| &phase.segments);
        if is_one_way(transactions()) {
            return None;
        }
        let mut files = match of(Phase::Prepare).next() {
            Some(prepare) => prepare.segments.iter().map(grown).sum::<i64>(),
            // The size of a reused pool is not recorded. If the pool was deleted completely, its
            // size is the number of deletions minus the growth in the transactions.
            None => {
                let delete = of(Phase::Delete).find(|phase| phase.complete)?;
                let removed = delete.segments.iter().chain(transactions());
                -removed.map(grown).sum::<i64>()
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
        let limit = files_before as f64 * MAX;
        (files_before.abs_diff(files_after) as f64 > limit).then_some(Self {
            files_before,
            files_after,
            is_balanced,
        })
    }
}

/// Whether the operations are drawn for one pool, so that they could keep its size.
fn is_one_mix(spec: &RunSpec) -> bool {
    spec.phases().is_empty() && spec.workload.replay().is_none()
}

/// Whether the weights of creations and deletions differ by at most 10 %.
fn is_balanced(work: &Work) -> bool {
    let mix = match work {
        Work::Classic(classic) => return classic.bias_create == Bias::EVEN,
        Work::Mix(mix) => mix,
    };
    let sum = |is_creation: bool| -> u64 {
        Action::operations()
            .filter(|action| action.changes_count() == Some(is_creation))
            .map(|action| u64::from(mix.weights.get(action)))
            .sum()
    };
    let (created, deleted) = (sum(true), sum(false));
    created.abs_diff(deleted) <= created.max(deleted) / 10
}

/// Returns the change of the pool's number of files in a segment.
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

/// Whether all operations create files, or all delete files. The change of the pool is then the
/// purpose of the workload.
fn is_one_way<'segment>(segments: impl Iterator<Item = &'segment Segment>) -> bool {
    let operations = segments.flat_map(|segment| &segment.operations);
    let mut done = operations.filter(|operation| operation.meter.operations > 0);
    let first = done
        .next()
        .and_then(|operation| operation.action.changes_count());
    first.is_some() && done.all(|operation| operation.action.changes_count() == first)
}
