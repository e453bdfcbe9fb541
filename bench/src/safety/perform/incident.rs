//! The incidents of a round: signals, exchanged directories, and mounts over the location.

use crate::result::Result;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::Performance;
use crate::draws::Draws;
use crate::mounts::Mount;
use crate::process::Started;
use crate::safety::choice::Incident;

impl Performance<'_> {
    pub(super) fn event(&mut self, run: &Started, dice: &mut Draws) -> Result<()> {
        let event = self.round.event;
        self.ended.log(format!("{event:?}"));
        match event {
            Incident::Nothing => {}
            Incident::Kill | Incident::Interrupt | Incident::Terminate => {
                event
                    .signal()
                    .into_iter()
                    .for_each(|signal| run.signal(signal));
            }
            Incident::Exchange => self.exchange(dice)?,
            Incident::MountOver => self.mount_over(dice)?,
            Incident::LazyUnmount => {
                self.mounts.clear();
                // The location was a bind mount of the directory `real`. Without the mount, the
                // location's user files are in `real`. User files that the mount had hidden are now
                // visible at the location's path.
                self.user_files
                    .rebase(&self.mail, &self.round_dir.join("real"));
                self.user_files
                    .rebase(&self.round_dir.join("beneath"), &self.mail);
                self.to_clean.push(self.round_dir.join("real"));
            }
        }
        Ok(())
    }

    /// Renames a directory, and replaces it by another one with user files in it.
    pub(super) fn exchange(&mut self, dice: &mut Draws) -> Result<()> {
        let inner = self
            .run_directories(&self.mail)
            .into_iter()
            .find(|path| *path != self.mail);
        let there = match inner {
            Some(inner) if self.round.of_run_directory => inner,
            _ => self.mail.clone(),
        };
        let mut away = there.clone().into_os_string();
        away.push(".old");
        let away = PathBuf::from(away);
        let prepared = self.round_dir.join("prepared");
        fs::create_dir(&prepared)?;
        let is_prepared = dice.once_in(2);
        if is_prepared {
            self.several_user_files(&prepared, dice)?;
        }
        match fs::rename(&there, &away) {
            Ok(()) => {}
            // The run has already ended and removed its directory, so there is nothing to exchange.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                self.structure.insert(prepared);
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        }
        self.user_files.rebase(&there, &away);
        fs::rename(&prepared, &there)?;
        self.user_files.rebase(&prepared, &there);
        self.ended
            .log(format!("{} is now {}", there.display(), away.display()));
        if !is_prepared {
            self.several_user_files(&there, dice)?;
        }
        // Both directories may stay: `there`, which the user has created, and `away`, which the
        // user has renamed. This applies even if the run had created the renamed directory.
        self.structure.extend([there.clone(), away.clone()]);
        if there == self.mail {
            self.to_clean.push(away);
        }
        Ok(())
    }

    /// Creates up to 12 user files in a directory, most of them with names that the run may also
    /// use.
    pub(super) fn several_user_files(&mut self, directory: &Path, dice: &mut Draws) -> Result<()> {
        for _ in 0..dice.between(1, 12) {
            self.user_file_named_like_the_runs(directory, dice)?;
        }
        Ok(())
    }

    pub(super) fn mount_over(&mut self, dice: &mut Draws) -> Result<()> {
        let over = self.round_dir.join("over");
        self.make_structure(&over)?;
        if self.round.over_tmpfs {
            let mount = Mount::new(
                &["-t", "tmpfs", "-o", "size=64m", "postmark-bench"],
                &over,
                true,
            )?;
            self.mounts.push(mount);
        }
        self.several_user_files(&over, dice)?;
        let mount = Mount::new(&["--bind", &over.to_string_lossy()], &self.mail, true)?;
        self.mounts.push(mount);
        Ok(())
    }
}
