//! The complete and valid description of a scratch file system.

use std::path::{Path, PathBuf};

use crate::invalid::{InvalidMakeSpec, control_character, invalid_fullness};
use crate::kind::FileSystemKind;
use crate::mkfs_words;

/// Default size of the image or tmpfs: 2 GiB.
pub const DEFAULT_SIZE_BYTES: u64 = 2 << 30;
/// Default directory for images. Unlike `/tmp`, this directory is on disk on common systems. So
/// images survive a restart, and `clean` finds them.
pub const DEFAULT_DIRECTORY: &str = "/var/tmp";
/// Maximum size of the image or tmpfs. A larger size is probably a typing error.
const SIZE_BYTES_MAX: u64 = 16 << 40;

/// Options of mount(8) that are refused: they name a device or another file system, change existing
/// mounts, or make the target read-only.
const MOUNT_OPTIONS_REFUSED: [(&str, &str); 14] = [
    ("bind", OTHER_MOUNT),
    ("rbind", OTHER_MOUNT),
    ("move", OTHER_MOUNT),
    ("remount", OTHER_MOUNT),
    ("loop", OWN_LOOP),
    ("offset", OWN_LOOP),
    ("sizelimit", OWN_LOOP),
    ("device", OTHER_DEVICE),
    ("logdev", OTHER_DEVICE),
    ("rtdev", OTHER_DEVICE),
    ("journal_dev", OTHER_DEVICE),
    ("journal_path", OTHER_DEVICE),
    ("helper", "mount helpers are not used (remove it)"),
    ("ro", "files are made on the target (remove it)"),
];
const OTHER_MOUNT: &str = "it changes another mount (remove it)";
const OWN_LOOP: &str = "the loop device is set up by the program (remove it)";
const OTHER_DEVICE: &str =
    "it names a device, and only images are used (for an external journal use journal=SIZE)";

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ExternalJournal {
    pub size_bytes: u64,
    /// Directory of the journal's image; `None` for the directory of the file system's image.
    pub directory: Option<PathBuf>,
}

/// The description of a scratch file system.
///
/// `FromStr` parses the description from one word:
/// `make:ext4?size=4GiB&mount=noatime,data=journal&mkfs=-I
/// 256&journal=128MiB&journal-in=/dir&in=/dir&discard&direct&fullness=50`. `Display` writes the
/// canonical word, without default values. In the word, `%26` represents `&` and `%25` represents
/// `%`. After fields are changed, [`MakeSpec::validate`] must check them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MakeSpec {
    pub kind: FileSystemKind,
    /// Size of the image or the tmpfs, in bytes.
    pub size_bytes: u64,
    /// Additional arguments of mkfs, in order.
    pub mkfs_words: Vec<String>,
    /// Additional options of mount(8) for the file system, in order; for an overlay, those of the
    /// overlay itself.
    pub mount_options: Vec<String>,
    /// Absolute path of the directory for the image.
    pub directory: PathBuf,
    /// The journal on its own image, which only ext3, ext4 and xfs support.
    pub journal: Option<ExternalJournal>,
    /// Whether freed blocks of the image are deallocated at once (mount option `discard`), and
    /// whether mkfs discards the device. If so, the image does not stay fully allocated.
    pub discard: bool,
    /// Whether the loop device bypasses the page cache of the file system below (direct I/O).
    pub direct: bool,
    /// Fill level before a run, as a percentage of the usable space; `None` for no filler.
    pub fullness_percent: Option<u8>,
}

impl MakeSpec {
    /// Describes a file system of this kind with default values.
    pub fn new(kind: FileSystemKind) -> Self {
        Self {
            kind,
            size_bytes: DEFAULT_SIZE_BYTES,
            mkfs_words: Vec::new(),
            mount_options: Vec::new(),
            directory: DEFAULT_DIRECTORY.into(),
            journal: None,
            discard: false,
            direct: false,
            fullness_percent: None,
        }
    }

    /// Returns the directory of the journal's image; `None` without an external journal.
    pub fn journal_directory(&self) -> Option<&Path> {
        let journal = self.journal.as_ref()?;
        Some(journal.directory.as_deref().unwrap_or(&self.directory))
    }

    /// Checks the fields for contradictions. A spec that was parsed from a word is always valid.
    ///
    /// # Errors
    /// Returns the first contradiction as an error.
    pub fn validate(&self) -> Result<(), InvalidMakeSpec> {
        let kind = self.kind.name();
        let min_bytes = self.kind.size_bytes_min();
        if !(min_bytes..=SIZE_BYTES_MAX).contains(&self.size_bytes) {
            return Err(invalid!(
                "invalid size of {} bytes for {kind}: expected {min_bytes} to {SIZE_BYTES_MAX} \
                 bytes",
                self.size_bytes
            ));
        }
        if !self.kind.has_image() {
            for (key, is_given) in [
                ("mkfs", !self.mkfs_words.is_empty()),
                ("discard", self.discard),
                ("direct", self.direct),
            ] {
                if is_given {
                    return Err(invalid!(
                        "{kind} has no '{key}': it lies in memory (leave it out, or use a kind \
                         with an image)"
                    ));
                }
            }
        }
        if let Some(journal) = &self.journal {
            let Some(possible) = self.kind.journal_bytes() else {
                return Err(invalid!(
                    "{kind} has no 'journal': it has no external journal (leave it out, or use \
                     ext3, ext4 or xfs)"
                ));
            };
            if !possible.contains(&journal.size_bytes) {
                return Err(invalid!(
                    "invalid journal of {} bytes for {kind}: expected {} to {} bytes",
                    journal.size_bytes,
                    possible.start(),
                    possible.end()
                ));
            }
        }
        if let Some(percent) = self
            .fullness_percent
            .filter(|percent| !(1..=95).contains(percent))
        {
            return Err(invalid_fullness(&percent));
        }
        self.check_paths()?;
        self.check_words()
    }

    fn check_paths(&self) -> Result<(), InvalidMakeSpec> {
        let of_journal = self
            .journal
            .as_ref()
            .and_then(|journal| journal.directory.as_ref());
        for (key, path) in [("in", Some(&self.directory)), ("journal-in", of_journal)] {
            let Some(path) = path else { continue };
            if !path.is_absolute() {
                let path = path.display();
                return Err(invalid!(
                    "invalid {key} '{path}': expected an absolute path"
                ));
            }
            if path.to_string_lossy().contains(char::is_control) {
                return Err(control_character(key));
            }
        }
        Ok(())
    }

    /// Refuses words of the user that would make mkfs or mount use a device or a file that this
    /// program did not make.
    fn check_words(&self) -> Result<(), InvalidMakeSpec> {
        for word in &self.mkfs_words {
            if word.contains(char::is_control) {
                return Err(control_character("mkfs"));
            }
            let names_device = ["device=", "logdev", "rtdev", "name=", "file="];
            if word.is_empty()
                || word.contains('/')
                || names_device.iter().any(|name| word.contains(name))
            {
                return Err(invalid!(
                    "mkfs word '{word}' names a device or a path (only images are formatted; for \
                     an external journal use journal=SIZE)"
                ));
            }
        }
        mkfs_words::check(self.kind, &self.mkfs_words)?;
        for option in &self.mount_options {
            if option.contains(char::is_control) {
                return Err(control_character("mount"));
            }
            let refused =
                |why: &str| Err(invalid!("mount option '{option}' cannot be used: {why}"));
            if option.is_empty() || option.contains(',') {
                return refused("expected one option (write options with a comma between)");
            }
            if option.contains('/') {
                return refused("it names a path (remove it)");
            }
            let name = option.split('=').next().unwrap_or_default();
            let name = name.to_ascii_lowercase();
            if let Some((_, why)) = MOUNT_OPTIONS_REFUSED
                .iter()
                .find(|(refused, _)| *refused == name)
            {
                return refused(why);
            }
            if self.kind == FileSystemKind::Tmpfs && ["size", "nr_blocks"].contains(&name.as_str())
            {
                return refused("the size is that of the key 'size' (use size=BYTES)");
            }
            if name.starts_with("x-")
                || ["lowerdir", "upperdir", "workdir"].contains(&name.as_str())
            {
                return refused("the program sets it, or mount keeps it for itself (remove it)");
            }
        }
        Ok(())
    }
}
