//! The root of the kernel's text files, and functions that read such a file.
//!
//! The functions do not depend on the format of a particular file. Paths are written as on a
//! running system (`/proc/meminfo`) and resolved below one root, which is `/` except in tests.
//! System calls (statx, statvfs, uname, getrusage) are not redirected.

use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::fact::Fact;

pub(crate) mod small_files;

/// The root below which `/proc`, `/sys`, `/etc` and `/dev` are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sources {
    root: PathBuf,
}

impl Default for Sources {
    /// The running system: `/`.
    fn default() -> Self {
        Sources::beneath("/")
    }
}

impl Sources {
    /// Reads files below `root`: `/proc/stat` is read from `root/proc/stat`.
    pub fn beneath(root: impl Into<PathBuf>) -> Self {
        Sources { root: root.into() }
    }

    /// Resolves an absolute path, such as `/proc/stat`, below the root.
    pub fn path(&self, absolute: &str) -> PathBuf {
        self.root.join(absolute.trim_start_matches('/'))
    }

    /// Reads a file's text without trailing white space; bytes that are not UTF-8 become U+FFFD.
    pub(crate) fn read(&self, absolute: &str) -> io::Result<String> {
        let bytes = std::fs::read(self.path(absolute))?;
        Ok(String::from_utf8_lossy(&bytes).trim_end().to_owned())
    }

    /// Reads a file's text. After an error, the text is unavailable with the error as reason.
    pub(crate) fn text(&self, absolute: &str) -> Fact<String> {
        self.answer(absolute, self.read(absolute))
    }

    /// Reads a file's bytes. After an error, the bytes are unavailable with the error as reason.
    pub(crate) fn bytes(&self, absolute: &str) -> Fact<Vec<u8>> {
        self.answer(absolute, std::fs::read(self.path(absolute)))
    }

    /// Reads a file's text including the trailing line break. Parsers treat a text without this
    /// line break as truncated.
    pub(crate) fn whole_text(&self, absolute: &str) -> Fact<String> {
        self.bytes(absolute).map(|bytes| {
            String::from_utf8(bytes)
                .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
        })
    }

    /// Reads a file that exists only if the kernel or the device has the feature: not applicable if
    /// the file is missing although `anchor` exists.
    pub(crate) fn feature(&self, absolute: &str, anchor: &str) -> Fact<String> {
        match self.read(absolute) {
            Ok(text) => Fact::Known(text),
            Err(error) if error.kind() == io::ErrorKind::NotFound && self.path(anchor).exists() => {
                Fact::NotApplicable
            }
            Err(error) => self.unavailable(absolute, error),
        }
    }

    /// Reads a file that contains one number.
    pub(crate) fn number<T: FromStr>(&self, absolute: &str) -> Fact<T> {
        self.text(absolute)
            .and_then(|text| self.parse(absolute, &text))
    }

    /// Reads a file that contains 0 or 1.
    pub(crate) fn switch(&self, absolute: &str) -> Fact<bool> {
        self.text(absolute).and_then(|text| match text.trim() {
            "0" => Fact::Known(false),
            "1" => Fact::Known(true),
            other => self.unavailable(absolute, format!("`{other}` is neither 0 nor 1")),
        })
    }

    /// Parses a number from the text of a file. If this fails, the reason names the file.
    pub(crate) fn parse<T: FromStr>(&self, absolute: &str, text: &str) -> Fact<T> {
        let text = text.trim();
        self.found(absolute, text.parse().ok(), || {
            format!("`{text}` is not a number")
        })
    }

    /// Parses the number of a line such as `ctxt 115315` or `Threads:  7` in the text of a file.
    pub(crate) fn line(
        &self,
        absolute: &str,
        text: &Fact<String>,
        key: &str,
        separator: &str,
    ) -> Fact<u64> {
        text.as_ref().and_then(|text| {
            let value = text
                .lines()
                .find_map(|line| line.strip_prefix(key)?.strip_prefix(separator));
            let value = self.found(absolute, value, || format!("has no line {key}"));
            value.and_then(|value| self.parse(absolute, value))
        })
    }

    /// Reads the active choice ([`bracketed`]) from a file that exists only with a feature. If the
    /// text contains no choice, the reason contains `lacks`.
    pub(crate) fn choice(&self, absolute: &str, anchor: &str, lacks: &str) -> Fact<String> {
        self.feature(absolute, anchor).and_then(|text| {
            let choice = bracketed(&text).map(str::to_owned);
            self.found(absolute, choice, || format!("`{text}` {lacks} in force"))
        })
    }

    /// Parses a number of bytes from a line such as `Dirty: 16384 kB` in the text of a file. In
    /// such files, kB means KiB (proc_meminfo(5), proc_pid_status(5)).
    pub(crate) fn kibibytes(&self, absolute: &str, text: &Fact<String>, key: &str) -> Fact<u64> {
        text.as_ref().and_then(|text| {
            let bytes = text.lines().find_map(|line| {
                let value = line.strip_prefix(key)?.strip_prefix(':')?;
                let number: u64 = value.trim().strip_suffix("kB")?.trim().parse().ok()?;
                number.checked_mul(1024)
            });
            self.found(absolute, bytes, || format!("has no {key} in kB"))
        })
    }

    /// Lists the names in a directory, sorted.
    pub(crate) fn names(&self, absolute: &str) -> Fact<Vec<String>> {
        let read = || -> io::Result<Vec<String>> {
            let entries = std::fs::read_dir(self.path(absolute))?;
            let name = |entry: std::fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
            entries.map(|entry| entry.map(name)).collect()
        };
        self.answer(absolute, read()).map(|mut names| {
            names.sort();
            names
        })
    }

    /// Converts the result of a system call on a file; the reason names the file and the error.
    pub(crate) fn answer<T, E: std::fmt::Display>(
        &self,
        absolute: &str,
        answer: Result<T, E>,
    ) -> Fact<T> {
        answer.map_or_else(|error| self.unavailable(absolute, error), Fact::Known)
    }

    /// Converts an optional value of a file: `None` becomes unavailable with the reason `why`.
    pub(crate) fn found<T, W: std::fmt::Display>(
        &self,
        absolute: &str,
        value: Option<T>,
        why: impl FnOnce() -> W,
    ) -> Fact<T> {
        value.map_or_else(|| self.unavailable(absolute, why()), Fact::Known)
    }

    /// Returns an unavailable fact whose reason contains the path below the root.
    pub(crate) fn unavailable<T>(&self, absolute: &str, why: impl std::fmt::Display) -> Fact<T> {
        unavailable(&self.path(absolute), why)
    }
}

/// Returns an unavailable fact whose reason names the path.
pub(crate) fn unavailable<T>(path: &Path, why: impl std::fmt::Display) -> Fact<T> {
    Fact::Unavailable(format!("{}: {why}", path.display()))
}

/// Returns the active choice in a text: `madvise` in `always [madvise] never`. A single word
/// without brackets is itself the choice.
pub(crate) fn bracketed(text: &str) -> Option<&str> {
    let words: Vec<&str> = text.split_whitespace().collect();
    words
        .iter()
        .find_map(|word| word.strip_prefix('[')?.strip_suffix(']'))
        .or(match words[..] {
            [word] => Some(word),
            _ => None,
        })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A fixture tree: files with absolute paths, created below a temporary directory.
    pub(crate) struct Tree {
        pub(crate) directory: tempfile::TempDir,
        pub(crate) sources: Sources,
    }

    impl Tree {
        pub(crate) fn new(files: &[(&str, &str)]) -> Tree {
            let directory = tempfile::tempdir().unwrap();
            let tree = Tree {
                sources: Sources::beneath(directory.path()),
                directory,
            };
            for (path, text) in files {
                tree.file(path, text);
            }
            tree
        }

        pub(crate) fn file(&self, path: &str, text: &str) {
            let path = self.sources.path(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }

        /// Creates a symbolic link at `path` to another absolute path of the tree.
        pub(crate) fn link(&self, path: &str, to: &str) {
            let path = self.sources.path(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(self.sources.path(to), path).unwrap();
        }
    }

    #[test]
    fn reason_of_a_missing_file_contains_its_path() {
        let tree = Tree::new(&[]);
        let fact = tree.sources.number::<u64>("/proc/nothing");
        let why = fact.why().unwrap();
        assert!(
            why.contains("/proc/nothing") && why.contains("No such file"),
            "{why}"
        );
    }

    #[test]
    fn missing_feature_is_not_applicable_only_if_its_anchor_exists() {
        let tree = Tree::new(&[("/sys/kernel/mm/other", "1")]);
        let path = "/sys/kernel/mm/transparent_hugepage/enabled";
        assert_eq!(
            tree.sources.feature(path, "/sys/kernel/mm"),
            Fact::NotApplicable
        );
        assert!(tree.sources.feature(path, "/sys/elsewhere").why().is_some());
    }

    #[test]
    fn invalid_numbers_and_switches_are_unavailable() {
        let tree = Tree::new(&[("/a", "12\n"), ("/b", "twelve"), ("/c", "2")]);
        assert_eq!(tree.sources.number::<u64>("/a"), Fact::Known(12));
        assert!(
            tree.sources
                .number::<u64>("/b")
                .why()
                .unwrap()
                .contains("twelve")
        );
        assert!(tree.sources.switch("/c").why().is_some());
    }

    #[test]
    fn active_choice_is_the_bracketed_or_the_only_word() {
        assert_eq!(bracketed("always [madvise] never"), Some("madvise"));
        assert_eq!(bracketed("none"), Some("none"));
        assert_eq!(bracketed("none mq-deadline"), None);
        assert_eq!(bracketed(""), None);
    }
}
