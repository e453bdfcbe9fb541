//! Fills a file system to a requested level with files outside of the target directory.

use std::path::Path;

use system::{Fact, Space};

use crate::blocks;
use crate::error::MakeError;
use crate::stop::MakeStop;

/// Maximum size of a filler file, in bytes. Filling 1 TiB thus takes about a thousand files.
const FILE_BYTES_MAX: u64 = 1 << 30;
/// The filling ends if less than this number of bytes is missing, or if no larger file fits.
const FILE_BYTES_MIN: u64 = 64 << 10;
/// Maximum number of filler files. Some file systems report their free space late or change the
/// usable space, so that the level may never be reached.
const FILES_MAX: u32 = 20_000;

/// Fills the file system mounted at `root` to a percentage of its usable space, with files in a new
/// directory `filler`. Returns the level that was reached. Blocks that the file system itself uses
/// count as filled.
pub(crate) fn fill(root: &Path, percent: u8, stop: &MakeStop) -> Result<Fact<f64>, MakeError> {
    let directory = root.join("filler");
    std::fs::create_dir(&directory).map_err(|error| MakeError::io("create", &directory, error))?;
    let mut largest = FILE_BYTES_MAX;
    for number in 0..FILES_MAX {
        sync(root)?;
        let missing = match usage(root) {
            Fact::Known(usage) => usage.missing_bytes(percent),
            Fact::Unavailable(why) => return Ok(Fact::Unavailable(why)),
            Fact::NotApplicable => return Ok(Fact::NotApplicable),
        };
        if missing < FILE_BYTES_MIN || largest < FILE_BYTES_MIN {
            break;
        }
        let path = directory.join(number.to_string());
        match blocks::fill(&path, missing.min(largest), stop) {
            Ok(()) => {}
            // The file system may be unable to allocate all space that it reports as available, so
            // a smaller file is tried.
            Err(error) if error.is_no_room() => {
                std::fs::remove_file(&path)
                    .map_err(|error| MakeError::io("remove", &path, error))?;
                largest = missing.min(largest) / 2;
            }
            Err(error) => return Err(error),
        }
    }
    sync(root)?;
    Ok(usage(root).map(|usage| usage.percent()))
}

struct Usage {
    used: u64,
    available: u64,
}

impl Usage {
    fn missing_bytes(&self, percent: u8) -> u64 {
        let wanted =
            (u128::from(self.used) + u128::from(self.available)) * u128::from(percent) / 100;
        // The value is at most `used` plus `available`, the size of one file system, so it fits
        // into 64 bits.
        u64::try_from(wanted)
            .unwrap_or(u64::MAX)
            .saturating_sub(self.used)
    }

    #[expect(clippy::cast_precision_loss, reason = "a percentage for people")]
    fn percent(&self) -> f64 {
        100.0 * self.used as f64 / (self.used.saturating_add(self.available).max(1)) as f64
    }
}

fn usage(root: &Path) -> Fact<Usage> {
    Space::read(root).and_then(|space| {
        let (total, free) = (space.total_bytes, space.free_bytes);
        let used = total.and_then(|total| free.map(|free| total.saturating_sub(free)));
        let available = space.available_bytes;
        used.and_then(|used| available.map(|available| Usage { used, available }))
    })
}

/// Syncs the file system, because some file systems count blocks as used only after they are
/// written.
pub(crate) fn sync(root: &Path) -> Result<(), MakeError> {
    let synced = std::fs::File::open(root).and_then(|root| Ok(rustix::fs::syncfs(&root)?));
    synced.map_err(|error| MakeError::io("sync", root, error))
}
