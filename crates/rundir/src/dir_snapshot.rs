//! What a directory of the user's was like before a run, so that afterwards it can be made like
//! that again, its times included.

use engine::Errno;
use engine::namespace::{Directory, Facts, Stamp};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::names;

/// See the module's text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Before {
    /// How many names it had.
    names: u64,
    /// The sum of XXH3 hashes of each name with the number and the birth of what it stands for:
    /// the same things under the same names in any order give the same sum.
    names_sum: u64,
    /// When it was last read and changed.
    accessed: Option<Stamp>,
    modified: Option<Stamp>,
}

/// Of a directory with more names only the numbers are looked at that come with the names: a look
/// at each thing would read all of them from the disk.
const LOOKED_AT_MAX: u64 = 10_000;

impl Before {
    /// What a directory is like, with a look at every name in it.
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

    /// Gives a directory the times that it had, where it has the same things under the same names
    /// again. Otherwise somebody else has changed it too, and its times are true.
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
