//! Generates the directory identifier and the UUIDs of a new scratch file system.

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::directory::PREFIX;
use crate::error::MakeError;

/// Returns an identifier `SECOND-PROCESS-N` that no directory in the given directories uses yet.
pub(crate) fn new_id(above: &Path, journal_above: Option<&Path>) -> String {
    let second = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |time| time.as_secs());
    // Threads that make file systems at the same time get different numbers.
    static NEXT: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let id = format!("{second}-{}-{number}", std::process::id());
        let path = |above: &Path| above.join(format!("{PREFIX}{id}"));
        let mut directories = [above].into_iter().chain(journal_above);
        if directories.all(|above| path(above).symlink_metadata().is_err()) {
            return id;
        }
    }
}

pub(crate) fn new_uuid() -> Result<String, MakeError> {
    const UUID: &str = "/proc/sys/kernel/random/uuid";
    let text = std::fs::read_to_string(UUID)
        .map_err(|error| MakeError::io("read", Path::new(UUID), error))?;
    Ok(text.trim().to_owned())
}
