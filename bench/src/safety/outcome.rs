//! What a round came to, and what is asked of every round: guests as they were, `clean` that ends,
//! no state of runs in shared memory.

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

/// A run that goes on for so long after its event does not end.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// Where a run may keep a little of its state.
pub const SHARED_MEMORY: &str = "/dev/shm";

/// What a round came to.
#[derive(Debug, Default)]
pub struct Ended {
    /// What is not as it should be.
    pub problems: Vec<String>,
    /// What the run or study and `clean` have said, on both streams.
    pub told: String,
    /// What was done, in order.
    pub log: Vec<String>,
    pub was_killed: bool,
    /// Files of the run that `clean` has left, each named.
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

    /// Something about a path is not as it should be.
    pub fn problem_of(&mut self, path: &Path, what: &str) {
        self.problem(format!("{} {what}", path.display()));
    }

    /// Takes what a program said on its streams, where no panic may be.
    pub fn hear(&mut self, output: &str, errors: &str) {
        if errors.contains("panicked at") {
            self.problem(format!("a panic:\n{errors}"));
        }
        self.told.push_str(output);
        self.told.push_str(errors);
    }

    /// Logs a guest that was made.
    pub fn log_user_file(&mut self, when: &str, made: Option<String>) {
        if let Some(made) = made {
            self.log(format!("guest, {when}: {made}"));
        }
    }

    /// Takes the difference of each guest that is not as it was.
    pub fn judge_user_files(&mut self, user_files: &UserFiles, when: &str) {
        for difference in user_files.differences() {
            self.problem(format!("a guest is not as it was{when}: {difference}"));
        }
    }

    /// Takes what is left after `clean` although nothing was in its way.
    pub fn judge_last_clean(&mut self, code: u8, left: Option<&dyn Debug>) {
        if code != 0 || left.is_some() {
            let left = left.unwrap_or(&"nothing");
            self.problem(format!(
                "clean does not finish after all that was in the way was put away: status {code}, \
                 left {left:?}"
            ));
        }
    }

    /// Waits up to [`PATIENCE`] for a program to end. Returns its status; `None` if it had to be
    /// killed, which is recorded as a problem, as is a status that is not allowed.
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

    /// The end of a round: counts the guests, and lists the scene of a failure.
    pub fn of_round(mut self, round_dir: &Path, user_files: &UserFiles) -> Self {
        self.user_files = user_files.all().len() as u64;
        if !self.problems.is_empty() {
            self.log(format!("what is there:\n{}", listed(round_dir)));
        }
        self
    }

    /// Moves guests that are in the way aside, and with a directory what is in it.
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
                // Where the guest is gone, the look at all guests has reported that.
                Err(error) => self.log(format!("{} cannot be put away: {error}", path.display())),
            }
        }
    }

    /// What a call of `clean` said, and its exit status, which is 1 where it is none of its own.
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

/// What `clean` says of a path, and how it ends.
pub fn clean(ours: &Path, path: &Path) -> Result<(Option<ExitStatus>, [String; 2])> {
    let mut command = Command::new(ours);
    let mut clean = Started::new(command.arg("clean").arg(path).stdin(Stdio::null()))?;
    let ended = clean.end_within(PATIENCE)?;
    Ok((ended, clean.streams()?))
}

/// Files of runs' state in shared memory.
pub fn states() -> impl Iterator<Item = PathBuf> {
    entries(Path::new(SHARED_MEMORY))
        .into_iter()
        .filter(|path| {
            let name = path.file_name().unwrap_or_default();
            name.to_string_lossy().starts_with("postmark-")
        })
}
