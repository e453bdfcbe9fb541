//! What a run makes on its target, and in which directories.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::NameWriter;
use engine::namespace::Namespace;

use super::error::PrepareError;
use crate::heartbeat::Life;
use crate::manifest::{Makes, MixNames, OtherRank};

/// System calls take paths below this, the end not counted (`PATH_MAX` of limits.h has it in).
const PATH_BYTES_MAX: usize = 4096;
/// What a run wants to make, and where.
#[derive(Clone, Debug)]
pub struct LayoutRequest {
    /// Where the directories are.
    pub namespace: Arc<dyn Namespace>,
    /// The user's directories, from the root.
    pub locations: Vec<PathBuf>,
    /// Whether the files go into them, or into directories of the run's own inside them.
    pub in_own_directories: bool,
    /// Running numbers go from 1 to this.
    pub numbers_max: u64,
    /// Subdirectories of each, in a classic run.
    pub subdirectories: u32,
    /// With more than one, each gets a directory of its own.
    pub workers: u32,
    /// How a mix calls what it makes.
    pub mix: Option<MixNames>,
    /// What its files have in common.
    pub makes: Makes,
    /// The program, with its version.
    pub tool: String,
    /// The machine.
    pub host: String,
    /// The run's signs of life.
    pub life: Life,
    /// When the run began, in nanoseconds of the epoch.
    pub began_unix_ns: u64,
    /// The processes that perform it together with this one.
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
