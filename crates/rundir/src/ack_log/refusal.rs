//! Reasons why a run cannot write an acknowledgement log.

use std::fs;
use std::io::{self, IsTerminal};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use spec::RunSpec;

use super::destination::{directory_of, is_standard_output};

/// The acknowledgement log cannot be written, and no file was changed; contains the error message.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct AckLogRefused(String);

/// Refuses an acknowledgement log that already exists, or that is on the same file system as the
/// run's files. Changes no file.
pub fn check(request: &RunSpec, directories: &[PathBuf]) -> Result<(), AckLogRefused> {
    let Some(path) = &request.ack_log else {
        return Ok(());
    };
    if is_standard_output(path) {
        return match io::stdout().is_terminal() {
            false => Ok(()),
            true => Err(AckLogRefused(
                "cannot use --ack-log -: standard output is a terminal (redirect it, for example \
                 to ssh HOST 'cat > FILE')"
                    .to_owned(),
            )),
        };
    }
    match fs::symlink_metadata(path) {
        Ok(_) => return Err(is_there(path)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(cannot("look for", path, &error)),
    }
    let directory = directory_of(path);
    let facts =
        fs::metadata(directory).map_err(|error| cannot("find the directory of", path, &error))?;
    // A directory that cannot be examined is refused later, with the reason, when the run prepares
    // it.
    let is_same = |other: &&PathBuf| fs::metadata(other).is_ok_and(|it| it.dev() == facts.dev());
    match directories.iter().find(is_same) {
        None => Ok(()),
        Some(directory) => Err(AckLogRefused(format!(
            "cannot use --ack-log {}: it lies on the same file system as the target {}, so a \
             crash would lose both (use a file on another file system)",
            path.display(),
            directory.display()
        ))),
    }
}

pub(super) fn is_there(path: &Path) -> AckLogRefused {
    if let Ok(to) = fs::read_link(path) {
        return AckLogRefused(format!(
            "cannot use --ack-log {}: it is a symbolic link to {} (use a new name, or remove the \
             link)",
            path.display(),
            to.display()
        ));
    }
    AckLogRefused(format!(
        "cannot use --ack-log {}: the file exists (use a new name, or move the file away)",
        path.display()
    ))
}

pub(super) fn cannot(what: &str, path: &Path, error: &io::Error) -> AckLogRefused {
    AckLogRefused(format!(
        "cannot {what} {} for --ack-log: {error} (use a new file in an existing directory)",
        path.display()
    ))
}
