//! The files and directories that a run will make on its target.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::NameWriter;
use engine::namespace::Namespace;

use super::error::PrepareError;
use crate::heartbeat::Life;
use crate::manifest::{Makes, MixNames, OtherRank};

/// Maximum length of a path in a system call, including the terminating NUL (`PATH_MAX` of
/// limits.h).
const PATH_BYTES_MAX: usize = 4096;
/// The files that a run will make, and the directories in which it will make them.
#[derive(Clone, Debug)]
pub struct LayoutRequest {
    pub namespace: Arc<dyn Namespace>,
    /// Absolute paths of the user's directories.
    pub locations: Vec<PathBuf>,
    /// Whether the run makes a new directory inside each location and puts its files there.
    pub in_own_directories: bool,
    /// Highest running number in a file name. The lowest is 1.
    pub numbers_max: u64,
    /// Number of subdirectories in each pool of a classic run.
    pub subdirectories: u32,
    /// Number of pools. Each pool gets its own directory if there are more than 1.
    pub workers: u32,
    /// Layout and names of a mix; `None` for a classic run.
    pub mix: Option<MixNames>,
    /// Properties that all files of the run share.
    pub makes: Makes,
    /// Name and version of this program.
    pub tool: String,
    /// Name of this host, which the manifest records.
    pub host: String,
    pub life: Life,
    /// Time at which the run began, in nanoseconds since the epoch.
    pub began_unix_ns: u64,
    pub ranks: Vec<OtherRank>,
}

impl LayoutRequest {
    pub(super) fn refuse_long_paths(&self, directory: &Path) -> Result<(), PrepareError> {
        let directories = self.subdirectories;
        let longest = match &self.mix {
            None if directories > 1 => format!("/s{}/{}", directories - 1, self.numbers_max).len(),
            None => format!("/{}", self.numbers_max).len(),
            Some(mix) => {
                let mut deepest = Vec::new();
                mix.layout.write_temporary_directory(
                    mix.layout.places() - 1,
                    &mut NameWriter::new(&mut deepest),
                );
                deepest.len() + mix.names.length_max(self.numbers_max) + 1
            }
        };
        let worker = if self.workers > 1 {
            format!("/w{}", self.workers).len()
        } else {
            0
        };
        let bytes = directory.as_os_str().len() + worker + longest;
        if bytes < PATH_BYTES_MAX {
            return Ok(());
        }
        Err(PrepareError::new(format!(
            "{} is too long: with the run's file names, a path has {bytes} bytes and must stay \
             below {PATH_BYTES_MAX} bytes (use a shorter one)",
            directory.display()
        )))
    }
}
