//! How a run calls what it makes in its place, and how its names are known again.

use engine::Errno;
use engine::namespace::Directory;

/// The manifest's name, in the directory that holds the files.
pub const NAME: &str = ".postmark-manifest.json";
/// What the names of manifests that are being written begin with; the process's number and the
/// moment at which its run began follow.
pub(crate) const DRAFT_PREFIX: &str = ".postmark-manifest.json.";

/// The name that a run's own directory begins with.
pub(crate) const OWN_DIRECTORY_PREFIX: &str = "postmark-";

/// A directory has no more names of the run's forms besides its files.
const NAMES_MAX: usize = 1 << 16;

/// The names in a directory that are wanted, in order. There are few: a directory that has very
/// many is none of a run's, or its server sends names without end.
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

/// Whether a directory has such a name.
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

/// Whether a name is that of a directory that a run may have made for itself.
pub(crate) fn is_own_directory(name: &[u8]) -> bool {
    name.starts_with(OWN_DIRECTORY_PREFIX.as_bytes())
}

/// The second in which a run began and its process, by the name of its own directory; nothing where
/// the name has not the form that runs give.
pub(crate) fn own_directory_of(name: &[u8]) -> Option<(i64, u32)> {
    let mut parts = name
        .strip_prefix(OWN_DIRECTORY_PREFIX.as_bytes())?
        .split(|byte| *byte == b'-');
    let mut number = || running_number(parts.next()?);
    let (second, process, _attempt) = (number()?, number()?, number()?);
    let is_all = parts.next().is_none();
    is_all.then_some((i64::try_from(second).ok()?, u32::try_from(process).ok()?))
}

/// The name of the directory of a worker that has one of its own.
pub fn worker_directory(worker: u32) -> String {
    format!("w{worker}")
}

/// Whether a name is one of the marks that runs leave: a manifest, or the draft of one.
pub(crate) fn is_mark(name: &[u8]) -> bool {
    name == NAME.as_bytes() || draft_process(name).is_some()
}

/// The process whose draft a name is.
pub(crate) fn draft_process(name: &[u8]) -> Option<u32> {
    let text = std::str::from_utf8(name.strip_prefix(DRAFT_PREFIX.as_bytes())?).ok()?;
    let (process, began) = text.split_once('-')?;
    running_number(began.as_bytes())?;
    u32::try_from(running_number(process.as_bytes())?).ok()
}

/// The running number that a name is, written as a run writes it: digits without a leading zero.
pub(crate) fn running_number(name: &[u8]) -> Option<u64> {
    let canonical = !name.is_empty()
        && name.iter().all(u8::is_ascii_digit)
        && (name[0] != b'0' || name.len() == 1);
    canonical
        .then(|| std::str::from_utf8(name).ok()?.parse().ok())
        .flatten()
}

/// The number of the worker whose directory a name is: `w` and digits.
pub(crate) fn worker(name: &[u8]) -> Option<u64> {
    running_number(name.strip_prefix(b"w")?)
}

/// Whether a name is one of a classic pool: of its subdirectories, or of its files where it has
/// none.
pub(crate) fn is_of_classic_pool(name: &[u8], subdirectories: u32, numbers_max: u64) -> bool {
    match subdirectories > 1 {
        true => subdirectory(name).is_some_and(|number| number < u64::from(subdirectories)),
        false => running_number(name).is_some_and(|number| (1..=numbers_max).contains(&number)),
    }
}

/// The number of the subdirectory that a name is: `s` and digits.
fn subdirectory(name: &[u8]) -> Option<u64> {
    running_number(name.strip_prefix(b"s")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_as_a_run_writes_them_are_its_own() {
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
