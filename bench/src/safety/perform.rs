//! A round with a run: location, user files, incident, `clean`, and checks of the result.

mod incident;
mod judgement;
mod setup;

use crate::mounts::Mount;
use crate::process::{Started, command};
use crate::result::Result;
use std::collections::BTreeSet;
use std::io::{Seek, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::choice::{Cleaning, Incident, Round};
use super::outcome::{Ended, PATIENCE, clean};
use super::tree::{below, entries, is_file};
use super::user_files::UserFiles;
use crate::draws::Draws;

const MANIFEST: &str = ".postmark-manifest.json";
/// Prefix of the name of a run's own directory.
const PREFIX: &str = "postmark-";

/// Performs a round in an empty directory.
pub fn round(ours: &Path, round_dir: &Path, is_slow: bool, dice: &mut Draws) -> Result<Ended> {
    let mut performance = Performance {
        ours,
        round_dir: round_dir.to_owned(),
        mail: round_dir.join("mail"),
        elsewhere: round_dir.join("elsewhere"),
        round: Round::choose(dice, is_slow),
        user_files: UserFiles::default(),
        ended: Ended::default(),
        mounts: Vec::new(),
        structure: BTreeSet::new(),
        to_clean: Vec::new(),
    };
    performance.perform(dice)?;
    Ok(std::mem::take(&mut performance.ended).of_round(round_dir, &performance.user_files))
}

struct Performance<'a> {
    ours: &'a Path,
    round_dir: PathBuf,
    /// The location of the run, which is named like a user's mail directory.
    mail: PathBuf,
    /// A directory outside of the location, with the files to which links of the user point.
    elsewhere: PathBuf,
    round: Round,
    user_files: UserFiles,
    ended: Ended,
    mounts: Vec<Mount>,
    /// Paths that the round itself has created and that belong neither to the user nor to a run.
    structure: BTreeSet<PathBuf>,
    /// Locations where runs may have left files.
    to_clean: Vec<PathBuf>,
}

impl Performance<'_> {
    fn perform(&mut self, dice: &mut Draws) -> Result<()> {
        self.ended.log(format!("{:?}", self.round));
        self.set_up(dice)?;
        let mut run = self.start()?;
        self.until_the_moment(&mut run)?;
        if self.round.user_files_during {
            self.user_files.told_by_contents = !self.round.face.is_prompt();
            for _ in 0..dice.between(1, 3) {
                let directory = self.a_directory_of_the_run(dice);
                self.user_file_named_like_the_runs(&directory, dice)?;
            }
            self.user_files.told_by_contents = false;
            std::thread::sleep(dice.up_to(Duration::from_millis(30)));
        }
        self.event(&run, dice)?;
        self.end_of_run(&mut run)?;
        if self.round.user_files_after {
            self.user_files_after(dice)?;
        }
        let code = self.clean_as_chosen(dice)?;
        self.judge(code)
    }

    fn start(&mut self) -> Result<Started> {
        let mut command = Command::new(self.ours);
        command
            .args(&self.round.face.words)
            .current_dir(&self.round_dir);
        match self.round.face.commands.clone() {
            Some(commands) => {
                let commands = format!("set location {}\n{commands}", self.mail.display());
                let mut input = tempfile::tempfile()?;
                input.write_all(commands.as_bytes())?;
                input.rewind()?;
                self.ended.log(format!("the prompt is given:\n{commands}"));
                command.stdin(input);
            }
            None => {
                command.arg("--target").arg(&self.mail).stdin(Stdio::null());
                self.ended.log(format!(
                    "postmark {} --target {}",
                    self.round.face.words.join(" "),
                    self.mail.display()
                ));
            }
        }
        let started = Started::new(&mut command)?;
        Ok(started)
    }

    fn until_the_moment(&mut self, run: &mut Started) -> Result<()> {
        let began = Instant::now();
        if self.round.event != Incident::Nothing && self.round.moment.after_mark {
            run.wait_for(PATIENCE, || !self.run_directories(&self.mail).is_empty())?;
        }
        std::thread::sleep(self.round.moment.after);
        self.ended.log(format!(
            "{:.3} s after its start:",
            began.elapsed().as_secs_f64()
        ));
        Ok(())
    }

    /// Returns the directories that contain a run's manifest: the location itself, or directories
    /// in it.
    fn run_directories(&self, location: &Path) -> Vec<PathBuf> {
        let inner = entries(location).into_iter().filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(PREFIX)
        });
        let all = std::iter::once(location.to_owned()).chain(inner);
        all.filter(|path| is_file(&path.join(MANIFEST))).collect()
    }

    /// A random directory in which the run has files.
    fn a_directory_of_the_run(&self, dice: &mut Draws) -> PathBuf {
        let mut all = Vec::new();
        for directory in self.run_directories(&self.mail) {
            all.extend(self.directories_below(&directory));
            all.push(directory);
        }
        if all.is_empty() {
            return self.mail.clone();
        }
        dice.one(&all)
    }

    fn directories_below(&self, directory: &Path) -> Vec<PathBuf> {
        let all = below(directory, &|path| self.is_user_file(path)).into_iter();
        let own = all.filter(|(path, is_directory)| *is_directory && !self.is_user_file(path));
        own.map(|(path, _)| path).collect()
    }

    fn is_user_file(&self, path: &Path) -> bool {
        self.user_files
            .all()
            .iter()
            .any(|user_file| user_file.path == path)
    }

    fn end_of_run(&mut self, run: &mut Started) -> Result<()> {
        let Round {
            event,
            user_files_during,
            ..
        } = self.round;
        let is_allowed = |status: ExitStatus| match (event.signal(), status.code()) {
            // The signal may arrive before the run has installed its handlers, so the signal itself
            // may end the process.
            (Some(sent), None) => status.signal() == Some(sent.as_raw()),
            (Some(Signal::INT), Some(130)) | (Some(Signal::TERM), Some(143)) => true,
            (_, code) if event == Incident::Nothing && !user_files_during => code == Some(0),
            (_, code) => matches!(code, Some(0..=2)),
        };
        self.ended.end("the run", run, is_allowed).map(drop)
    }

    /// Calls `clean` for all locations, as often as chosen for this round. Returns the highest exit
    /// status of the last calls.
    fn clean_as_chosen(&mut self, dice: &mut Draws) -> Result<u8> {
        match self.round.cleaning {
            Cleaning::Once => {}
            Cleaning::Twice => {
                self.clean_all()?;
            }
            Cleaning::BesideARun => {
                let words = "run --quiet --no-overhead --no-sync-phases --engine posix --files \
                             20 --transactions 20 --target";
                let mut command = command(self.ours, words);
                command.arg(&self.mail).stdin(Stdio::null());
                let mut beside = Started::new(&mut command)?;
                std::thread::sleep(dice.up_to(Duration::from_millis(20)));
                self.clean_all()?;
                let is_allowed = |status: ExitStatus| status.success();
                self.ended
                    .end("the run beside clean", &mut beside, is_allowed)?;
            }
        }
        let code = self.clean_all()?;
        if self.round.event != Incident::MountOver {
            return Ok(code);
        }
        // Unmounts the directory over the location, and then cleans the location's own directory.
        self.mounts.pop();
        Ok(self.clean_all()?.max(code))
    }

    /// Cleans all locations of runs, including kept pools.
    fn clean_all(&mut self) -> Result<u8> {
        let mut code = 0;
        for location in self.to_clean.clone() {
            let (text, of_location) = self.clean(&location)?;
            code = code.max(of_location);
            if text.contains("--reuse") {
                for directory in self.run_directories(&location) {
                    code = code.max(self.clean(&directory)?.1);
                }
            }
        }
        Ok(code)
    }

    /// Calls `clean`; returns its output on both streams, and its exit status.
    fn clean(&mut self, path: &Path) -> Result<(String, u8)> {
        let (ended, [output, errors]) = clean(self.ours, path)?;
        let code = self.ended.hear_clean(path, ended, [&output, &errors]);
        Ok((output + &errors, code))
    }
}
