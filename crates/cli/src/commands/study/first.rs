//! Performs a study in a single process, or as rank 0 of several ranks.

use std::path::Path;

use campaign::archive::{ArchivePlace, Chosen, chosen_for_run};
use campaign::input::Input;
use campaign::publications::check_layout;
use campaign::study::directories::Directories;
use campaign::study::single_process::Alone;
use campaign::study::targets::{Targets, WatchMade};
use campaign::study::{Course, Environment, StudyEnd, found};
use document::{Format, sanitize};
use ranks::Ranks;
use spec::Invocation;
use study::{Design, SideBlocks, StudyCell, StudyPlan, StudyRun, TargetDesign};
use verdict::Level;

use super::intended::intended;
use super::interruption::Interruption;
use super::progress::StudyDisplay;
use super::shown::{report_of, write_page};
use crate::args::StudyArguments;
use crate::commands::archive;
use crate::ui::output::{OutputFile, Outputs, is_standard_output};
use crate::ui::perform::Signals;
use crate::ui::problem::{Problem, USER, refuse, tell};
use crate::ui::screen;
use crate::ui::terminal;
use crate::ui::watchdog_process::Side;

/// Exit status if a run of the study failed, or if scratch file systems of the study could not be
/// removed.
const FAILED: u8 = 1;

/// Exit status with `--strict` if a run of the study is INVALID.
const INVALID: u8 = 3;

/// Performs the study in a single process, or on rank 0.
pub(super) fn of_first(
    arguments: &StudyArguments,
    words: Vec<String>,
    side: &Side,
    ranks: Option<&Ranks>,
) -> Result<u8, Problem> {
    let place = place(arguments)?;
    let mut intended = intended(arguments, &place)?;
    let wrong = |flaw| Problem::refused(format_args!("the study is wrong: {flaw}"));
    let cells = intended.design.cells().map_err(wrong)?;
    let blocks = intended.design.blocks;
    if let Some(block) = arguments.block.filter(|block| *block > blocks) {
        return refuse(format_args!(
            "there is no block {block}: this study has {blocks} (add --blocks {block} to the \
             command of each side)"
        ));
    }
    // With several ranks, `ranks::together` has already started a second process if a mounted file
    // system has a server.
    if !arguments.dry_run && ranks.is_none() {
        let directories = intended.design.directories().map(Path::new);
        if let Some(code) = side.instead(directories) {
            return Ok(code);
        }
    }
    let invocation = Invocation {
        command_line: words,
        skips_space_check: arguments.no_space_check,
        trusts_others: arguments.allow_unsafe_target,
    };
    judge(arguments, &invocation, (&intended.design, &cells), ranks)?;
    let alone = (!arguments.dry_run).then(|| Alone::with(&intended.id));
    let _alone = alone.transpose()?;
    if !intended.runs.is_empty() {
        // Another process may have measured runs of this study since `intended` read the archive.
        intended.runs = found::find(&place.open(false, USER)?, &intended.id)?
            .map_or(intended.runs, |found| found.runs);
    }
    let course = Course {
        design: &intended.design,
        cells: &cells,
        id: &intended.id,
        side: arguments.side.as_deref().zip(arguments.block),
    };
    let user = (USER, Interruption::watch as WatchMade);
    let targets = Targets::new(course.design, course.cells, arguments.file.as_deref(), user)?;
    let plan = campaign::study::plan(&course, &intended.runs, &targets, (&place, USER))?;
    show_plan(arguments, &plan, course.is_repetition())?;
    if let Some(side) = course.side.filter(|_| plan.blocks_left > 0) {
        let sides = SideBlocks::of(&intended.runs);
        report::study::sides::warnings(&sides, side)
            .iter()
            .for_each(tell);
    }
    if arguments.dry_run {
        return Ok(0);
    }
    let files = files(arguments, &place)?;
    let quiet = arguments.quiet;
    let metrics = course.design.metrics.clone();
    let mut display = StudyDisplay { quiet, metrics };
    let environment = Environment {
        course,
        invocation,
        place: &place,
        remarks: arguments.remarks.remarks(),
        signals: &mut Signals::among(ranks.cloned()),
        targets,
        directories: Directories::new(course.design.directories(), intended.mounted),
        watcher: &mut display,
        user: USER,
        at: "its beginning".to_owned(),
    };
    perform(arguments, environment, intended.runs, files)
}

fn place(arguments: &StudyArguments) -> Result<ArchivePlace, Problem> {
    match chosen_for_run(arguments.archive.as_deref())? {
        Chosen::At(place) => Ok(place),
        Chosen::Nowhere | Chosen::Unknown(_) => refuse(
            "a study keeps its runs in an archive, and this one has none (remove --archive none, \
             or use --archive FILE)",
        ),
    }
}

struct Files {
    /// The HTML page of `--report`.
    page: Option<OutputFile>,
    /// The file of `--output`; `None` for standard output.
    report: Option<OutputFile>,
}

fn files(arguments: &StudyArguments, place: &ArchivePlace) -> Result<Files, Problem> {
    let inputs = arguments.file.iter().map(|file| Input::new("FILE", file));
    let inputs: Vec<Input> = inputs.collect();
    let mut outputs = Outputs::new(arguments.force, Some(place), &inputs)?;
    let report = arguments.output.as_deref();
    let report = report.filter(|path| !is_standard_output(path));
    Ok(Files {
        page: outputs.judge_and_open("--report", arguments.report.as_deref())?,
        report: outputs.judge_and_open("--output", report)?,
    })
}

/// Performs the remaining runs of a study and reports it. Returns the exit status.
fn perform(
    arguments: &StudyArguments,
    mut environment: Environment<'_>,
    mut runs: Vec<StudyRun>,
    files: Files,
) -> Result<u8, Problem> {
    let (course, place) = (environment.course, environment.place);
    let performed = campaign::study::perform(course, &mut runs, &mut environment);
    // The reason precedes the removal, which may take long, or report problems of its own.
    if let Err(problem) = &performed {
        let at = &environment.at;
        tell(format_args!("the study stopped at {at}: {problem}"));
    }
    let is_left = environment.targets.remove();
    let reported = files.page.map_or(Ok(()), |page| {
        write_page(page, place, course.id, arguments.unlike)
    });
    let end = match performed {
        Ok(end) => end,
        Err(problem) => {
            let code = problem.code;
            tell_how_to_go_on(course.id, place);
            // If a run was measured before the error, the exit status is that of a failed study,
            // not of a refused one.
            return Ok(if runs.is_empty() { code } else { FAILED });
        }
    };
    report_of(arguments, place, (&course, &runs), files.report)?;
    reported?;
    let is_invalid = |run: &StudyRun| run.observed.level == Level::Invalid;
    Ok(match end_of(end, is_left, (course.id, place)) {
        0 if arguments.strict && runs.iter().any(is_invalid) => INVALID,
        code => code,
    })
}

/// Refuses a study that cannot be performed, before it changes anything.
fn judge(
    arguments: &StudyArguments,
    invocation: &Invocation,
    (design, cells): (&Design, &[StudyCell]),
    ranks: Option<&Ranks>,
) -> Result<(), Problem> {
    let processes = ranks.map(Ranks::count).or(arguments.ranks).unwrap_or(1);
    let file = arguments.file.as_deref();
    let may = (processes, invocation);
    campaign::study::judge(design, cells, (file, USER), may)?;
    check_layout(design)?;
    archive::needs_file(arguments.report.as_deref())?;
    if arguments.with_published && design.layout.is_none() {
        return refuse(
            "--with-published requires a layout (add --layout NAME, or layout = \"NAME\" to the \
             study file)",
        );
    }
    let is_compared = arguments.side.is_some() || design.layout.is_some();
    let is_repetition =
        arguments.is_repetition || (arguments.resume.is_some() && design.is_repetition(cells));
    if cells.len() == 1 && !is_compared && !is_repetition {
        // `run --repeat` cannot make file systems, so it is not suggested for `make:` targets.
        let repeat = match design.targets.iter().any(TargetDesign::is_made) {
            true => "",
            false => "use 'postmark run --repeat 10' to repeat its run; or ",
        };
        return refuse(format_args!(
            "the study has one configuration: there is nothing to compare it with ({repeat}add a \
             second --target, or an option with several values, like --axis workers=1,4)"
        ));
    }
    Ok(())
}

/// Prints why a study ended early, and returns its exit status. `is_left` is set if scratch file
/// systems remain.
fn end_of(end: StudyEnd, is_left: bool, (id, place): (&str, &ArchivePlace)) -> u8 {
    let complete = if is_left { FAILED } else { 0 };
    match end {
        StudyEnd::Complete | StudyEnd::NarrowEnough | StudyEnd::TimeOver => complete,
        StudyEnd::TooManyInvalid { verdicts, run } => {
            let why = report::repeats::too_many_invalid(&verdicts);
            let run = run.map_or_else(|| "RUN".to_owned(), |run| run.to_string());
            let archive = archive_option(place);
            tell(format_args!(
                "{why} (remove the cause, which 'postmark show {run}{archive}' explains, and start \
                 a new repetition)"
            ));
            complete
        }
        StudyEnd::Interrupted(signal) => {
            tell_how_to_go_on(id, place);
            campaign::exit_status_of(signal)
        }
        StudyEnd::RunFailed { run, why } => {
            let run = run.map_or_else(String::new, |run| format!(" (run {run})"));
            tell(format_args!(
                "the study stopped because a run failed{run}: {why}"
            ));
            tell_how_to_go_on(id, place);
            FAILED
        }
    }
}

/// Prints the plan of the study. Before the runs, the plan is printed only in text format and
/// without `--quiet`: JSON and CSV output must contain only the results.
///
/// If the study has too few blocks for an interval, the plan contains a warning. Before the runs,
/// the warning is printed on standard error if standard output is a file or not in text format.
fn show_plan(
    arguments: &StudyArguments,
    plan: &StudyPlan,
    is_repetition: bool,
) -> Result<(), Problem> {
    let is_shown = arguments.dry_run || (arguments.format == Format::Text && !arguments.quiet);
    // On a terminal, the user reads the plan before the runs. A plan in a file is read after the
    // study has ended.
    let is_head = !arguments.dry_run && !terminal::is_users(&std::io::stdout());
    if is_shown {
        if arguments.format == Format::Csv {
            return refuse("--dry-run has no CSV (use --format text, markdown or json)");
        }
        screen::answer(
            arguments.format,
            || match is_repetition {
                true => report::repeats::plan(plan, is_head),
                false => report::study::plan(plan, is_head),
            },
            String::new,
            || document::json(plan),
        )?;
    }
    if (is_head || !is_shown) && !arguments.quiet {
        let warning = match is_repetition {
            true => report::repeats::no_interval(plan),
            false => report::study::no_interval(plan),
        };
        warning.iter().for_each(tell);
    }
    if let (Some(side), 0) = (&plan.side, plan.blocks_left) {
        tell(format_args!(
            "side {side} has block {} already: nothing is measured",
            plan.next_block
        ));
    }
    Ok(())
}

/// Prints how to continue the study, if the archive contains one of its runs.
fn tell_how_to_go_on(id: &str, place: &ArchivePlace) {
    let found = place
        .open(false, USER)
        .ok()
        .and_then(|archive| found::find(&archive, id).ok());
    if found.flatten().is_none() {
        return;
    }
    let archive = archive_option(place);
    tell(format_args!(
        "'postmark study --resume {id}{archive}' continues this study"
    ));
}

/// The option that names the archive of the study, with a leading blank; empty for the default
/// archive.
fn archive_option(place: &ArchivePlace) -> String {
    match place.is_asked() {
        true => format!(" --archive {}", sanitize::path(place.path())),
        false => String::new(),
    }
}
