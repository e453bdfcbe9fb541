//! `postmark run`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use ::archive::Remarks;
use campaign::archive::{Archiving, Chosen, Keeper, chosen_for_run, directory_of_runs};
use campaign::parts::PartsWriter;
use clap::FromArgMatches;
use document::{Document, Format, SCREEN_WIDTH, WIDTH, sanitize};
use record::{End, Note, Outcome, Record, Sizing};
use runner::{Event, Events, RunSpec};
use serde::{Deserialize, Serialize};
use spec::Count;
use verdict::{Level, Reason, Verdict};

use crate::args::{self, Command, CommandLine, RunArguments};
use crate::commands::archive;
use crate::commands::calibration;
use crate::commands::launcher::Launched;
use crate::commands::plan;
use crate::commands::ranks::{self, Joined};
use crate::ui::live::Live;
use crate::ui::output::{OutputFile, Outputs, is_standard_output};
use crate::ui::perform::{Signals, exit_code, perform_with};
use crate::ui::problem::{Problem, USER, print, refuse, tell, tell_problem};
use crate::ui::progress::Display;
use crate::ui::screen;
use crate::ui::terminal;
use crate::ui::watchdog_process::Side;
use campaign::input::Input;
use campaign::run_spec::{self, Specified, specify};

/// Performs the run, reports, and gives the exit status.
///
/// # Errors
/// Where what was said is wrong, the run was refused, or the report could not be delivered.
pub fn run(mut arguments: RunArguments, words: Vec<String>, side: &Side) -> Result<u8, Problem> {
    arguments.work.like_in.clone_from(&arguments.archive);
    arguments.work.invocation = arguments.invocation(words);
    match Launched::here() {
        Some(launched) => together(&launched, arguments, side),
        None => alone(&arguments, side),
    }
}

/// The run of a process that no launcher has started.
fn alone(arguments: &RunArguments, side: &Side) -> Result<u8, Problem> {
    if arguments.parts.is_some() {
        return Err(Problem::refused(
            "--parts is for the processes that mpirun or srun starts (remove it, or start several)",
        ));
    }
    if !arguments.observe.is_empty() {
        return Err(Problem::refused(
            "--observe is for the processes that mpirun or srun starts (remove it, or start \
             several)",
        ));
    }
    let specified = understand(arguments)?;
    // What was read from a pipe cannot be read again.
    if !arguments.dry_run && specified.inputs.iter().all(Input::is_file) {
        let targets = specified.spec.targets.iter().map(PathBuf::as_path);
        let beside = [
            &arguments.output,
            &arguments.live,
            &arguments.report,
            &specified.spec.ack_log,
        ];
        if let Some(code) =
            side.instead(targets.chain(beside.into_iter().flatten().map(PathBuf::as_path)))
        {
            return Ok(code);
        }
    }
    let Some(mut ready) = Ready::of(arguments, specified)? else {
        return Ok(0);
    };
    // Until all is written: a signal that comes when the run has ended is not to cost its report.
    let mut signals = Signals::default();
    let performed = ready.calibrate().and_then(|()| ready.perform(&mut signals));
    match performed {
        Ok(record) => ready.deliver(arguments, record),
        Err(problem) => {
            ready.discard();
            Err(problem)
        }
    }
}

/// The run of a rank: all of them perform it, and the first one does the rest.
fn together(launched: &Launched, mut arguments: RunArguments, side: &Side) -> Result<u8, Problem> {
    if launched.is_first() && arguments.observe.is_empty() {
        if let Err(why) = count_ranks(&mut arguments, launched.count, launched) {
            return Ok(launched.refuse(|| tell(why)));
        }
    }
    if arguments.dry_run {
        return match launched.is_first() {
            true => alone(&arguments, side),
            false => Ok(0),
        };
    }
    // Only the first one knows the target yet.
    if let Some(code) = side.instead_of_session() {
        return Ok(code);
    }
    let mut joined = match Joined::join(launched) {
        Ok(joined) => joined,
        Err(problem) => return Ok(launched.refuse(|| tell_problem(&problem))),
    };
    let performed = joined.observe(&arguments.observe).and_then(|()| {
        let counted = match joined.is_first() && !arguments.observe.is_empty() {
            true => count_ranks(&mut arguments, joined.performing(), launched),
            false => Ok(()),
        };
        // What only the first one knows is told with what it wants performed.
        in_ranks(&joined, &arguments, counted)
    });
    let code = performed.unwrap_or_else(|problem| {
        if joined.is_first() {
            tell_problem(&problem);
        }
        problem.code
    });
    if joined.is_lost() {
        // It is told. With this status the launcher ends the others, which may have something to
        // write yet.
        joined.leave();
        return Ok(ranks::FAILED);
    }
    let code = joined.agreed(code);
    joined.leave();
    Ok(code)
}

/// As many ranks perform the run as there are.
fn count_ranks(
    arguments: &mut RunArguments,
    there: u32,
    launched: &Launched,
) -> Result<(), String> {
    let ranks = &mut arguments.work.options.ranks;
    let Count(asked) = *ranks.get_or_insert(Count(there.into()));
    if asked == u64::from(there) {
        return Ok(());
    }
    let observing = launched.count.saturating_sub(there);
    let without = match observing {
        0 => String::new(),
        _ => format!(", {observing} of which observe"),
    };
    Err(format!(
        "--ranks {asked}: {} has started {} processes{without} (remove --ranks)",
        launched.launcher, launched.count
    ))
}

/// What rank 0 tells the others of what they are to perform.
#[derive(Clone, Serialize, Deserialize)]
struct Sent {
    spec: RunSpec,
    storage_is_given: bool,
}

fn in_ranks(
    joined: &Joined,
    arguments: &RunArguments,
    counted: Result<(), String>,
) -> Result<u8, Problem> {
    let mut first = None;
    let sent = joined.of_first(|| {
        counted.map_err(|why| Problem::refused(why))?;
        let specified = understand(arguments)?;
        let Some(mut ready) = Ready::of(arguments, specified)? else {
            return Err(Problem::refused("a plan needs no ranks"));
        };
        if let Err(problem) = ready.calibrate() {
            ready.discard();
            return Err(problem);
        }
        let specified = &ready.specified;
        let sent = Sent {
            spec: specified.spec.clone(),
            storage_is_given: specified.storage_is_given,
        };
        first = Some(ready);
        Ok(sent)
    });
    let mut ready = match (sent, first) {
        (Ok(_), Some(ready)) => ready,
        (Ok(sent), None) => Ready::of_other(sent),
        (Err(problem), first) => {
            first.into_iter().for_each(Ready::discard);
            return Err(problem);
        }
    };
    let begun = parts_of(joined, arguments);
    match joined.all(begun) {
        Ok(parts) => {
            if let Some(parts) = &parts {
                joined.when_lost(told_of(parts, joined.is_first()));
            }
            ready.watchers.parts = parts;
        }
        Err(problem) => {
            ready.discard();
            return Err(problem);
        }
    }
    let observers = match joined.begin_observing() {
        Ok(observers) => observers,
        Err(problem) => {
            ready.discard();
            return Err(problem);
        }
    };
    if joined.is_observer() {
        let observed = observers.map_or(Ok(()), |observers| joined.watch(observers));
        ready.discard();
        return observed.map(|()| 0);
    }
    let mut signals = Signals::among(Some(joined.performing_ranks()));
    let mut performed = ready.perform(&mut signals);
    if let (Some(observers), false) = (observers, joined.is_lost()) {
        // Where a rank is lost by now, that is told below.
        let _ = observers.end(performed.as_mut().ok());
    }
    let mut parts = ready.watchers.parts.take();
    if joined.is_lost() {
        ready.discard();
        return Ok(ranks::FAILED);
    }
    match performed {
        Ok(record) => {
            if let Some(parts) = &mut parts {
                parts.finish(joined.is_first().then_some(&record));
            }
            let code = match joined.is_first() {
                true => ready.deliver(arguments, record),
                false => Ok(exit_code(&record)),
            };
            // What all have put together is reported, and in the archive.
            let is_asked = arguments.parts.is_some();
            parts
                .into_iter()
                .filter(|_| !is_asked)
                .for_each(PartsWriter::remove);
            code
        }
        Err(problem) => {
            parts.into_iter().for_each(PartsWriter::remove);
            ready.discard();
            Err(problem)
        }
    }
}

/// Begins this rank's file of parts: nothing where nobody has asked for one and there can be none.
fn parts_of(joined: &Joined, arguments: &RunArguments) -> Result<Option<PartsWriter>, String> {
    if joined.is_observer() {
        return Ok(None);
    }
    let of = joined.part_of();
    if let Some(directory) = &arguments.parts {
        return PartsWriter::begin(directory, of, arguments.force, USER).map(Some);
    }
    let begun = directory_of_runs(arguments.archive.as_deref())
        .map(|directory| directory.join(joined.directory_name()))
        .and_then(|directory| PartsWriter::begin(&directory, of, false, USER));
    Ok(begun.map_or_else(
        |why| {
            joined.tell(format_args!(
                "warning: {why}; the run continues without the part of this rank on disk (use \
                 --parts DIR)"
            ));
            None
        },
        Some,
    ))
}

/// Where the part of this rank is, and what to do with it, for the line that says that another rank
/// is lost.
fn told_of(parts: &PartsWriter, is_first: bool) -> String {
    let directory = sanitize::path(parts.directory());
    match is_first {
        true => format!(
            "; what each rank completed is in {directory} on its host: 'postmark collect \
             {directory}' makes one record of that, and 'postmark clean' removes the files of the \
             run"
        ),
        false => format!("; what it completed is in {directory}"),
    }
}

/// What is meant, as far as options of `run` do not contradict it.
fn understand(arguments: &RunArguments) -> Result<Specified, Problem> {
    let specified = specify(&arguments.work.request(), USER)?;
    judge(arguments, &specified)?;
    dry_format(arguments)?;
    Ok(specified)
}

/// The format of a plan, where the run is not to be performed.
fn dry_format(arguments: &RunArguments) -> Result<Option<Format>, Problem> {
    match (arguments.dry_run, arguments.format) {
        (false, _) => Ok(None),
        (true, format @ (Format::Text | Format::Json)) => Ok(Some(format)),
        (true, _) => refuse(
            "--dry-run cannot be used with --format classic or terse (use --format text or json)",
        ),
    }
}

/// A run that nothing refuses yet, and where everything about it goes.
struct Ready {
    specified: Specified,
    watchers: Watchers,
    output: Option<OutputFile>,
    output_path: Option<PathBuf>,
    page: Option<OutputFile>,
    /// Whether all lines of `--live` could be written.
    live_written: Result<(), Problem>,
    remarks: Remarks,
    quiet: bool,
}

impl Ready {
    /// Opens everything that a run writes to. Nothing where it is to be shown only: that is done.
    fn of(arguments: &RunArguments, mut specified: Specified) -> Result<Option<Self>, Problem> {
        let output_path = arguments
            .output
            .clone()
            .filter(|path| !is_standard_output(path));
        let chosen = chosen_for_run(arguments.archive.as_deref())?;
        let remarks = arguments.remarks.remarks();
        if chosen == Chosen::Nowhere && !remarks.are_empty() {
            return Err(Problem::refused(
                "--tag and --note belong to an archived run, and this run is not archived: remove \
                 --archive none (POSTMARK_ARCHIVE=none), or remove --tag and --note",
            ));
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
            path.as_deref()
                .map_or(Ok(()), |path| outputs.judge(option, path))?;
        }
        if let Some(ack_log) = &specified.spec.ack_log {
            // The run refuses one that exists.
            outputs.refuse_twice("--ack-log", ack_log)?;
        }
        let open =
            |option, path: Option<&Path>| path.map(|path| outputs.open(option, path)).transpose();
        if let Some(format) = dry_format(arguments)? {
            let text = plan::text(&specified, format, output_path.is_none())?;
            deliver(open("--output", output_path.as_deref())?, &text, print)?;
            return Ok(None);
        }
        if let Chosen::Unknown(why) = &chosen {
            let lost = if remarks.are_empty() {
                ""
            } else {
                "; --tag and --note are lost"
            };
            tell(format_args!(
                "warning: {why}; this run is not archived{lost} (--format json --output FILE \
                 keeps its complete record)"
            ));
        }
        let keeper = place
            .map(|place| Keeper::of(place, remarks.clone(), USER))
            .transpose()?
            .flatten();
        let output = open("--output", output_path.as_deref())?;
        if arguments.work.like.is_some() && !arguments.quiet {
            specified.notes.iter().for_each(tell);
        }
        let targets = specified.spec.targets.len();
        if targets > 1 && !arguments.quiet {
            tell(format_args!(
                "The pool is spread over {targets} targets by weight. To compare targets, run \
                 once for each."
            ));
        }
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
        let watchers = Watchers {
            display: Display::new(arguments.quiet),
            live: live.map(Live::new),
            keeper,
            parts: None,
        };
        specified
            .notes
            .extend(place.and_then(|place| place.shares(&specified.spec)));
        Ok(Some(Self {
            specified,
            watchers,
            output,
            output_path,
            page,
            live_written: Ok(()),
            remarks,
            quiet: arguments.quiet,
        }))
    }

    /// The same on another rank than the first, which writes nothing.
    fn of_other(sent: Sent) -> Self {
        Self {
            specified: Specified {
                spec: sent.spec,
                storage_is_given: sent.storage_is_given,
                sizing: None,
                notes: Vec::new(),
                inputs: Vec::new(),
            },
            watchers: Watchers {
                display: Display::new(true),
                live: None,
                keeper: None,
                parts: None,
            },
            output: None,
            output_path: None,
            page: None,
            live_written: Ok(()),
            remarks: Remarks::default(),
            quiet: true,
        }
    }

    /// Times a chosen pool.
    fn calibrate(&mut self) -> Result<(), Problem> {
        calibration::calibrate(&mut self.specified, self.quiet)
    }

    /// Performs the run.
    fn perform(&mut self, signals: &mut Signals) -> Result<Record, Problem> {
        if let Some(keeper) = &mut self.watchers.keeper {
            let (sizing, notes) = (self.specified.sizing.clone(), self.specified.notes.clone());
            keeper.adds(move |record| complete(record, &sizing, &notes));
        }
        let performed = perform_with(&self.specified.spec, signals, &mut self.watchers);
        self.watchers.display.finish();
        if let Some(live) = self.watchers.live.take() {
            self.live_written = live.finish();
        }
        performed.map_err(|refused| self.specified.explain(refused))
    }

    /// There is nothing to write: leaves files as they were.
    fn discard(self) {
        self.watchers.display.finish();
        if let Some(Err(problem)) = self.watchers.live.map(Live::finish) {
            tell_problem(&problem);
        }
        self.output
            .into_iter()
            .chain(self.page)
            .for_each(OutputFile::discard);
    }

    /// Reports and archives, and gives the exit status.
    fn deliver(self, arguments: &RunArguments, mut record: Record) -> Result<u8, Problem> {
        let (output, output_path) = (self.output, self.output_path);
        complete(&mut record, &self.specified.sizing, &self.specified.notes);
        let verdict = Verdict::of(&record);
        let is_seen = output.is_none()
            && arguments.format == Format::Text
            && terminal::is_users(&std::io::stdout());
        let hangs = record
            .actual
            .stalled
            .iter()
            .any(|stalled| !stalled.came_back);
        let limit = if hangs {
            WRITTEN_BESIDE_HUNG
        } else {
            WRITTEN_WITHIN
        };
        let report = render(&record, arguments.format, arguments.full, output.is_none());
        let delivered = deliver_within(limit, output, &report, writer(arguments.format));
        // Also where nobody could be given the report.
        let keeper = self.watchers.keeper;
        let is_missed = keeper.map_or(Ok(false), |keeper| {
            keep(keeper, &record, is_seen, arguments.quiet)
        });
        let paged = self.page.map_or(Ok(()), |page| {
            page.write_made(
                archive::page_of(record.clone(), &self.remarks).map(Some),
                limit,
            )
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
        self.live_written?;
        Ok(match exit_code(&record) {
            0 if is_missed => NOT_ARCHIVED,
            0 if arguments.strict && verdict.level == Level::Invalid => INVALID,
            code => code,
        })
    }
}

/// The spec that the words of a record's command line come to; nothing where they are not those of
/// a run alone.
pub fn resolve(record: &Record) -> Option<Result<RunSpec, String>> {
    let words = &record.spec.command_line;
    let is_run = words.get(1).is_some_and(|word| word == "run");
    if !is_run || record.cluster.is_some() {
        return None;
    }
    let parsed = args::command().try_get_matches_from(words);
    let parsed = parsed.and_then(|matches| Ok((CommandLine::from_arg_matches(&matches)?, matches)));
    let (said, matches) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => return Some(Err(format!("no such command: {}", error.kind()))),
    };
    let Some(Command::Run(mut arguments)) = said.command else {
        return None;
    };
    if let Some((_, matches)) = matches.subcommand() {
        arguments.work.take_weights(matches);
    }
    arguments.work.invocation = arguments.invocation(words.clone());
    let specified = run_spec::specify_on(&arguments.work.request(), &record.host)?;
    Some(specified.map_err(|error| error.to_string()))
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

/// Writes the whole record, and says where it is, or why it is not: behind a report that is seen,
/// else on standard error. Whether it is not where it was asked to be.
fn keep(keeper: Keeper, record: &Record, is_seen: bool, quiet: bool) -> Result<bool, Problem> {
    let archive = sanitize::path(keeper.path()).into_owned();
    let (told, is_missed) = match keeper.finish(record) {
        Archiving::Archived(number) => {
            let told =
                format!("archived as run {number} in {archive} (postmark show {number} --full)");
            if is_seen {
                let mut document = Document::default();
                document.line(told);
                screen::print(&screen::text(&document, SCREEN_WIDTH))?;
            } else if !quiet {
                tell(told);
            }
            return Ok(false);
        }
        Archiving::Beside {
            path,
            why,
            is_asked,
        } => {
            let why = why.map_or_else(String::new, |why| {
                format!("the run is not in the archive yet: {why}; ")
            });
            let path = sanitize::path(&path);
            let told = format!(
                "{why}its record is in {path}; the next command that opens {archive} adds it"
            );
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
    /// Of a rank: its file.
    parts: Option<PartsWriter>,
}

impl Events for Watchers {
    fn event(&mut self, event: Event) {
        if let Event::RecordOpened(_) | Event::PhaseRecorded(_) | Event::RecordMerged(_) = &event {
            if let Some(parts) = &mut self.parts {
                parts.event(event.clone());
            }
            if let Some(keeper) = &mut self.keeper {
                keeper.event(event);
            }
            // Nobody else takes them.
            return;
        }
        if let (Some(parts), Event::PhaseAborted(..)) = (&mut self.parts, &event) {
            parts.event(event.clone());
        }
        if let Some(live) = &mut self.live {
            live.event(event.clone());
        }
        self.display.event(event);
    }

    fn takes_records(&self) -> bool {
        self.keeper.is_some() || self.parts.is_some()
    }
}

/// Refuses what the options of `run` alone contradict.
fn judge(arguments: &RunArguments, specified: &Specified) -> Result<(), Problem> {
    let format = arguments.format;
    let format = format.is_classic().then(|| format.name());
    if arguments.live.as_deref().is_some_and(is_standard_output)
        && arguments.output.as_deref().is_none_or(is_standard_output)
    {
        return Err(Problem::refused(
            "--live - uses standard output: write the report to a file with --output FILE"
                .to_owned(),
        ));
    }
    archive::needs_file(arguments.report.as_deref())?;
    Ok(specified
        .spec
        .check_shown(format, arguments.live.is_some())?)
}

/// Tells on standard error of a run that failed, for those who do not see its report.
fn say_how_it_ended(record: &Record, output: Option<&Path>) {
    let (Outcome::Failed { why } | Outcome::PlaceGone { why }) = &record.actual.outcome else {
        return;
    };
    let report = output.map_or_else(String::new, |path| {
        let path = sanitize::path(path);
        format!("; the report of the part before is in {path}")
    });
    tell(format_args!("the run failed: {why}{report}"));
}

/// What the run made and could not remove, whatever the report looks like: the classic formats have
/// no place for it.
fn say_what_is_left(record: &Record) {
    let clean_up = record
        .actual
        .clean_up
        .iter()
        .filter(|clean_up| clean_up.incomplete);
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
    let reasons = verdict
        .reasons
        .iter()
        .filter(|reason| reason.level() == Level::Invalid);
    let reasons: Vec<String> = reasons.map(Reason::sentence).collect();
    let report = output.map_or_else(String::new, |path| {
        format!(" (report: {})", sanitize::path(path))
    });
    tell(format_args!(
        "the run is INVALID: {}{report}",
        reasons.join(" ")
    ));
}

/// What writes to standard output.
pub(crate) type Write = fn(&str) -> Result<(), Problem>;

/// What writes a report to standard output: painted ones have been made for it.
pub(crate) fn writer(format: Format) -> Write {
    match format {
        Format::Text => screen::print,
        _ => print,
    }
}

/// Gives a report to its reader. One that its file does not take goes to standard output: better
/// there than nowhere.
pub(crate) fn deliver(output: Option<OutputFile>, text: &str, write: Write) -> Result<(), Problem> {
    deliver_within(WRITTEN_WITHIN, output, text, write)
}

fn deliver_within(
    limit: Duration,
    output: Option<OutputFile>,
    text: &str,
    write: Write,
) -> Result<(), Problem> {
    let Some(output) = output else {
        return write(text);
    };
    output.write(text, limit).inspect_err(|_| {
        // The error that is told is the first one.
        let _ = write(text);
    })
}

/// A report; `is_screen`: for standard output.
pub(crate) fn render(record: &Record, format: Format, full: bool, is_screen: bool) -> String {
    match format {
        Format::Text if is_screen => match full {
            true => screen::text(&report::text::report(record), WIDTH),
            false => screen::text(&report::text::short(record), SCREEN_WIDTH),
        },
        Format::Json => verdict::to_json(record),
        Format::Classic | Format::Terse => classic(record, format),
        format if full => format.document(&report::text::report(record), WIDTH),
        format => format.document(&report::text::short(record), SCREEN_WIDTH),
    }
}

/// The original's report, or a line that cannot be taken for one.
fn classic(record: &Record, format: Format) -> String {
    let Some(figures) = &record.actual.classic else {
        return report::classic::NOTHING.to_owned();
    };
    match (&record.actual.outcome, figures.end) {
        (Outcome::Complete, End::Complete) => report::classic::report(figures, format),
        (Outcome::Complete, _) => report::classic::NO_REPORT.to_owned(),
        _ => report::classic::partial(figures),
    }
}
