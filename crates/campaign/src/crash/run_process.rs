//! The run of a round, in a process of its own.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

use super::process_end::wait;

/// Starts this program with arguments, and with a file for its messages. The kernel kills the
/// process when this process ends.
pub type Start<'a> = dyn Fn(&[OsString], File) -> io::Result<Child> + 'a;

/// How long a stopped process may take until it no longer executes instructions. A thread that
/// waits in a call of a file system stops when the call returns, and acknowledges nothing before.
const STOP_MAX: Duration = Duration::from_millis(200);
const POLL: Duration = Duration::from_millis(1);

/// The process of a run. A process that was not waited for is killed when this value is dropped.
pub(super) struct RunProcess {
    child: Child,
    ended: Option<ExitStatus>,
}

impl RunProcess {
    pub(super) fn start(start: &Start<'_>, words: &[OsString], output: File) -> io::Result<Self> {
        Ok(Self {
            child: start(words, output)?,
            ended: None,
        })
    }

    /// The process ID.
    pub(super) fn process(&self) -> u32 {
        self.child.id()
    }

    /// The exit status, if the run has ended by itself.
    pub(super) fn ended(&mut self) -> Option<ExitStatus> {
        if self.ended.is_none() {
            self.ended = self.child.try_wait().ok().flatten();
        }
        self.ended
    }

    /// Stops the process, so that it acknowledges no further operation.
    pub(super) fn stop(&self) {
        if self.ended.is_some() {
            return;
        }
        let process = Pid::from_child(&self.child);
        let _ = kill_process(process, Signal::STOP);
        let options = WaitIdOptions::STOPPED
            | WaitIdOptions::EXITED
            | WaitIdOptions::NOHANG
            | WaitIdOptions::NOWAIT;
        let begin = Instant::now();
        while begin.elapsed() < STOP_MAX {
            if !matches!(waitid(WaitId::Pid(process), options), Ok(None)) {
                return;
            }
            std::thread::sleep(POLL);
        }
    }

    pub(super) fn kill(&mut self) {
        if self.ended().is_none() {
            let _ = self.child.kill();
        }
    }

    /// Asks the run to end by itself and to remove its files. Returns whether it has ended.
    pub(super) fn terminate(&mut self, limit: Duration) -> bool {
        if self.ended().is_none() {
            let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
        }
        self.has_ended_within(limit)
    }

    pub(super) fn has_ended_within(&mut self, limit: Duration) -> bool {
        if self.ended.is_none() {
            self.ended = wait(&mut self.child, limit).ok().flatten();
        }
        self.ended.is_some()
    }
}

impl Drop for RunProcess {
    fn drop(&mut self) {
        self.kill();
        // A process that waits for a server ends when the server answers.
        self.has_ended_within(Duration::from_secs(1));
    }
}

/// Counts the acknowledgements in a growing acknowledgement log.
#[derive(Default)]
pub(super) struct AckCount {
    file: Option<File>,
    /// The beginning of a line that is not complete.
    rest: Vec<u8>,
    pub acknowledged: u64,
}

/// Position in a line of the letter that tells what the line is: after the checksum and a blank.
const LETTER: usize = 17;

impl AckCount {
    /// Reads the lines that were added to the log since the last call.
    pub(super) fn read_on(&mut self, log: &Path) {
        if self.file.is_none() {
            self.file = File::open(log).ok();
        }
        let Some(file) = &mut self.file else {
            return;
        };
        // If the file cannot be read, the verification reports it.
        let _ = file.read_to_end(&mut self.rest);
        let mut lines = self.rest.split_inclusive(|byte| *byte == b'\n');
        let mut taken = 0;
        for line in lines.by_ref().take_while(|line| line.ends_with(b"\n")) {
            taken += line.len();
            self.acknowledged += u64::from(line.get(LETTER) == Some(&b'A'));
        }
        self.rest.drain(..taken);
    }
}
