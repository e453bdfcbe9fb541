//! Results and checks of a round: unchanged user files, a `clean` that ends, and no state of runs
//! in shared memory.

use super::tree::{entries, last_of, listed};
use crate::result::Result;
use rustix::process::Signal;
use std::fmt::Debug;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use super::user_files::UserFiles;
use crate::process::Started;

/// Time limit of a run after its incident.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// Directory in which a run may keep some of its state.
pub const SHARED_MEMORY: &str = "/dev/shm";

/// The results of a round.
#[derive(Debug, Default)]
pub struct Ended {
    /// Violations of what the campaign promises. A round without problems has passed.
    pub problems: Vec<String>,
    /// Output of the run or study and of `clean`, on both streams.
    pub told: String,
    /// The actions of the round, in order. They are printed if the round fails.
    pub log: Vec<String>,
    pub was_killed: bool,
    /// Number of files of the run that exist after `clean`. For a study: number of paths, mounts
    /// and loop devices.
    pub left: u64,
    pub user_files: u64,
}

impl Ended {
    pub fn log(&mut self, line: impl Into<String>) {
        self.log.push(line.into());
    }

    pub fn problem(&mut self, what: impl Into<String>) {
        self.problems.push(what.into());
    }

    pub fn problem_of(&mut self, path: &Path, what: &str) {
        self.problem(format!("{} {what}", path.display()));
    }

    /// Records a program's output. A panic in `errors` is recorded as a problem.
    pub fn hear(&mut self, output: &str, errors: &str) {
        if errors.contains("panicked at") {
            self.problem(format!("a panic:\n{errors}"));
        }
        self.told.push_str(output);
        self.told.push_str(errors);
    }

    pub fn log_user_file(&mut self, when: &str, made: Option<String>) {
        if let Some(made) = made {
            self.log(format!("guest, {when}: {made}"));
        }
    }

    /// Records a problem for each user file that is not as it was created.
    pub fn judge_user_files(&mut self, user_files: &UserFiles, when: &str) {
        for difference in user_files.differences() {
            self.problem(format!("a guest is not as it was{when}: {difference}"));
        }
    }

    /// Records a problem if the last `clean` leaves something although no user file was in the way.
    pub fn judge_last_clean(&mut self, code: u8, left: Option<&dyn Debug>) {
        if code != 0 || left.is_some() {
            let left = left.unwrap_or(&"nothing");
            self.problem(format!(
                "clean does not finish after all that was in the way was put away: status {code}, \
                 left {left:?}"
            ));
        }
    }

    /// Waits up to [`PATIENCE`] for a program to end, and returns its exit status. Kills a program
    /// that does not end, and returns `None`. Records a problem for a killed program and for a
    /// status that is not allowed.
    pub fn end(
        &mut self,
        what: &str,
        started: &mut Started,
        is_allowed: impl FnOnce(ExitStatus) -> bool,
    ) -> Result<Option<ExitStatus>> {
        let began = Instant::now();
        let ended = started.end_within(PATIENCE)?;
        let [output, errors] = started.streams()?;
        self.hear(&output, &errors);
        self.log(format!(
            "{what} ended after {:.3} s: {ended:?}; it said: {}",
            began.elapsed().as_secs_f64(),
            last_of(&errors)
        ));
        let Some(status) = ended else {
            started.signal(Signal::KILL);
            started.end_within(PATIENCE)?;
            self.problem(format!("{what} went on for {} s", PATIENCE.as_secs()));
            return Ok(None);
        };
        self.was_killed |= status.signal().is_some();
        if !is_allowed(status) {
            let last = last_of(&(output + &errors));
            self.problem(format!("{what} ended with {status}:\n{last}"));
        }
        Ok(Some(status))
    }

    /// Finishes a round: counts the user files, and lists the directory after a failure.
    pub fn of_round(mut self, round_dir: &Path, user_files: &UserFiles) -> Self {
        self.user_files = user_files.all().len() as u64;
        if !self.problems.is_empty() {
            self.log(format!("what is there:\n{}", listed(round_dir)));
        }
        self
    }

    /// Moves user files that are in the way to the directory `aside`, so that `clean` can finish.
    /// The contents of a directory move with it.
    pub fn put_away(
        &mut self,
        user_files: &mut UserFiles,
        aside: &Path,
        is_in_the_way: impl Fn(&Path) -> bool,
    ) {
        let all: Vec<PathBuf> = user_files
            .all()
            .iter()
            .map(|user_file| user_file.path.clone())
            .collect();
        let is_inside = |path: &Path| {
            path.ancestors()
                .skip(1)
                .any(|above| all.iter().any(|user_file| user_file == above))
        };
        let paths = all
            .iter()
            .filter(|path| is_in_the_way(path) && !is_inside(path));
        for (number, path) in (1..).zip(paths) {
            let to = aside.join(format!("{number}"));
            match fs::rename(path, &to) {
                Ok(()) => user_files.rebase(path, &to),
                // The check of all user files has already reported a user file that no longer
                // exists.
                Err(error) => self.log(format!("{} cannot be put away: {error}", path.display())),
            }
        }
    }

    /// Records the output of a call of `clean`. Returns its exit status, or 1 for an unexpected
    /// status.
    pub fn hear_clean(
        &mut self,
        path: &Path,
        ended: Option<ExitStatus>,
        [output, errors]: [&str; 2],
    ) -> u8 {
        let path = path.display();
        self.log(format!("clean {path}: {ended:?}\n{output}{errors}"));
        self.hear(output, errors);
        match ended.and_then(|ended| ended.code()) {
            Some(code @ (0 | 1)) => code as u8,
            _ => {
                self.problem(format!("clean {path} ended with {ended:?}: {errors}"));
                1
            }
        }
    }
}

/// Runs `clean` on a path. Returns its exit status, or `None` if it takes longer than [`PATIENCE`],
/// and its standard output and standard error.
pub fn clean(ours: &Path, path: &Path) -> Result<(Option<ExitStatus>, [String; 2])> {
    let mut command = Command::new(ours);
    let mut clean = Started::new(command.arg("clean").arg(path).stdin(Stdio::null()))?;
    let ended = clean.end_within(PATIENCE)?;
    Ok((ended, clean.streams()?))
}

/// State files of runs in shared memory.
pub fn states() -> impl Iterator<Item = PathBuf> {
    entries(Path::new(SHARED_MEMORY))
        .into_iter()
        .filter(|path| {
            let name = path.file_name().unwrap_or_default();
            name.to_string_lossy().starts_with("postmark-")
        })
}
