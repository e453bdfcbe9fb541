//! What is intended: the design, and the runs that are there.

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::path::Path;

use campaign::archive::ArchivePlace;
use campaign::study::design_file::{of_file, wrong_in};
use campaign::study::directories::MountedOn;
use campaign::study::{Course, Unchurnable, churn, found};
use document::sanitize;
use engines::registry;
use spec::Stop;
use study::{Design, PlannedCell, StudyCell, StudyPlan, StudyRun};

use super::design_args;
use super::environment::{self, CliGround};
use crate::args::StudyArguments;
use crate::ui::problem::{Problem, USER};

/// What is to be performed: a new study, or one that is there.
pub(super) struct Intended {
    pub(super) id: String,
    pub(super) design: Design,
    pub(super) runs: Vec<StudyRun>,
    /// The file systems of its directories, where they have to be those of earlier runs.
    pub(super) mounted: BTreeMap<String, MountedOn>,
}

pub(super) fn intended(
    arguments: &StudyArguments,
    place: &ArchivePlace,
) -> Result<Intended, Problem> {
    if let Some(word) = &arguments.resume {
        return resumed(arguments, place, word);
    }
    let text = match &arguments.file {
        Some(path) => {
            let text = campaign::run_spec::text_of(path).map_err(|cause| {
                Problem::refused(format!(
                    "cannot read the study file {}: {cause}",
                    sanitize::path(path)
                ))
            })?;
            design_args::with_targets(&text, arguments, design_args::targets(arguments)?)
                .map_err(|error| of_file(path, error))?
        }
        None => design_args::of_words(arguments)?,
    };
    let design = Design::parse(&text).map_err(|error| match &arguments.file {
        Some(path) => of_file(path, error),
        None => Problem::refused(format!("cannot make this study: {}", error.flaw)),
    })?;
    let joined = match (&arguments.side, arguments.remarks.tag.first()) {
        (Some(_), Some(tag)) if place.path().exists() => {
            found::find_tagged(&place.open(true, USER)?, tag)?
        }
        _ => None,
    };
    let Some(found) = joined else {
        return Ok(Intended {
            id: new_identity(),
            design,
            runs: Vec::new(),
            mounted: BTreeMap::new(),
        });
    };
    if found.design.text != design.text {
        return Err(Problem::refused(format!(
            "the tag belongs to the study {} with another design (use the same words as for its \
             other sides, or another --tag)",
            found.id
        )));
    }
    Ok(Intended {
        id: found.id,
        design,
        runs: found.runs,
        // A side may be on another file system.
        mounted: BTreeMap::new(),
    })
}

fn resumed(
    arguments: &StudyArguments,
    place: &ArchivePlace,
    word: &str,
) -> Result<Intended, Problem> {
    let found = found::find(&place.open(false, USER)?, word)?.ok_or_else(|| {
        Problem::refused(format!(
            "there is no study '{word}' in the archive (expected its identity, its name or last; \
             'postmark list' shows the tag study:IDENTITY of runs of studies)"
        ))
    })?;
    if let Some(run) = found.going {
        return Err(Problem::refused(format!(
            "the study {} is still running: run {run} has not ended (wait for it, or end it)",
            found.id
        )));
    }
    if found.design.until.is_some() && arguments.blocks.is_some() {
        return Err(Problem::refused(
            "the looks of a study with until are spread over its blocks, which therefore stay as \
             they are (remove --blocks)",
        ));
    }
    let text = design_args::changed(&found.design.text, arguments)
        .unwrap_or_else(|_| found.design.text.clone());
    let design = Design::parse(&text)
        .map_err(|error| Problem::refused(format!("cannot continue this study: {}", error.flaw)))?;
    Ok(Intended {
        id: found.id,
        design,
        runs: found.runs,
        mounted: found.mounted,
    })
}

/// An identity that no other study has: 12 hexadecimal digits.
fn new_identity() -> String {
    let random = RandomState::new().build_hasher().finish();
    format!("{:012x}", random >> 16)
}

/// Refuses what would fail later: directories that are not there, options that contradict each
/// other, pools that cannot be churned, more ranks than there are.
pub(super) fn judge(
    design: &Design,
    cells: &[StudyCell],
    file: Option<&Path>,
    ranks: u32,
) -> Result<(), Problem> {
    for target in design.targets.iter().filter(|target| !target.is_made()) {
        let wrong = |why: &dyn std::fmt::Display| -> Problem {
            let shown = sanitize::shown(&target.at);
            wrong_in(
                file,
                target.line,
                format!("cannot use the target {shown}: {why}"),
            )
        };
        let url = registry::parse_url(Path::new(&target.at));
        if url.map_err(|problem| wrong(&problem))?.is_some() {
            continue;
        }
        let facts = std::fs::metadata(&target.at).map_err(|cause| wrong(&cause))?;
        if !facts.is_dir() {
            return Err(wrong(&"it is not a directory"));
        }
    }
    for cell in cells {
        let wrong = |why: &dyn std::fmt::Display| -> Problem {
            let line = design.workloads[cell.workload].line;
            wrong_in(file, line, format!("cell {}: {why}", cell.label))
        };
        let specified =
            environment::specify_somewhere(design, cell).map_err(|error| wrong(&error))?;
        if specified.spec.ranks > ranks {
            let asked = specified.spec.ranks;
            return Err(wrong(&format!(
                "ranks = {asked} requires as many processes of a launcher, and there are {ranks} \
                 (use mpirun -n {asked} postmark study ...)"
            )));
        }
        churn(&specified.spec.workload, cell.age).map_err(|error: Unchurnable| wrong(&error))?;
    }
    Ok(())
}

pub(super) fn plan(
    course: &Course<'_>,
    runs: &[StudyRun],
    ground: &CliGround<'_>,
) -> Result<StudyPlan, Problem> {
    let Course { design, cells, .. } = course;
    let next_block = match course.side {
        Some((_, block)) => block,
        None => runs.iter().map(|run| run.part.block).max().unwrap_or(1),
    };
    let of_block = runs.iter().filter(|run| run.part.block == next_block);
    let attempt = of_block.map(|run| run.part.attempt).max().unwrap_or(1);
    let order = design.block(cells, next_block, attempt);
    let mut measured = Some(0.0);
    for run in &order {
        let specified = environment::specify_somewhere(design, &cells[run.cell])?;
        let drive = &specified.spec.drive;
        measured = match (measured, drive.stop) {
            (Some(sum), Stop::After(length)) => Some(sum + (length + drive.warm_up).as_secs_f64()),
            _ => None,
        };
    }
    let (room, root) = ground.needs();
    Ok(StudyPlan {
        study: (!runs.is_empty()).then(|| course.id.to_owned()),
        name: design.name.clone(),
        cells: cells
            .iter()
            .enumerate()
            .map(|(index, cell)| PlannedCell {
                label: cell.label.clone(),
                target: design.targets[cell.target].at.clone(),
                baseline: (cell.baseline != index).then(|| cells[cell.baseline].label.clone()),
            })
            .collect(),
        blocks: design.blocks,
        until: design.until,
        run_for_s: design.run_for.map(|limit| limit.as_secs_f64()),
        seed: design.seed,
        order: order
            .iter()
            .map(|run| (cells[run.cell].label.clone(), run.is_twin))
            .collect(),
        next_block,
        done: u32::try_from(runs.len()).unwrap_or(u32::MAX),
        measured_s: measured,
        quiet_s: design.quiet.as_secs_f64(),
        room,
        root,
        side: course.side.map(|(side, _)| side.to_owned()),
    })
}
