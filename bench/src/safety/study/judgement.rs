//! Checks of the files that are left after a round of a study.

use crate::result::Result;
use std::fmt::Debug;
use std::fs;
use std::path::Path;

use super::StudyPerformance;
use crate::safety::outcome::states;
use crate::safety::tree::{below, entries, name_of};

impl StudyPerformance<'_> {
    /// Everything in the directory for images that does not belong to the user: paths, mounts and
    /// loop devices.
    pub(super) fn left(&self) -> Vec<String> {
        let user_files = self.user_files.all();
        let is_user_file = |path: &Path| {
            user_files
                .iter()
                .any(|user_file| path.starts_with(&user_file.path))
        };
        let all = below(&self.images, &is_user_file).into_iter();
        let own = all.filter(|(path, _)| !is_user_file(path) && !self.users.contains(path));
        let mut left: Vec<String> = own.map(|(path, _)| path.display().to_string()).collect();
        let images = self.images.display().to_string();
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        let mounts = mounts.lines().filter(|line| line.contains(&images));
        left.extend(mounts.map(str::to_owned));
        for device in entries(Path::new("/sys/block")) {
            let backing = fs::read_to_string(device.join("loop/backing_file")).unwrap_or_default();
            if backing.contains(&images) {
                left.push(format!("{} over {}", device.display(), backing.trim()));
            }
        }
        left
    }

    pub(super) fn judge(&mut self, code: u8) {
        self.ended.judge_user_files(&self.user_files, "");
        let left = self.left();
        // If something of the study is left in a directory, the output must name the directory, and
        // the exit status must not be 0.
        self.ended.left = left.len() as u64;
        for directory in self.made_directories() {
            let has_ours = left
                .iter()
                .any(|path| path.contains(&directory.display().to_string()));
            if has_ours && code == 0 {
                self.ended
                    .problem(format!("clean ended with 0 and left {left:?}"));
            }
            let name = name_of(&directory);
            if has_ours && !self.ended.told.contains(&format!("/{name}")) {
                self.ended
                    .problem_of(&directory, "is left, and nobody has named it");
            }
        }
        if left
            .iter()
            .any(|line| line.contains(" over ") || line.contains("/mount "))
        {
            self.ended
                .problem(format!("mounts or loop devices are left: {left:?}"));
        }
    }

    /// Moves the user files aside and removes the user's directories. Then `clean` must remove the
    /// rest.
    pub(super) fn finish_by_hand(&mut self) -> Result<()> {
        let is_ours = |path: &Path| path.starts_with(&self.images);
        self.ended
            .put_away(&mut self.user_files, &self.aside, is_ours);
        for path in self.users.clone() {
            match fs::symlink_metadata(&path) {
                Ok(facts) if facts.is_dir() && !path.ends_with("old") => fs::remove_dir_all(&path)?,
                Ok(facts) if facts.is_file() => fs::remove_file(&path)?,
                _ => {}
            }
        }
        let code = self.clean()?;
        let mut left = self.left();
        let entries = entries(&self.images).into_iter();
        left.extend(entries.map(|path| path.display().to_string()));
        let left = (!left.is_empty()).then_some(&left as &dyn Debug);
        self.ended.judge_last_clean(code, left);
        self.ended
            .judge_user_files(&self.user_files, ", after the last clean");
        // The scratch file systems no longer exist, so the heartbeat files of runs on them are not
        // needed.
        for path in states() {
            fs::remove_file(path)?;
        }
        Ok(())
    }
}
