//! The directory of a made file system, and the names in it.

use std::path::{Path, PathBuf};

/// What the names of such directories begin with.
pub(crate) const PREFIX: &str = "postmark-made-";
/// The manifest's name.
pub(crate) const MANIFEST: &str = ".postmark-made.json";
/// What the names of saved states begin with.
pub(crate) const SAVED_PREFIX: &str = "saved-";

/// The directory of a made file system, or of its external journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MadeDirectory {
    path: PathBuf,
}

impl MadeDirectory {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn manifest(&self) -> PathBuf {
        self.path.join(MANIFEST)
    }

    /// The image of the file system.
    pub(crate) fn image(&self) -> PathBuf {
        self.path.join("image")
    }

    /// The image of the external journal.
    pub(crate) fn journal(&self) -> PathBuf {
        self.path.join("journal")
    }

    /// Where the file system is mounted.
    pub(crate) fn mount(&self) -> PathBuf {
        self.path.join("mount")
    }

    /// Where the ext4 below an overlay is mounted.
    pub(crate) fn below(&self) -> PathBuf {
        self.path.join("below")
    }

    /// A file or directory of a saved state.
    pub(crate) fn saved(&self, state: &str, part: &str) -> PathBuf {
        self.path.join(format!("{SAVED_PREFIX}{state}-{part}"))
    }

    /// What is mounted from nowhere (tmpfs, overlay) has this as its source, so that it is known again.
    pub(crate) fn source(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

/// The process that made a directory, by its name `postmark-made-SECOND-PROCESS-N`.
pub(crate) fn maker_of(name: &str) -> Option<u32> {
    let mut numbers = name.strip_prefix(PREFIX)?.split('-');
    let mut number = || {
        let text = numbers.next()?;
        let is_plain = text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
        text.parse::<u64>().ok().filter(|_| is_plain)
    };
    let (_second, process, _attempt) = (number()?, number()?, number()?);
    numbers.next().is_none().then_some(())?;
    u32::try_from(process).ok().filter(|process| *process > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_the_program_are_its_own() {
        assert_eq!(maker_of("postmark-made-1790000000-42-0"), Some(42));
        for other in [
            "postmark-made-",
            "postmark-made-1-2",
            "postmark-made-1-2-3-4",
            "postmark-made-1-02-3",
            "postmark-made-1-0-3",
            "postmark-made-1-99999999999-3",
            "postmark-1790000000-42-0",
            "postmark-made-a-2-3",
        ] {
            assert_eq!(maker_of(other), None, "{other}");
        }
    }
}
