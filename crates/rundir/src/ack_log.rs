//! The acknowledgement log: what a crash must not have undone. [`verify_log`](crate::verify_log())
//! reads it.
//!
//! What changes something is entered before it is issued and again when it is done. It is issued
//! when its entry is on disk, and with it everything that was entered before. One thread writes and
//! syncs for all workers, as much as has come together at a time. It is a thread of its own because
//! workers have tables of open files of their own, in which the acknowledgement log is not open
//! (see `Engine::open`).

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use engine::Operation;
use spec::{Place, RunSpec};
use workload::{Intent, Workers};

use entry::Header;
use refusal::{cannot, directory_of, is_there};

pub(crate) mod entry;
pub(crate) mod loss;
mod refusal;
pub(crate) mod replay;
pub(crate) mod tree;

pub use refusal::{AckLogRefused, check};

/// Where acknowledged operations are logged.
#[derive(Debug)]
pub struct AckLog {
    shared: Arc<Shared>,
    workers: Workers,
    writer: Option<JoinHandle<()>>,
}

/// An operation could not be entered in the acknowledgement log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotLogged {
    /// The acknowledgement log.
    pub path: String,
    /// What was being done to it.
    pub step: &'static str,
    /// What the system answered: its number, where it has one, and the text.
    pub errno: Option<i32>,
    /// The text.
    pub message: String,
}

/// One worker's way to it.
#[derive(Debug)]
pub struct Log {
    shared: Arc<Shared>,
    worker: u32,
    /// What the worker's names begin with in their location.
    prefix: Vec<u8>,
    /// Operations that were entered.
    sequence: u64,
    text: Vec<u8>,
}

/// An operation that has begun, as its worker's log knows it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Entered(Option<u64>);

#[derive(Debug)]
struct Shared {
    path: PathBuf,
    workers: u32,
    state: Mutex<State>,
    /// There is something for the writer.
    wanted: Condvar,
    /// The writer has come further.
    advanced: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Lines that are not written yet.
    lines: Vec<u8>,
    /// The checksum of the last one.
    checksum: u64,
    /// How many there were, how many of them are waited for, and how many are on disk.
    entered: u64,
    wanted: u64,
    durable: u64,
    /// Workers that have begun and not ended, and those that have ended.
    logs: u32,
    logs_ended: u32,
    /// The run does not look at the acknowledgement log any more.
    is_left: bool,
    failed: Option<NotLogged>,
}

impl AckLog {
    /// Makes the acknowledgement log of a run whose files lie in these directories, and has its
    /// beginning on disk. Nothing where none is asked for.
    pub fn open(request: &RunSpec, directories: &[PathBuf]) -> Result<Option<Self>, AckLogRefused> {
        let Some(path) = &request.ack_log else {
            return Ok(None);
        };
        check(request, directories)?;
        let mut options = OpenOptions::new();
        let options = options.append(true).create_new(true).mode(0o644);
        let mut file = options.open(path).map_err(|error| match error.kind() {
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

    /// A worker's way to it; every worker has one, and has it until it ends.
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

    /// The run is over, after it has removed so many files that its workers had left. Where this
    /// cannot be written it stays open whether it has removed any, and nothing that is gone
    /// counts as lost.
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
        // Nobody waits for a worker that hangs in the kernel.
        if let Some(writer) = self.writer.take().filter(|_| all_ended) {
            // It ends without panicking; what it could not write is missing, and nothing wrong is
            // said without it.
            let _ = writer.join();
        }
    }
}

/// Writes the header, and has it and the file's name on disk.
fn begin(file: &mut File, request: &RunSpec, directories: &[PathBuf]) -> io::Result<u64> {
    let header = Header {
        postmark_ack_log: entry::VERSION,
        tool: format!("postmark {}", env!("CARGO_PKG_VERSION")),
        workload: request.workload.clone(),
        durability: request.durability,
        directories: directories
            .iter()
            .map(|directory| escaped(directory))
            .collect(),
        own_directories: request.place == Place::OwnDirectory,
        workers: request.workload.workers.count(),
    };
    let mut line = Vec::new();
    let checksum = entry::push(0, &entry::header(&header)?, &mut line);
    file.write_all(&line)?;
    file.sync_all()?;
    if let Some(path) = &request.ack_log {
        match File::open(directory_of(path)).and_then(|directory| directory.sync_all()) {
            // Some file systems do not let directories be synced.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {}
            synced => synced?,
        }
    }
    Ok(checksum)
}

fn escaped(path: &Path) -> String {
    let mut text = Vec::new();
    entry::escape(path.as_os_str().as_encoded_bytes(), &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

fn given_up(path: &Path, error: &io::Error) -> AckLogRefused {
    // Ours, made a moment ago. Where it cannot be removed it is in the way of the next run, which
    // says so.
    let _ = fs::remove_file(path);
    cannot("begin", path, error)
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The writer's life: writes and syncs what has come together, until nobody enters anything any
    /// more.
    fn write_all(&self, file: &mut File) {
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
                .write_all(&lines)
                .map_err(|error| self.failed("write", &error))
                // Once only: the kernel may forget what it could not write.
                .and_then(|()| {
                    file.sync_data()
                        .map_err(|error| self.failed("sync", &error))
                });
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
            path: self.path.display().to_string(),
            step,
            errno: error.raw_os_error(),
            message: error.to_string(),
        }
    }

    /// Enters a line, where there is one, and waits until all that was entered is on disk.
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
    /// An operation is about to be issued. What changes something is on disk when this comes back,
    /// with all that was acknowledged before. What it gives is to be given back when the
    /// operation is done.
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

    /// An operation is done. To be told before the file is free for others: the order of the lines
    /// is the order of what was done to it.
    pub fn acknowledges(&mut self, Entered(sequence): Entered) {
        if let Some(sequence) = sequence {
            entry::write_acknowledged(&mut self.text, (self.worker, sequence));
            self.shared.lock().enter(&self.text);
        }
    }
}

impl Drop for Log {
    /// Has the last acknowledgement on disk; and of the last worker that all have ended.
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.logs_ended += 1;
        if state.logs_ended == self.shared.workers {
            state.enter(entry::ENDED);
        }
        drop(state);
        // Where its last entry cannot be written, its last operation counts as not acknowledged,
        // which is true.
        let _ = self.shared.commit(None);
        self.shared.lock().logs -= 1;
        self.shared.wanted.notify_one();
    }
}

#[cfg(test)]
mod tests;
