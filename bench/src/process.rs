//! Running programs, measuring their cost, and ending them when this program ends.
//!
//! Every program runs in its own process group, which is ended if SIGINT, SIGTERM or SIGHUP
//! arrives. No program is started afterwards. The failure of the ended program then propagates as
//! an error, which drops the values that hold mounts and so unmounts all file systems.

use crate::result::Result;
use record::{Outcome, Record};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Seek};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use system::child::{ChildCost, wait};

/// Time limit for the child processes of a killed program to disappear.
const TO_BE_GONE: Duration = Duration::from_secs(10);

/// The signal that arrived and must end this program; 0 if none.
static CAUGHT: AtomicI32 = AtomicI32::new(0);
/// The process groups of the running programs.
static RUNNING: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

/// From this call on, a signal ends all running programs and prevents the start of further ones.
pub fn watch_signals() -> std::io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    std::thread::spawn(move || {
        for signal in signals.forever() {
            CAUGHT.store(signal, Ordering::SeqCst);
            for group in running().iter() {
                // The program may have ended in the meantime, so an error is ignored.
                let _ = kill_process_group(*group, Signal::TERM);
            }
        }
    });
    Ok(())
}

/// The signal that arrived and must end this program; `None` if none.
pub fn caught() -> Option<i32> {
    Some(CAUGHT.load(Ordering::SeqCst)).filter(|signal| *signal != 0)
}

fn running() -> MutexGuard<'static, Vec<Pid>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

fn run<A>(command: &mut Command, wait: impl FnOnce(Child) -> std::io::Result<A>) -> Result<A> {
    let child = spawn(command)?;
    let group = Pid::from_child(&child);
    let answer = wait(child);
    forget(group);
    Ok(answer?)
}

fn spawn(command: &mut Command) -> Result<Child> {
    use std::os::unix::process::CommandExt;
    let mut running = running();
    if let Some(signal) = caught() {
        return Err(format!("ended by signal {signal}").into());
    }
    let child = command
        .process_group(0)
        // Runs of benchmarks do not belong in the user's archive.
        .env("POSTMARK_ARCHIVE", "none")
        .spawn()
        .map_err(|error| {
            format!(
                "cannot start {}: {error}",
                command.get_program().to_string_lossy()
            )
        })?;
    running.push(Pid::from_child(&child));
    Ok(child)
}

fn forget(group: Pid) {
    running().retain(|running| *running != group);
}

/// A program that runs in parallel. It is killed when this value is dropped.
pub struct Started {
    child: Child,
    streams: [File; 2],
}

impl Started {
    /// Starts a program and captures both of its output streams.
    pub fn new(command: &mut Command) -> Result<Self> {
        let streams = [tempfile::tempfile()?, tempfile::tempfile()?];
        command
            .stdout(streams[0].try_clone()?)
            .stderr(streams[1].try_clone()?);
        Ok(Self {
            child: spawn(command)?,
            streams,
        })
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal; does nothing if the program has ended. After SIGKILL, waits until the
    /// program's child processes are gone.
    pub fn signal(&self, signal: Signal) {
        let id = self.id();
        let others =
            std::fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
        let _ = kill_process_group(Pid::from_child(&self.child), signal);
        let began = Instant::now();
        let is_there = |other: &str| Path::new("/proc").join(other).exists();
        while signal == Signal::KILL
            && others.split_whitespace().any(is_there)
            && began.elapsed() < TO_BE_GONE
        {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Waits until a condition is true or the program has ended, at most for `patience`.
    pub fn wait_for(
        &mut self,
        patience: Duration,
        mut is_so: impl FnMut() -> bool,
    ) -> std::io::Result<()> {
        let began = Instant::now();
        while !is_so() && self.child.try_wait()?.is_none() && began.elapsed() < patience {
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    /// The exit status of the program; `None` if the program runs longer than `patience`.
    pub fn end_within(&mut self, patience: Duration) -> std::io::Result<Option<ExitStatus>> {
        let began = Instant::now();
        loop {
            let ended = self.child.try_wait()?;
            if ended.is_some() || began.elapsed() >= patience {
                return Ok(ended);
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// The program's standard output and standard error until now.
    pub fn streams(&self) -> std::io::Result<[String; 2]> {
        // The files are opened again: reading the open files would move the position at which the
        // program writes.
        let read = |file: &File| std::fs::read(format!("/proc/self/fd/{}", file.as_raw_fd()));
        let [output, errors] = self.streams.each_ref().map(read);
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ok([text(output?), text(errors?)])
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        if !matches!(self.child.try_wait(), Ok(Some(_))) {
            self.signal(Signal::KILL);
            let _ = self.child.wait();
        }
        forget(Pid::from_child(&self.child));
    }
}

/// Runs a command with this standard input, discards its output, and returns its cost.
pub fn cost(command: &mut Command, stdin: impl Into<Stdio>) -> Result<ChildCost> {
    let null = Stdio::null;
    let cost = run(command.stdin(stdin).stdout(null()).stderr(null()), wait)?;
    ended_well(command, cost.status, "")?;
    Ok(cost)
}

fn ended_well(command: &Command, status: ExitStatus, error: &str) -> Result<()> {
    if status.success() {
        return Ok(());
    }
    Err(format!("{command:?} ended with {status}: {error}").into())
}

/// `program` with the arguments in `words`, separated by spaces.
pub fn command(program: impl AsRef<OsStr>, words: &str) -> Command {
    let mut command = Command::new(program);
    command.args(words.split_whitespace());
    command
}

/// Runs our program with the options `words` on `target`. Returns the record and the peak memory.
/// Fails if the run is not complete.
pub fn record_of(ours: &Path, words: &str, target: &Path) -> Result<(Record, u64)> {
    let mut command = command(ours, &format!("run --quiet --format json {words} --target"));
    let (text, memory_bytes) = output_and_memory(command.arg(target))?;
    let record = Record::from_json(&text)?;
    if record.actual.outcome != Outcome::Complete {
        return Err(format!("{words}: {:?}", record.actual.outcome).into());
    }
    Ok((record, memory_bytes))
}

/// Captures the standard output of a program in a file, so that the program never blocks. Also
/// returns the result of `wait`. A failure of the program is not an error.
fn captured<A>(
    command: &mut Command,
    wait: impl FnOnce(Child) -> std::io::Result<A>,
) -> Result<(String, A)> {
    let mut file = tempfile::tempfile()?;
    command.stdin(Stdio::null()).stdout(file.try_clone()?);
    let found = run(command, wait)?;
    Ok((text_of(&mut file)?, found))
}

fn text_of(file: &mut File) -> Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Runs a command; returns its output and its exit status. A failure of the command is not an
/// error.
pub fn output_and_status(command: &mut Command) -> Result<(String, ExitStatus)> {
    captured(command, |mut child| child.wait())
}

/// Runs a command; returns its output and its peak resident memory in bytes.
pub fn output_and_memory(command: &mut Command) -> Result<(String, u64)> {
    let (text, cost) = captured(command, wait)?;
    ended_well(command, cost.status, "")?;
    Ok((text, cost.memory_bytes))
}

/// Runs a command and returns its standard output. If the command fails, the error contains its
/// standard error.
pub fn output(command: &mut Command) -> Result<String> {
    let mut errors = tempfile::tempfile()?;
    let (text, status) = output_and_status(command.stderr(errors.try_clone()?))?;
    ended_well(command, status, &text_of(&mut errors)?)?;
    Ok(text)
}

/// Runs a command. Returns its output, and its resident memory in bytes at intervals of `every`.
pub fn output_and_memory_over_time(
    command: &mut Command,
    every: Duration,
) -> Result<(String, Vec<u64>)> {
    let (text, (status, memory)) = captured(command, |mut child| {
        let (ended, end) = mpsc::channel::<()>();
        let statm = format!("/proc/{}/statm", child.id());
        let watching = std::thread::spawn(move || {
            let mut memory = Vec::new();
            while end.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
                let text = std::fs::read_to_string(&statm).unwrap_or_default();
                let resident = text.split(' ').nth(1);
                let resident = resident.and_then(|pages| pages.parse::<u64>().ok());
                memory.extend(resident.map(|pages| pages * rustix::param::page_size() as u64));
            }
            memory
        });
        let status = child.wait()?;
        drop(ended);
        Ok((status, watching.join().unwrap_or_default()))
    })?;
    ended_well(command, status, "")?;
    Ok((text, memory))
}
