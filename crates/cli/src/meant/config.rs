//! Configuration files: read, and written so that they mean the same.

use std::fmt::{Display, Write as _};
use std::path::Path;
use std::time::Duration;

use record::Climb;
use runner::{Drive, OnError, Pace, Stop};
use workload::contents::ContentSpec;
use workload::quantity::duration_text;
use workload::{Classic, Crew, Mix, Work, WorkerSeeds, Workload};

use super::{How, MeaningError, Meant};
use crate::said::{GoalSaid, LadderSaid, Options, StorageName};

/// Reads a configuration file.
pub(super) fn read(path: &Path) -> Result<Options, MeaningError> {
    let text = std::fs::read_to_string(path).map_err(|cause| MeaningError::CannotRead {
        path: path.to_owned(),
        cause,
    })?;
    toml::from_str(&text).map_err(|error| MeaningError::Config {
        path: path.to_owned(),
        problem: error.to_string().trim_end().to_owned(),
    })
}

/// Lines of a configuration file.
#[derive(Default)]
struct Lines(String);

impl Lines {
    fn plain(&mut self, name: &str, value: impl Display) {
        // Writing to memory cannot fail.
        let _ = writeln!(self.0, "{name} = {value}");
    }

    fn text(&mut self, name: &str, value: impl Display) {
        self.plain(name, toml::Value::String(value.to_string()));
    }

    /// A number that TOML may not hold as one.
    fn number(&mut self, name: &str, value: u64) {
        match i64::try_from(value) {
            Ok(value) => self.plain(name, value),
            Err(_) => self.text(name, value),
        }
    }

    fn path(&mut self, name: &str, path: &Path) -> Result<(), MeaningError> {
        let text = path.to_str().ok_or_else(|| MeaningError::NoText(path.to_owned()))?;
        self.text(name, text);
        Ok(())
    }
}

/// What is meant as a configuration file that means the same.
///
/// # Errors
/// Where a path is no text.
pub fn to_config(meant: &Meant) -> Result<String, MeaningError> {
    let workload = &meant.workload;
    let mut lines = Lines::default();
    for note in &meant.notes {
        lines.0.push_str(&format!("# {note}\n"));
    }
    match &workload.work {
        Work::Classic(classic) => write_classic(&mut lines, classic),
        Work::Mix(mix) => write_mix(&mut lines, mix),
    }
    // What was said, not what it came to on this machine.
    match &meant.sizing {
        Some(sizing) => lines.plain("beyond-cache", sizing.beyond_cache),
        None => lines.number("files", workload.files()),
    }
    if let Some(ContentSpec { kind, dedup }) = &workload.contents {
        lines.text("contents", kind);
        // Whole numbers are taken, too.
        lines.plain("dedup", dedup);
    }
    match workload.crew {
        // The ladder says how many.
        Crew::Private { .. } if climbs_workers(&meant.how.drive) => {}
        Crew::Private { workers } => lines.plain("workers", workers),
        Crew::Shared { writers, readers } => {
            lines.plain("writers", writers);
            lines.plain("readers", readers);
        }
    }
    lines.text(
        "worker-seeds",
        match workload.worker_seeds {
            WorkerSeeds::Same => "same",
            WorkerSeeds::Offset => "offset",
        },
    );
    lines.text("storage", meant.storage.name());
    write_how(&mut lines, &meant.how, meant.storage)?;
    for (location, weight) in meant.locations.iter().zip(workload.location_weights()) {
        if !location.path.as_os_str().is_empty() {
            lines.0.push_str("\n[[at]]\n");
            lines.path("path", &location.path)?;
            lines.plain("weight", weight);
        }
    }
    Ok(lines.0)
}

fn write_classic(lines: &mut Lines, classic: &Classic) {
    lines.text("edition", classic.edition);
    write_transactions(lines, classic.transactions);
    lines.text(
        "size",
        format_args!("{}..{}", classic.size_low_bytes, classic.size_high_bytes),
    );
    lines.number("read-block", classic.read_block_bytes);
    lines.number("write-block", classic.write_block_bytes);
    lines.plain("subdirs", classic.subdirectories);
    lines.plain("bias-read", i64::from(classic.bias_read));
    lines.plain("bias-create", i64::from(classic.bias_create));
    lines.plain("seed", classic.seed);
}

/// Those without end come with a time.
fn write_transactions(lines: &mut Lines, transactions: u64) {
    if transactions != Workload::ENDLESS {
        lines.number("transactions", transactions);
    }
}

fn climbs_workers(drive: &Drive) -> bool {
    let climb = drive.ladder.as_ref().map(|ladder| &ladder.asked.climb);
    matches!(climb, Some(Climb::Workers(_)))
}

fn write_drive(lines: &mut Lines, drive: &Drive) {
    let text = |time: Duration| duration_text(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
    match drive.stop {
        Stop::Transactions => {}
        Stop::After(time) => lines.text("for", text(time)),
        Stop::Steady(asked) => {
            lines.text("steady", asked.rule.name());
            lines.text("round", duration_text(asked.round_ns));
            lines.text(
                "for",
                duration_text(asked.round_ns.saturating_mul(asked.rounds_max.into())),
            );
        }
    }
    // A rung has a warm-up of its own where none is said.
    if !drive.warm_up.is_zero() || drive.ladder.is_some() {
        lines.text("warm-up", text(drive.warm_up));
    }
    if let Pace::Open { rate, arrivals } = drive.pace {
        lines.plain("rate", rate);
        lines.text("arrivals", arrivals);
    }
    if let Some(ladder) = &drive.ladder {
        let asked = &ladder.asked;
        lines.text("ladder", LadderSaid(asked.climb.clone()));
        if !climbs_workers(drive) {
            lines.text("arrivals", ladder.arrivals);
        }
        if asked.fresh {
            lines.plain("fresh", true);
        }
        if let Some(p99_ns) = asked.goal_p99_ns {
            lines.text("goal", GoalSaid(p99_ns));
        }
    }
}

fn write_mix(lines: &mut Lines, mix: &Mix) {
    lines.text("mix", &mix.weights);
    write_transactions(lines, mix.transactions);
    lines.text("size", &mix.sizes);
    lines.text("append-size", &mix.append_sizes);
    lines.text("range-size", &mix.range_sizes);
    lines.number("size-max", mix.size_max_bytes);
    lines.text("popularity", mix.popularity);
    lines.text("dirs", mix.layout.shape);
    if let Some(entries_max) = mix.layout.entries_max {
        lines.number("entries-max", entries_max);
    }
    lines.text("names", mix.names);
    lines.text("think", mix.think);
    lines.number("read-block", mix.read_block_bytes);
    lines.number("write-block", mix.write_block_bytes);
    lines.number("align", mix.align_bytes);
    lines.number("seed", mix.seed);
}

fn write_how(lines: &mut Lines, how: &How, storage: StorageName) -> Result<(), MeaningError> {
    write_drive(lines, &how.drive);
    lines.text("durability", how.durability);
    lines.text("cache", how.cache.name());
    match how.on_error {
        OnError::Stop => lines.text("on-error", "stop"),
        OnError::Count(count) => lines.number("on-error", count),
        OnError::Percent(percent) => lines.text("on-error", format_args!("{percent}%")),
    }
    let stuck_after_ns = u64::try_from(how.stuck_after.as_nanos()).unwrap_or(u64::MAX);
    lines.text("stuck-after", duration_text(stuck_after_ns));
    let touches = storage != StorageName::Null;
    for (name, flag) in [
        ("direct", how.direct),
        ("no-settle", touches && !how.settle),
        ("no-check", touches && !how.check),
        ("verify", how.verify),
        ("no-latencies", !how.latencies),
        ("steps", how.steps),
        // Without latencies there are none anyway.
        ("no-slices", how.latencies && !how.slices),
        ("no-own-cost", !how.own_cost),
        ("pin", how.pin),
        ("keep", how.keeping.keep),
        ("reuse", how.keeping.reuse),
    ] {
        if flag {
            lines.plain(name, true);
        }
    }
    match &how.journal {
        Some(journal) => lines.path("journal", journal),
        None => Ok(()),
    }
}
