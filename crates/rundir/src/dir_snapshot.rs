//! A snapshot of the user's directory before a run, so that the run can restore the directory's
//! times at its end.

use engine::Errno;
use engine::namespace::{Directory, Facts, Stamp};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::names;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Before {
    /// Number of names in the directory, without manifests and drafts of manifests.
    names: u64,
    /// Sum of one XXH3 hash for each name. A hash covers the name, and the inode and creation time
    /// of its file. The sum does not depend on the order in which the names are listed.
    names_sum: u64,
    accessed: Option<Stamp>,
    modified: Option<Stamp>,
}

/// Creation times are hashed for at most this number of files in a directory. The creation times of
/// further files are omitted, because reading them would read each inode from the disk.
const LOOKED_AT_MAX: u64 = 10_000;

impl Before {
    /// Takes a snapshot of a directory, and calls `seen` for each name in the directory.
    pub(crate) fn read(
        directory: &dyn Directory,
        mut seen: impl FnMut(&[u8]),
    ) -> Result<Self, Errno> {
        let times = directory.facts()?;
        let mut before = Self {
            names: 0,
            names_sum: 0,
            accessed: times.accessed,
            modified: times.modified,
        };
        directory.list(&mut |entry| {
            if !names::is_mark(entry.name) {
                before.names += 1;
                let facts =
                    (before.names <= LOOKED_AT_MAX).then(|| directory.facts_of(entry.name).ok());
                let born = facts
                    .flatten()
                    .as_ref()
                    .and_then(Facts::born_or_changed)
                    .unwrap_or_default();
                let thing = [
                    entry.name,
                    b"/",
                    &entry.number.unwrap_or(0).to_ne_bytes(),
                    &born.0.to_ne_bytes(),
                    &born.1.to_ne_bytes(),
                ]
                .concat();
                before.names_sum = before.names_sum.wrapping_add(xxh3_64(&thing));
            }
            seen(entry.name);
            Ok(())
        })?;
        Ok(before)
    }

    /// Restores the times of a directory if it contains the same files under the same names as in
    /// the snapshot. Otherwise, another process has changed the directory, and the present times
    /// are correct.
    pub(crate) fn restore(&self, directory: &dyn Directory) -> Result<(), Errno> {
        let now = Self::read(directory, |_| ())?;
        if (now.names, now.names_sum) != (self.names, self.names_sum) {
            return Ok(());
        }
        match (self.accessed, self.modified) {
            (Some(accessed), Some(modified)) => directory.set_times(accessed, modified),
            _ => Ok(()),
        }
    }
}
