//! `--live`: what was done in each second, as a line of JSON for other tools.
//!
//! Lines are written by a thread of their own: a reader that is slow loses lines, and never keeps the run.

use std::sync::mpsc::{self, Receiver, SyncSender, TrySendError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use record::SliceMeter;
use runner::{Event, Events, Second};
use serde::Serialize;

use crate::output::OutputFile;

/// So many lines wait for a slow reader.
const LINES_MAX: usize = 64;
/// The reader has so long to take the last lines when the run is over.
const LAST_LINES: Duration = Duration::from_secs(1);

/// See the module's text.
pub struct Live {
    state: State,
    lost: u64,
}

enum State {
    /// Nothing has happened yet.
    Ready(OutputFile),
    Writing {
        lines: SyncSender<String>,
        ended: Receiver<()>,
    },
    /// There is no thread to be had.
    Broken,
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
    /// Lines go to this file once the run has begun.
    pub fn new(output: OutputFile) -> Self {
        Self {
            state: State::Ready(output),
            lost: 0,
        }
    }

    /// Waits a little for the last lines; leaves no empty file of a run that was refused.
    pub fn finish(self) {
        match self.state {
            State::Ready(output) => output.discard(),
            State::Writing { lines, ended } => {
                drop(lines);
                // A reader that does not read has lost them.
                let _ = ended.recv_timeout(LAST_LINES);
            }
            State::Broken => {}
        }
    }

    fn begin(&mut self) {
        let State::Ready(output) = std::mem::replace(&mut self.state, State::Broken) else {
            return;
        };
        let mut output = output.begin();
        let (lines, to_write) = mpsc::sync_channel::<String>(LINES_MAX);
        let (end, ended) = mpsc::channel();
        let writing = std::thread::Builder::new().name("live".to_owned()).spawn(move || {
            for line in to_write {
                // Whoever is gone does not want to know more.
                if output.write_all(line.as_bytes()).is_err() {
                    break;
                }
            }
            let _ = end.send(());
        });
        if writing.is_ok() {
            self.state = State::Writing { lines, ended };
        }
    }
}

impl Events for Live {
    fn event(&mut self, event: Event) {
        // A rung is told of before anybody knows whether its run is refused.
        if matches!(event, Event::Rung(..)) {
            return;
        }
        if let State::Ready(_) = self.state {
            self.begin();
        }
        let (Event::Second(second), State::Writing { lines, .. }) = (event, &self.state) else {
            return;
        };
        match lines.try_send(line(&second, self.lost)) {
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
