//! `postmark run`.

use std::io::{IsTerminal, Write};
use std::path::Path;

use record::{End, Level, Outcome, Reason, Record, Verdict};
use runner::{Drive, Event, Events, SystemClock};

use crate::ladder;
use crate::live::Live;
use crate::meant::{MeaningError, Meant, mean};
use crate::output::OutputFile;
use crate::perform::{exit_code, perform};
use crate::plan;
use crate::progress::Display;
use crate::said::{Format, PlanFormat, RunArguments};
use crate::{Problem, print, sizing};

/// Performs the run, reports, and gives the exit code.
///
/// # Errors
/// Where what was said is wrong, the run was refused, or the report could not be delivered.
pub fn run(arguments: RunArguments, words: Vec<String>) -> Result<u8, Problem> {
    let mut meant = mean(&arguments.work)?;
    judge(&arguments, &meant)?;
    let dry_format = match (arguments.dry_run, arguments.format) {
        (false, _) => None,
        (true, Format::Text) => Some(PlanFormat::Text),
        (true, Format::Json) => Some(PlanFormat::Json),
        (true, Format::Classic | Format::Terse) => return Err(MeaningError::DryClassic.into()),
    };
    let output = arguments.output.clone().map(OutputFile::open).transpose()?;
    if let Some(format) = dry_format {
        let text = plan::text(&meant, format)?;
        deliver(output, &text)?;
        return Ok(0);
    }
    if arguments.work.like.is_some() && !arguments.quiet {
        for note in &meant.notes {
            // A closed standard error is no reason to stop.
            let _ = writeln!(std::io::stderr(), "postmark: {note}");
        }
    }
    let mut request = meant.request(words);
    request.room_check = !arguments.no_room_check;
    if matches!(arguments.format, Format::Classic | Format::Terse) {
        // The original's whole seconds would have them in.
        request.settle = false;
        request.check = false;
        // And its reports have no place for this.
        request.own_cost = false;
    }
    let live = match arguments.live.clone().map(OutputFile::open_for_lines).transpose() {
        Ok(live) => live,
        Err(error) => {
            if let Some(output) = output {
                output.discard();
            }
            return Err(error.into());
        }
    };
    let mut watchers = Watchers {
        display: Display::new(arguments.quiet),
        live: live.map(Live::new),
    };
    let performed = sizing::calibrate(&mut meant, &request, arguments.quiet).and_then(|()| {
        let performed = if ladder::is_of_runs(&request) {
            ladder::climb(&request, meant.storage, &mut watchers)
        } else {
            perform(&request, meant.storage, &SystemClock, &mut watchers)
        };
        performed.map_err(|refused| meant.explain(refused))
    });
    watchers.display.finish();
    if let Some(live) = watchers.live {
        live.finish();
    }
    let mut record = match performed {
        Ok(record) => record,
        Err(problem) => {
            if let Some(output) = output {
                output.discard();
            }
            return Err(problem);
        }
    };
    record.how.sizing = meant.sizing;
    record.hints = meant.notes;
    record.hints.extend(hints(&record));
    let verdict = Verdict::of(&record);
    let text = render(&record, arguments.format);
    let is_seen = output.is_none() && arguments.format == Format::Text && std::io::stdout().is_terminal();
    if !is_seen {
        say_how_it_ended(&record, arguments.output.as_deref());
        if matches!(arguments.format, Format::Text | Format::Json) {
            say_if_invalid(&record, &verdict, arguments.output.as_deref());
        }
    }
    deliver(output, &text)?;
    Ok(match exit_code(&record) {
        0 if arguments.strict && verdict.level == Level::Invalid => INVALID,
        code => code,
    })
}

/// With `--strict`: the run was performed to its end, and its numbers are not what they seem.
const INVALID: u8 = 3;

/// All who watch a run.
struct Watchers {
    display: Display,
    live: Option<Live>,
}

impl Events for Watchers {
    fn event(&mut self, event: Event) {
        if let Some(live) = &mut self.live {
            live.event(event.clone());
        }
        self.display.event(event);
    }
}

/// Refuses what the options of `run` alone contradict.
fn judge(arguments: &RunArguments, meant: &Meant) -> Result<(), MeaningError> {
    let is_mix = meant.workload.classic().is_none();
    let format = match arguments.format {
        Format::Classic => Some("classic"),
        Format::Terse => Some("terse"),
        Format::Text | Format::Json => None,
    };
    if let (Some(format), true) = (format, is_mix) {
        return Err(MeaningError::Contradiction(format!(
            "--format {format}: the original's reports know the classic work only, and this is a mix: give --format text \
             or json"
        )));
    }
    if arguments.live.as_deref() == Some(Path::new("-")) && arguments.output.is_none() {
        return Err(MeaningError::Contradiction(
            "--live -: standard output then has its lines: give the report a file with --output FILE".to_owned(),
        ));
    }
    let how = &meant.how;
    if arguments.live.is_some() && !how.latencies {
        return Err(MeaningError::Contradiction(
            "--live with --no-latencies: without clock readings nobody knows which second it is: leave one out"
                .to_owned(),
        ));
    }
    let ladder = how.drive.ladder.as_ref();
    if !how.latencies && ladder.is_some_and(|ladder| ladder.asked.goal_p99_ns.is_some()) {
        return Err(MeaningError::Contradiction(
            "--goal with --no-latencies: it is one of latencies: leave one out".to_owned(),
        ));
    }
    if arguments.live.is_some() && !how.slices {
        return Err(MeaningError::Contradiction(
            "--live with --no-slices: its lines are what was done in each second: leave one out".to_owned(),
        ));
    }
    if let (Some(format), false) = (format, how.drive == Drive::default()) {
        return Err(MeaningError::Contradiction(format!(
            "--format {format}: the original's reports know neither warm-ups nor rates nor an end by time: give --format text \
             or json"
        )));
    }
    if !how.latencies && how.steps {
        return Err(MeaningError::Contradiction(
            "--steps with --no-latencies: steps are a part of latencies: leave one out".to_owned(),
        ));
    }
    Ok(())
}

/// Tells on standard error of a run that failed, for those who do not see its report.
fn say_how_it_ended(record: &Record, output: Option<&Path>) {
    let (Outcome::Failed { why } | Outcome::PlaceGone { why }) = &record.actual.outcome else {
        return;
    };
    let report = output.map_or_else(String::new, |path| {
        format!("; {} has the report of what was done until then", path.display())
    });
    // A closed standard error is no reason to stop.
    let _ = writeln!(std::io::stderr(), "postmark: the run failed: {why}{report}");
}

/// The same of numbers that are not what they seem, in one line.
fn say_if_invalid(record: &Record, verdict: &Verdict, output: Option<&Path>) {
    // Of a partial run it is told how it ended.
    if verdict.level != Level::Invalid || record.actual.outcome != Outcome::Complete {
        return;
    }
    let reasons = verdict.reasons.iter().filter(|reason| reason.level() == Level::Invalid);
    let reasons: Vec<String> = reasons.map(Reason::describe).collect();
    let report = output.map_or_else(String::new, |path| format!(" (report: {})", path.display()));
    // A closed standard error is no reason to stop.
    let _ = writeln!(
        std::io::stderr(),
        "postmark: the run is INVALID: {}{report}",
        reasons.join(" ")
    );
}

/// Gives a report to its reader. One that its file does not take goes to standard output: better there than nowhere.
fn deliver(output: Option<OutputFile>, text: &str) -> Result<(), Problem> {
    let Some(output) = output else {
        return print(text);
    };
    output.write(text).inspect_err(|_| {
        // The error that is told is the first one.
        let _ = print(text);
    })
}

fn render(record: &Record, format: Format) -> String {
    match format {
        Format::Text => report::text::render(record),
        Format::Json => record.to_json(),
        Format::Classic => classic(record, report::classic::Format::Verbose),
        Format::Terse => classic(record, report::classic::Format::Terse),
    }
}

/// The original's report, or a line that cannot be taken for one.
fn classic(record: &Record, format: report::classic::Format) -> String {
    let Some(figures) = &record.actual.classic else {
        return report::classic::NOTHING.to_owned();
    };
    match (&record.actual.outcome, figures.end) {
        (Outcome::Complete, End::Complete) => report::classic::report(figures, format),
        (Outcome::Complete, _) => report::classic::NO_REPORT.to_owned(),
        _ => report::classic::partial(figures),
    }
}

/// Advice about where the run was.
fn hints(record: &Record) -> Vec<String> {
    let mut hints = Vec::new();
    for target in record.locations.iter().filter_map(|location| location.target.known()) {
        let hint = match target.class.known() {
            Some(observe::Class::Memory) => {
                "the target lies in memory: the result says nothing of a disk (give --at a directory on the file system to be measured)"
            }
            Some(observe::Class::Overlay) => {
                "the target is an overlay: the result is of two file systems at once (give --at a directory on a volume)"
            }
            _ => continue,
        };
        if !hints.iter().any(|known| known == hint) {
            hints.push(hint.to_owned());
        }
    }
    hints
}
