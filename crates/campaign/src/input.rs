use std::path::{Path, PathBuf};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// The option that names the file, for messages.
    pub option: &'static str,
    pub path: PathBuf,
}

impl Input {
    /// Creates an input from the argument of an option; `-` represents standard input.
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

    /// Whether another process can read the same contents: true for a regular file, false for
    /// standard input or a pipe.
    pub fn is_file(&self) -> bool {
        self.path != Path::new("/dev/stdin") && self.path.is_file()
    }
}
