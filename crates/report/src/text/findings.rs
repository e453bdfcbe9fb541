//! What was found besides times: what reads fetched, how the names were, what failed, what was left.

use record::summary::{FetchedSummary, Surprise};
use record::{Check, CleanUp, Fact, Record, Stuck, Summary};

use super::line;
use crate::environment::fact;
use crate::units::{bytes, counted, grouped, percent, seconds};

pub(super) fn render(text: &mut String, record: &Record, summary: &Summary) {
    if let Some(fetched) = &summary.fetched {
        self::fetched(text, fetched);
    }
    checks(text, record);
    left_undone(text, record, summary);
    errors(text, record);
    for stuck in &record.actual.stuck {
        self::stuck(text, stuck);
    }
    if let Some(clean_up) = &record.actual.clean_up {
        self::clean_up(text, clean_up);
    }
}

fn fetched(text: &mut String, fetched: &FetchedSummary) {
    if fetched.read_bytes == 0 {
        return;
    }
    match &fetched.device_bytes {
        Fact::Known(device_bytes) => line(
            text,
            format_args!(
                "Reads fetched {} of {} from the device ({})",
                bytes(*device_bytes as f64),
                bytes(fetched.read_bytes as f64),
                fetched.fraction.map_or_else(|| "-".to_owned(), percent)
            ),
        ),
        Fact::Unavailable(why) => line(
            text,
            format_args!("What the reads fetched from the device is not known: {why}"),
        ),
        Fact::NotApplicable => {}
    }
    match fetched.surprise {
        Some(Surprise::LittleThoughCold) => line(
            text,
            format_args!(
                "  Little for a cold cache: files that were read before, or made since, were still in memory."
            ),
        ),
        Some(Surprise::MuchThoughWarm) => line(
            text,
            format_args!("  Much for a warm cache: the pool did not stay in memory."),
        ),
        None => {}
    }
}

fn checks(text: &mut String, record: &Record) {
    let found = |check: &Check| {
        format!(
            "{} in {} ({} s)",
            counted(check.names, "name"),
            directories(check.directories),
            seconds(check.duration_ns)
        )
    };
    if let Some(taken) = &record.actual.taken {
        line(
            text,
            format_args!("Pool of the earlier run checked by count and sample: {}", found(taken)),
        );
    }
    match &record.actual.check {
        Fact::Known(check) => {
            let verdict = match (check.wrong, check.left_out) {
                (0, 0) => "exactly those that should exist".to_owned(),
                (0, _) => "as they should be".to_owned(),
                (wrong, _) => format!("{} NOT as they should be", grouped(wrong)),
            };
            line(text, format_args!("Names checked: {}: {verdict}", found(check)));
            if check.left_out > 0 {
                line(
                    text,
                    format_args!(
                        "  ({} left out, which may be there or not since an operation on them failed)",
                        counted(check.left_out, "name")
                    ),
                );
            }
        }
        Fact::Unavailable(why) => line(text, format_args!("Names not checked: {why}")),
        Fact::NotApplicable => {}
    }
}

/// What was drawn and not performed.
fn left_undone(text: &mut String, record: &Record, summary: &Summary) {
    let why = if record.spec.workload.classic().is_some() {
        "their file had its greatest size, or the table of files was full"
    } else {
        "the file that was drawn could not take them, or there was none"
    };
    for phase in &summary.phases {
        let name = phase.phase.name();
        if phase.nothing > 0 {
            let operations = counted(phase.nothing, "operation");
            line(text, format_args!("Left undone: {operations} in {name}: {why}"));
        }
        if phase.skipped > 0 {
            let operations = counted(phase.skipped, "operation");
            line(
                text,
                format_args!("Skipped: {operations} in {name}: an earlier one on the same file had failed"),
            );
        }
        for operation in phase.operations.iter().filter(|operation| operation.missed > 0) {
            line(
                text,
                format_args!(
                    "Missed: {} in {name}: a worker elsewhere had removed the file",
                    counted(operation.missed, operation.action.name()),
                ),
            );
        }
    }
}

fn errors(text: &mut String, record: &Record) {
    for error in &record.actual.errors {
        line(
            text,
            format_args!(
                "Error: {} of {}, step {}: {}; {} time(s), {} moved before it",
                error.operation,
                error.first_path,
                error.step,
                error.message,
                error.count,
                fact(&error.moved_bytes, |bytes| format!("{} bytes", grouped(*bytes)))
            ),
        );
    }
}

fn stuck(text: &mut String, stuck: &Stuck) {
    let who = stuck
        .worker
        .map_or_else(|| "the run itself".to_owned(), |worker| format!("worker {worker}"));
    let end = if stuck.came_back {
        "it came back"
    } else {
        "it had not come back when the run ended"
    };
    line(
        text,
        format_args!(
            "Stuck: {who} for {} s in {} of {}; {end}",
            seconds(stuck.ns),
            stuck.operation,
            stuck.path
        ),
    );
}

/// What was removed and what was not.
pub fn clean_up(text: &mut String, clean_up: &CleanUp) {
    line(
        text,
        format_args!(
            "Removed what the run had made: {}, {}.",
            counted(clean_up.files, "file"),
            directories(clean_up.directories)
        ),
    );
    for left in &clean_up.left {
        line(text, format_args!("  Left: {}: {}", left.path, left.why));
    }
}

fn directories(count: u64) -> String {
    if count == 1 {
        "1 directory".to_owned()
    } else {
        format!("{} directories", grouped(count))
    }
}
