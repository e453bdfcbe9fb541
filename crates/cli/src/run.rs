//! `postmark run`.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Duration;

use document::{Document, Rendering, SCREEN_WIDTH, WIDTH, harmless};
use record::{End, Level, Note, Outcome, Record, Sizing, Verdict};
use runner::{Event, Events, RunSpec};

use crate::apart::Side;
use crate::archive::{self, Archiving, Chosen, Keeper};
use crate::calibration;
use crate::live::Live;
use crate::options::{PlanFormat, ReportFormat, RunArguments};
use crate::output::{Input, OutputFile, Outputs, is_standard_output};
use crate::perform::{Signals, exit_code, perform_with};
use crate::plan;
use crate::problem::{Problem, print, tell};
use crate::progress::Display;
use crate::run_spec::{SpecError, Specified, specify};
use crate::screen;

/// Performs the run, reports, and gives the exit status.
///
/// # Errors
/// Where what was said is wrong, the run was refused, or the report could not be delivered.
pub fn run(mut arguments: RunArguments, words: Vec<String>, side: &Side) -> Result<u8, Problem> {
    arguments.work.like_in.clone_from(&arguments.archive);
    // The original's reports are of a number of transactions.
    arguments.work.by_number = matches!(arguments.format, ReportFormat::Classic | ReportFormat::Terse);
    let mut specified = specify(&arguments.work)?;
    judge(&arguments, &specified)?;
    let dry_format = match (arguments.dry_run, arguments.format) {
        (false, _) => None,
        (true, ReportFormat::Document(Rendering::Text)) => Some(PlanFormat::Text),
        (true, ReportFormat::Json) => Some(PlanFormat::Json),
        (true, _) => return Err(SpecError::DryClassic.into()),
    };
    // What was read from a pipe cannot be read again.
    if !arguments.dry_run && specified.inputs.iter().all(Input::is_file) {
        let targets = specified.spec.targets.iter().map(PathBuf::as_path);
        let beside = [
            &arguments.output,
            &arguments.live,
            &arguments.report,
            &specified.spec.ack_log,
        ];
        if let Some(code) = side.instead(targets.chain(beside.into_iter().flatten().map(PathBuf::as_path))) {
            return Ok(code);
        }
    }
    let output_path = arguments.output.clone().filter(|path| !is_standard_output(path));
    let chosen = archive::chosen_for_run(arguments.archive.as_deref())?;
    let remarks = arguments.remarks.remarks();
    if chosen == Chosen::Nowhere && !remarks.are_empty() {
        return Err(SpecError::Contradiction(
            "--tag and --note belong to an archived run, and this run is not archived: remove --archive none \
             (POSTMARK_ARCHIVE=none), or remove --tag and --note"
                .to_owned(),
        )
        .into());
    }
    let place = match &chosen {
        Chosen::At(place) => Some(place),
        Chosen::Nowhere | Chosen::Unknown(_) => None,
    };
    let inputs = std::mem::take(&mut specified.inputs);
    let mut outputs = Outputs::new(arguments.force, place, &inputs)?;
    for (option, path) in [
        ("--output", &arguments.output),
        ("--live", &arguments.live),
        ("--report", &arguments.report),
    ] {
        path.as_deref().map_or(Ok(()), |path| outputs.judge(option, path))?;
    }
    if let Some(ack_log) = &specified.spec.ack_log {
        // The run refuses one that exists.
        outputs.refuse_twice("--ack-log", ack_log)?;
    }
    let open = |option, path: Option<&Path>| path.map(|path| outputs.open(option, path)).transpose();
    if let Some(format) = dry_format {
        let text = plan::text(&specified, format, output_path.is_none())?;
        deliver(open("--output", output_path.as_deref())?, &text, print)?;
        return Ok(0);
    }
    if let Chosen::Unknown(why) = &chosen {
        let lost = if remarks.are_empty() {
            ""
        } else {
            "; --tag and --note are lost"
        };
        tell(format_args!(
            "warning: {why}; this run is not archived{lost} (--format json --output FILE keeps its complete record)"
        ));
    }
    let keeper = place
        .map(|place| Keeper::of(place, remarks.clone()))
        .transpose()?
        .flatten();
    let output = open("--output", output_path.as_deref())?;
    if arguments.work.like.is_some() && !arguments.quiet {
        specified.notes.iter().for_each(tell);
    }
    let targets = specified.spec.targets.len();
    if targets > 1 && !arguments.quiet {
        tell(format_args!(
            "The pool is spread over {targets} targets by weight. To compare targets, run once for each."
        ));
    }
    arrange(&mut specified.spec, &arguments, words);
    let live = open("--live", arguments.live.as_deref());
    let page = open("--report", arguments.report.as_deref());
    let (live, page) = match (live, page) {
        (Ok(live), Ok(page)) => (live, page),
        (Err(error), other) | (other, Err(error)) => {
            let opened = output.into_iter().chain(other.ok().flatten());
            opened.for_each(OutputFile::discard);
            return Err(error.into());
        }
    };
    let mut watchers = Watchers {
        display: Display::new(arguments.quiet),
        live: live.map(Live::new),
        keeper,
    };
    specified
        .notes
        .extend(place.and_then(|place| place.shares(&specified.spec)));
    // Until all is written: a signal that comes when the run has ended is not to cost its report.
    let mut signals = Signals::default();
    let performed = calibration::calibrate(&mut specified, arguments.quiet).and_then(|()| {
        if let Some(keeper) = &mut watchers.keeper {
            let (sizing, notes) = (specified.sizing.clone(), specified.notes.clone());
            keeper.adds(move |record| complete(record, &sizing, &notes));
        }
        let performed = perform_with(&specified.spec, &mut signals, &mut watchers);
        performed.map_err(|refused| specified.explain(refused))
    });
    watchers.display.finish();
    if let Some(live) = watchers.live {
        live.finish();
    }
    let mut record = match performed {
        Ok(record) => record,
        Err(problem) => {
            output.into_iter().chain(page).for_each(OutputFile::discard);
            return Err(problem);
        }
    };
    complete(&mut record, &specified.sizing, &specified.notes);
    let verdict = Verdict::of(&record);
    let is_seen = output.is_none()
        && arguments.format == ReportFormat::Document(Rendering::Text)
        && std::io::stdout().is_terminal();
    let hangs = record.actual.stalled.iter().any(|stalled| !stalled.came_back);
    let limit = if hangs { WRITTEN_BESIDE_HUNG } else { WRITTEN_WITHIN };
    let report = render(&record, arguments.format, arguments.full, output.is_none());
    let delivered = deliver_within(limit, output, &report, writer(arguments.format));
    // Also where nobody could be given the report.
    let is_missed = watchers
        .keeper
        .map_or(Ok(false), |keeper| keep(keeper, &record, is_seen, arguments.quiet));
    let paged = page.map_or(Ok(()), |page| {
        page.write_made(archive::page_of(record.clone(), &remarks).map(Some), limit)
    });
    delivered?;
    let is_missed = is_missed?;
    paged?;
    if !is_seen {
        say_how_it_ended(&record, output_path.as_deref());
        say_what_is_left(&record);
        if !arguments.format.is_classic() {
            say_if_invalid(&record, &verdict, output_path.as_deref());
        }
    }
    Ok(match exit_code(&record) {
        0 if is_missed => NOT_ARCHIVED,
        0 if arguments.strict && verdict.level == Level::Invalid => INVALID,
        code => code,
    })
}

/// What the options of `run` alone say of it.
fn arrange(spec: &mut RunSpec, arguments: &RunArguments, words: Vec<String>) {
    spec.command_line = words;
    spec.room_check = !arguments.no_room_check;
    spec.trusts_others = arguments.allow_unsafe_target;
    if arguments.format.is_classic() {
        // The original's whole seconds would have them in.
        spec.sync_phases = false;
        spec.check = false;
        // And its reports have no place for this.
        spec.overhead = false;
    }
}

/// So long a file is waited for that is to have the report.
const WRITTEN_WITHIN: Duration = Duration::from_secs(300);
/// The same where the target hangs: the file may lie there, too.
const WRITTEN_BESIDE_HUNG: Duration = Duration::from_secs(3);

/// The run was performed to its end, and is not in the archive that was asked for.
const NOT_ARCHIVED: u8 = 1;

/// Adds to a record what its run does not know.
fn complete(record: &mut Record, sizing: &Option<Sizing>, notes: &[Note]) {
    record.sizing.clone_from(sizing);
    record.hints = notes.to_vec();
}

/// Writes the whole record, and says where it is, or why it is not: behind a report that is seen, else on standard error. Whether it is not
/// where it was asked to be.
fn keep(keeper: Keeper, record: &Record, is_seen: bool, quiet: bool) -> Result<bool, Problem> {
    let archive = harmless::path(keeper.path()).into_owned();
    let (told, is_missed) = match keeper.finish(record) {
        Archiving::Archived(number) => {
            let told = format!("archived as run {number} in {archive} (postmark show {number} --full)");
            if is_seen {
                let mut document = Document::default();
                document.line(told);
                screen::print(&screen::text(&document, SCREEN_WIDTH))?;
            } else if !quiet {
                tell(told);
            }
            return Ok(false);
        }
        Archiving::Beside { path, why, is_asked } => {
            let why = why.map_or_else(String::new, |why| format!("the run is not in the archive yet: {why}; "));
            let path = harmless::path(&path);
            let told = format!("{why}its record is in {path}; the next command that opens {archive} adds it");
            (told, is_asked)
        }
        Archiving::Lost { why, is_asked } => (format!("the run was not archived: {why}"), is_asked),
    };
    tell(told);
    Ok(is_missed)
}

/// With `--strict`: the run was performed to its end, and its numbers are not what they seem.
const INVALID: u8 = 3;

/// All who watch a run.
struct Watchers {
    display: Display,
    live: Option<Live>,
    keeper: Option<Keeper>,
}

impl Events for Watchers {
    fn event(&mut self, event: Event) {
        if let (Some(keeper), Event::Opened(_) | Event::Completed(_)) = (&mut self.keeper, &event) {
            // Nobody else takes them.
            return keeper.event(event);
        }
        if let Some(live) = &mut self.live {
            live.event(event.clone());
        }
        self.display.event(event);
    }

    fn takes_records(&self) -> bool {
        self.keeper.is_some()
    }
}

/// Refuses what the options of `run` alone contradict.
fn judge(arguments: &RunArguments, specified: &Specified) -> Result<(), SpecError> {
    let format = match arguments.format {
        ReportFormat::Classic => Some("classic"),
        ReportFormat::Terse => Some("terse"),
        ReportFormat::Document(_) | ReportFormat::Json => None,
    };
    if arguments.live.as_deref().is_some_and(is_standard_output)
        && arguments.output.as_deref().is_none_or(is_standard_output)
    {
        return Err(SpecError::Contradiction(
            "--live - uses standard output: write the report to a file with --output FILE".to_owned(),
        ));
    }
    archive::needs_file(arguments.report.as_deref())?;
    Ok(specified.spec.check_shown(format, arguments.live.is_some())?)
}

/// Tells on standard error of a run that failed, for those who do not see its report.
fn say_how_it_ended(record: &Record, output: Option<&Path>) {
    let (Outcome::Failed { why } | Outcome::PlaceGone { why }) = &record.actual.outcome else {
        return;
    };
    let report = output.map_or_else(String::new, |path| {
        let path = harmless::path(path);
        format!("; the report of the part before is in {path}")
    });
    tell(format_args!("the run failed: {why}{report}"));
}

/// What the run made and could not remove, whatever the report looks like: the classic formats have no place for it.
fn say_what_is_left(record: &Record) {
    let clean_up = record.actual.clean_up.iter().filter(|clean_up| clean_up.incomplete);
    for left in clean_up.flat_map(|clean_up| &clean_up.left) {
        tell(format_args!("not removed: {}: {}", left.path, left.why));
    }
}

/// The same of numbers that are not what they seem, in one line.
fn say_if_invalid(record: &Record, verdict: &Verdict, output: Option<&Path>) {
    // Of a partial run it is told how it ended.
    if verdict.level != Level::Invalid || record.actual.outcome != Outcome::Complete {
        return;
    }
    let reasons = verdict.reasons.iter().filter(|reason| reason.level() == Level::Invalid);
    let reasons: Vec<String> = reasons.map(report::reason::describe).collect();
    let report = output.map_or_else(String::new, |path| format!(" (report: {})", harmless::path(path)));
    tell(format_args!("the run is INVALID: {}{report}", reasons.join(" ")));
}

/// What writes to standard output.
pub(crate) type Write = fn(&str) -> Result<(), Problem>;

/// What writes a report to standard output: painted ones have been made for it.
pub(crate) fn writer(format: ReportFormat) -> Write {
    match format {
        ReportFormat::Document(Rendering::Text) => screen::print,
        _ => print,
    }
}

/// Gives a report to its reader. One that its file does not take goes to standard output: better there than nowhere.
pub(crate) fn deliver(output: Option<OutputFile>, text: &str, write: Write) -> Result<(), Problem> {
    deliver_within(WRITTEN_WITHIN, output, text, write)
}

fn deliver_within(limit: Duration, output: Option<OutputFile>, text: &str, write: Write) -> Result<(), Problem> {
    let Some(output) = output else {
        return write(text);
    };
    output.write(text, limit).inspect_err(|_| {
        // The error that is told is the first one.
        let _ = write(text);
    })
}

/// A report; `is_screen`: for standard output.
pub(crate) fn render(record: &Record, format: ReportFormat, full: bool, is_screen: bool) -> String {
    match format {
        ReportFormat::Document(Rendering::Text) if is_screen => match full {
            true => screen::text(&report::text::report(record), WIDTH),
            false => screen::text(&report::text::short(record), SCREEN_WIDTH),
        },
        ReportFormat::Document(format) if full => format.show(&report::text::report(record), WIDTH),
        ReportFormat::Document(format) => format.show(&report::text::short(record), SCREEN_WIDTH),
        ReportFormat::Json => record.to_json(),
        ReportFormat::Classic => classic(record, report::classic::ClassicFormat::Verbose),
        ReportFormat::Terse => classic(record, report::classic::ClassicFormat::Terse),
    }
}

/// The original's report, or a line that cannot be taken for one.
fn classic(record: &Record, format: report::classic::ClassicFormat) -> String {
    let Some(figures) = &record.actual.classic else {
        return report::classic::NOTHING.to_owned();
    };
    match (&record.actual.outcome, figures.end) {
        (Outcome::Complete, End::Complete) => report::classic::report(figures, format),
        (Outcome::Complete, _) => report::classic::NO_REPORT.to_owned(),
        _ => report::classic::partial(figures),
    }
}
