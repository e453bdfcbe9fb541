//! Plans a run: simulates its operations and checks its requirements, without changing its targets.

use std::path::PathBuf;

use record::{Fact, PlanRecord, Room};
use runner::{Refused, RunSpec};
use system::{Host, ProcessTimes, Sources, Target};
use verdict::Verdict;
use workload::fingerprint::{self, INTENTS_IN_FINGERPRINT};
use workload::{Followed, Plan, Planner, Workload};

use crate::archive::ArchivePlace;
use crate::calibration::refuse_memory;
use crate::estimate;
use crate::run_spec::Specified;
use crate::sweep::{first_level_without, levels_of_counts};
use crate::{Error, User};

/// Number of transactions of each worker that a plan simulates for a run without a limit of
/// transactions.
const PLANNED: u64 = 1_000_000;

/// Maximum number of random numbers that the classic generator draws before the first file, for all
/// workers. Drawing this many numbers takes a few seconds, and a plan draws them twice.
const DRAWS_MAX: u64 = 1 << 33;

/// Maximum number of operations in a fingerprint, for all workers. Hashing this many operations
/// takes a few seconds.
const FIRST_MAX: u64 = 100_000_000;

/// Refuses a run spec for the same reasons as the run itself. One check is left to the run: whether
/// root may keep its rights in the targets.
///
/// Returns the reason if the server of the targets does not answer. The plan is then made without
/// facts about the server.
fn judge(specified: &Specified) -> Result<Option<String>, Error> {
    refuse_memory(specified)?;
    // The field `trusts_others` (option --allow-unsafe-target) switches off the check of root's
    // rights.
    let spec = RunSpec {
        trusts_others: true,
        ..specified.spec.clone()
    };
    match runner::dispatch::judge(&spec) {
        Ok(()) => Ok(None),
        Err(Refused::Unreachable(silent)) if silent.is_silent => Ok(Some(silent.to_string())),
        Err(refused) => Err(specified.explain(refused)),
    }
}

/// Returns why a run would be refused for lack of memory or free space. Every load level of a sweep
/// of workers or ranks has a pool of its own, so every level is checked. The free space of a server
/// that does not answer (`is_silent`) is not known.
fn shortage(specified: &Specified, is_silent: bool, host: &Host) -> Option<String> {
    let of_run = |spec: &RunSpec| match is_silent {
        true => runner::memory::shortage(spec, host),
        false => {
            let judged = runner::dispatch::judge_room(spec);
            judged
                .err()
                .map(|refused| specified.explain(refused).to_string())
        }
    };
    let levels = levels_of_counts(&specified.spec);
    if levels.is_empty() {
        return of_run(&specified.spec);
    }
    first_level_without(&levels, of_run)
}

/// For a run that is limited by time, returns the number of transactions of each worker that a plan
/// simulates. Returns `None` for other runs.
pub fn first_transactions(workload: &Workload) -> Option<u64> {
    let first = || Followed::of(&workload.with_transactions(PLANNED));
    let is_endless = workload.transactions() == Workload::ENDLESS;
    is_endless.then(|| first().map_or(PLANNED, |followed| followed.transactions))
}

/// Simulates the operations of a run, and returns them with the run's requirements. The duration is
/// estimated from earlier runs in the archive at `place`. A sweep of workers or ranks is simulated
/// at its largest load level.
///
/// # Errors
/// Returns an error if the workload has no operation stream, or if planning it would take too long.
/// Also returns an error if the run would be refused for a reason other than the size of the
/// machine or the target.
pub fn plan(
    specified: &Specified,
    place: Option<&ArchivePlace>,
    user: User,
) -> Result<PlanRecord, Error> {
    let silence = judge(specified)?;
    let largest = levels_of_counts(&specified.spec).pop();
    let (load_level, spec) = match largest {
        Some((load, level)) => {
            let drive = specified.spec.drive.clone();
            (Some(load), RunSpec { drive, ..level })
        }
        None => (None, specified.spec.clone()),
    };
    let workload = match first_transactions(&spec.workload) {
        Some(transactions) => spec.workload.with_transactions(transactions),
        None => spec.workload.clone(),
    };
    refuse_long(&workload)?;
    let followed = Followed::of(&workload);
    let (mut plan, room, targets) = match &silence {
        None if spec.engine.makes_files() => on_targets(&spec, &workload)?,
        _ => {
            let room = silence
                .clone()
                .map_or(Fact::NotApplicable, Fact::Unavailable);
            (without_targets(&workload, followed)?, room, Vec::new())
        }
    };
    // The fingerprint is that of the complete workload, even if the plan includes only a part of
    // the workload.
    if followed.is_some() || workload != spec.workload {
        plan.fingerprint = fingerprint::fingerprint(&spec.workload)?;
    }
    let time = estimate::from_archive(std::slice::from_ref(&specified.spec), place, user);
    let host = Host::read(&Sources::default());
    let shortage = shortage(specified, silence.is_some(), &host);
    let mut record = PlanRecord {
        tool: record::Tool::this(),
        spec,
        load_level,
        sizing: specified.sizing.clone(),
        plan,
        followed,
        refused: shortage.into_iter().collect(),
        room,
        targets,
        time: time.into_iter().next(),
        expected: Vec::new(),
        process: ProcessTimes::read(&Sources::default()),
    };
    record.expected = Verdict::expected(&record, &host);
    Ok(record)
}

/// Simulates the operations of a run that makes files, and reads the free space of its targets.
fn on_targets(
    spec: &RunSpec,
    workload: &Workload,
) -> Result<(Plan, Fact<Room>, Vec<Target>), Error> {
    let namespace = || runner::dispatch::namespace(spec);
    let namespace = spec.engine.uses_urls().then(namespace).flatten();
    let directories = spec.targets.iter();
    let directories: Vec<PathBuf> = directories
        .map(|target| spec::directory(target).to_owned())
        .collect();
    let (plan, room, targets) =
        runner::free_space::plan(workload, &directories, namespace.as_deref())?;
    Ok((plan, Fact::Known(room), targets))
}

/// Simulates the operations of a run without reading its targets.
fn without_targets(workload: &Workload, followed: Option<Followed>) -> Result<Plan, Error> {
    let part = followed.map_or_else(|| workload.clone(), |followed| followed.part(workload));
    let plan = Planner::new(&part).plan_with_hint(system::memory::prefer_huge_pages)?;
    Ok(match followed {
        Some(followed) => followed.extend(plan, workload),
        None => plan,
    })
}

fn refuse_long(workload: &Workload) -> Result<(), Error> {
    let refuse = |why: String| {
        Err(Error::refused(format_args!(
            "cannot plan this workload in reasonable time: {why}"
        )))
    };
    // For each worker, the classic generator first draws the text for the contents of files. It
    // draws twice as many random numbers as the largest file has bytes.
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
