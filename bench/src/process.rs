//! Running programs, what they cost, and ending them when this program is to end.
//!
//! Every program runs in a process group of its own, which is ended when SIGINT, SIGTERM or SIGHUP comes; nothing is
//! started afterwards, so that errors lead out and every file system that was mounted is unmounted on the way.

use std::error::Error;
use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use observe::child::{ChildCost, wait};
use rustix::process::{Pid, Signal, kill_process_group};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// The signal that came; 0: none did.
static CAUGHT: AtomicI32 = AtomicI32::new(0);
/// The program that runs.
static RUNNING: Mutex<Option<Pid>> = Mutex::new(None);

/// From now on a signal ends what runs, and nothing is started any more.
pub fn watch_signals() -> std::io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    std::thread::spawn(move || {
        for signal in signals.forever() {
            CAUGHT.store(signal, Ordering::SeqCst);
            if let Some(group) = *running() {
                // It may have just ended.
                let _ = kill_process_group(group, Signal::TERM);
            }
        }
    });
    Ok(())
}

/// The signal that came.
pub fn caught() -> Option<i32> {
    Some(CAUGHT.load(Ordering::SeqCst)).filter(|signal| *signal != 0)
}

fn running() -> MutexGuard<'static, Option<Pid>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a program, and waits with what is given.
fn run<A>(command: &mut Command, wait: impl FnOnce(Child) -> std::io::Result<A>) -> Result<A, Box<dyn Error>> {
    use std::os::unix::process::CommandExt;
    let child = {
        let mut running = running();
        if let Some(signal) = caught() {
            return Err(format!("ended by signal {signal}").into());
        }
        let child = command
            .process_group(0)
            // Benchmarks are nobody's runs.
            .env("POSTMARK_ARCHIVE", "none")
            .spawn()
            .map_err(|error| format!("cannot start {}: {error}", command.get_program().to_string_lossy()))?;
        *running = Some(Pid::from_child(&child));
        child
    };
    let answer = wait(child);
    *running() = None;
    Ok(answer?)
}

/// Runs a command to its end; its output goes nowhere.
pub fn cost(command: &mut Command) -> Result<ChildCost, Box<dyn Error>> {
    cost_with_stdin(command, Stdio::null())
}

/// Runs a program with a file as its standard input.
pub fn cost_with_input(program: &Path, input: &Path) -> Result<ChildCost, Box<dyn Error>> {
    cost_with_stdin(&mut Command::new(program), File::open(input)?.into())
}

fn cost_with_stdin(command: &mut Command, stdin: Stdio) -> Result<ChildCost, Box<dyn Error>> {
    let cost = run(command.stdin(stdin).stdout(Stdio::null()).stderr(Stdio::null()), wait)?;
    if cost.status.success() {
        Ok(cost)
    } else {
        Err(format!("{command:?} ended with {}", cost.status).into())
    }
}

/// Runs a command to its end and gives its output and the most memory that it had, in bytes.
pub fn output_and_memory(command: &mut Command) -> Result<(String, u64), Box<dyn Error>> {
    let mut file = tempfile::tempfile()?;
    command.stdin(Stdio::null()).stdout(file.try_clone()?);
    let cost = run(command, wait)?;
    if !cost.status.success() {
        return Err(format!("{command:?} ended with {}", cost.status).into());
    }
    let mut text = String::new();
    file.rewind()?;
    file.read_to_string(&mut text)?;
    Ok((text, cost.memory_bytes))
}

/// Runs a command to its end and gives its output, and how much memory it had every so often, in bytes.
pub fn output_and_memory_over_time(
    command: &mut Command,
    every: Duration,
) -> Result<(String, Vec<u64>), Box<dyn Error>> {
    let mut file = tempfile::tempfile()?;
    command.stdin(Stdio::null()).stdout(file.try_clone()?);
    let mut memory = Vec::new();
    let cost = run(command, |child| {
        let (ended, end) = mpsc::channel::<()>();
        let statm = format!("/proc/{}/statm", child.id());
        let watching = std::thread::spawn(move || {
            let mut memory = Vec::new();
            while end.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
                let text = std::fs::read_to_string(&statm).unwrap_or_default();
                let pages = text.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok());
                memory.extend(pages.map(|pages| pages * rustix::param::page_size() as u64));
            }
            memory
        });
        let cost = wait(child);
        drop(ended);
        memory = watching.join().unwrap_or_default();
        cost
    })?;
    if !cost.status.success() {
        return Err(format!("{command:?} ended with {}", cost.status).into());
    }
    let mut text = String::new();
    file.rewind()?;
    file.read_to_string(&mut text)?;
    Ok((text, memory))
}

/// Runs a command to its end and gives its output.
pub fn output(command: &mut Command) -> Result<String, Box<dyn Error>> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let output = run(command, Child::wait_with_output)?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(format!(
            "{command:?} ended with {}: {}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        )
        .into())
    }
}
