//! A report, and how it reaches its reader.

use std::path::Path;
use std::time::Duration;

use document::{Format, SCREEN_WIDTH, WIDTH, sanitize};
use record::{Outcome, Record};
use verdict::{Level, Reason, Verdict};

use crate::ui::output::OutputFile;
use crate::ui::problem::{Problem, print, tell};
use crate::ui::screen;

/// So long a file is waited for that is to have the report.
pub const WRITTEN_WITHIN: Duration = Duration::from_secs(300);

/// Gives a report to its reader, whose file is waited for so long. One that its file does not take
/// goes to standard output: better there than nowhere.
pub fn deliver(
    limit: Duration,
    output: Option<OutputFile>,
    text: &str,
    format: Format,
) -> Result<(), Problem> {
    let show = || match format {
        // It may be painted, and was made for it.
        Format::Text => screen::print(text),
        _ => print(text),
    };
    let Some(output) = output else {
        return show();
    };
    output.write(text, limit).inspect_err(|_| {
        // The error that is told is the first one.
        let _ = show();
    })
}

/// A report; `is_screen`: for standard output.
pub fn render(record: &Record, format: Format, full: bool, is_screen: bool) -> String {
    match format {
        Format::Text if is_screen => match full {
            true => screen::text(&report::text::report(record), WIDTH),
            false => screen::text(&report::text::short(record), SCREEN_WIDTH),
        },
        Format::Json => verdict::to_json(record),
        Format::Classic | Format::Terse => report::classic::of_record(record, format),
        format if full => format.document(&report::text::report(record), WIDTH),
        format => format.document(&report::text::short(record), SCREEN_WIDTH),
    }
}

/// Tells on standard error of a run that failed, for those who do not see its report.
pub fn say_how_it_ended(record: &Record, output: Option<&Path>) {
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
pub fn say_what_is_left(record: &Record) {
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
pub fn say_if_invalid(record: &Record, verdict: &Verdict, output: Option<&Path>) {
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
