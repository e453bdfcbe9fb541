//! Opens the directories that the first rank of a run has prepared, for another rank of the run.
//! That rank works in these directories, and the first rank removes the directories.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::Errno;
use engine::namespace::{Directory, Namespace};

use crate::heartbeat::Life;
use crate::landmark::Landmark;
use crate::manifest::{FirstRank, Manifest};
use crate::names;
use crate::prepare::PrepareError;
use crate::run_directory::RunDirectories;

/// Maximum wait for a directory that was made on another host. A network file system may cache the
/// absence of a name for some seconds.
const SHOWN_WITHIN: Duration = Duration::from_secs(5);

/// Opens the directories that the first rank has prepared. `life` is the heartbeat of this rank.
///
/// # Errors
/// Returns an error if a directory does not contain the first rank's manifest, or cannot be used.
pub fn join(
    namespace: &Arc<dyn Namespace>,
    directories: impl Iterator<Item = (PathBuf, FirstRank)>,
    life: Life,
) -> Result<RunDirectories, PrepareError> {
    let joined = directories.map(|(directory, first)| join_one(namespace, &directory, &first));
    let joined = joined.collect::<Result<_, _>>()?;
    Ok(RunDirectories::new(Vec::new(), joined, life))
}

fn join_one(
    namespace: &Arc<dyn Namespace>,
    directory: &Path,
    first: &FirstRank,
) -> Result<Landmark, PrepareError> {
    let began = Instant::now();
    let held = loop {
        match hold(namespace, directory, first) {
            Ok(held) => break held,
            Err(_) if began.elapsed() < SHOWN_WITHIN => {
                std::thread::sleep(Duration::from_millis(50))
            }
            Err(why) => {
                return Err(PrepareError::new(format!(
                    "{} is not the directory that rank 0 on host {} has taken: {why} (use a \
                     --target that all hosts share, under the same path)",
                    directory.display(),
                    first.host
                )));
            }
        }
    };
    Landmark::new(namespace, directory.to_owned(), held)
        .map_err(|errno| PrepareError::system("examine", directory, errno))
}

/// Opens the directory if it contains the first rank's manifest. Otherwise returns the reason as
/// text.
fn hold(
    namespace: &Arc<dyn Namespace>,
    directory: &Path,
    first: &FirstRank,
) -> Result<Arc<dyn Directory>, String> {
    let held = namespace.open(directory).map_err(|errno| match errno {
        Errno::NOENT => "it does not exist here".to_owned(),
        errno => format!("it cannot be opened: {errno}"),
    })?;
    let found = Manifest::read_beside(&*held)
        .map_err(|why| format!("its manifest ({}) cannot be read: {why}", names::NAME))?;
    match found {
        Some(manifest) if manifest.first_rank() == *first => Ok(held),
        Some(_) => Err("its manifest is of another run".to_owned()),
        None => Err("it has no manifest".to_owned()),
    }
}
