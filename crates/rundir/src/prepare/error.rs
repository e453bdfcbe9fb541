//! The error of a run that cannot prepare its directories.

use std::fmt;
use std::path::Path;

use engine::Errno;
use record::Left;

use crate::advice;
use crate::found_manifest::FoundManifest;
use crate::names;

/// A directory cannot be prepared. Nothing was changed, except for the paths that
/// [remain](Self::remains).
#[derive(Debug)]
pub struct PrepareError {
    text: String,
    remaining: Vec<Left>,
}

impl std::error::Error for PrepareError {}

impl fmt::Display for PrepareError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        for (index, left) in self.remaining.iter().enumerate() {
            f.write_str(if index == 0 { "; not removed: " } else { ", " })?;
            write!(f, "{} ({})", left.path, left.why)?;
        }
        Ok(())
    }
}

impl PrepareError {
    pub(crate) fn new(text: String) -> Self {
        Self {
            text,
            remaining: Vec::new(),
        }
    }

    /// Whether files or directories of the run remain on the target after the failure, or may
    /// remain.
    pub fn remains(&self) -> bool {
        !self.remaining.is_empty()
    }

    /// Adds paths that could not be removed after the failure.
    pub(crate) fn with_left(mut self, left: Vec<Left>) -> Self {
        self.remaining.extend(left);
        self
    }

    /// Returns the error for a failed system call on a directory.
    pub(crate) fn system(what: &str, path: &Path, errno: Errno) -> Self {
        let advice = match errno {
            Errno::NOENT if may_be_server(path) => {
                " (an NFS server is nfs://SERVER/PATH, as in 'postmark help nfs'; a server of \
                 another protocol needs a mount; a directory must exist)"
            }
            Errno::NOENT => " (create the directory first, or use an existing one)",
            Errno::NOTDIR => " (use a directory)",
            Errno::ACCESS | Errno::PERM => " (use a writable directory)",
            Errno::ROFS => {
                " (the file system is mounted read-only: mount it read-write, or use another)"
            }
            Errno::NOSPC | Errno::DQUOT => " (the file system is full: free some space or inodes)",
            Errno::NAMETOOLONG => " (with the run's file names, a path must stay below 4096 bytes)",
            Errno::LOOP => " (use the directory itself, not a circular link)",
            errno => advice::for_errno(Some(errno.raw_os_error())),
        };
        let answer = std::io::Error::from(errno);
        Self::new(format!(
            "cannot {what} {}: {answer}{advice}",
            path.display()
        ))
    }

    /// Returns the error for a directory that contains a manifest, which prevents every other run
    /// in it.
    pub(crate) fn of_manifest(path: &Path, found: &FoundManifest) -> Self {
        let path = path.display();
        Self::new(match found {
            FoundManifest::Active(manifest) => {
                let process = manifest.as_ref().map_or_else(
                    || "unknown".to_owned(),
                    |manifest| manifest.process.to_string(),
                );
                format!(
                    "{path} is in use by another run of postmark, process {process} (wait for \
                     it, or use another directory)"
                )
            }
            FoundManifest::InHands(process) => format!(
                "{path} is in use: the run's process ({process}) has ended, and another process \
                 cleans the directory or uses its pool (wait for that, or use another directory)"
            ),
            FoundManifest::Abandoned(..) | FoundManifest::Unfinished(_) => format!(
                "{path} still contains files of a killed run (remove them with 'postmark clean \
                 {path}')"
            ),
            FoundManifest::Foreign(why) => format!(
                "cannot use {path}: its manifest ({}) is not trusted: {why} (use another \
                 directory, or remove the manifest if nobody needs it)",
                names::NAME
            ),
        })
    }
}

/// Whether a path that does not exist may be the address of a server, like `server:/export` or
/// `smb://server/share`. Names of local directories seldom contain a colon.
fn may_be_server(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().contains(&b':')
}
