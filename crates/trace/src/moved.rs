//! Directories that were renamed. Their files keep the paths that they had before.

use std::collections::HashMap;

use crate::done::{Path, parent};

/// The number of renamings that are followed.
const MOVED_MAX: usize = 1 << 16;

/// The earlier paths of renamed directories.
#[derive(Debug, Default)]
pub struct Moved {
    earlier: HashMap<Path, Path>,
}

impl Moved {
    /// The path that a name has in tables: that of its directory before all renamings. `None` if
    /// no directory above it was renamed.
    pub fn earlier(&self, path: &[u8]) -> Option<Path> {
        if self.earlier.is_empty() {
            return None;
        }
        let mut above = path;
        while above.len() > 1 {
            if let Some(earlier) = self.earlier.get(above) {
                return Some([earlier, &path[above.len()..]].concat().into());
            }
            above = parent(above);
        }
        None
    }

    /// Follows a renaming of a directory. Returns `false` if too many were renamed.
    pub fn rename(&mut self, from: &Path, to: &Path) -> bool {
        if self.earlier.len() + 2 > MOVED_MAX {
            return false;
        }
        let earlier = self.earlier(from).unwrap_or_else(|| from.clone());
        // A directory that is created under the old name is another one.
        let number = self.earlier.len();
        let other = [from, format!("/(after {number})").as_bytes()].concat();
        self.earlier.insert(from.clone(), other.into());
        self.earlier.insert(to.clone(), earlier);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_keep_the_paths_that_they_had_before_their_directory_was_renamed() {
        let path = |text: &str| Path::from(text.as_bytes());
        let mut moved = Moved::default();
        assert_eq!(moved.earlier(b"/t/b/x"), None);
        assert!(moved.rename(&path("/t/a"), &path("/t/b")));
        assert_eq!(moved.earlier(b"/t/b/x/y"), Some(path("/t/a/x/y")));
        assert_eq!(moved.earlier(b"/t/b"), Some(path("/t/a")));
        assert_eq!(moved.earlier(b"/t/bc"), None);
        assert_ne!(moved.earlier(b"/t/a/x"), Some(path("/t/a/x")));
        assert!(moved.rename(&path("/t/b"), &path("/u")));
        assert_eq!(moved.earlier(b"/u/x"), Some(path("/t/a/x")));
        assert_ne!(moved.earlier(b"/t/b/x"), moved.earlier(b"/u/x"));
    }
}
