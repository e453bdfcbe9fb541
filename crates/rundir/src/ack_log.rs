//! The acknowledgement log of a run: the operations that a crash must not undo.
//! [`verify_log`](crate::verify_log()) reads the log after a crash.
//!
//! Each operation that changes something is logged before it is issued, and again when it is done.
//! An operation is issued only when its entry and all earlier entries are on disk. A separate
//! thread writes and syncs the log for all workers, in batches. The workers cannot write the log,
//! because each has its own table of open files, which does not contain the log (see
//! `Engine::open`).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use engine::Operation;
use spec::{Place, RunSpec};
use workload::{Intent, Workers};

use destination::Destination;
use entry::Header;
use refusal::{cannot, is_there};

pub(crate) mod acknowledged;
pub(crate) mod begun;
mod destination;
pub(crate) mod entry;
pub(crate) mod history;
pub(crate) mod key;
pub(crate) mod logged;
pub(crate) mod loss;
pub(crate) mod outcome;
mod refusal;
pub(crate) mod replay;
pub(crate) mod tree;

pub use destination::is_standard_output;
pub use refusal::{AckLogRefused, check};

#[derive(Debug)]
pub struct AckLog {
    shared: Arc<Shared>,
    workers: Workers,
    writer: Option<JoinHandle<()>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotLogged {
    pub path: String,
    /// The failed call: `write` or `sync`.
    pub step: &'static str,
    pub errno: Option<i32>,
    pub message: String,
}

/// The handle by which one worker logs its operations.
#[derive(Debug)]
pub struct Log {
    shared: Arc<Shared>,
    worker: u32,
    /// Path of the worker's files within a location's directory, such as `w3/`; empty if all
    /// workers share one pool.
    prefix: Vec<u8>,
    /// Number of operations that this worker has logged.
    sequence: u64,
    text: Vec<u8>,
}

/// The sequence number of a logged operation; `None` if the operation changes nothing and is
/// therefore not logged.
#[derive(Clone, Copy, Debug, Default)]
pub struct Entered(Option<u64>);

#[derive(Debug)]
struct Shared {
    path: PathBuf,
    workers: u32,
    state: Mutex<State>,
    /// Signals the writer thread that lines are pending.
    wanted: Condvar,
    /// Signals waiting workers that the writer thread has made progress.
    advanced: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Lines that are not written yet.
    lines: Vec<u8>,
    /// The checksum of the last logged line, with which the checksum of the next line is seeded.
    checksum: u64,
    /// Numbers of lines, counted from the beginning of the log. `entered` lines are logged in
    /// memory, and `durable` lines are on disk. Workers wait until the first `wanted` lines are on
    /// disk.
    entered: u64,
    wanted: u64,
    durable: u64,
    /// Number of workers: those with an open [`Log`] (`logs`), and those that have ended
    /// (`logs_ended`).
    logs: u32,
    logs_ended: u32,
    /// Whether the run no longer uses the acknowledgement log. The writer thread may then end.
    is_left: bool,
    failed: Option<NotLogged>,
}

impl AckLog {
    /// Creates the acknowledgement log of a run in `directories`, and writes its header durably.
    /// Returns `None` if the run spec requests no log.
    pub fn open(request: &RunSpec, directories: &[PathBuf]) -> Result<Option<Self>, AckLogRefused> {
        let Some(path) = &request.ack_log else {
            return Ok(None);
        };
        check(request, directories)?;
        let mut file = Destination::open(path).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => is_there(path),
            _ => cannot("make", path, &error),
        })?;
        let begun = begin(&mut file, request, directories);
        let checksum = begun.map_err(|error| given_up(path, &error))?;
        let shared = Arc::new(Shared {
            path: path.clone(),
            workers: request.workload.workers.count(),
            state: Mutex::new(State {
                checksum,
                ..State::default()
            }),
            wanted: Condvar::new(),
            advanced: Condvar::new(),
        });
        let of_writer = Arc::clone(&shared);
        let writer = thread::Builder::new().name("ack_log".to_owned());
        let writer = writer.spawn(move || of_writer.write_all(&mut file));
        Ok(Some(Self {
            shared,
            workers: request.workload.workers,
            writer: Some(writer.map_err(|error| given_up(path, &error))?),
        }))
    }

    /// Returns the log handle of a worker. The worker must not drop the handle before it ends.
    pub fn log(&self, worker: u32) -> Log {
        self.shared.lock().logs += 1;
        let prefix = self
            .workers
            .pool_of(worker)
            .map_or_else(Vec::new, |own| format!("w{own}/").into_bytes());
        Log {
            shared: Arc::clone(&self.shared),
            worker,
            prefix,
            sequence: 0,
            text: Vec::with_capacity(512),
        }
    }

    /// Logs that the run has ended, and that it removed `removed` files after its workers had
    /// ended. If this entry cannot be written, verification assumes that the run removed files, and
    /// counts no missing file as lost.
    pub fn over(&self, removed: u64) {
        let mut text = Vec::new();
        entry::write_over(&mut text, removed);
        let _ = self.shared.commit(Some(&text));
    }
}

impl Drop for AckLog {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.is_left = true;
        let all_ended = state.logs == 0;
        drop(state);
        self.shared.wanted.notify_one();
        // The writer thread ends only after all workers. A worker may hang in a system call for
        // ever, so the writer thread is awaited only if all workers have ended.
        if let Some(writer) = self.writer.take().filter(|_| all_ended) {
            // The result can be ignored: the writer thread does not panic, and only the last lines
            // of the log can be missing.
            let _ = writer.join();
        }
    }
}

/// Writes the header, and syncs the file and its directory to disk.
fn begin(file: &mut Destination, request: &RunSpec, directories: &[PathBuf]) -> io::Result<u64> {
    let header = Header {
        postmark_ack_log: entry::VERSION,
        tool: format!("postmark {}", env!("CARGO_PKG_VERSION")),
        workload: request.workload.clone(),
        durability: request.durability.clone(),
        promise: request.engine.promise,
        directories: directories
            .iter()
            .map(|directory| escaped(directory))
            .collect(),
        own_directories: request.place == Place::OwnDirectory,
        workers: request.workload.workers.count(),
    };
    let mut line = Vec::new();
    let checksum = entry::push(0, &entry::header(&header)?, &mut line);
    file.write(&line)?;
    if let Some(path) = &request.ack_log {
        file.sync_with_directory(path)?;
    }
    Ok(checksum)
}

fn escaped(path: &Path) -> String {
    let mut text = Vec::new();
    entry::escape(path.as_os_str().as_encoded_bytes(), &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

fn given_up(path: &Path, error: &io::Error) -> AckLogRefused {
    if !is_standard_output(path) {
        // This run has created the file. If the file cannot be removed, the next run reports the
        // file and refuses to start.
        let _ = fs::remove_file(path);
    }
    cannot("begin", path, error)
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The loop of the writer thread: writes and syncs pending lines in batches, until the run and
    /// all workers have ended.
    fn write_all(&self, file: &mut Destination) {
        let mut lines = Vec::new();
        let mut state = self.lock();
        loop {
            let idles = |state: &mut State| {
                state.wanted <= state.durable && !(state.is_left && state.logs == 0)
            };
            let woken = self.wanted.wait_while(state, idles);
            state = woken.unwrap_or_else(PoisonError::into_inner);
            if state.wanted <= state.durable {
                return;
            }
            std::mem::swap(&mut lines, &mut state.lines);
            let entered = state.entered;
            drop(state);
            let written = file
                .write(&lines)
                .map_err(|error| self.failed("write", &error))
                // A failed sync is not retried: the kernel may have dropped the unwritten data, so
                // a second sync could succeed without it.
                .and_then(|()| file.sync().map_err(|error| self.failed("sync", &error)));
            lines.clear();
            state = self.lock();
            match written {
                Ok(()) => state.durable = entered,
                Err(failed) => state.failed = Some(failed),
            }
            self.advanced.notify_all();
            if state.failed.is_some() {
                return;
            }
        }
    }

    fn failed(&self, step: &'static str, error: &io::Error) -> NotLogged {
        NotLogged {
            path: match is_standard_output(&self.path) {
                true => "standard output".to_owned(),
                false => self.path.display().to_string(),
            },
            step,
            errno: error.raw_os_error(),
            message: error.to_string(),
        }
    }

    /// Logs a line if `text` is given, and waits until all lines that are logged so far are on
    /// disk.
    fn commit(&self, text: Option<&[u8]>) -> Result<(), NotLogged> {
        let mut state = self.lock();
        if let Some(text) = text {
            state.enter(text);
        }
        let mine = state.entered;
        state.wanted = mine;
        self.wanted.notify_one();
        let waits = |state: &mut State| state.failed.is_none() && state.durable < mine;
        let woken = self.advanced.wait_while(state, waits);
        let state = woken.unwrap_or_else(PoisonError::into_inner);
        state.failed.clone().map_or(Ok(()), Err)
    }
}

impl State {
    fn enter(&mut self, text: &[u8]) {
        self.checksum = entry::push(self.checksum, text, &mut self.lines);
        self.entered += 1;
    }
}

impl Log {
    /// Logs an operation that is about to be issued. If the operation changes something, its entry
    /// and all earlier acknowledgements are on disk when this function returns. The caller must
    /// pass the result to [`acknowledges`](Self::acknowledges) when the operation is done.
    pub fn begins(
        &mut self,
        intent: &Intent,
        operation: &Operation<'_>,
    ) -> Result<Entered, NotLogged> {
        if !operation.kind().changes() {
            return Ok(Entered(None));
        }
        self.sequence += 1;
        let which = (self.worker, self.sequence);
        entry::write_begun(&mut self.text, which, &self.prefix, intent, operation);
        self.shared.commit(Some(&self.text))?;
        Ok(Entered(Some(self.sequence)))
    }

    /// Logs that an operation is done. Must be called before another operation may use the file, so
    /// that the lines are in the order of the changes.
    pub fn acknowledges(&mut self, Entered(sequence): Entered) {
        if let Some(sequence) = sequence {
            entry::write_acknowledged(&mut self.text, (self.worker, sequence));
            self.shared.lock().enter(&self.text);
        }
    }
}

impl Drop for Log {
    /// Writes the last acknowledgement to disk. The last worker also logs that all workers have
    /// ended.
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.logs_ended += 1;
        if state.logs_ended == self.shared.workers {
            state.enter(entry::ENDED);
        }
        drop(state);
        // If the last entry cannot be written, the last operation counts as not acknowledged, which
        // is correct.
        let _ = self.shared.commit(None);
        self.shared.lock().logs -= 1;
        self.shared.wanted.notify_one();
    }
}

#[cfg(test)]
mod tests;
