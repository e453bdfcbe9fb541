//! An operation that was recognized in a trace.

use std::rc::Rc;

use engine::Action;
use workload::replay::TracedKind;

use crate::own_time::OwnTime;

/// A path that starts at `/`, without `.` and `..`.
pub type Path = Rc<[u8]>;

/// A point of a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// The number of the line or packet.
    pub order: u64,
    /// Nanoseconds since any start; `None` if the trace contains no times.
    pub ns: Option<u64>,
}

/// Which calls made an operation durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Synced {
    /// 0 without a sync, 1 for the data (fdatasync), 2 for the file (fsync).
    pub file: u8,
    pub directory: bool,
}

/// An operation that was recognized in a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    pub action: Action,
    pub path: Path,
    /// The second name of a renaming or link.
    pub to: Option<Path>,
    /// The source of a copy or clone, if it is known.
    pub from: Option<Path>,
    /// The kind of object that the path denotes.
    pub kind: TracedKind,
    /// The number of bytes of contents that the operation wrote or read.
    pub bytes: u64,
    /// The offset in bytes of the first byte that was read.
    pub offset: u64,
    /// The size of the file afterwards in bytes, if it is known.
    pub size: Option<u64>,
    pub synced: Synced,
    /// Whether a mode or times were set while the file was open.
    pub has_attributes: bool,
    /// Whether a renaming replaced a file.
    pub is_over: bool,
    /// The number of equal operations, on other names of the same directory.
    pub times: u64,
    pub begin: Stamp,
    pub end: Stamp,
    /// The thread's own time before the operation.
    pub own: OwnTime,
}

impl Done {
    pub fn new(action: Action, path: Path, begin: Stamp, end: Stamp) -> Self {
        Self {
            action,
            path,
            to: None,
            from: None,
            kind: TracedKind::File,
            bytes: 0,
            offset: 0,
            size: None,
            synced: Synced::default(),
            has_attributes: false,
            is_over: false,
            times: 1,
            begin,
            end,
            own: OwnTime::default(),
        }
    }
}

/// Returns the directory that contains `path`; `/` for the root.
pub fn parent(path: &[u8]) -> &[u8] {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(0) | None => b"/",
        Some(end) => &path[..end],
    }
}

/// Whether `path` is `directory` or below it.
pub fn is_below(path: &[u8], directory: &[u8]) -> bool {
    let rest = path.strip_prefix(directory);
    directory == b"/" || rest.is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
}

/// Resolves `path` from the directory `base`, without the file system: `..` removes the last name.
pub fn resolve(base: &[u8], path: &[u8]) -> Path {
    let mut resolved: Vec<u8> = match path.first() {
        Some(b'/') => Vec::new(),
        _ => base.to_vec(),
    };
    if resolved == b"/" {
        resolved.clear();
    }
    for name in path.split(|byte| *byte == b'/') {
        match name {
            b"" | b"." => {}
            b".." => {
                let end = resolved.iter().rposition(|byte| *byte == b'/');
                resolved.truncate(end.unwrap_or(0));
            }
            name => {
                resolved.push(b'/');
                resolved.extend_from_slice(name);
            }
        }
    }
    match resolved.is_empty() {
        true => Rc::from(&b"/"[..]),
        false => resolved.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_resolved_without_leaving_the_root() {
        let rows: [(&str, &str, &str); 6] = [
            ("/a", "b", "/a/b"),
            ("/a", "../../../b", "/b"),
            ("/a", "/x//./y/", "/x/y"),
            ("/", ".", "/"),
            ("/", "b", "/b"),
            ("/a/b", "..", "/a"),
        ];
        for (base, path, expected) in rows {
            let resolved = resolve(base.as_bytes(), path.as_bytes());
            assert_eq!(&*resolved, expected.as_bytes(), "{base} {path}");
        }
        assert!(is_below(b"/a/b", b"/a") && is_below(b"/a", b"/a"));
        assert!(!is_below(b"/ab", b"/a") && is_below(b"/ab", b"/"));
        assert_eq!((parent(b"/a/b"), parent(b"/a")), (&b"/a"[..], &b"/"[..]));
    }
}
