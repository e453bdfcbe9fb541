//! The exit status and output of a program, and assertions about them.

use std::fmt;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use super::names;

/// Maximum number of names of a directory tree in a failure message.
const SHOWN_MAX: usize = 60;
/// Maximum number of bytes of an output stream in a failure message.
const SHOWN_BYTES_MAX: usize = 4_000;

#[derive(Clone, Debug)]
pub struct Ended {
    pub command: String,
    pub status: ExitStatus,
    /// Standard output.
    pub output: String,
    /// Standard error.
    pub errors: String,
    /// The directory that the test uses. Failure messages list the files in it.
    pub place: PathBuf,
}

impl Ended {
    /// Asserts the exit status, and that the program has not panicked.
    pub fn code(&self, expected: i32) -> &Self {
        assert!(
            !self.errors.contains("panicked at"),
            "the program panicked\n{self}"
        );
        assert_eq!(
            self.status.code(),
            Some(expected),
            "the exit status is not {expected}\n{self}"
        );
        self
    }

    /// Asserts that a signal with this number ended the program.
    pub fn signal(&self, expected: i32) -> &Self {
        assert_eq!(
            self.status.signal(),
            Some(expected),
            "it was not signal {expected}\n{self}"
        );
        self
    }

    /// Asserts that standard output or standard error contains a text.
    pub fn shows(&self, words: &str) -> &Self {
        assert!(
            self.output.contains(words) || self.errors.contains(words),
            "nothing says '{words}'\n{self}"
        );
        self
    }

    /// Asserts an exit status and texts in the output, given as one row: `2 | no such file | use
    /// --target`.
    pub fn ends(&self, row: &str) -> &Self {
        let mut columns = row.split('|').map(str::trim);
        self.code(columns.next().unwrap().parse().unwrap());
        columns.for_each(|words| {
            self.shows(words);
        });
        self
    }

    /// Asserts that neither standard output nor standard error contains a text.
    pub fn does_not_show(&self, words: &str) -> &Self {
        assert!(
            !self.output.contains(words) && !self.errors.contains(words),
            "something says '{words}'\n{self}"
        );
        self
    }

    /// Asserts a condition; on failure, the message includes this program's output.
    pub fn assert(&self, holds: bool, what: &str) -> &Self {
        assert!(holds, "{what}\n{self}");
        self
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "==== command: {}", self.command)?;
        writeln!(f, "==== {}", self.status)?;
        writeln!(f, "==== standard output:\n{}", shown(&self.output))?;
        writeln!(f, "==== standard error:\n{}", shown(&self.errors))?;
        writeln!(f, "==== {}:", self.place.display())?;
        let mut left = SHOWN_MAX;
        tree(f, &self.place, &mut left)
    }
}

fn shown(text: &str) -> &str {
    let mut end = text.len().min(SHOWN_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

fn tree(f: &mut fmt::Formatter<'_>, directory: &Path, left: &mut usize) -> fmt::Result {
    let names = match names(directory) {
        Ok(names) => names,
        Err(error) => return writeln!(f, "{}: {error}", directory.display()),
    };
    for name in names {
        let path = directory.join(name);
        if *left == 0 {
            return writeln!(f, "...");
        }
        *left -= 1;
        match path.symlink_metadata() {
            Ok(facts) if facts.is_dir() => {
                writeln!(f, "{}/", path.display())?;
                tree(f, &path, left)?;
            }
            Ok(facts) => writeln!(f, "{} ({} bytes)", path.display(), facts.len())?,
            Err(error) => writeln!(f, "{}: {error}", path.display())?,
        }
    }
    Ok(())
}
