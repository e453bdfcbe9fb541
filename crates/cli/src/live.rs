//! `--live`: what was done in each second, as a line of JSON for other tools.
//!
//! Lines are written by a thread of their own: a reader that is slow loses lines, and never keeps the run.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender, TrySendError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use record::SliceMeter;
use runner::{Event, Events, Second};
use serde::Serialize;

/// So many lines wait for a slow reader.
const LINES_MAX: usize = 64;
/// The reader has so long to take the last lines when the run is over.
const LAST_LINES: Duration = Duration::from_secs(1);

/// See the module's text.
pub struct Live {
    lines: SyncSender<String>,
    ended: Receiver<()>,
    lost: u64,
}

/// A second as it is written.
#[derive(Serialize)]
struct Line<'a> {
    /// When it was written, in milliseconds of the epoch.
    unix_ms: u64,
    /// The phase, and its second from 0.
    phase: &'a str,
    second: u64,
    /// All kinds together.
    operations: u64,
    bytes: u64,
    failed: u64,
    by_operation: Vec<OfAction<'a>>,
    /// Lines that were lost before this one, as nobody read them.
    lost: u64,
}

/// Operations of one kind.
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

impl Live {
    /// Writes to a file (made, or written anew), a pipe or, as `-`, standard output.
    ///
    /// # Errors
    /// What the system answered.
    pub fn open(path: &Path) -> std::io::Result<Self> {
        let mut output: Box<dyn Write + Send> = if path == Path::new("-") {
            Box::new(std::io::stdout())
        } else {
            Box::new(OpenOptions::new().write(true).create(true).truncate(true).open(path)?)
        };
        let (lines, to_write) = mpsc::sync_channel::<String>(LINES_MAX);
        let (end, ended) = mpsc::channel();
        std::thread::Builder::new().name("live".to_owned()).spawn(move || {
            for line in to_write {
                // Whoever is gone does not want to know more.
                if output.write_all(line.as_bytes()).and_then(|()| output.flush()).is_err() {
                    break;
                }
            }
            let _ = end.send(());
        })?;
        Ok(Self { lines, ended, lost: 0 })
    }

    /// Waits a little for the last lines.
    pub fn finish(self) {
        drop(self.lines);
        if let Err(RecvTimeoutError::Timeout) = self.ended.recv_timeout(LAST_LINES) {
            // A reader that does not read: its lines are lost.
        }
    }
}

impl Events for Live {
    fn event(&mut self, event: Event) {
        let Event::Second(second) = event else {
            return;
        };
        match self.lines.try_send(line(&second, self.lost)) {
            Ok(()) => self.lost = 0,
            Err(TrySendError::Full(_)) => self.lost += 1,
            Err(TrySendError::Disconnected(_)) => {}
        }
    }
}

fn line(second: &Second, lost: u64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let sum = |part: fn(&SliceMeter) -> u64| second.meters.iter().map(|(_, meter)| part(meter)).sum();
    let line = Line {
        unix_ms: u64::try_from(now.as_millis()).unwrap_or(u64::MAX),
        phase: second.phase.name(),
        second: second.number,
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
        lost,
    };
    // Numbers and names: writing to memory cannot fail.
    serde_json::to_string(&line).unwrap_or_default() + "\n"
}

/// Where live lines go: tells a mistake from a wish.
pub fn is_standard_output(path: Option<&PathBuf>) -> bool {
    path.is_some_and(|path| path == Path::new("-"))
}
