//! Plans a study, and checks its requirements before anything is made.

use std::path::Path;

use document::sanitize;
use record::{TimeEstimate, TimeSource};
use runner::{Refused, RunSpec};
use scratch::{FileSystemKind, MakeSpec};
use spec::{Invocation, Policies, Stop};
use study::{Design, PlannedCell, StudyCell, StudyPlan, StudyRun, TargetDesign};

use super::cell_spec::{specify, specify_somewhere};
use super::churn::AgedSpecs;
use super::design_file::wrong_in;
use super::ground::Course;
use super::performed_runs::PerformedRuns;
use super::targets::Targets;
use crate::archive::ArchivePlace;
use crate::calibration::stores_in_memory;
use crate::error::Error;
use crate::estimate::from_archive;
use crate::user::User;

/// Refuses a study that would fail later. The reasons are missing directories, contradicting
/// options, pools that cannot be churned, and too few started ranks. Further reasons are durable
/// runs in memory, runs that the engine, this machine or the target does not support, and cells
/// that do not fit into memory or free space. `invocation` may switch off the check of free space
/// and that of root's rights.
///
/// # Errors
/// Returns the first problem as an error.
pub fn judge(
    design: &Design,
    cells: &[StudyCell],
    (file, user): (Option<&Path>, User),
    (ranks, invocation): (u32, &Invocation),
) -> Result<(), Error> {
    for target in design.targets.iter().filter(|target| !target.is_made()) {
        let wrong = |why: &dyn std::fmt::Display| -> Error {
            let shown = sanitize::shown(&target.at);
            wrong_in(
                file,
                target.line,
                format!("cannot use the target {shown}: {why}"),
            )
        };
        let url = spec::parse_url(Path::new(&target.at));
        if url.map_err(|problem| wrong(&problem))?.is_some() {
            continue;
        }
        let facts = std::fs::metadata(&target.at).map_err(|cause| wrong(&cause))?;
        if !facts.is_dir() {
            return Err(wrong(&"it is not a directory"));
        }
    }
    for cell in cells {
        let wrong = |why: &dyn std::fmt::Display| -> Error {
            let line = design.workloads[cell.workload].line;
            // The only cell of a repeated run has no name that the user gave.
            let words = match cells.len() {
                1 => why.to_string(),
                _ => format!("cell {}: {why}", cell.label),
            };
            wrong_in(file, line, words)
        };
        let specified = specify_somewhere(design, cell, user).map_err(|error| wrong(&error))?;
        let asked = specified.spec.ranks;
        if asked > ranks {
            return Err(wrong(&format!(
                "ranks = {asked} requires as many processes of a launcher, and there are {ranks} \
                 (use mpirun -n {asked} postmark study ... of a build with MPI, as in 'postmark \
                 help hosts')"
            )));
        }
        if let Some(why) = durability_in_memory(design, cell, &specified.spec.durability) {
            return Err(wrong(&why));
        }
        refuse_unable(design, cell, (invocation, user)).map_err(|error| wrong(&error))?;
        if let Some(why) = shortage(design, cell, (invocation, user)) {
            return Err(wrong(&why));
        }
        AgedSpecs::new(specified.spec, cell.age).map_err(|why| wrong(&why))?;
    }
    Ok(())
}

/// Returns a refusal if a configuration requests a durability level on a target in memory, or on a
/// scratch file system whose image is in memory. After each run, the rule `durability-in-memory`
/// would make the run INVALID.
fn durability_in_memory(
    design: &Design,
    cell: &StudyCell,
    durability: &Policies,
) -> Option<String> {
    let at = &design.targets[cell.target].at;
    let (is_in_memory, what) = match at.parse::<MakeSpec>() {
        Ok(made) if design.targets[cell.target].is_made() => match made.kind {
            FileSystemKind::Tmpfs => (true, "lies in memory, where syncing does nothing"),
            _ => (
                has_image_in_memory(&made),
                "has its image in memory, so no disk stores what is synced",
            ),
        },
        _ => (
            !spec::is_url(Path::new(at)) && stores_in_memory(Path::new(at)),
            "lies in memory, where no disk stores what is synced",
        ),
    };
    (durability.sync() && is_in_memory).then(|| {
        format!(
            "its runs would be INVALID (durability-in-memory): they have durability {durability}, \
             but {} {what} (use a target on a disk, or durability none)",
            sanitize::shown(at)
        )
    })
}

/// Refuses a cell for the reasons for which each of its runs would be refused: its engine, this
/// machine, or its target. The target of a scratch file system does not exist yet, so only the
/// engine is checked.
fn refuse_unable(
    design: &Design,
    cell: &StudyCell,
    (invocation, user): (&Invocation, User),
) -> Result<(), Error> {
    let target = &design.targets[cell.target];
    if target.is_made() {
        let specified = specify_somewhere(design, cell, user)?;
        let judged = runner::dispatch::judge_engine(&specified.spec);
        return judged.map_err(|refused| specified.explain(refused));
    }
    let at = Path::new(&target.at);
    let specified = specify(design, cell, at, invocation.clone(), user)?;
    match runner::dispatch::judge(&specified.spec) {
        // The server may answer when the runs start.
        Err(Refused::Unreachable(server)) if server.is_silent => Ok(()),
        judged => judged.map_err(|refused| specified.explain(refused)),
    }
}

/// Returns why memory or free space do not suffice for the runs of a cell. Servers are not checked
/// here: each run checks them.
fn shortage(
    design: &Design,
    cell: &StudyCell,
    (invocation, user): (&Invocation, User),
) -> Option<String> {
    let target = &design.targets[cell.target];
    if target.is_made() {
        return shortage_of_image(design, cell, (invocation, user));
    }
    let at = Path::new(&target.at);
    if spec::is_url(at) {
        return None;
    }
    let specified = specify(design, cell, at, invocation.clone(), user).ok()?;
    match runner::dispatch::judge_room(&specified.spec) {
        Err(Refused::NoRoom(lack) | Refused::NoMemory(lack)) => Some(lack),
        _ => None,
    }
}

/// Returns why a scratch file system, which does not exist yet, is too small for the runs of a
/// cell. The space of its own structures is not subtracted. The first run therefore finds that a
/// file system is slightly too small.
fn shortage_of_image(
    design: &Design,
    cell: &StudyCell,
    (invocation, user): (&Invocation, User),
) -> Option<String> {
    let at = &design.targets[cell.target].at;
    let made: MakeSpec = at.parse().ok()?;
    let specified = specify(design, cell, Path::new("/"), invocation.clone(), user).ok()?;
    let full = cell.fullness.or(made.fullness_percent.map(u32::from));
    let free = made.size_bytes / 100 * u64::from(100_u32.saturating_sub(full.unwrap_or(0)));
    let kind = made.kind.to_string();
    match runner::dispatch::judge_planned_room(&specified.spec, (at, &kind, free)) {
        Err(Refused::NoRoom(lack)) => Some(format!(
            "{lack} (or make a larger file system, like 'make:{kind}?size=8GiB')"
        )),
        _ => None,
    }
}

/// Whether the image of a scratch file system, or that of its journal, would be in memory.
fn has_image_in_memory(made: &MakeSpec) -> bool {
    let directories = [Some(made.directory.as_path()), made.journal_directory()];
    directories.into_iter().flatten().any(stores_in_memory)
}

/// Resolves the run spec of a configuration. The directory of a scratch file system does not exist
/// yet, so a placeholder is used for it.
fn spec_of(design: &Design, cell: &StudyCell, user: User) -> Result<RunSpec, Error> {
    let target = &design.targets[cell.target];
    let specified = match target.is_made() {
        true => specify_somewhere(design, cell, user)?,
        false => specify(
            design,
            cell,
            Path::new(&target.at),
            Invocation::default(),
            user,
        )?,
    };
    Ok(specified.spec)
}

/// Estimates the total duration of runs that are performed one after the other. Also returns the
/// numbers of the archived runs from which it is estimated.
fn estimate(specs: &[RunSpec], place: &ArchivePlace, user: User) -> (Option<f64>, Vec<u64>) {
    let times = from_archive(specs, Some(place), user);
    let mut numbers: Vec<u64> = times
        .iter()
        .filter_map(|time| match time.source {
            TimeSource::Run { number, .. } => Some(number),
            TimeSource::Calibration | TimeSource::Nothing(_) => None,
        })
        .collect();
    numbers.sort_unstable();
    numbers.dedup();
    (times.iter().map(TimeEstimate::total_s).sum(), numbers)
}

/// Estimates the duration of a block with `block` runs from the study's own runs. It includes the
/// preparation of the targets. Also returns the numbers of these runs.
fn from_own_runs(runs: &[StudyRun], block: usize) -> (Option<f64>, Vec<u64>) {
    let observed: Vec<_> = runs.iter().map(|run| &run.observed).collect();
    let mut numbers: Vec<u64> = observed.iter().filter_map(|run| run.run).collect();
    numbers.sort_unstable();
    let run_s = study::run_s(observed);
    (run_s.map(|seconds| seconds * block as f64), numbers)
}

/// Returns the time that a run measures and warms up, if its options state it.
fn measured_s(spec: &RunSpec) -> Option<f64> {
    match spec.drive.stop {
        Stop::After(length) => Some((length + spec.drive.warm_up).as_secs_f64()),
        _ => None,
    }
}

fn planned_cells(course: &Course<'_>, specs: &[RunSpec]) -> Vec<PlannedCell> {
    let Course { design, cells, .. } = course;
    let label = |index: usize| cells[index].label.clone();
    let planned = cells.iter().zip(specs).enumerate();
    planned
        .map(|(index, (cell, spec))| PlannedCell {
            label: label(index),
            target: design.targets[cell.target].at.clone(),
            conditions: report::study::conditions(spec),
            baseline: (cell.baseline != index).then(|| label(cell.baseline)),
        })
        .collect()
}

/// Plans the rest of a study after `runs`, on `targets`. The duration is estimated from runs in the
/// archive at `place`.
///
/// # Errors
/// Returns an error if the options of a configuration contradict each other.
pub fn plan(
    course: &Course<'_>,
    runs: &[StudyRun],
    targets: &Targets,
    (place, user): (&ArchivePlace, User),
) -> Result<StudyPlan, Error> {
    let Course { design, cells, .. } = course;
    let performed = PerformedRuns {
        course: *course,
        runs,
    };
    let next = performed.next_block();
    let (blocks_left, block) = match (next, course.side) {
        (Some(block), Some(_)) => (1, block),
        (Some(block), None) => (design.blocks - block + 1, block),
        (None, Some((_, block))) => (0, block),
        (None, None) => {
            let blocks = runs.iter().map(|run| run.part.block);
            (0, blocks.max().unwrap_or(1))
        }
    };
    let order = performed.order(block, performed.attempt_of(block));
    let specs = cells.iter().map(|cell| spec_of(design, cell, user));
    let of_cells: Vec<RunSpec> = specs.collect::<Result<_, _>>()?;
    let specs: Vec<RunSpec> = order.iter().map(|run| of_cells[run.cell].clone()).collect();
    let is_made = design.targets.iter().any(TargetDesign::is_made);
    let (block_s, estimated_from) = match runs {
        // Earlier runs were on other file systems than those that the study makes.
        [] if is_made => (None, Vec::new()),
        [] => estimate(&specs, place, user),
        _ => from_own_runs(runs, specs.len()),
    };
    let (room, root) = targets.needs();
    Ok(StudyPlan {
        study: (!runs.is_empty()).then(|| course.id.to_owned()),
        name: design.name.clone(),
        cells: planned_cells(course, &of_cells),
        blocks: design.blocks,
        until: design.until,
        time_limit_s: design.time_limit.map(|limit| limit.as_secs_f64()),
        seed: design.seed,
        order: order
            .iter()
            .map(|run| (cells[run.cell].label.clone(), run.is_twin))
            .collect(),
        next_block: block,
        blocks_left,
        done: u32::try_from(runs.len()).unwrap_or(u32::MAX),
        measured_s: specs.iter().map(measured_s).sum(),
        block_s,
        estimated_from,
        quiet_s: design.quiet.as_secs_f64(),
        room,
        root,
        side: course.side.map(|(side, _)| side.to_owned()),
        baseline_side: performed.baseline_side().map(str::to_owned),
    })
}
