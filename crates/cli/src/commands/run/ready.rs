//! A run in four steps: check the options, open the output files, perform the run, and deliver its
//! report.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ::archive::Remarks;
use campaign::ErrorForm;
use campaign::archive::{Chosen, Keeper, chosen_for_run};
use campaign::calibration::calibrate;
use campaign::page;
use campaign::parts::PartsWriter;
use campaign::quiet::wait_for_write_back;
use document::Format;
use record::{Note, Record, Sizing, TimeEstimate};
use runner::{Event, Events, RunSpec, TakeControl};
use verdict::{Level, Verdict};

use crate::args::RunArguments;
use crate::commands::archive;
use crate::commands::plan;
use crate::commands::run::archiving::keep;
use crate::commands::run::delivery::{
    WRITTEN_WITHIN, deliver, logs_to_output, render, say_how_it_ended, say_if_invalid,
    say_what_is_left,
};
use crate::commands::run::preparation;
use crate::ui::live::Live;
use crate::ui::output::{OutputFile, Outputs, is_standard_output};
use crate::ui::perform::{Signals, perform};
use crate::ui::problem::{Problem, USER, refuse, show, tell};
use crate::ui::progress::Display;
use crate::ui::terminal;
use campaign::run_spec::{Specified, specify};

/// Resolves the arguments into a run spec, and refuses options of `run` that contradict it or one
/// another.
pub fn understand(arguments: &RunArguments) -> Result<Specified, Problem> {
    let specified = specify(&arguments.work.request(), USER)?;
    judge(arguments, &specified)?;
    dry_format(arguments)?;
    Ok(specified)
}

/// The format of the plan that `--dry-run` prints; `None` without `--dry-run`.
fn dry_format(arguments: &RunArguments) -> Result<Option<Format>, Problem> {
    match (arguments.dry_run, arguments.format) {
        (false, _) => Ok(None),
        (true, format @ (Format::Text | Format::Json)) => Ok(Some(format)),
        (true, _) => refuse(
            "--dry-run cannot be used with --format classic or terse (use --format text or json)",
        ),
    }
}

/// A run whose options are checked and whose output files are open.
pub struct Ready {
    pub specified: Specified,
    pub watchers: Watchers,
    output: Option<OutputFile>,
    output_path: Option<PathBuf>,
    page: Option<OutputFile>,
    /// The result of writing the file of `--live`. An error is reported after the run.
    live_written: Result<(), Problem>,
    remarks: Remarks,
    quiet: bool,
    /// The duration, estimated from earlier runs; `None` for a small pool, or if a calibration
    /// follows.
    time: Option<TimeEstimate>,
}

impl Ready {
    /// Checks and opens all output files of the run. With `--dry-run`, only prints the plan and
    /// returns the exit status.
    pub fn of(
        arguments: &RunArguments,
        mut specified: Specified,
    ) -> Result<ControlFlow<u8, Self>, Problem> {
        let output_path = arguments
            .output
            .clone()
            .filter(|path| !is_standard_output(path));
        let chosen = chosen_for_run(arguments.archive.as_deref())?;
        let remarks = arguments.remarks.remarks();
        refuse_lost_remarks(&chosen, &remarks)?;
        let place = chosen.place();
        let inputs = std::mem::take(&mut specified.inputs);
        let mut outputs = Outputs::new(arguments.force, place, &inputs)?;
        judge_outputs(&mut outputs, arguments, &specified.spec)?;
        let open =
            |option, path: Option<&Path>| path.map(|path| outputs.open(option, path)).transpose();
        if let Some(format) = dry_format(arguments)? {
            let (text, status) = plan::text(&specified, format, (place, output_path.is_none()))?;
            let output = open("--output", output_path.as_deref())?;
            deliver(WRITTEN_WITHIN, output, &text, format)?;
            return Ok(ControlFlow::Break(status));
        }
        warn_of_no_archive(&chosen, &remarks);
        let keeper = place
            .map(|place| Keeper::of(place, remarks.clone(), USER))
            .transpose()?
            .flatten();
        let output = match (output_path.as_deref(), logs_to_output(&specified.spec)) {
            (None, true) => Some(OutputFile::standard_error(&std::io::stderr())?),
            (path, _) => open("--output", path)?,
        };
        say_before(arguments, &specified);
        let live = open("--live", arguments.live.as_deref())?;
        let page = open("--report", arguments.report.as_deref())?;
        specified
            .notes
            .extend(place.and_then(|place| place.shares(&specified.spec)));
        let mut ready = Self::silent(specified);
        if !arguments.quiet {
            ready.time = preparation::from_archive(&ready.specified, place);
        }
        ready.watchers = Watchers {
            display: match arguments.verbose {
                true => Display::new(arguments.quiet).verbose(),
                false => Display::new(arguments.quiet),
            },
            live: live.map(Live::new),
            keeper,
            parts: None,
        };
        Ok(ControlFlow::Continue(Self {
            output,
            output_path,
            page,
            remarks,
            quiet: arguments.quiet,
            ..ready
        }))
    }

    /// A run that has no output files and shows no progress.
    fn silent(specified: Specified) -> Self {
        Self {
            specified,
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
            time: None,
        }
    }

    /// The run on a rank other than 0, which has received the run spec from rank 0. Only rank 0
    /// writes the report and the archive.
    pub fn of_other(spec: RunSpec, engine_is_given: bool) -> Self {
        Self::silent(Specified {
            spec,
            engine_is_given,
            sizing: None,
            notes: Vec::new(),
            inputs: Vec::new(),
        })
    }

    /// If the pool size was chosen automatically, performs short runs to estimate the duration of
    /// the run, and prints the estimate. Warns if the preparation takes longer than the
    /// transactions.
    pub fn calibrate(&mut self) -> Result<(), Problem> {
        // The display of the short runs is quiet: it prints only warnings about stalled workers.
        let mut perform = |short: &RunSpec| perform(short, &mut Display::new(true));
        let chosen = calibrate(&mut self.specified, &mut perform)?;
        if self.quiet {
            return Ok(());
        }
        chosen.into_iter().for_each(show);
        preparation::warn_if_long(&self.specified, self.time.take());
        Ok(())
    }

    /// Waits until earlier writes of other programs are on their devices. During the wait, a signal
    /// ends the program. After an earlier run in this process, which has installed signal handlers,
    /// a signal ends the wait and the next run instead.
    pub fn wait(&mut self, signals: &Signals) {
        let user = (!self.quiet).then_some(USER);
        let waited = wait_for_write_back(&self.specified.spec, signals.taken(), user);
        self.specified.notes.extend(waited);
    }

    pub fn perform(&mut self, signals: &mut Signals) -> Result<Record, Problem> {
        if let Some(keeper) = &mut self.watchers.keeper {
            let (sizing, notes) = (self.specified.sizing.clone(), self.specified.notes.clone());
            keeper.adds(move |record| complete(record, &sizing, &notes));
        }
        let performed = campaign::perform(&self.specified.spec, signals, &mut self.watchers);
        self.watchers.display.finish();
        if let Some(live) = self.watchers.live.take() {
            self.live_written = live.finish();
        }
        performed.map_err(|refused| self.specified.explain(refused))
    }

    /// Reports and archives the run. Returns the exit status.
    pub fn deliver(self, arguments: &RunArguments, mut record: Record) -> Result<u8, Problem> {
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
        let delivered = deliver(limit, output, &report, arguments.format);
        // The run is archived even if the report could not be written.
        let keeper = self.watchers.keeper;
        let is_kept = keeper.is_some();
        let is_missed = keeper.map_or(Ok(false), |keeper| {
            keep(keeper, &record, is_seen, arguments.quiet)
        });
        let paged = self.page.map_or(Ok(()), |page| {
            page.write(&page::of_run(record.clone(), &self.remarks)?, limit)
        });
        let is_missed = is_missed?;
        // The reader of a pipe may close it on purpose, as in `run | head`. The archive still has
        // the report.
        let is_closed = |problem: &Problem| problem.form == ErrorForm::ClosedPipe;
        if !(is_kept && !is_missed && delivered.as_ref().is_err_and(is_closed)) {
            delivered?;
        }
        paged?;
        if !is_seen {
            say_how_it_ended(&record, output_path.as_deref());
            say_what_is_left(&record);
            if !arguments.format.is_classic() {
                say_if_invalid(&record, &verdict, output_path.as_deref());
            }
        }
        self.live_written?;
        Ok(match campaign::exit_status(&record) {
            0 if is_missed => NOT_ARCHIVED,
            0 if arguments.strict && verdict.level == Level::Invalid => INVALID,
            code => code,
        })
    }
}

/// Refuses tags and a note for a run that is not archived.
fn refuse_lost_remarks(chosen: &Chosen, remarks: &Remarks) -> Result<(), Problem> {
    if *chosen == Chosen::Nowhere && !remarks.are_empty() {
        return refuse(
            "--tag and --note belong to an archived run, and this run is not archived: remove \
             --archive none (POSTMARK_ARCHIVE=none), or remove --tag and --note",
        );
    }
    Ok(())
}

/// Refuses an output file that the run also uses as an input, the archive or another output.
/// Without `--force`, also refuses a file that has contents.
fn judge_outputs(
    outputs: &mut Outputs<'_>,
    arguments: &RunArguments,
    spec: &RunSpec,
) -> Result<(), Problem> {
    for (option, path) in [
        ("--output", &arguments.output),
        ("--live", &arguments.live),
        ("--report", &arguments.report),
    ] {
        path.as_deref()
            .map_or(Ok(()), |path| outputs.judge(option, path))?;
    }
    if let Some(ack_log) = spec.ack_log.as_ref().filter(|_| !logs_to_output(spec)) {
        // The run refuses an existing acknowledgement log, so only a second use of the file is
        // checked here.
        outputs.refuse_twice("--ack-log", ack_log)?;
    }
    Ok(())
}

fn warn_of_no_archive(chosen: &Chosen, remarks: &Remarks) {
    if let Chosen::Unknown(why) = chosen {
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
}

/// Before the run, prints what `--like` has changed and how several targets share the pool.
fn say_before(arguments: &RunArguments, specified: &Specified) {
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
}

/// Time limit for writing the report if a call on the target hangs. The report may be on the same
/// file system, so the limit is short.
const WRITTEN_BESIDE_HUNG: Duration = Duration::from_secs(3);

/// Exit status if the run was complete, but could not be archived as requested.
const NOT_ARCHIVED: u8 = 1;

/// Adds to a record how the pool was sized, and the notes of the command line. The run itself does
/// not record them, because both are determined before it starts.
fn complete(record: &mut Record, sizing: &Option<Sizing>, notes: &[Note]) {
    record.sizing.clone_from(sizing);
    record.hints = notes.to_vec();
}

/// Exit status with `--strict` if the verdict is INVALID.
const INVALID: u8 = 3;

/// The receivers of the events of a run.
pub struct Watchers {
    display: Display,
    live: Option<Live>,
    keeper: Option<Keeper>,
    /// In a run of several ranks, the file for this rank's part of the record.
    pub parts: Option<PartsWriter>,
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
            // Events with records are only for the archive and the parts, not for the display or
            // `--live`.
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

/// Refuses options of `run`, such as `--live` and `--report`, that contradict the run spec or one
/// another.
fn judge(arguments: &RunArguments, specified: &Specified) -> Result<(), Problem> {
    let format = arguments.format;
    let format = format.is_classic().then(|| format.name());
    if arguments.live.as_deref().is_some_and(is_standard_output)
        && arguments.output.as_deref().is_none_or(is_standard_output)
    {
        return refuse(
            "--live - uses standard output: write the report to a file with --output FILE",
        );
    }
    let is_output = |path: &Option<PathBuf>| path.as_deref().is_some_and(is_standard_output);
    let others = [("--live", &arguments.live), ("--output", &arguments.output)];
    if let Some((option, _)) = others.iter().find(|(_, path)| is_output(path))
        && logs_to_output(&specified.spec)
    {
        return refuse(format_args!(
            "{option} - and --ack-log - both use standard output (use a file for {option})"
        ));
    }
    archive::needs_file(arguments.report.as_deref())?;
    Ok(specified
        .spec
        .check_shown(format, arguments.live.is_some())?)
}
