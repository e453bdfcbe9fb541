//! Files that a command reads.

use std::path::{Path, PathBuf};

/// A file that a command reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// The option that names it.
    pub option: &'static str,
    /// Where it is.
    pub path: PathBuf,
}

impl Input {
    /// What an option or an argument names; `-` is standard input.
    pub fn new(option: &'static str, path: &Path) -> Self {
        let path = match path == Path::new("-") {
            true => Path::new("/dev/stdin"),
            false => path,
        };
        Self {
            option,
            path: path.to_owned(),
        }
    }

    /// Whether another process reads the same of it: it is a file with a name of its own, and no
    /// pipe.
    pub fn is_file(&self) -> bool {
        self.path != Path::new("/dev/stdin") && self.path.is_file()
    }
}
