//! Findings other than times: checks, skipped operations, errors and clean-up.

use document::Document;
use document::units::{bound, counted, exact_bytes, grouped, percent, seconds};
use record::{Check, CleanUp, Fact, Phase, Record, Stalled};
use verdict::Summary;
use verdict::summary::PhaseSummary;

use crate::environment::fact;

pub(crate) fn render(document: &mut Document, record: &Record, summary: &Summary) {
    checks(document, record);
    not_performed(document, summary);
    errors(document, record, usize::MAX);
    for stalled in &record.actual.stalled {
        self::stalled(document, stalled);
    }
    if let Some(clean_up) = &record.actual.clean_up {
        self::clean_up(document, "", clean_up);
    }
}

fn checks(document: &mut Document, record: &Record) {
    let found = |check: &Check| {
        format!(
            "{} in {} ({} s)",
            counted(check.names, "name"),
            counted(check.directories, "directory"),
            seconds(check.duration_ns)
        )
    };
    if let Some(taken) = &record.actual.taken {
        let what = match record.spec.neighbour {
            0 => "Pool of the earlier run, count and samples checked",
            _ => "Files of other ranks, all names checked",
        };
        document.line(format!("{what}: {}", found(taken)));
    }
    if let Some(stale) = &record.actual.stale {
        document.note(format!(
            "Seen late: {} of other ranks were not there, or not as acknowledged, at the first \
             look. The last, {}, was seen after {} s (at first: {}).",
            counted(stale.count, "name"),
            stale.path,
            seconds(stale.longest_ns),
            stale.what
        ));
    }
    match &record.actual.check {
        Fact::Known(check) => {
            let verdict = match (check.wrong, check.left_out) {
                (0, 0) => "exactly the expected names".to_owned(),
                (0, _) => "as expected".to_owned(),
                (wrong, _) => format!("{} NOT as expected", grouped(wrong)),
            };
            document.line(format!("Names checked: {}: {verdict}", found(check)));
            if let Some(across) = &record.actual.check_across {
                let verdict = match across.wrong {
                    0 => "as acknowledged".to_owned(),
                    wrong => format!("{} NOT as acknowledged", grouped(wrong)),
                };
                document.line(format!(
                    "Checked by another rank: {}: {verdict}",
                    found(across)
                ));
            }
            if check.left_out > 0 {
                document.note(format!(
                    "{} not checked: after a failed operation, it is open whether they exist",
                    counted(check.left_out, "name")
                ));
            }
        }
        Fact::Unavailable(why) => document.line(format!("Names not checked: {why}")),
        Fact::NotApplicable => {}
    }
}

/// Smallest share of skipped operations that the short report shows.
const SKIPPED_SHOWN_FROM: f64 = 0.001;

/// Adds the skipped operations of the transactions, unless their share is negligible.
pub(super) fn skipped_noticeably(document: &mut Document, summary: &Summary) {
    let transactions = summary.phase(Phase::Transactions);
    if let Some(phase) = transactions.filter(|phase| phase.skipped_fraction >= SKIPPED_SHOWN_FROM) {
        skipped(document, phase);
    }
}

fn skipped(document: &mut Document, phase: &PhaseSummary) {
    let counts = phase.skipped.counts();
    let reasons = counts.map(|(reason, count)| format!("{reason} {}", grouped(count)));
    let reasons: Vec<String> = reasons.collect();
    document.words(bound(&format!(
        "Skipped: {} of the {} ({}), not counted as operations: {}",
        counted(phase.skipped.total(), "operation"),
        phase.phase.name(),
        percent(phase.skipped_fraction),
        reasons.join(", ")
    )));
}

/// Adds the skipped operations of each phase.
fn not_performed(document: &mut Document, summary: &Summary) {
    for phase in &summary.phases {
        if phase.skipped.total() > 0 {
            skipped(document, phase);
        }
    }
}

/// Adds failed operations by kind, at most `max` kinds.
pub(crate) fn errors(document: &mut Document, record: &Record, max: usize) {
    for error in record.actual.errors.iter().take(max) {
        document.line(format!(
            "Error: {} of {}, call {}: {}; {}; moved before the first one: {}",
            error.operation,
            error.first_path,
            error.step,
            error.message,
            counted(error.count, "time"),
            fact(&error.moved_bytes, |bytes| exact_bytes(*bytes))
        ));
    }
    let more = record.actual.errors.len().saturating_sub(max);
    if more > 0 {
        document.line(format!("Errors of other kinds: {more} (see --full)"));
    }
}

pub(crate) fn stalled(document: &mut Document, stalled: &Stalled) {
    let who = stalled.worker.map_or_else(
        || "the run itself".to_owned(),
        |worker| format!("worker {worker}"),
    );
    let end = if stalled.came_back {
        "it returned"
    } else {
        "it had not returned when the run ended"
    };
    document.line(format!(
        "Stalled: {who} for {} s in {} of {}; {end}",
        seconds(stalled.ns),
        stalled.operation,
        stalled.path
    ));
}

/// Adds how many files of the run were removed, and which files were not. The first line starts
/// with `place`.
pub fn clean_up(document: &mut Document, place: &str, clean_up: &CleanUp) {
    document.line(format!(
        "{place}Removed the files of the run: {}, {}.",
        counted(clean_up.files, "file"),
        counted(clean_up.directories, "directory")
    ));
    for left in &clean_up.left {
        document.below(format!("Left: {}: {}", left.path, left.why));
    }
}
