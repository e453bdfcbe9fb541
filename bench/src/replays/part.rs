//! The measurements of a command: the command itself, its replay and its model.

use crate::result::Result;
use std::path::Path;

use record::Record;
use rustix::param::clock_ticks_per_second;
use verdict::Summary;
use workload::Phase;

use super::learned::{DIRECTORY, Learned, cpu_time};
use crate::process::record_of;
use crate::realism::application::Application;
use crate::realism::cell::Step;
use crate::realism::visit::CellRequest;
use crate::realism::volume::Volume;
use crate::statistics::median;

/// What is measured of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The command, without strace.
    Original,
    /// Its operations, as soon as their dependencies permit.
    Replay,
    /// Its operations, each after the time that its thread spent before it.
    Paused,
    /// Its operations, not before their times in the trace.
    Traced,
    /// As many operations of the learned workload.
    Model,
}

/// The step with the processor time of the command's processes.
pub const CPU: &str = "cpu";
/// The step with the time that the trace took.
pub const TRACE: &str = "trace";
/// Steps with this prefix contain the 99th percentile of an operation's latency.
pub const P99: &str = "p99 ";

impl Part {
    /// The name of this measurement of a command, in the data file.
    pub fn of(self, command: &str) -> String {
        format!("{command}/{}", self.name())
    }

    /// The name of the step with the time.
    pub fn name(self) -> &'static str {
        match self {
            Self::Original => "original",
            Self::Replay => "replay",
            Self::Paused => "pauses",
            Self::Traced => "traced",
            Self::Model => "model",
        }
    }
}

/// Measurements shorter than this number of seconds together are repeated.
const SECONDS_MIN: f64 = 1.0;
/// The number of measurements of a part in a round.
const TIMES_MAX: usize = 5;

/// Measures a part of a command several times, unless it takes long. Returns the medians.
pub fn measure_often(mut measure: impl FnMut() -> Result<Vec<Step>>) -> Result<Vec<Step>> {
    let mut all: Vec<Vec<Step>> = Vec::new();
    let mut seconds = 0.0;
    while all.is_empty() || (seconds < SECONDS_MIN && all.len() < TIMES_MAX) {
        let steps = measure()?;
        seconds += steps.first().map_or(SECONDS_MIN, |step| step.seconds);
        all.push(steps);
    }
    let first = all.first().cloned().unwrap_or_default();
    let medians = first.into_iter().map(|step| {
        let same = all.iter().flatten().filter(|one| one.name == step.name);
        let seconds = median(same.map(|one| one.seconds)).value;
        Step { seconds, ..step }
    });
    Ok(medians.collect())
}

/// Measures a part of a command in a new directory.
pub fn measure(
    part: Part,
    ours: &Path,
    request: &CellRequest<'_>,
    volume: &mut Volume,
    command: &Application,
    trace: &Path,
) -> Result<Vec<Step>> {
    let (trace_path, model) = (trace.display(), trace.with_extension("toml"));
    let words = match part {
        Part::Original => return original(request, volume, command),
        Part::Replay => format!("--replay {trace_path} --below {DIRECTORY}"),
        Part::Paused => format!(
            "--replay {trace_path} --below {DIRECTORY} --timing pauses --cpu-time {}",
            cpu_time(trace)?.trim()
        ),
        Part::Traced => format!("--replay {trace_path} --below {DIRECTORY} --timing traced"),
        Part::Model => {
            let learned = Learned::load(trace)?;
            // Each worker performs this number.
            let operations = learned
                .operations()
                .div_ceil(learned.count("workers").max(1));
            format!("--config {} --transactions {operations}", model.display())
        }
    };
    let directory = volume.path().join(command.group);
    std::fs::create_dir_all(&directory)?;
    let (record, _) = record_of(ours, &format!("{words} --no-series"), &directory)?;
    steps(part, &record)
}

fn original(
    request: &CellRequest<'_>,
    volume: &mut Volume,
    command: &Application,
) -> Result<Vec<Step>> {
    let outside = CellRequest::outside()?;
    let mut cell = request.cell(volume, outside.path(), command, request.setup.data)?;
    (command.prepare)(&mut cell)?;
    cell.volume.sync()?;
    let before = children_seconds()?;
    let steps = (command.run)(&mut cell)?;
    let cpu = children_seconds()? - before;
    let step = |name: &str, seconds| Step {
        name: name.to_owned(),
        operations: 1,
        seconds,
    };
    let seconds = steps.iter().map(|step| step.seconds).sum();
    Ok(vec![step(Part::Original.name(), seconds), step(CPU, cpu)])
}

/// The processor time in seconds of all processes for which this one has waited.
fn children_seconds() -> Result<f64> {
    let text = std::fs::read_to_string("/proc/self/stat")?;
    let after_name = text.rsplit(')').next().unwrap_or_default();
    // Fields 16 and 17 of proc(5), cutime and cstime. The first field after the name is the third.
    let ticks = after_name.split_whitespace().skip(13).take(2);
    let ticks: u64 = ticks.filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    Ok(ticks as f64 / clock_ticks_per_second() as f64)
}

/// The time of the transactions of a run, and the 99th percentiles of its operations.
fn steps(part: Part, record: &Record) -> Result<Vec<Step>> {
    let summary = Summary::of(record);
    let phase = summary.phase(Phase::Transactions);
    let phase = phase.ok_or("the record lacks the transactions")?;
    let mut steps = vec![Step {
        name: part.name().to_owned(),
        operations: phase.last_done.done.count,
        seconds: phase.last_done.ns as f64 / 1e9,
    }];
    let step = |name: String, ns: u64| Step {
        name,
        operations: 1,
        seconds: ns as f64 / 1e9,
    };
    if part == Part::Traced {
        let traced_ns = summary.replay.and_then(|replay| replay.traced_ns);
        steps.extend(traced_ns.map(|ns| step(TRACE.to_owned(), ns)));
        return Ok(steps);
    }
    steps.extend(phase.operations.iter().filter_map(|one| {
        let name = format!("{P99}{}", one.action.name());
        Some(step(name, one.latency_ns.p99?))
    }));
    Ok(steps)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::output;
    use std::process::Command;

    #[test]
    fn short_measurements_are_repeated_and_long_ones_are_not() {
        for (each, times) in [(0.1, 5), (0.4, 3), (2.0, 1)] {
            let mut count = 0;
            let measure = || {
                count += 1;
                let step = |name: &str, seconds| Step {
                    name: name.to_owned(),
                    operations: 1,
                    seconds,
                };
                Ok(vec![step("all", each), step("cpu", f64::from(count))])
            };
            let steps = measure_often(measure).unwrap();
            assert_eq!(count, times, "{each}");
            let middle = f64::from(times + 1) / 2.0;
            assert_eq!((steps[0].seconds, steps[1].seconds), (each, middle));
        }
    }

    #[test]
    fn processor_time_of_a_child_is_counted() {
        let before = children_seconds().unwrap();
        let script = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
        output(Command::new("sh").args(["-c", script])).unwrap();
        assert!(children_seconds().unwrap() > before);
    }
}
