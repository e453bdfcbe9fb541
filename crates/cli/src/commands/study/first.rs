//! The study as the process performs it that is alone, or the first of several.

use std::path::PathBuf;

use campaign::archive::{ArchivePlace, Chosen, chosen_for_run};
use campaign::input::Input;
use campaign::study::single_process::Alone;
use campaign::study::{Course, StudyEnd, found};
use document::{Format, sanitize};
use ranks::Ranks;
use study::{Design, StudyCell, StudyPlan};

use super::environment::CliGround;
use super::intended::{intended, judge, plan};
use super::layout;
use super::shown::{report_of, write_page};
use crate::args::StudyArguments;
use crate::commands::archive;
use crate::ui::output::Outputs;
use crate::ui::problem::{Problem, USER, tell};
use crate::ui::screen;
use crate::ui::watchdog_process::Side;

/// A run of the study failed, or something that it made is still there.
const FAILED: u8 = 1;

/// The study as the process performs it that is alone, or the first of several.
pub(super) fn of_first(
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
    refuse(arguments, &intended.design, &cells, there)?;
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
    show_plan(arguments, &plan)?;
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
    Ok(end_of(end, is_left, || {
        tell_how_to_go_on(course.id, &place)
    }))
}

/// Refuses what cannot be performed, before anything is touched.
fn refuse(
    arguments: &StudyArguments,
    design: &Design,
    cells: &[StudyCell],
    processes: u32,
) -> Result<(), Problem> {
    judge(design, cells, arguments.file.as_deref(), processes)?;
    layout::check(design)?;
    archive::needs_file(arguments.report.as_deref())?;
    if arguments.with_published && design.layout.is_none() {
        return Err(Problem::refused(
            "--with-published requires a layout (add --layout NAME, or layout = \"NAME\" to the \
             study file)",
        ));
    }
    if cells.len() == 1 && arguments.side.is_none() && design.layout.is_none() {
        return Err(Problem::refused(
            "the study has one configuration: there is nothing to compare it with (add a second \
             --target, which may be the same directory under another name, like --target \
             again=DIR, or an option with several values, like --axis workers=1,4)",
        ));
    }
    Ok(())
}

/// Tells how a study ended that could go on, and gives its exit status.
fn end_of(end: StudyEnd, is_left: bool, tell_how_to_go_on: impl FnOnce()) -> u8 {
    match end {
        StudyEnd::Complete | StudyEnd::NarrowEnough | StudyEnd::TimeOver if is_left => FAILED,
        StudyEnd::Complete | StudyEnd::NarrowEnough | StudyEnd::TimeOver => 0,
        StudyEnd::Interrupted(signal) => {
            tell_how_to_go_on();
            128 + u8::try_from(signal).unwrap_or(0)
        }
        StudyEnd::RunFailed { run, why } => {
            let run = run.map_or_else(String::new, |run| format!(" (run {run})"));
            tell(format_args!(
                "the study stopped because a run failed{run}: {why}"
            ));
            tell_how_to_go_on();
            FAILED
        }
    }
}

/// Where the answer is for a program, the plan is no part of it.
fn show_plan(arguments: &StudyArguments, plan: &StudyPlan) -> Result<(), Problem> {
    if arguments.dry_run || arguments.format == Format::Text {
        if arguments.format == Format::Csv {
            return Err(Problem::refused(
                "--dry-run has no CSV (use --format text, markdown or json)",
            ));
        }
        screen::answer(
            arguments.format,
            || report::study::plan(plan),
            String::new,
            || document::json(plan),
        )?;
    }
    Ok(())
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
