//! `--live`: prints a line of JSON each second, with the operations and kernel counters of that
//! second, for other programs.
//!
//! A separate thread writes the lines. If the reader of the lines is slow, lines are lost, but the
//! run is never delayed. Write errors are reported when the run has ended.

use std::io::{self, Write as _};
use std::sync::mpsc::{self, Receiver, SyncSender, TrySendError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use record::machine::{DeviceOverTime, ProcessOverTime, SystemOverTime, ThreadOverTime};
use record::{DeviceRole, Fact, Load, MachineSlice, Phase, SliceMeter};
use runner::{Event, Events, Second, Stage};
use serde::{Serialize, Serializer};
use system::counters::{DeviceReading, ThreadTimes};

use crate::ui::output::OutputFile;
use crate::ui::problem::Problem;

/// Capacity of the queue between the run and the writing thread. If the queue is full, a further
/// line is lost.
const LINES_MAX: usize = 64;
/// How long [`Live::finish`] waits until the last lines are written.
const LAST_LINES: Duration = Duration::from_secs(1);

/// Sends a line for each second of a run to the thread that writes the lines.
pub struct Live {
    state: State,
    lost: u64,
    /// The current load level of a load sweep: its number, from 1, and its load.
    sweep_step: Option<(u32, Load)>,
    /// Whether the current load level creates and deletes its own pool.
    has_own_pool: bool,
}

enum State {
    /// The run has not started, so the old contents of the file are still there.
    Ready(OutputFile),
    Writing {
        lines: SyncSender<String>,
        to: String,
        ended: Receiver<io::Result<()>>,
    },
    /// The writing thread could not be started, so no lines are written.
    Broken,
}

/// A line of the output, for one second of a phase.
#[derive(Serialize)]
struct Line<'a> {
    /// Time at which the line was created, in milliseconds since the Unix epoch.
    unix_ms: u64,
    phase: &'a str,
    second: u64,
    /// For a load sweep, the number of the load level, from 1. The next fields are its offered rate
    /// and its workers; a field is null if the sweep does not vary it.
    sweep_step: Option<u32>,
    requested_per_second: Option<f64>,
    requested_workers: Option<u32>,
    /// Operations of all kinds in this second.
    operations: u64,
    bytes: u64,
    failed: u64,
    by_operation: Vec<OfAction<'a>>,
    #[serde(flatten)]
    machine: Machine<'a>,
    /// Number of lines that were lost before this line because the reader was slow.
    lost: u64,
}

/// Operations of one kind in this second.
#[derive(Serialize)]
struct OfAction<'a> {
    operation: &'a str,
    operations: u64,
    bytes: u64,
    failed: u64,
    p50_ns: Option<u64>,
    p99_ns: Option<u64>,
    max_ns: Option<u64>,
}

/// Kernel counters of this second; null if not available.
#[derive(Serialize)]
struct Machine<'a> {
    /// Time between the two readings of the kernel counters for this second. All counters in this
    /// struct are the differences between these readings.
    counted_ns: Option<u64>,
    #[serde(flatten)]
    process: Numbers,
    #[serde(flatten)]
    system: Numbers,
    by_thread: Vec<OfThread<'a>>,
    by_device: Vec<OfDevice<'a>>,
}

#[derive(Serialize)]
struct OfThread<'a> {
    tid: u32,
    thread: Option<&'a str>,
    #[serde(flatten)]
    numbers: Numbers,
}

/// Counters of a block device in the storage stack of a target.
#[derive(Serialize)]
struct OfDevice<'a> {
    device: &'a str,
    role: DeviceRole,
    #[serde(flatten)]
    numbers: Numbers,
}

/// Counters with the names that they have in the lines of `--live`. A counter without a value is
/// null.
struct Numbers(Vec<(&'static str, Option<u64>)>);

impl Serialize for Numbers {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().copied())
    }
}

impl<'a> Machine<'a> {
    fn of(slice: Option<&'a MachineSlice>) -> Self {
        let counted = slice.map_or(Fact::NotApplicable, |slice| Fact::Known(&slice.counted));
        let threads = slice.and_then(|slice| slice.counted.threads.known());
        let threads = threads.into_iter().flat_map(|threads| &threads.each);
        let devices = slice.and_then(|slice| slice.counted.devices.known());
        let devices = devices.into_iter().flatten();
        Self {
            counted_ns: slice.map(|slice| slice.ended_ns - slice.began_ns),
            process: Numbers(ProcessOverTime::live(&counted)),
            system: Numbers(SystemOverTime::live(
                &counted.map(|counted| &counted.system),
            )),
            by_thread: threads.map(OfThread::of).collect(),
            by_device: devices.map(OfDevice::of).collect(),
        }
    }
}

impl<'a> OfThread<'a> {
    fn of(thread: &'a ThreadTimes) -> Self {
        Self {
            tid: thread.tid,
            thread: thread.name.known().map(String::as_str),
            numbers: Numbers(ThreadOverTime::live(&Fact::Known(thread))),
        }
    }
}

impl<'a> OfDevice<'a> {
    fn of(device: &'a DeviceReading) -> Self {
        Self {
            device: &device.name,
            role: device.role,
            numbers: Numbers(DeviceOverTime::live(&device.counters.as_ref())),
        }
    }
}

impl Live {
    /// `output` receives the lines. It is emptied when the run starts.
    pub fn new(output: OutputFile) -> Self {
        Self {
            state: State::Ready(output),
            lost: 0,
            sweep_step: None,
            has_own_pool: false,
        }
    }

    /// Waits at most `LAST_LINES` until the last lines are written. If the run was refused, an
    /// output file that this command created is removed.
    ///
    /// # Errors
    /// Returns an error if a line could not be written. The lines after it are lost.
    pub fn finish(self) -> Result<(), Problem> {
        match self.state {
            State::Writing { lines, to, ended } => {
                drop(lines);
                // A timeout is not an error: the reader was too slow, and the last lines are lost.
                if let Ok(Err(cause)) = ended.recv_timeout(LAST_LINES) {
                    return Err(Problem::failed(format_args!(
                        "cannot write --live to {to}: {cause}"
                    )));
                }
            }
            // `OutputFile` removes the empty file when it is dropped.
            State::Ready(_) | State::Broken => {}
        }
        Ok(())
    }

    fn begin(&mut self) {
        let State::Ready(output) = std::mem::replace(&mut self.state, State::Broken) else {
            return;
        };
        let to = output.shown();
        let (lines, to_write) = mpsc::sync_channel::<String>(LINES_MAX);
        let (end, ended) = mpsc::channel();
        let writing = std::thread::Builder::new()
            .name("live".to_owned())
            .spawn(move || {
                let mut output = output.begin();
                let written = to_write
                    .into_iter()
                    .try_for_each(|line| output.write_all(line.as_bytes()));
                // The file is closed before the result is sent, because the caller of `finish` may
                // unmount the file system immediately.
                drop(output);
                // If the reader closes its pipe, it needs no more lines, so this is not an error.
                let is_gone = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
                let _ = end.send(
                    written.or_else(|error| if is_gone(&error) { Ok(()) } else { Err(error) }),
                );
            });
        if writing.is_ok() {
            self.state = State::Writing { lines, to, ended };
        }
    }
}

impl Events for Live {
    fn event(&mut self, event: Event) {
        // The run of a load level can still be refused after this event, so this event must not
        // empty the file.
        if let Event::Load(number, load, _) = event {
            self.sweep_step = Some((number + 1, load));
            return;
        }
        if let Event::WorkloadPhase(number, _) = event {
            self.sweep_step = Some((number + 1, Load::Phase(number)));
            return;
        }
        if let State::Ready(_) = self.state {
            self.begin();
        }
        if let Event::PhaseStarted(Stage::Phase(Phase::Prepare), _) = event {
            self.has_own_pool = self.sweep_step.is_some();
        }
        let (Event::Second(second), State::Writing { lines, .. }) = (event, &self.state) else {
            return;
        };
        // If all load levels share a pool, deleting it belongs to no load level.
        let is_of_sweep_step = second.phase != Phase::Delete || self.has_own_pool;
        match lines.try_send(line(
            &second,
            self.sweep_step.filter(|_| is_of_sweep_step),
            self.lost,
        )) {
            Ok(()) => self.lost = 0,
            Err(TrySendError::Full(_)) => self.lost += 1,
            Err(TrySendError::Disconnected(_)) => {}
        }
    }
}

fn line(second: &Second, sweep_step: Option<(u32, Load)>, lost: u64) -> String {
    let load = sweep_step.map(|(_, load)| load);
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let sum =
        |part: fn(&SliceMeter) -> u64| second.meters.iter().map(|(_, meter)| part(meter)).sum();
    let line = Line {
        unix_ms: u64::try_from(now.as_millis()).unwrap_or(u64::MAX),
        phase: second.phase.name(),
        second: second.number,
        sweep_step: sweep_step.map(|(number, _)| number),
        requested_per_second: load.and_then(Load::rate),
        requested_workers: load.and_then(Load::workers),
        operations: sum(|meter| meter.operations),
        bytes: sum(|meter| meter.bytes),
        failed: sum(|meter| meter.failed),
        by_operation: second
            .meters
            .iter()
            .map(|(action, meter)| OfAction {
                operation: action.name(),
                operations: meter.operations,
                bytes: meter.bytes,
                failed: meter.failed,
                p50_ns: meter.latency.percentile(50.0),
                p99_ns: meter.latency.percentile(99.0),
                max_ns: meter.latency.max_ns(),
            })
            .collect(),
        machine: Machine::of(second.machine.as_deref()),
        lost,
    };
    document::json_line(&line)
}

#[cfg(test)]
mod tests {
    use record::Action;
    use serde_json::Value;
    use system::{Counters, Sources, WatchedDevices};

    use super::*;

    const DOCS: &str = include_str!("../../../../docs/reference/measurements-over-time.md");

    fn read() -> Counters {
        Counters::read(&Sources::default(), &Fact::Known(WatchedDevices::default()))
    }

    fn second() -> Second {
        let (before, after) = (read(), read());
        Second {
            phase: Phase::Transactions,
            number: 3,
            meters: vec![(Action::Read, SliceMeter::default())],
            machine: Some(Box::new(MachineSlice {
                index: 3,
                began_ns: 10,
                ended_ns: 1_000_000_030,
                counted: after.since(&before),
            })),
        }
    }

    fn written(second: &Second) -> Value {
        serde_json::from_str(&line(second, Some((2, Load::Rate(500.0))), 0)).unwrap()
    }

    #[test]
    fn every_field_of_a_live_line_is_documented() {
        let second = second();
        let mut line = written(&second);
        let device = DeviceReading {
            name: "vda".to_owned(),
            role: DeviceRole::Target,
            counters: Fact::Unavailable("no".to_owned()),
        };
        line["by_device"] = serde_json::to_value([OfDevice::of(&device)]).unwrap();
        let names =
            |value: &Value| -> Vec<String> { value.as_object().unwrap().keys().cloned().collect() };
        let mut all = names(&line);
        for list in ["by_operation", "by_thread", "by_device"] {
            all.extend(names(&line[list][0]));
        }
        assert!(all.len() > 40, "{all:?}");
        for name in all {
            assert!(
                DOCS.contains(&format!("`{name}`")),
                "docs/reference/measurements-over-time.md has no `{name}`"
            );
        }
    }

    #[test]
    fn kernel_counters_are_null_if_not_available() {
        let mut second = second();
        let line = written(&second);
        assert_eq!(line["counted_ns"], 1_000_000_020);
        assert_eq!(
            (&line["sweep_step"], &line["requested_per_second"]),
            (&2.into(), &500.0.into())
        );
        assert!(line["requested_workers"].is_null(), "{line}");
        for name in [
            "cpu_user_ns",
            "machine_busy_ns",
            "dirty_bytes",
            "resident_bytes",
            "minor_faults",
        ] {
            assert!(line[name].is_u64(), "{name}: {line}");
        }
        assert!(!line["by_thread"].as_array().unwrap().is_empty(), "{line}");
        assert_eq!(line["by_device"], Value::Array(Vec::new()));
        second.machine = None;
        let line = written(&second);
        assert!(
            line.as_object().unwrap().contains_key("cpu_user_ns"),
            "{line}"
        );
        assert!(
            line["cpu_user_ns"].is_null() && line["dirty_bytes"].is_null(),
            "{line}"
        );
    }
}
