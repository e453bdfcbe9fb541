//! The names that a run gives to its files and directories, and functions that recognize them.

use engine::Errno;
use engine::namespace::Directory;

/// File name of the manifest, in the directory that contains the run's files.
pub const NAME: &str = ".postmark-manifest.json";
/// Prefix of the names of manifests that are being written. The process ID and the time at which
/// the run began follow.
pub(crate) const DRAFT_PREFIX: &str = ".postmark-manifest.json.";

/// A run's own directory is named `postmark-SECONDS-PROCESS-ATTEMPT`. `SECONDS` is the start of the
/// run in seconds since the Unix epoch, and `PROCESS` is the process ID.
pub(crate) const OWN_DIRECTORY_PREFIX: &str = "postmark-";

/// Maximum number of names that [`listed`] returns.
const NAMES_MAX: usize = 1 << 16;

/// Returns the names in a directory that `wanted` accepts, sorted. Fails if `wanted` accepts more
/// than [`NAMES_MAX`] names. Such a directory belongs to no run, or its server sends an endless
/// list.
pub(crate) fn listed(
    directory: &dyn Directory,
    wanted: impl Fn(&[u8]) -> bool,
) -> Result<Vec<Vec<u8>>, Errno> {
    let mut names: Vec<Vec<u8>> = Vec::new();
    directory.list(&mut |entry| {
        if !wanted(entry.name) {
            return Ok(());
        }
        names.push(entry.name.to_owned());
        match names.len() > NAMES_MAX {
            true => Err(Errno::OVERFLOW),
            false => Ok(()),
        }
    })?;
    names.sort();
    Ok(names)
}

pub(crate) fn has_any(
    directory: &dyn Directory,
    wanted: impl Fn(&[u8]) -> bool,
) -> Result<bool, Errno> {
    let mut has_any = false;
    directory.list(&mut |entry| {
        has_any |= wanted(entry.name);
        Ok(())
    })?;
    Ok(has_any)
}

/// Whether the name begins like that of a run's own directory.
pub(crate) fn is_own_directory(name: &[u8]) -> bool {
    name.starts_with(OWN_DIRECTORY_PREFIX.as_bytes())
}

/// Parses the name of a run's own directory. Returns the time in seconds at which the run began,
/// and its process ID; `None` if the name has another form.
pub(crate) fn own_directory_of(name: &[u8]) -> Option<(i64, u32)> {
    let mut parts = name
        .strip_prefix(OWN_DIRECTORY_PREFIX.as_bytes())?
        .split(|byte| *byte == b'-');
    let mut number = || running_number(parts.next()?);
    let (second, process, _attempt) = (number()?, number()?, number()?);
    let is_all = parts.next().is_none();
    is_all.then_some((i64::try_from(second).ok()?, u32::try_from(process).ok()?))
}

pub fn worker_directory(worker: u32) -> String {
    format!("w{worker}")
}

/// Whether this is the name of a manifest or of a draft of a manifest.
pub(crate) fn is_mark(name: &[u8]) -> bool {
    name == NAME.as_bytes() || draft_process(name).is_some()
}

/// Returns the process ID in the name of a draft; `None` for other names.
pub(crate) fn draft_process(name: &[u8]) -> Option<u32> {
    let text = std::str::from_utf8(name.strip_prefix(DRAFT_PREFIX.as_bytes())?).ok()?;
    let (process, began) = text.split_once('-')?;
    running_number(began.as_bytes())?;
    u32::try_from(running_number(process.as_bytes())?).ok()
}

/// Parses a running number: digits without a leading zero.
pub(crate) fn running_number(name: &[u8]) -> Option<u64> {
    let canonical = !name.is_empty()
        && name.iter().all(u8::is_ascii_digit)
        && (name[0] != b'0' || name.len() == 1);
    canonical
        .then(|| std::str::from_utf8(name).ok()?.parse().ok())
        .flatten()
}

/// Returns the worker number in the name of a worker's directory: `w` and digits.
pub(crate) fn worker(name: &[u8]) -> Option<u64> {
    running_number(name.strip_prefix(b"w")?)
}

/// Whether a directory of a classic pool may contain this name. `subdirectories` is the number of
/// its subdirectories; a directory with at most 1 contains files instead.
pub(crate) fn is_of_classic_pool(name: &[u8], subdirectories: u32, numbers_max: u64) -> bool {
    match subdirectories > 1 {
        true => subdirectory(name).is_some_and(|number| number < u64::from(subdirectories)),
        false => running_number(name).is_some_and(|number| (1..=numbers_max).contains(&number)),
    }
}

/// Returns the number in the name of a subdirectory: `s` and digits.
fn subdirectory(name: &[u8]) -> Option<u64> {
    running_number(name.strip_prefix(b"s")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_canonical_running_numbers_are_accepted() {
        for (name, number) in [
            (&b"1"[..], Some(1)),
            (b"0", Some(0)),
            (b"98765", Some(98_765)),
            (b"01", None),
            (b"", None),
            (b"1a", None),
            (b"-1", None),
            (b"99999999999999999999", None),
        ] {
            assert_eq!(running_number(name), number, "{name:?}");
        }
        assert_eq!(subdirectory(b"s12"), Some(12));
        assert_eq!(subdirectory(b"s"), None);
        assert_eq!(subdirectory(b"t1"), None);
    }
}
