//! A run's own directory, made inside the user's directory.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::Errno;
use engine::namespace::Directory;
use record::Left;

use super::error::PrepareError;
use super::layout_request::LayoutRequest;
use crate::landmark::Landmark;
use crate::manifest::{self, Manifest};
use crate::names::{self, OWN_DIRECTORY_PREFIX};
use crate::removal::left;
use crate::run_directory::RunDirectory;

/// Makes the run's own directory in a location, and writes the manifest into it.
pub(super) fn make(
    wish: &LayoutRequest,
    location: &Path,
    users: Arc<dyn Directory>,
    manifest: Manifest,
) -> Result<RunDirectory, PrepareError> {
    let seconds = manifest.began_unix_ns / 1_000_000_000;
    // Number of further attempts after lost replies. The number is limited, because the server may
    // lose every reply.
    let mut unknown_left = 3;
    for attempt in 0..1_000 {
        let name = format!(
            "{OWN_DIRECTORY_PREFIX}{seconds}-{}-{attempt}",
            manifest.process
        );
        let directory = location.join(&name);
        wish.refuse_long_paths(&directory)?;
        let failed = match users.make(name.as_bytes(), 0o755) {
            Ok(()) => match mark(wish, &users, &name, directory.clone(), manifest.clone()) {
                Ok(run_directory) => return Ok(run_directory),
                Err(errno) => ("write a manifest in", &*directory, errno),
            },
            Err(Errno::EXIST) => continue,
            Err(errno) => ("make a directory in", location, errno),
        };
        let (_, _, errno) = failed;
        // The removal is safe: only this run uses the name, and only an empty directory is removed.
        let removed = manifest::remove_by_name(&*users, &name);
        // A `clean` in another PID namespace may mistake the new directory for that of a killed run
        // and remove it. The failed call and the removal then both return `NOENT`.
        if errno == Errno::NOENT && removed == Err(Errno::NOENT) {
            continue;
        }
        if errno == REPLY_LOST && removed.is_ok() && unknown_left > 0 {
            unknown_left -= 1;
            continue;
        }
        let _ = manifest.before.restore(&*users);
        let may_come = [REPLY_LOST, Errno::TIMEDOUT].contains(&errno);
        let left = match removed {
            Ok(()) => Vec::new(),
            Err(Errno::NOENT) if !may_come => Vec::new(),
            Err(errno) => directory_left(&*users, &name, location, &directory, errno),
        };
        let (what, path, errno) = failed;
        return Err(PrepareError::system(what, path, errno).with_left(left));
    }
    Err(PrepareError::system(
        "find a free name for a directory in",
        location,
        Errno::EXIST,
    ))
}

/// Error of a call whose reply was lost because the connection broke. The server may or may not
/// have performed the call.
const REPLY_LOST: Errno = Errno::CONNRESET;

/// Lists a directory that could not be removed, or that the server may still make. Also lists the
/// manifests in it.
fn directory_left(
    users: &dyn Directory,
    name: &str,
    location: &Path,
    directory: &Path,
    errno: Errno,
) -> Vec<Left> {
    let cleaned = format!("run 'postmark clean {}' later", location.display());
    let why = match errno {
        Errno::NOENT => format!("the server may make it yet, as it did not answer: {cleaned}"),
        errno => format!("it may be there, and cannot be removed: {errno}; {cleaned}"),
    };
    let mut left = vec![left(directory, why)];
    if let Ok(held) = users.open(name.as_bytes()) {
        left.extend(marks_left(&*held, directory, location));
    }
    left
}

/// Lists the manifests and drafts in a directory that contained none before this run.
pub(super) fn marks_left(held: &dyn Directory, directory: &Path, location: &Path) -> Vec<Left> {
    // If the directory cannot be listed, the caller reports the directory itself.
    let marks = names::listed(held, names::is_mark).unwrap_or_default();
    let why = format!("run 'postmark clean {}' later", location.display());
    let paths = marks
        .iter()
        .map(|mark| directory.join(OsStr::from_bytes(mark)));
    paths.map(|path| left(&path, why.clone())).collect()
}

fn mark(
    wish: &LayoutRequest,
    users: &Arc<dyn Directory>,
    name: &str,
    directory: PathBuf,
    mut manifest: Manifest,
) -> Result<RunDirectory, Errno> {
    let held = users.open(name.as_bytes())?;
    let lock = manifest.write(&*held)?;
    users.sync()?;
    let landmark = Landmark::new(&wish.namespace, directory, held)?;
    RunDirectory::new(landmark, Arc::clone(users), manifest, lock)
}
