//! The location of a round, and the user files in it before, during and after the run.

use crate::result::Result;
use std::fs;
use std::path::{Path, PathBuf};

use super::{MANIFEST, PREFIX, Performance};
use crate::draws::Draws;
use crate::mounts::Mount;
use crate::safety::choice::Incident;
use crate::safety::tree::{entries, is_file};

impl Performance<'_> {
    pub(super) fn make_structure(&mut self, path: &Path) -> std::io::Result<()> {
        fs::create_dir(path)?;
        self.structure.insert(path.to_owned());
        Ok(())
    }

    /// Creates the location with user files in it.
    pub(super) fn set_up(&mut self, dice: &mut Draws) -> Result<()> {
        let (mail, elsewhere) = (self.mail.clone(), self.elsewhere.clone());
        self.make_structure(&mail)?;
        self.make_structure(&elsewhere)?;
        self.to_clean.push(mail.clone());
        self.user_files.make_file(&elsewhere.join("file"), dice)?;
        if self.round.event == Incident::LazyUnmount {
            // Some user files are hidden by the mount, and must also stay unchanged.
            for _ in 0..dice.below(4) {
                self.user_file_named_like_the_runs(&mail, dice)?;
            }
            let real = self.round_dir.join("real");
            self.user_files
                .rebase(&mail, &self.round_dir.join("beneath"));
            self.make_structure(&real)?;
            let mount = Mount::new(&["--bind", &real.to_string_lossy()], &mail, true)?;
            self.mounts.push(mount);
        }
        for _ in 0..dice.between(1, 6) {
            let name = self.near_name(dice);
            let path = mail.join(&name);
            let is_directory = name.starts_with(PREFIX) || name.len() <= 4 && dice.once_in(3);
            self.user_file(&path, is_directory, "before the run", dice)?;
        }
        Ok(())
    }

    /// Creates a user file of any kind, or a directory, and logs it.
    fn user_file(
        &mut self,
        path: &Path,
        is_directory: bool,
        when: &str,
        dice: &mut Draws,
    ) -> Result<()> {
        let made = match is_directory {
            true => self.user_files.make_directory(path, dice)?,
            false => self.user_files.make(path, &self.elsewhere, dice)?,
        };
        self.ended.log_user_file(when, made);
        Ok(())
    }

    /// A name that resembles a file name of our program, but that no run of the campaign uses.
    pub(super) fn near_name(&self, dice: &mut Draws) -> String {
        let number = dice.between(1, self.round.face.numbers);
        match dice.below(10) {
            0 => format!("0{number}"),
            1 => format!("{number}.bak"),
            2 => "0".to_owned(),
            3 => format!("{MANIFEST}.bak"),
            4 => format!("{MANIFEST}.{number}"),
            5 => format!("{PREFIX}2026-01-{:02}", dice.between(1, 28)),
            6 => PREFIX.to_owned(),
            7 => dice.one(&["s999", "w0", "w1", "s"]).to_owned(),
            8 => "9999999999".to_owned(),
            _ => dice.one(&["letter", "cur", "tmp", "mbox"]).to_owned(),
        }
    }

    /// Creates a user file with a name that a run gives to its files, or a similar one.
    pub(super) fn user_file_named_like_the_runs(
        &mut self,
        directory: &Path,
        dice: &mut Draws,
    ) -> Result<()> {
        let number = dice.between(1, self.round.face.numbers + 50);
        let name = match dice.below(8) {
            0 => self.near_name(dice),
            1 => dice.one(&["s0", "w0", "s1"]).to_owned(),
            2 => format!("{number:016}"),
            _ => number.to_string(),
        };
        let is_directory =
            name.starts_with(PREFIX) || name.len() == 2 && !name.starts_with(char::is_numeric);
        self.user_file(
            &directory.join(&name),
            is_directory,
            "called as the run's",
            dice,
        )
    }

    /// Creates user files where the run was. Some of them replace files of the run.
    pub(super) fn user_files_after(&mut self, dice: &mut Draws) -> Result<()> {
        for mut location in self.to_clean.clone() {
            if self.round.event == Incident::MountOver {
                // The directory `over` is mounted over the location. The user's files are created
                // at the path of `over`, which stays valid after the unmount at the end of the
                // round.
                location = self.round_dir.join("over");
            }
            let run_directories = self.run_directories(&location);
            let mut all: Vec<PathBuf> = run_directories
                .iter()
                .flat_map(|path| self.directories_below(path))
                .collect();
            all.extend(run_directories);
            all.push(location);
            for _ in 0..dice.between(1, 4) {
                let directory = dice.one(&all);
                if !dice.once_in(2) {
                    self.user_file_named_like_the_runs(&directory, dice)?;
                    continue;
                }
                // While a manifest is being written, it has a temporary name that starts with the
                // manifest's name.
                let is_manifest = |path: &PathBuf| {
                    let name = path.file_name().unwrap_or_default();
                    name.to_string_lossy().starts_with(MANIFEST)
                };
                let is_runs = |path: &PathBuf| {
                    is_file(path) && !is_manifest(path) && !self.is_user_file(path)
                };
                let files: Vec<PathBuf> = entries(&directory).into_iter().filter(is_runs).collect();
                if files.is_empty() {
                    continue;
                }
                let path = dice.one(&files);
                fs::remove_file(&path)?;
                self.user_file(&path, false, "in the place of a file of the run", dice)?;
            }
        }
        Ok(())
    }
}
