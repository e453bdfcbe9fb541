//! Replaces a file atomically: writes a new file in the same directory and renames it.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use campaign::same_file::{FileId, id_of};

/// The new file beside the old one, before it is renamed.
pub struct Beside {
    file: File,
    path: PathBuf,
    replaces: PathBuf,
}

impl Beside {
    /// Creates the new file. Returns `None` if the caller must overwrite the old file instead,
    /// because
    /// - the path now leads to another file,
    /// - the old file has several hard links or another owner, or
    /// - no file can be created in the directory.
    pub fn of(path: &Path, former: FileId) -> std::io::Result<Option<Self>> {
        // If the path is a symbolic link, the link stays and the file that it points to is
        // replaced.
        let replaces = fs::canonicalize(path)?;
        let facts = fs::metadata(&replaces)?;
        if id_of(&facts) != former || facts.nlink() > 1 {
            return Ok(None);
        }
        let path = replaces.with_file_name(format!(".postmark-{}.tmp", std::process::id()));
        let file = match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(file) => file,
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::PermissionDenied
                        | ErrorKind::ReadOnlyFilesystem
                        | ErrorKind::AlreadyExists
                ) =>
            {
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        let beside = Self {
            file,
            path,
            replaces,
        };
        let is_alike = beside
            .file
            .metadata()
            .is_ok_and(|new| (new.uid(), new.gid()) == (facts.uid(), facts.gid()))
            && beside.file.set_permissions(facts.permissions()).is_ok();
        if !is_alike {
            beside.remove();
            return Ok(None);
        }
        Ok(Some(beside))
    }

    pub fn write(mut self, bytes: &[u8]) -> std::io::Result<()> {
        // Some file systems report that they are full only in `fsync`, so it precedes the renaming.
        let written = self
            .file
            .write_all(bytes)
            .and_then(|()| self.file.sync_all());
        let replaced = written.and_then(|()| fs::rename(&self.path, &self.replaces));
        if replaced.is_err() {
            self.remove();
        }
        replaced
    }

    fn remove(self) {
        // An error of this removal is ignored. The caller reports the error of writing or renaming.
        let _ = fs::remove_file(&self.path);
    }
}
