//! How a program ended, and what is expected of that.

use std::fmt;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use super::names;

/// Names of a tree that a failure shows.
const SHOWN_MAX: usize = 60;
/// Bytes of a stream that a failure shows.
const SHOWN_BYTES_MAX: usize = 4_000;

/// A program that has ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// What was run.
    pub command: String,
    /// How it ended.
    pub status: ExitStatus,
    /// Standard output.
    pub output: String,
    /// Standard error.
    pub errors: String,
    /// The directory that it was about.
    pub place: PathBuf,
}

impl Ended {
    /// Asserts the exit status. The program never panics, whatever its code.
    ///
    /// # Panics
    /// Where it is another one.
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

    /// Asserts that a signal has ended it.
    ///
    /// # Panics
    /// Where none has, or another one.
    pub fn signal(&self, expected: i32) -> &Self {
        assert_eq!(
            self.status.signal(),
            Some(expected),
            "it was not signal {expected}\n{self}"
        );
        self
    }

    /// Asserts that one of the streams says something.
    ///
    /// # Panics
    /// Where neither does.
    pub fn shows(&self, words: &str) -> &Self {
        assert!(
            self.output.contains(words) || self.errors.contains(words),
            "nothing says '{words}'\n{self}"
        );
        self
    }

    /// Asserts an exit status and what is said, as in `2 | no such file | use --target`.
    pub fn ends(&self, row: &str) -> &Self {
        let mut columns = row.split('|').map(str::trim);
        self.code(columns.next().unwrap().parse().unwrap());
        columns.for_each(|words| {
            self.shows(words);
        });
        self
    }

    /// Asserts that neither stream says something.
    ///
    /// # Panics
    /// Where one does.
    pub fn does_not_show(&self, words: &str) -> &Self {
        assert!(
            !self.output.contains(words) && !self.errors.contains(words),
            "something says '{words}'\n{self}"
        );
        self
    }

    /// Asserts something else.
    ///
    /// # Panics
    /// Where it does not hold.
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
