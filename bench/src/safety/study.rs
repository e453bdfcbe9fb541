//! A round of a study that makes scratch file systems. A directory for images contains user files
//! with the names that the study uses. The user changes this directory during the study.
//!
//! After the end of the study and `clean`, every user file must be unchanged, and everything that
//! is left of the study must be named. After the user has moved the user files aside, `clean` must
//! leave no directory, mount or loop device.

mod choice;
mod judgement;

use crate::result::Result;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use self::choice::{Change, End, StudyRound};
use super::outcome::{Ended, PATIENCE, clean};
use super::tree::{entries, name_of};
use super::user_files::UserFiles;
use crate::draws::Draws;
use crate::process::Started;

/// Prefix of the directory of a scratch file system.
const PREFIX: &str = "postmark-made-";
/// Maximum time for which programs of a killed study may hold the lock of its manifest.
const HELD_FOR: Duration = Duration::from_secs(20);
/// Names of user files: names that the study uses in its directories, and some similar names.
const NAMES: [&str; 9] = [
    "image",
    "journal",
    "mount",
    "below",
    "saved-cell-0-image",
    "saved-cell-0-journal",
    "saved-holiday",
    "saved-",
    ".postmark-made.json",
];

/// Performs a round in an empty directory.
pub fn round(ours: &Path, round_dir: &Path, has_loops: bool, dice: &mut Draws) -> Result<Ended> {
    let [images, elsewhere, other, aside] =
        ["images", "elsewhere", "other", "aside"].map(|name| round_dir.join(name));
    for path in [&images, &elsewhere, &other, &aside] {
        fs::create_dir(path)?;
    }
    let mut performance = StudyPerformance {
        ours,
        round: StudyRound::choose(&images, &other, has_loops, dice),
        round_dir: round_dir.to_owned(),
        images,
        elsewhere,
        other,
        aside,
        user_files: UserFiles::default(),
        ended: Ended::default(),
        users: Vec::new(),
    };
    performance.perform(dice)?;
    Ok(performance
        .ended
        .of_round(round_dir, &performance.user_files))
}

struct StudyPerformance<'a> {
    ours: &'a Path,
    round_dir: PathBuf,
    images: PathBuf,
    elsewhere: PathBuf,
    /// An existing directory, which the study may use as a second target.
    other: PathBuf,
    /// The directory to which the user moves files aside.
    aside: PathBuf,
    round: StudyRound,
    user_files: UserFiles,
    ended: Ended,
    /// Directories that the user has created or moved, and a moved image.
    users: Vec<PathBuf>,
}

impl StudyPerformance<'_> {
    fn perform(&mut self, dice: &mut Draws) -> Result<()> {
        self.ended.log(format!("{:?}", self.round));
        // A study may be killed before it writes to a new empty file. User files are not empty, so
        // that they can be distinguished from such a file.
        self.user_files.told_by_contents = true;
        for name in [
            "letter",
            "postmark-made-of-somebody",
            "postmark-made-1-2-3.bak",
            "image",
        ] {
            self.user_file(&self.images.join(name), "before the study", dice)?;
        }
        let mut command = Command::new(self.ours);
        command
            .args(&self.round.words)
            .arg("--archive")
            .arg(self.round_dir.join("archive.db"));
        let mut study = Started::new(command.stdin(Stdio::null()))?;
        self.change(&mut study, dice)?;
        let end = self.round.end;
        if let End::Signals(signals) = end {
            std::thread::sleep(self.round.end_after);
            for (at, signal) in signals.iter().enumerate() {
                if at > 0 {
                    std::thread::sleep(dice.up_to(Duration::from_millis(20)));
                }
                study.signal(*signal);
            }
        }
        if !self.end_of_study(&mut study)? {
            return Ok(());
        }
        if self.round.user_files_after {
            for directory in self.made_directories() {
                let name = dice.one(&NAMES);
                self.user_file(&directory.join(name), "after the study", dice)?;
            }
        }
        if self.round.cleans_twice {
            self.clean()?;
        }
        let code = self.clean()?;
        self.judge(code);
        self.finish_by_hand()
    }

    /// Waits for the end of the study and checks its exit status. Returns whether it ended.
    fn end_of_study(&mut self, study: &mut Started) -> Result<bool> {
        let (end, change) = (self.round.end, self.round.change);
        let is_allowed = |status: ExitStatus| match end {
            End::ByItself if change == Change::Nothing => status.success(),
            End::ByItself => matches!(status.code(), Some(0..=2)),
            End::Signals(signals) => match status.signal() {
                Some(signal) => signals.iter().any(|sent| sent.as_raw() == signal),
                None => matches!(status.code(), Some(0..=2 | 130 | 143)),
            },
        };
        let Some(status) = self.ended.end("the study", study, is_allowed)? else {
            return Ok(false);
        };
        if status.success() && !self.left().is_empty() {
            self.ended
                .problem(format!("the study ended with 0 and left {:?}", self.left()));
        }
        Ok(true)
    }

    fn user_file(&mut self, path: &Path, when: &str, dice: &mut Draws) -> Result<()> {
        let made = self.user_files.make(path, &self.elsewhere, dice)?;
        self.ended.log_user_file(when, made);
        Ok(())
    }

    /// Directories that the study has made, according to their names, and those that the user has
    /// moved.
    fn made_directories(&self) -> Vec<PathBuf> {
        let is_made = |path: &PathBuf| {
            let numbers = name_of(path)
                .strip_prefix(PREFIX)
                .map(|rest| rest.split('-').all(|part| part.parse::<u64>().is_ok()));
            let is_moved = self.users.contains(path);
            (numbers == Some(true) || is_moved)
                && fs::symlink_metadata(path).is_ok_and(|facts| facts.is_dir())
        };
        let mut all = entries(&self.images);
        all.retain(is_made);
        all
    }

    /// Performs the user's change, a random time after the study has made its first directory.
    fn change(&mut self, study: &mut Started, dice: &mut Draws) -> Result<()> {
        if self.round.change == Change::Nothing {
            return Ok(());
        }
        study.wait_for(PATIENCE, || !self.made_directories().is_empty())?;
        std::thread::sleep(self.round.change_after);
        let made = self.made_directories();
        if made.is_empty() {
            return Ok(());
        }
        let directory = dice.one(&made);
        self.ended.log(format!(
            "{:?} of {}",
            self.round.change,
            directory.display()
        ));
        match self.round.change {
            Change::Nothing => {}
            Change::Exchange | Change::Move => {
                let old = self.images.join("old");
                if fs::rename(&directory, &old).is_err() {
                    // The study has ended and has removed the directory.
                    return Ok(());
                }
                self.users.push(old);
                if self.round.change == Change::Exchange {
                    fs::create_dir(&directory)?;
                    self.users.push(directory.clone());
                    let when = "in another directory of the name";
                    for _ in 0..dice.between(1, 5) {
                        self.user_file(&directory.join(dice.one(&NAMES)), when, dice)?;
                    }
                }
            }
            Change::UserFiles => {
                for _ in 0..dice.between(1, 4) {
                    let when = "among what is made";
                    self.user_file(&directory.join(dice.one(&NAMES)), when, dice)?;
                }
            }
            Change::ExchangeImage => {
                let name = dice.one(&["image", "journal", "saved-cell-0-image"]);
                let moved = self.images.join("moved");
                if fs::rename(directory.join(name), &moved).is_ok() {
                    self.users.push(moved);
                    self.user_file(&directory.join(name), "in the place of what was made", dice)?;
                }
            }
        }
        Ok(())
    }

    /// Cleans all directories in which something of the study may be; returns the highest exit
    /// status.
    fn clean(&mut self) -> Result<u8> {
        let mut code = 0;
        let mut places = vec![self.images.clone(), self.other.clone()];
        // A user who has moved a directory may also clean it at its new path.
        places.extend(
            self.users
                .iter()
                .filter(|path| path.ends_with("old") && path.is_dir())
                .cloned(),
        );
        for place in places {
            let began = Instant::now();
            loop {
                let (ended, [output, errors]) = clean(self.ours, &place)?;
                if output.contains("in use by its maker") && began.elapsed() < HELD_FOR {
                    std::thread::sleep(Duration::from_millis(20));
                    continue;
                }
                code = code.max(self.ended.hear_clean(&place, ended, [&output, &errors]));
                break;
            }
        }
        Ok(code)
    }
}
