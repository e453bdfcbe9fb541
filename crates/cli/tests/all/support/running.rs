//! A program that a test has started: its output so far, signals to it, and its end. When the test
//! ends, the program is killed.

use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::{Ended, heartbeats};

/// A test fails if its program takes longer than this.
const PATIENCE: Duration = Duration::from_secs(90);
/// Time limit of programs that are known to take long, instead of [`PATIENCE`].
const LONG_PATIENCE: Duration = Duration::from_secs(1_800);
/// Interval at which the state of a program is checked.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// An output stream of the program, which a thread reads while the program runs.
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
    /// Starts a program. Failure messages list the files in `place`. Output streams that the
    /// command does not redirect are read.
    pub fn start(mut command: Command, place: &Path) -> Self {
        // A test must not write to the archive of the user who runs the tests.
        if command
            .get_envs()
            .all(|(name, _)| name != "POSTMARK_ARCHIVE")
        {
            command.env("POSTMARK_ARCHIVE", "none");
        }
        // Adds `--verbose`, because tests wait for the progress lines of phases.
        let mut words = std::iter::once(command.get_program()).chain(command.get_args());
        let is_program = |word: &OsStr| Path::new(word).ends_with("postmark");
        if words.any(is_program) && words.next().is_some_and(|word| word == "run") {
            command.arg("--verbose");
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

    /// Sets the time limit to half an hour, for a program that is known to take long.
    pub fn of_long_patience(mut self) -> Self {
        self.patience = LONG_PATIENCE;
        self
    }

    pub fn run_to_end(command: Command, place: &Path) -> Ended {
        Self::start(command, place).finish()
    }

    /// A command whose output streams are read and whose input is empty.
    pub fn command(program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .env_remove("COLUMNS")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// The process that does the work. If any mounted file system has a server, even a mount of
    /// another test, this is the second process of the program.
    pub fn worker(&self) -> u32 {
        let others = self.children();
        others
            .last()
            .map_or(self.process(), |other| other.parse().unwrap())
    }

    /// Standard output of the program so far.
    pub fn output(&self) -> String {
        self.output.so_far()
    }

    /// Standard error of the program so far.
    pub fn errors(&self) -> String {
        self.errors.so_far()
    }

    /// Waits until a condition holds.
    ///
    /// # Panics
    /// Panics if the program ends before the condition holds, or takes too long.
    pub fn until(&mut self, what: &str, holds: impl FnMut(&Self) -> bool) {
        if !self.meets(what, holds) {
            let status = self.child.wait().unwrap();
            let ended = self.ended(status);
            panic!("it ended before this held: {what}\n{ended}");
        }
    }

    /// Waits until a condition holds. Returns false if the program ends first.
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

    pub fn send(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Stops the program and its second process, and waits until all their threads are stopped. A
    /// SIGCONT to the first process continues both.
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
                // In `stat`, the state of the thread follows its name, which is in parentheses.
                facts
                    .rsplit_once(") ")
                    .is_none_or(|(_, facts)| facts.starts_with('T'))
            })
        });
    }

    /// Kills the program, and waits until the program and its second process have ended.
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

    /// Numbers of the processes that the main thread of the program has started.
    pub fn children(&self) -> Vec<String> {
        let process = self.process();
        let children =
            std::fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap();
        children.split_whitespace().map(str::to_owned).collect()
    }

    /// Waits until the program ends.
    ///
    /// # Panics
    /// Panics if the program takes too long.
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

    /// The exit status, or `None` while the program runs.
    pub fn status(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap()
    }

    /// The exit status and the complete output of the program, after it has ended.
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
        if let Ok(None) = self.child.try_wait() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// A shell that executes a one-line script, in which `"$0" "$@"` stands for the command.
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
