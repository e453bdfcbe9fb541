//! Plans a run without touching its targets.

use std::path::PathBuf;

use record::{Fact, PlanRecord};
use runner::RunSpec;
use system::{Host, ProcessTimes, Sources};
use workload::fingerprint::{self, INTENTS_IN_FINGERPRINT};
use workload::{Followed, Planner, Workload};

use crate::Error;
use crate::calibration::refuse_memory;
use crate::run_spec::Specified;

/// Transactions of each worker that are planned if their number is unlimited.
const PLANNED: u64 = 1_000_000;

/// Maximum number of random numbers drawn before the first file, for all workers: this takes a few
/// seconds, twice.
const DRAWS_MAX: u64 = 1 << 33;

/// Maximum number of operations in a fingerprint, for all workers: this takes a few seconds.
const FIRST_MAX: u64 = 100_000_000;

/// Refuses a run that would be refused, except because of root's rights in its targets, which only
/// the run itself checks.
///
/// # Errors
/// Returns the refusal.
pub fn judge(specified: &Specified) -> Result<(), Error> {
    refuse_memory(specified)?;
    // As with --allow-unsafe-target, root's rights in the targets are not checked.
    let spec = RunSpec {
        trusts_others: true,
        ..specified.spec.clone()
    };
    runner::dispatch::judge(&spec).map_err(|refused| specified.explain(refused))
}

/// The number of transactions of each worker that are planned if the run is limited by time; `None`
/// for other runs.
pub fn first_transactions(workload: &Workload) -> Option<u64> {
    let first = || Followed::of(&workload.with_transactions(PLANNED));
    let is_endless = workload.transactions() == Workload::ENDLESS;
    is_endless.then(|| first().map_or(PLANNED, |followed| followed.transactions))
}

/// Plans a run.
///
/// # Errors
/// Returns an error if the workload has no stream, or planning it would take too long.
pub fn plan(specified: &Specified) -> Result<PlanRecord, Error> {
    let spec = &specified.spec;
    let workload = match first_transactions(&spec.workload) {
        Some(transactions) => spec.workload.with_transactions(transactions),
        None => spec.workload.clone(),
    };
    refuse_long(&workload)?;
    let followed = Followed::of(&workload);
    let (mut plan, room, targets) = if spec.engine.makes_files() {
        let namespace = || runner::dispatch::namespace(spec);
        let namespace = spec.engine.uses_urls().then(namespace).flatten();
        let directories = spec.targets.iter();
        let directories: Vec<PathBuf> = directories
            .map(|target| spec::directory(target).to_owned())
            .collect();
        let (plan, room, targets) =
            runner::free_space::plan(&workload, &directories, namespace.as_deref())?;
        (plan, Fact::Known(room), targets)
    } else {
        let part = followed.map_or_else(|| workload.clone(), |followed| followed.part(&workload));
        let plan = Planner::new(&part).plan_with_hint(system::memory::prefer_huge_pages)?;
        let plan = match followed {
            Some(followed) => followed.extend(plan, &workload),
            None => plan,
        };
        (plan, Fact::NotApplicable, Vec::new())
    };
    // The fingerprint covers the complete workload, even if only a part of it was planned.
    if followed.is_some() || workload != spec.workload {
        plan.fingerprint = fingerprint::fingerprint(&spec.workload)?;
    }
    let shortage = room.known().and_then(runner::free_space::shortage);
    Ok(PlanRecord {
        tool: record::Tool::this(),
        spec: spec.clone(),
        sizing: specified.sizing.clone(),
        plan,
        followed,
        shortage: shortage
            .or_else(|| runner::memory::shortage(spec, &Host::read(&Sources::default()))),
        room,
        targets,
        process: ProcessTimes::read(&Sources::default()),
    })
}

fn refuse_long(workload: &Workload) -> Result<(), Error> {
    let refuse = |why: String| {
        Err(Error::refused(format_args!(
            "cannot plan this workload in reasonable time: {why}"
        )))
    };
    // The original's generator draws the text before the first file, for each worker.
    let drawn = workload
        .classic()
        .map_or(0, |classic| 2 * classic.size_high_bytes);
    let (streams, workers) = (workload.streams(), workload.workers.count());
    if drawn.saturating_mul(streams.into()) > DRAWS_MAX {
        return refuse(format!(
            "the classic generator draws {drawn} numbers for the text of each of {streams} \
             workers (use smaller files or fewer workers)"
        ));
    }
    let first = 2 * workload.files().min(INTENTS_IN_FINGERPRINT) + workload.transactions();
    let first = first
        .min(INTENTS_IN_FINGERPRINT)
        .saturating_mul(workers.into());
    if first > FIRST_MAX {
        return refuse(format!(
            "its fingerprint covers {INTENTS_IN_FINGERPRINT} operations of each worker, {first} \
             for all {workers} (use fewer workers, or fewer files and transactions)"
        ));
    }
    Ok(())
}
