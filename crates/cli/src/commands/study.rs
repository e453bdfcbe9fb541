//! `postmark study`: a design of experiments, performed block by block and kept in the archive.

mod design_args;
mod environment;
mod in_ranks;
mod interruption;
pub mod layout;

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::path::{Path, PathBuf};
use std::time::Duration;

use campaign::archive::{ArchivePlace, Chosen, chosen_for_run};
use campaign::study::design_file::{of_file, wrong_in};
use campaign::study::directories::MountedOn;
use campaign::study::single_process::Alone;
use campaign::study::{Course, StudyEnd, Unchurnable, churn, found};
use document::{Format, sanitize};
use engines::registry;
use published::layouts::LayoutView;
use ranks::Ranks;
use spec::Stop;
use study::{Comparisons, Design, PlannedCell, StudyCell, StudyComparisons, StudyPlan, StudyRun};

use crate::args::StudyArguments;
use crate::commands::archive;
use crate::commands::compare;
use crate::commands::launcher::Launched;
use crate::ui::output::{OutputFile, Outputs};
use crate::ui::problem::{Problem, USER, tell};
use crate::ui::screen;
use crate::ui::watchdog_process::Side;
use campaign::input::Input;
use environment::CliGround;

/// A run of the study failed, or something that it made is still there.
const FAILED: u8 = 1;

/// Performs a study, or what is left of it, reports, and gives the exit status.
///
/// # Errors
/// Where what was said is wrong, or something that it needs is not there; or where it cannot go on.
pub fn study(
    mut arguments: StudyArguments,
    words: Vec<String>,
    side: &Side,
) -> Result<u8, Problem> {
    match Launched::here() {
        Some(launched) => {
            arguments.ranks = Some(launched.count).filter(|_| arguments.resume.is_none());
            in_ranks::study(&launched, &arguments, words, side)
        }
        None => of_first(&arguments, words, side, None),
    }
}

/// The study as the process performs it that is alone, or the first of several.
fn of_first(
    arguments: &StudyArguments,
    words: Vec<String>,
    side: &Side,
    ranks: Option<&Ranks>,
) -> Result<u8, Problem> {
    let Chosen::At(place) = chosen_for_run(arguments.archive.as_deref())? else {
        return Err(Problem::refused(
            "a study keeps its runs in an archive, and this one has none (remove --archive none, \
             or use --archive FILE)",
        ));
    };
    let mut intended = intended(arguments, &place)?;
    let cells = intended
        .design
        .cells()
        .map_err(|flaw| Problem::refused(format!("the study is wrong: {flaw}")))?;
    let directories = intended
        .design
        .targets
        .iter()
        .filter(|target| !target.is_made());
    let directories: Vec<PathBuf> = directories
        .map(|target| PathBuf::from(&target.at))
        .collect();
    // Among ranks that is done before they join.
    if !arguments.dry_run && ranks.is_none() {
        if let Some(code) = side.instead(directories.iter().map(PathBuf::as_path)) {
            return Ok(code);
        }
    }
    let there = ranks.map(Ranks::count).or(arguments.ranks).unwrap_or(1);
    judge(&intended.design, &cells, arguments.file.as_deref(), there)?;
    layout::check(&intended.design)?;
    archive::needs_file(arguments.report.as_deref())?;
    if arguments.with_published && intended.design.layout.is_none() {
        return Err(Problem::refused(
            "--with-published requires a layout (add --layout NAME, or layout = \"NAME\" to the \
             study file)",
        ));
    }
    if cells.len() == 1 && arguments.side.is_none() && intended.design.layout.is_none() {
        return Err(Problem::refused(
            "the study has one configuration: there is nothing to compare it with (add a second \
             --target, which may be the same directory under another name, like --target \
             again=DIR, or an option with several values, like --axis workers=1,4)",
        ));
    }
    let _alone = match arguments.dry_run {
        true => None,
        false => Some(Alone::with(&intended.id)?),
    };
    if !intended.runs.is_empty() {
        // What another process has measured until now is there, too.
        intended.runs = found::find(&place.open(false, USER)?, &intended.id)?
            .map_or(intended.runs, |found| found.runs);
    }
    let (design, mut runs) = (&intended.design, intended.runs);
    let side = arguments.side.as_deref().zip(arguments.block);
    let course = Course {
        design,
        cells: &cells,
        id: &intended.id,
        side,
    };
    let mut ground = CliGround::new(arguments, words, course, &place, (intended.mounted, ranks))?;
    let plan = plan(&course, &runs, &ground)?;
    // Where the answer is for a program, the plan is no part of it.
    if arguments.dry_run || arguments.format == Format::Text {
        if arguments.format == Format::Csv {
            return Err(Problem::refused(
                "--dry-run has no CSV (use --format text, markdown or json)",
            ));
        }
        screen::answer(
            arguments.format,
            || report::study::plan(&plan),
            String::new,
            || document::json(&plan),
        )?;
    }
    if arguments.dry_run {
        return Ok(0);
    }
    let inputs: Vec<Input> = arguments
        .file
        .iter()
        .map(|file| Input::new("FILE", file))
        .collect();
    let mut outputs = Outputs::new(arguments.force, Some(&place), &inputs)?;
    let page = arguments.report.as_deref().map(|path| {
        outputs.judge("--report", path)?;
        outputs.open("--report", path)
    });
    let page = page.transpose()?;
    let performed = campaign::study::perform(course, &mut runs, &mut ground);
    let is_left = ground.finish();
    let reported = page.map_or(Ok(()), |page| {
        write_page(page, &place, course.id, arguments.unlike)
    });
    let end = match performed {
        Ok(end) => end,
        Err(problem) => {
            let code = problem.code;
            tell(format_args!(
                "the study stopped at {}: {problem}",
                ground.at()
            ));
            tell_how_to_go_on(course.id, &place);
            // Where something was measured, it is no refusal.
            return Ok(if runs.is_empty() { code } else { FAILED });
        }
    };
    report_of(arguments, &place, &course, &runs)?;
    reported?;
    Ok(match end {
        StudyEnd::Complete | StudyEnd::NarrowEnough | StudyEnd::TimeOver if is_left => FAILED,
        StudyEnd::Complete | StudyEnd::NarrowEnough | StudyEnd::TimeOver => 0,
        StudyEnd::Interrupted(signal) => {
            tell_how_to_go_on(course.id, &place);
            128 + u8::try_from(signal).unwrap_or(0)
        }
        StudyEnd::RunFailed { run, why } => {
            let run = run.map_or_else(String::new, |run| format!(" (run {run})"));
            tell(format_args!(
                "the study stopped because a run failed{run}: {why}"
            ));
            tell_how_to_go_on(course.id, &place);
            FAILED
        }
    })
}

/// The page of the study, where the archive has a run of it.
fn write_page(
    page: OutputFile,
    place: &ArchivePlace,
    id: &str,
    is_unlike_allowed: bool,
) -> Result<(), Problem> {
    /// The file's own file system is waited for so long.
    const WRITE_MAX: Duration = Duration::from_secs(60);
    let text = || {
        let archive = place.open(false, USER)?;
        let found = found::find(&archive, id)?;
        let page = found
            .map(|found| archive::study_page(&archive, &found, &[], (is_unlike_allowed, false)));
        Ok(page.transpose()?.map(|page| page.page))
    };
    page.write_made(text(), WRITE_MAX)
}

/// Shows what the study came to: the comparisons, and the tables of a layout. Tables for programs
/// are one or the other.
fn report_of(
    arguments: &StudyArguments,
    place: &ArchivePlace,
    course: &Course<'_>,
    runs: &[StudyRun],
) -> Result<(), Problem> {
    let Some(layout) = course.design.layout else {
        return compare_of(arguments, course, runs);
    };
    if matches!(arguments.format, Format::Text | Format::Markdown) {
        compare_of(arguments, course, runs)?;
    }
    let view = LayoutView {
        is_with_published: arguments.with_published,
    };
    layout::show(
        &place.open(false, USER)?,
        course.design,
        runs,
        layout,
        view,
        arguments.format,
    )
}

fn compare_of(
    arguments: &StudyArguments,
    course: &Course<'_>,
    runs: &[StudyRun],
) -> Result<(), Problem> {
    let found = StudyComparisons::of(course.design, course.cells, runs, &course.design.metrics);
    let tables = found.tables.into_iter();
    let tables: Vec<Comparisons> = match arguments.unlike {
        true => tables.collect(),
        false => tables.map(Comparisons::without_unlike_shares).collect(),
    };
    compare::show(&tables, arguments.format)
}

/// What is to be performed: a new study, or one that is there.
struct Intended {
    id: String,
    design: Design,
    runs: Vec<StudyRun>,
    /// The file systems of its directories, where they have to be those of earlier runs.
    mounted: BTreeMap<String, MountedOn>,
}

fn intended(arguments: &StudyArguments, place: &ArchivePlace) -> Result<Intended, Problem> {
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
        Some(path) => of_file(path, error).into(),
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
fn judge(
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
            .into()
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
            wrong_in(file, line, format!("cell {}: {why}", cell.label)).into()
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

fn plan(
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

/// Says how the study is continued, where the archive has any run of it.
fn tell_how_to_go_on(id: &str, place: &ArchivePlace) {
    let found = place
        .open(false, USER)
        .ok()
        .and_then(|archive| found::find(&archive, id).ok());
    if found.flatten().is_none() {
        return;
    }
    let archive = match place.is_asked() {
        true => format!(" --archive {}", sanitize::path(place.path())),
        false => String::new(),
    };
    tell(format_args!(
        "'postmark study --resume {id}{archive}' continues this study"
    ));
}
