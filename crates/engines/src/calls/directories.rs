//! Determines the directory that contains a name.

use std::ffi::CStr;

use engine::Name;

/// Returns the path of the directory that contains `path`; empty if the path is a single name.
#[inline]
pub(crate) fn parent(path: &CStr) -> &[u8] {
    let mut path = path.to_bytes();
    while let [rest @ .., b'/'] = path {
        path = rest;
    }
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(0) => b"/",
        Some(slash) => &path[..slash],
        None => b"",
    }
}

/// Whether two names are in the same directory.
pub(crate) fn have_one_directory(a: Name<'_>, b: Name<'_>) -> bool {
    a.location == b.location && parent(a.relative) == parent(b.relative)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(location: usize, relative: &CStr) -> Name<'_> {
        Name {
            path: relative,
            location,
            relative,
        }
    }

    #[test]
    fn names_in_different_directories_or_locations_are_distinguished() {
        let same = |a, b| have_one_directory(name(0, a), name(0, b));
        assert!(same(c"a/1", c"a/2") && same(c"1", c"2"));
        assert!(!same(c"a/1", c"b/1") && !same(c"1", c"s0/1"));
        assert!(!have_one_directory(name(0, c"1"), name(1, c"1")));
    }
}
