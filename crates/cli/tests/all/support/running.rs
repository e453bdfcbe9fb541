//! A program that goes on: what it has said so far, signals for it, its end. It never outlives the
//! test.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::{Ended, heartbeats};

/// A program that takes longer than this hangs.
const PATIENCE: Duration = Duration::from_secs(90);
/// The same of one that is known to take long.
const LONG_PATIENCE: Duration = Duration::from_secs(1_800);
/// How often a program is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// A stream as far as it was read.
#[derive(Debug)]
struct Stream {
    text: Arc<Mutex<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
}

impl Stream {
    fn read(source: Option<impl Read + Send + 'static>) -> Self {
        let text = Arc::<Mutex<Vec<u8>>>::default();
        let reader = source.map(|mut source| {
            let text = Arc::clone(&text);
            std::thread::spawn(move || {
                let mut part = [0; 4096];
                while let Ok(length @ 1..) = source.read(&mut part) {
                    text.lock().unwrap().extend_from_slice(&part[..length]);
                }
            })
        });
        Self { text, reader }
    }

    fn so_far(&self) -> String {
        String::from_utf8_lossy(&self.text.lock().unwrap()).into_owned()
    }

    fn whole(&mut self) -> String {
        if let Some(reader) = self.reader.take() {
            reader.join().unwrap();
        }
        self.so_far()
    }
}

/// See the module's text.
#[derive(Debug)]
pub struct Running {
    child: Child,
    command: String,
    place: PathBuf,
    began: Instant,
    patience: Duration,
    output: Stream,
    errors: Stream,
}

impl Running {
    /// Starts a program that is about a place. Streams that the command does not direct elsewhere
    /// are read.
    pub fn start(mut command: Command, place: &Path) -> Self {
        // Nothing that a test does belongs into somebody's archive.
        if command
            .get_envs()
            .all(|(name, _)| name != "POSTMARK_ARCHIVE")
        {
            command.env("POSTMARK_ARCHIVE", "none");
        }
        let words = format!("{command:?}");
        let mut child = command
            .spawn()
            .unwrap_or_else(|error| panic!("cannot run {words}: {error}"));
        Self {
            output: Stream::read(child.stdout.take()),
            errors: Stream::read(child.stderr.take()),
            child,
            command: words,
            place: place.to_owned(),
            began: Instant::now(),
            patience: PATIENCE,
        }
    }

    /// The same, of a program that is known to take long.
    pub fn of_long_patience(mut self) -> Self {
        self.patience = LONG_PATIENCE;
        self
    }

    /// Runs a program to its end.
    pub fn run_to_end(command: Command, place: &Path) -> Ended {
        Self::start(command, place).finish()
    }

    /// A command whose streams are read and whose input is empty.
    pub fn command(program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// The program's process.
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// The process that does its work: it has started another one where any file system of the
    /// machine has a server, also a test's beside this one.
    pub fn worker(&self) -> u32 {
        let others = self.children();
        others
            .last()
            .map_or(self.process(), |other| other.parse().unwrap())
    }

    /// What it has said on standard output so far.
    pub fn output(&self) -> String {
        self.output.so_far()
    }

    /// What it has said on standard error so far.
    pub fn errors(&self) -> String {
        self.errors.so_far()
    }

    /// Waits until something holds, while the program goes on.
    ///
    /// # Panics
    /// Where the program ends before that, or takes too long.
    pub fn until(&mut self, what: &str, holds: impl FnMut(&Self) -> bool) {
        if !self.meets(what, holds) {
            let status = self.child.wait().unwrap();
            let ended = self.ended(status);
            panic!("it ended before this held: {what}\n{ended}");
        }
    }

    /// The same, of a program that may end before: then it is false.
    pub fn meets(&mut self, what: &str, mut holds: impl FnMut(&Self) -> bool) -> bool {
        while !holds(self) {
            if self.status().is_some() {
                return false;
            }
            self.be_patient(what);
            std::thread::sleep(LOOK_EVERY);
        }
        true
    }

    /// Sends a signal.
    pub fn send(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Stops it, and the process that does its work, and waits until all of their threads stand
    /// still. What continues the one it hands on to the other.
    pub fn stop(&mut self) {
        let processes = [self.process(), self.worker()];
        for process in processes {
            kill_process(Pid::from_raw(process as i32).unwrap(), Signal::STOP).unwrap();
        }
        self.until("that it stands still", |_| {
            let tasks = processes
                .map(|process| std::fs::read_dir(format!("/proc/{process}/task")).unwrap());
            tasks.into_iter().flatten().flatten().all(|task| {
                let facts = std::fs::read_to_string(task.path().join("stat")).unwrap_or_default();
                // The state stands behind the name, which is in parentheses.
                facts
                    .rsplit_once(") ")
                    .is_none_or(|(_, facts)| facts.starts_with('T'))
            })
        });
    }

    /// Kills it at once, and waits until it is gone, and with it the process that does its work,
    /// where that is another one.
    pub fn kill(mut self) -> Ended {
        let others = self.children();
        self.send(Signal::KILL);
        let status = self.child.wait().unwrap();
        let ended = self.ended(status);
        while others
            .iter()
            .any(|other| Path::new("/proc").join(other).exists())
        {
            assert!(
                self.began.elapsed() < self.patience,
                "a killed process goes on\n{ended}"
            );
            std::thread::sleep(LOOK_EVERY);
        }
        others
            .iter()
            .for_each(|other| heartbeats::remove_after_test(other));
        ended
    }

    /// The processes that its main thread has started.
    pub fn children(&self) -> Vec<String> {
        let process = self.process();
        let children =
            std::fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap();
        children.split_whitespace().map(str::to_owned).collect()
    }

    /// Waits for its end.
    ///
    /// # Panics
    /// Where it takes too long.
    pub fn finish(mut self) -> Ended {
        loop {
            if let Some(status) = self.status() {
                return self.ended(status);
            }
            self.be_patient("its end");
            std::thread::sleep(LOOK_EVERY);
        }
    }

    fn be_patient(&mut self, what: &str) {
        let patience = self.patience;
        if self.began.elapsed() > patience {
            self.send(Signal::KILL);
            let status = self.child.wait().unwrap();
            let ended = self.ended(status);
            panic!("after {patience:?} there is still no sign of: {what}\n{ended}");
        }
    }

    /// How it has ended, if it has.
    pub fn status(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap()
    }

    /// What it said to its end.
    pub fn ended(&mut self, status: ExitStatus) -> Ended {
        if !status.success() {
            heartbeats::remove_after_test(&self.process().to_string());
        }
        Ended {
            command: self.command.clone(),
            status,
            output: self.output.whole(),
            errors: self.errors.whole(),
            place: self.place.clone(),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // One that was waited for is not there any more; all others go with their test.
        if let Ok(None) = self.child.try_wait() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// A command as a shell's `"$0" "$@"` in a script of one line.
pub fn in_shell(script: &str, command: &Command) -> Command {
    let mut shell = Running::command(Path::new("/bin/sh"));
    shell
        .args(["-c", script])
        .arg(command.get_program())
        .args(command.get_args());
    if let Some(directory) = command.get_current_dir() {
        shell.current_dir(directory);
    }
    shell
}
