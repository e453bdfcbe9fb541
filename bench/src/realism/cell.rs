//! One application on one file system in one round: its directories, its commands and their times.

use crate::result::Result;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use super::data::Data;
use super::volume::Volume;
use crate::process::output;

/// Options of sh(1) before a script, which ends at the first command that fails.
const SCRIPT_OPTIONS: [&str; 2] = ["-e", "-c"];

/// A timed part of an application's work.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub name: String,
    /// Operations in the application's own terms: messages, files, requests. The number is the same
    /// on each file system.
    pub operations: u64,
    pub seconds: f64,
}

pub struct Cell<'a> {
    pub volume: &'a mut Volume,
    /// The directory of the application's group on the measured file system.
    pub directory: PathBuf,
    /// A directory for configuration, logs and sockets, which is not on the measured file system.
    pub outside: &'a Path,
    /// The directory with the downloaded data sets, such as source trees and packages.
    pub packages: &'a Path,
    pub data: Data,
    /// Whether to use a small data set, for a quick trial of the application.
    pub is_small: bool,
    pub round: u32,
    /// Options of strace(1), separated by spaces.
    pub strace_options: &'static str,
    /// The logs of strace; `None` if the commands are not traced.
    pub traces: Option<Vec<PathBuf>>,
}

impl Cell<'_> {
    /// A command of the application. It runs in the cell's directory, under strace if the cell is
    /// traced.
    pub fn command(&mut self, program: &str) -> Command {
        let mut command = match &mut self.traces {
            None => Command::new(program),
            Some(logs) => {
                let log = self.outside.join(format!("trace-{}", logs.len()));
                let mut strace = Command::new("strace");
                strace.args(self.strace_options.split(' ')).arg("-o");
                strace.arg(&log).arg(program);
                logs.push(log);
                strace
            }
        };
        command.current_dir(&self.directory);
        command
    }

    /// A command that runs a script with sh(1), in the directory and with the trace of
    /// [`Cell::command`].
    pub fn script(&mut self, script: &str) -> Command {
        let mut command = self.command("sh");
        command.args(SCRIPT_OPTIONS).arg(script);
        command
    }

    /// Runs a script like those of [`Cell::script`] before a measurement, without a trace.
    pub fn run_before(&self, script: &str) -> Result<()> {
        let mut command = Command::new("sh");
        command.args(SCRIPT_OPTIONS).arg(script);
        output(command.current_dir(&self.directory)).map(drop)
    }

    pub fn time_script(&mut self, name: &str, operations: u64, script: &str) -> Result<Step> {
        let mut command = self.script(script);
        timed(name, operations, || output(&mut command).map(drop))
    }

    /// Waits until the times of all files are past, and until the kernel no longer uses attributes
    /// that it got from a FUSE file system (bindfs allows one second).
    pub fn wait_a_second(&self) {
        std::thread::sleep(Duration::from_millis(1100));
    }

    /// A path below the cell's directory.
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }
}

pub fn timed(name: &str, operations: u64, work: impl FnOnce() -> Result<()>) -> Result<Step> {
    let began = Instant::now();
    work()?;
    Ok(Step {
        name: name.to_owned(),
        operations,
        seconds: began.elapsed().as_secs_f64(),
    })
}

/// Sizes in bytes of the regular files in a directory and below it, in no order. Files that vanish
/// during the walk are left out.
pub fn file_sizes(directory: &Path) -> Vec<u64> {
    let mut sizes = Vec::new();
    let mut directories = vec![directory.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(facts) if facts.is_dir() => directories.push(entry.path()),
                Ok(facts) if facts.is_file() => sizes.push(facts.len()),
                _ => {}
            }
        }
    }
    sizes
}
