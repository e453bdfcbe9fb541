//! Configuration files: read, and written so that they mean the same.

use std::fmt::{Display, Write as _};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::time::Duration;

use record::{Climb, harmless};
use runner::{Drive, OnError, Pace, Stop};
use workload::contents::ContentSpec;
use workload::quantity::duration_text;
use workload::{Classic, Crew, Mix, Work, WorkerSeeds, Workload};

use super::{How, MeaningError, Meant};
use crate::said::{GoalSaid, LadderSaid, Options, StorageName};

/// The longest file that is read, in bytes: five times one that has a histogram with as many bins as there may be.
const BYTES_MAX: u64 = 16 << 20;

/// Reads a configuration file.
pub(super) fn read(path: &Path) -> Result<Options, MeaningError> {
    let text = text_of(path).map_err(|cause| MeaningError::CannotRead {
        path: path.to_owned(),
        cause,
    })?;
    parse_config(&text).map_err(|problem| MeaningError::Config {
        path: path.to_owned(),
        problem,
    })
}

/// The text of a file that words are read from, and that may be anybody's: not more than [`BYTES_MAX`].
pub(super) fn text_of(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(BYTES_MAX + 1).read_to_string(&mut text)?;
    if text.len() as u64 > BYTES_MAX {
        let why = format!("it has more than {BYTES_MAX} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidData, why));
    }
    Ok(text)
}

/// What a configuration file says.
///
/// # Errors
/// What is wrong, with line and column and the line itself.
pub fn parse_config(text: &str) -> Result<Options, String> {
    toml::from_str(text).map_err(|error: toml::de::Error| {
        // Its last line names what was read, which may be of several.
        let (told, message) = (error.to_string(), error.message().trim_end());
        match told.trim_end().strip_suffix(message) {
            Some(place) => format!("{place}{}", harmless::harmless(message)),
            None => harmless::harmless(told.trim_end()).into_owned(),
        }
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
        self.plain(name, quoted(&value.to_string()));
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

/// A string of TOML. What is invisible or obeyed by a terminal is an escape, which basic strings alone have.
fn quoted(text: &str) -> String {
    if !text.contains(harmless::is_harmful) {
        return toml::Value::String(text.to_owned()).to_string();
    }
    let mut quoted = String::from("\"");
    for character in text.chars() {
        // Writing to memory cannot fail.
        let _ = match character {
            '"' | '\\' => write!(quoted, "\\{character}"),
            harmful if harmless::is_harmful(harmful) => write!(quoted, "\\U{:08x}", u32::from(harmful)),
            other => write!(quoted, "{other}"),
        };
    }
    quoted.push('"');
    quoted
}

/// What is meant as a configuration file that means the same.
///
/// # Errors
/// Where a path is no text.
pub fn to_config(meant: &Meant) -> Result<String, MeaningError> {
    let workload = &meant.workload;
    let mut lines = Lines::default();
    for note in &meant.notes {
        lines.0.push_str(&format!("# {}\n", harmless::harmless(note)));
    }
    match &workload.work {
        Work::Classic(classic) => write_classic(&mut lines, classic),
        Work::Mix(mix) => write_mix(&mut lines, mix),
    }
    // Those without end come with a time.
    let drive = &meant.how.drive;
    let is_ended = drive.stop != Stop::Transactions || drive.ladder.is_some();
    if !(is_ended && workload.transactions() == Workload::ENDLESS) {
        lines.number("transactions", workload.transactions());
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
    let weights = workload.location_weights();
    for (location, weight) in meant.locations.iter().zip(weights) {
        let is_anywhere = location.path.as_os_str().is_empty();
        // Where nothing was said, nothing is: a file may be for another directory.
        if !(is_anywhere && weights == [1]) {
            lines.0.push_str("\n[[at]]\n");
            lines.path("path", if is_anywhere { Path::new(".") } else { &location.path })?;
            lines.plain("weight", weight);
        }
    }
    Ok(lines.0)
}

fn write_classic(lines: &mut Lines, classic: &Classic) {
    lines.text("edition", classic.edition);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_of_files_are_harmless_and_mean_the_same() {
        for text in [
            "plain",
            "a \"b\" \\",
            "\u{1b}[2J\n\"\\",
            "\u{7f}\u{9b}\u{202e}\u{e0041}ä",
        ] {
            let quoted = quoted(text);
            assert!(!quoted.contains(harmless::is_harmful), "{quoted}");
            let read: toml::Table = toml::from_str(&format!("a = {quoted}")).unwrap();
            assert_eq!(read["a"].as_str(), Some(text));
        }
    }

    #[test]
    fn a_file_without_end_is_not_read_to_it() {
        let error = text_of(Path::new("/dev/zero")).unwrap_err();
        assert!(error.to_string().contains("more than 16777216 bytes"), "{error}");
    }
}
