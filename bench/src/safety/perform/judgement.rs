//! Checks of the files that are left after a round.

use crate::result::Result;
use std::fmt::Debug;
use std::fs;
use std::path::{Path, PathBuf};

use super::{MANIFEST, Performance};
use crate::safety::outcome::states;
use crate::safety::tree::below;

/// Maximum number of unexpected files that are listed.
const NAMED_MAX: usize = 5;

/// Files and directories of a round that neither the user nor the round itself has created.
#[derive(Debug, Default)]
struct Rest {
    files: Vec<PathBuf>,
    directories: Vec<PathBuf>,
}

impl Rest {
    fn is_empty(&self) -> bool {
        self.files.is_empty() && self.directories.is_empty()
    }
}

fn is_manifest(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == MANIFEST)
}

impl Performance<'_> {
    /// Checks after the end of the round that exactly the expected files exist.
    pub(super) fn judge(&mut self, code: u8) -> Result<()> {
        self.ended.judge_user_files(&self.user_files, "");
        let rest = self.rest();
        let files = rest.files.iter().filter(|path| !is_manifest(path));
        let files: Vec<&PathBuf> = files.collect();
        self.ended.left = files.len() as u64;
        for path in files.iter().take(NAMED_MAX) {
            if !self.ended.was_killed {
                self.ended
                    .problem_of(path, "is left of a run that was not killed");
            } else if !self.has_named(path) {
                self.ended
                    .problem_of(path, "is left of the run, and nobody has named it");
            }
        }
        if files.len() as u64 > self.round.face.workers {
            self.ended.problem(format!(
                "{} files are left of a run of {} workers",
                files.len(),
                self.round.face.workers
            ));
        }
        self.judge_directories(&rest.directories, !files.is_empty());
        let has_manifest = rest.files.iter().any(|path| is_manifest(path));
        if !files.is_empty() && !has_manifest {
            self.ended.problem(
                "files of the run are left, and its manifest is gone: they can never be cleaned",
            );
        }
        if !rest.files.is_empty() {
            if code == 0 {
                self.ended
                    .problem(format!("clean ended with 0 and left {:?}", rest.files));
            }
            self.finish_by_hand(&rest)?;
        }
        // No state of this round's runs may stay in shared memory.
        for path in states() {
            self.ended.problem_of(&path, "stays");
            let _ = fs::remove_file(&path);
        }
        Ok(())
    }

    fn judge_directories(&mut self, directories: &[PathBuf], has_files: bool) {
        // A run's directory that contains a user file cannot be removed. `clean` names it, and the
        // user removes it.
        for path in directories {
            let mut user_files = self.user_files.all().iter();
            if !user_files.any(|user_file| user_file.path.starts_with(path)) && !has_files {
                self.ended
                    .problem_of(path, "is left, and holds nothing of a user's");
            } else if !self.has_named(path) {
                self.ended
                    .problem_of(path, "is left, and nobody has named it");
            }
        }
    }

    /// Whether the output of the run or of `clean` names this path, or mentions further files
    /// without naming them. The path that a file had before a directory was renamed also counts.
    fn has_named(&self, path: &Path) -> bool {
        let path = path.strip_prefix(&self.round_dir).unwrap_or(path);
        let path = path.to_string_lossy();
        let (first, rest) = path.split_once('/').unwrap_or((&path, ""));
        let is_location = matches!(first, "mail.old" | "real" | "over");
        let named = |name: &str| {
            self.ended.told.lines().any(|line| {
                line.contains(&format!("{name}:"))
                    || line.contains("more: for reasons like those above")
            })
        };
        named(&format!("/{path}"))
            || named(&format!("/{}", path.replace(".old/", "/")))
            || is_location && named(&format!("/mail/{rest}"))
    }

    /// Moves user files aside and removes files that `clean` has left and named. Then `clean` must
    /// finish.
    fn finish_by_hand(&mut self, rest: &Rest) -> Result<()> {
        let aside = self.round_dir.join("aside");
        self.make_structure(&aside)?;
        for path in rest.files.iter().filter(|path| !is_manifest(path)) {
            fs::remove_file(path)?;
        }
        let is_meant = |path: &Path| !path.starts_with(&self.elsewhere);
        self.ended.put_away(&mut self.user_files, &aside, is_meant);
        let code = self.clean_all()?;
        let rest = self.rest();
        let left = (!rest.is_empty()).then_some(&rest as &dyn Debug);
        self.ended.judge_last_clean(code, left);
        self.ended
            .judge_user_files(&self.user_files, ", after the second clean");
        Ok(())
    }

    /// Everything in the directory of the round that belongs neither to the user nor to the round
    /// itself.
    fn rest(&self) -> Rest {
        let mut rest = Rest::default();
        for (path, is_directory) in below(&self.round_dir, &|_| false) {
            if self.is_user_file(&path) || self.structure.contains(&path) {
                continue;
            }
            if is_directory {
                rest.directories.push(path);
            } else {
                rest.files.push(path);
            }
        }
        rest
    }
}
