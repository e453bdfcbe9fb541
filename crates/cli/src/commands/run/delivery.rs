//! Renders reports and writes them to a file or to standard output.

use std::path::Path;
use std::time::Duration;

use document::{Format, WIDTH, sanitize};
use record::{Outcome, Record};
use runner::RunSpec;
use verdict::{Level, Reason, Verdict};

use crate::ui::output::{OutputFile, is_standard_output};
use crate::ui::problem::{Problem, print, tell};
use crate::ui::screen;

/// Time limit for writing the report, because its file system may hang.
pub const WRITTEN_WITHIN: Duration = Duration::from_secs(300);

/// Whether the acknowledgement log takes standard output, so that nothing else may be written to
/// it.
pub fn logs_to_output(spec: &RunSpec) -> bool {
    spec.ack_log.as_deref().is_some_and(is_standard_output)
}

/// Writes a report to `output`, or to standard output without one. If the file cannot be written
/// within `limit`, the report goes to standard output instead, so that it is not lost.
pub fn deliver(
    limit: Duration,
    output: Option<OutputFile>,
    text: &str,
    format: Format,
) -> Result<(), Problem> {
    let show = || match format {
        // `screen::print` keeps the colours that `render` has chosen for the terminal.
        Format::Text => screen::print(text),
        _ => print(text),
    };
    let Some(output) = output else {
        return show();
    };
    output.write(text, limit).inspect_err(|_| {
        // An error of standard output is ignored. The caller reports the error of the file.
        let _ = show();
    })
}

/// Renders the report of a run in a format. If `is_screen` is set, the report has the width and
/// colours of standard output.
pub fn render(record: &Record, format: Format, full: bool, is_screen: bool) -> String {
    let document = || match full {
        true => report::text::report(record),
        false => report::text::short(record),
    };
    match format {
        Format::Text if is_screen => screen::text(&document()),
        Format::Json => verdict::to_json(record),
        Format::Classic | Format::Terse => report::classic::of_record(record, format),
        format => format.document(&document(), WIDTH),
    }
}

/// Prints on standard error why a run failed. The message names the file `output`, which contains
/// the report.
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

/// Prints on standard error which files the run created and could not remove. Reports in the
/// classic formats do not list these files.
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

/// Prints on standard error why a run is INVALID, in one line.
pub fn say_if_invalid(record: &Record, verdict: &Verdict, output: Option<&Path>) {
    // If the run did not complete, `say_how_it_ended` reports the reason.
    if verdict.level != Level::Invalid || record.actual.outcome != Outcome::Complete {
        return;
    }
    let reasons = verdict
        .reasons
        .iter()
        .filter(|reason| reason.level() == Level::Invalid);
    let found = |reason: &Reason| format!("{}: {}", reason.name(), reason.sentence());
    let reasons: Vec<String> = reasons.map(found).collect();
    let report = output.map_or_else(String::new, |path| {
        format!(" (report: {})", sanitize::path(path))
    });
    tell(format_args!(
        "the run is INVALID: {}{report}",
        reasons.join("; ")
    ));
}
