//! Files, links and directories of a user, which no run may touch: their creation, and the check
//! that they are unchanged.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{
    DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, chown, lchown, symlink,
};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, Timespec, Timestamps, mknodat, utimensat};

use crate::draws::Draws;

/// The usual ID of the user `nobody`.
const NOBODY: u32 = 65_534;
/// Size of large user files, in bytes: larger than any file of a run in the campaign.
const BIG: usize = 1 << 20;

/// A file of the user, with the state in which it was created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserFile {
    pub path: PathBuf,
    what: UserFileKind,
    mode: u32,
    owner: u32,
    /// Modification time in seconds and nanoseconds; `None` for directories, because other files in
    /// them change it.
    modified: Option<(i64, i64)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum UserFileKind {
    File(Vec<u8>),
    Link(PathBuf),
    Directory,
    Pipe,
}

#[derive(Debug, Default)]
pub struct UserFiles {
    all: Vec<UserFile>,
    count: u64,
    /// If set, new files are neither empty nor begin with zeros, and new directories are not empty.
    /// A run treats empty files, files of zeros and empty directories in its own directory as its
    /// own incomplete files.
    pub told_by_contents: bool,
}

impl UserFiles {
    pub fn all(&self) -> &[UserFile] {
        &self.all
    }

    /// Creates a user file of any kind. Returns `None` if the name exists or the directory is
    /// missing. `elsewhere` contains the targets of hard and symbolic links.
    pub fn make(
        &mut self,
        path: &Path,
        elsewhere: &Path,
        dice: &mut Draws,
    ) -> std::io::Result<Option<String>> {
        let kind = dice.below(16);
        let user_file = match kind {
            0 => {
                let to = elsewhere.join(dice.one(&["file", "nowhere", "."]));
                self.link(path, to)
            }
            1 => self.hard_link(path, elsewhere, dice),
            2 => self
                .directory(path, dice)
                .and_then(|()| self.file(&path.join("1"), dice)),
            3 => self.lone_directory(path, dice),
            4 => self.pipe(path),
            _ => self.file(path, dice),
        };
        self.made(user_file)
    }

    /// Creates a regular file. Returns `None` in the same cases as [`Self::make`].
    pub fn make_file(&mut self, path: &Path, dice: &mut Draws) -> std::io::Result<Option<String>> {
        let user_file = self.file(path, dice);
        self.made(user_file)
    }

    /// Creates a directory. Returns `None` in the same cases as [`Self::make`].
    pub fn make_directory(
        &mut self,
        path: &Path,
        dice: &mut Draws,
    ) -> std::io::Result<Option<String>> {
        let user_file = self.lone_directory(path, dice);
        self.made(user_file)
    }

    /// Describes the created file; `None` if the name existed or the directory was just removed.
    fn made(&self, made: std::io::Result<()>) -> std::io::Result<Option<String>> {
        match made {
            Ok(()) => Ok(self.all.last().map(UserFile::describe)),
            Err(error) => match error.kind() {
                // A hard link cannot cross mounts.
                ErrorKind::AlreadyExists
                | ErrorKind::NotFound
                | ErrorKind::NotADirectory
                | ErrorKind::CrossesDevices => Ok(None),
                _ => Err(error),
            },
        }
    }

    /// Adapts the paths of files in a directory that was renamed.
    pub fn rebase(&mut self, from: &Path, to: &Path) {
        for user_file in &mut self.all {
            if let Ok(rest) = user_file.path.strip_prefix(from) {
                user_file.path = if rest.as_os_str().is_empty() {
                    to.to_owned()
                } else {
                    to.join(rest)
                };
            }
        }
    }

    /// A description of each user file that is not as it was created.
    pub fn differences(&self) -> Vec<String> {
        self.all.iter().filter_map(UserFile::difference).collect()
    }

    /// Content of a random kind for the next file.
    fn content(&self, dice: &mut Draws) -> Vec<u8> {
        // If files are recognized by their contents, shorter contents are not distinctive enough.
        let least = if self.told_by_contents { 100 } else { 1 };
        let length = dice.between(least, 20_000) as usize;
        let kind = if self.told_by_contents {
            dice.between(3, 5)
        } else {
            dice.below(6)
        };
        let mut content = match kind {
            0 => Vec::new(),
            1 => vec![0; length],
            // Resembles an image that mkfs has made.
            2 => [vec![0; 1_024], noise(dice, length)].concat(),
            3 => vec![b'x'; BIG],
            4 => b"Dear Sir or Madam,\n".repeat(length / 19 + 1),
            _ => noise(dice, length),
        };
        if content.len() > 64 {
            // All contents differ, so that an exchange of two files would be noticed.
            let at = content.len() - 8;
            content[at..].copy_from_slice(&self.count.to_be_bytes());
        }
        content
    }

    /// Records a file that belongs to root.
    fn add(&mut self, path: &Path, what: UserFileKind, mode: u32, modified: Option<(i64, i64)>) {
        self.all.push(UserFile {
            path: path.to_owned(),
            what,
            mode,
            owner: 0,
            modified,
        });
    }

    fn file(&mut self, path: &Path, dice: &mut Draws) -> std::io::Result<()> {
        self.count += 1;
        let content = self.content(dice);
        let mode = dice.one(&[0o644, 0o644, 0o600, 0o000, 0o444, 0o755]);
        let owner = if dice.once_in(4) { NOBODY } else { 0 };
        let is_old = dice.once_in(3);
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)?;
        // The file is recorded before its content is written, because it belongs to the user even
        // if a later step fails.
        self.add(path, UserFileKind::File(content.clone()), mode, None);
        file.write_all(&content)?;
        if owner != 0 {
            std::os::unix::fs::fchown(&file, Some(owner), Some(owner))?;
        }
        file.set_permissions(fs::Permissions::from_mode(mode))?;
        let facts = file.metadata()?;
        let modified = if is_old {
            // An old time that differs for each file.
            let then = (1_000_000_000 + self.count as i64, 123_456_000);
            rustix::fs::futimens(&file, &times(then.0, then.1))?;
            then
        } else {
            (facts.mtime(), facts.mtime_nsec())
        };
        if let Some(user_file) = self.all.last_mut() {
            (user_file.owner, user_file.modified) = (owner, Some(modified));
        }
        Ok(())
    }

    fn link(&mut self, path: &Path, to: PathBuf) -> std::io::Result<()> {
        symlink(&to, path)?;
        let facts = fs::symlink_metadata(path)?;
        let modified = Some((facts.mtime(), facts.mtime_nsec()));
        self.add(
            path,
            UserFileKind::Link(to),
            facts.mode() & 0o7777,
            modified,
        );
        Ok(())
    }

    fn hard_link(
        &mut self,
        path: &Path,
        elsewhere: &Path,
        dice: &mut Draws,
    ) -> std::io::Result<()> {
        let other = elsewhere.join(format!("linked-{}", self.all.len()));
        self.file(&other, dice)?;
        let made = fs::hard_link(&other, path);
        if let (Ok(()), Some(there)) = (&made, self.all.last().cloned()) {
            self.all.push(UserFile {
                path: path.to_owned(),
                ..there
            });
        }
        made
    }

    fn directory(&mut self, path: &Path, dice: &mut Draws) -> std::io::Result<()> {
        // A run creates no directories with these modes. The test therefore detects by the mode
        // that an empty user directory was replaced by a directory of the run.
        let mode = dice.one(&[0o750, 0o555, 0o711]);
        DirBuilder::new().mode(mode).create(path)?;
        self.add(path, UserFileKind::Directory, mode, None);
        if dice.once_in(4) {
            chown(path, Some(NOBODY), Some(NOBODY))?;
            if let Some(user_file) = self.all.last_mut() {
                user_file.owner = NOBODY;
            }
        }
        Ok(())
    }

    /// Creates a directory that is empty, or contains a file if empty directories could be taken
    /// for those of a run.
    fn lone_directory(&mut self, path: &Path, dice: &mut Draws) -> std::io::Result<()> {
        self.directory(path, dice)?;
        if self.told_by_contents {
            self.file(&path.join("letter"), dice)?;
        }
        Ok(())
    }

    fn pipe(&mut self, path: &Path) -> std::io::Result<()> {
        mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o644), 0)?;
        lchown(path, Some(0), Some(0))?;
        utimensat(CWD, path, &times(1, 0), AtFlags::empty())?;
        self.add(path, UserFileKind::Pipe, 0o644, Some((1, 0)));
        Ok(())
    }
}

fn noise(dice: &mut Draws, length: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        bytes.extend_from_slice(&dice.bits().to_be_bytes());
    }
    bytes.truncate(length);
    bytes
}

impl UserFile {
    fn describe(&self) -> String {
        let what = match &self.what {
            UserFileKind::File(content) if content.is_empty() => "an empty file".to_owned(),
            UserFileKind::File(content)
                if content[..content.len().min(64)]
                    .iter()
                    .all(|byte| *byte == 0) =>
            {
                format!("a file of {} bytes that begins with zeros", content.len())
            }
            UserFileKind::File(content) => format!("a file of {} bytes", content.len()),
            UserFileKind::Link(to) => format!("a link to {}", to.display()),
            UserFileKind::Directory => "a directory".to_owned(),
            UserFileKind::Pipe => "a pipe".to_owned(),
        };
        format!(
            "{}: {what}, mode {:03o}, owner {}, modified {:?}",
            self.path.display(),
            self.mode,
            self.owner,
            self.modified
        )
    }

    fn difference(&self) -> Option<String> {
        let now = match self.look() {
            Ok(now) => now,
            Err(error) => return Some(format!("{}\n      now: {error}", self.describe())),
        };
        if now == *self {
            return None;
        }
        let content = match (&self.what, &now.what) {
            (UserFileKind::File(before), UserFileKind::File(after)) if before != after => {
                "; the contents differ"
            }
            _ => "",
        };
        Some(format!(
            "{}\n      now: {}{content}",
            self.describe(),
            now.describe()
        ))
    }

    fn look(&self) -> std::io::Result<Self> {
        let facts = fs::symlink_metadata(&self.path)?;
        let kind = facts.file_type();
        let what = if kind.is_file() {
            UserFileKind::File(fs::read(&self.path)?)
        } else if kind.is_symlink() {
            UserFileKind::Link(fs::read_link(&self.path)?)
        } else if kind.is_dir() {
            UserFileKind::Directory
        } else {
            UserFileKind::Pipe
        };
        Ok(Self {
            path: self.path.clone(),
            modified: self.modified.map(|_| (facts.mtime(), facts.mtime_nsec())),
            what,
            mode: facts.mode() & 0o7777,
            owner: facts.uid(),
        })
    }
}

/// Access and modification time with the same value.
fn times(seconds: i64, nanoseconds: i64) -> Timestamps {
    let time = Timespec {
        tv_sec: seconds,
        tv_nsec: nanoseconds,
    };
    Timestamps {
        last_access: time,
        last_modification: time,
    }
}
