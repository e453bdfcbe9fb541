//! The mkfs options that a study may use: options that affect only the image.
//!
//! All other options are refused. Examples are options that
//! - copy files into the file system (`mke2fs -d`, `mkfs.btrfs --rootdir`, `mkfs.xfs -p`),
//! - read a list or settings from a file (`mke2fs -l`, `mkfs.xfs -c`),
//! - write to a file (`mke2fs -z`), or
//! - add devices (`mkfs.f2fs -c`).

use crate::invalid::InvalidMakeSpec;
use crate::kind::FileSystemKind;

/// The allowed options of a program, according to its manual.
struct Options {
    /// Letters of the short options: those without a value, and those with a value.
    short: (&'static str, &'static str),
    /// Names of the long options: those without a value, and those with a value.
    long: (&'static str, &'static str),
}

/// Options of mke2fs(8) of e2fsprogs 1.47.
const EXT: Options = Options {
    short: ("DFKSVcjnqv", "CEGIJLMNORTUbegimorst"),
    long: ("", ""),
};
/// Options of mkfs.xfs(8) of xfsprogs 6.1. `MakeSpec::check_words` refuses values that name a
/// device or a file.
const XFS: Options = Options {
    short: ("CKNVfq", "Lbdilmnrs"),
    long: ("", ""),
};
/// Options of mkfs.btrfs(8) of btrfs-progs 6.2.
const BTRFS: Options = Options {
    short: ("KMVfqv", "ALORUbdlmns"),
    long: (
        "force mixed nodiscard quiet verbose version",
        "alloc-start byte-count checksum csum data features label leafsize metadata nodesize \
         runtime-features sectorsize uuid",
    ),
};
/// Options of mkfs.f2fs(8) of f2fs-tools 1.15.
const F2FS: Options = Options {
    short: ("Vfhimqr", "CEORSTUadeglostwz"),
    long: ("", ""),
};
/// Options of mkfs.nilfs2(8) of nilfs-tools 2.2.
const NILFS2: Options = Options {
    short: ("KVcfhnqv", "BLOPbm"),
    long: ("", ""),
};

/// Refuses words that are neither allowed options nor values of allowed options.
pub(crate) fn check(kind: FileSystemKind, words: &[String]) -> Result<(), InvalidMakeSpec> {
    let options = match kind.on_image() {
        FileSystemKind::Tmpfs | FileSystemKind::Overlay => return Ok(()),
        FileSystemKind::Ext2 | FileSystemKind::Ext3 | FileSystemKind::Ext4 => &EXT,
        FileSystemKind::Xfs => &XFS,
        FileSystemKind::Btrfs => &BTRFS,
        FileSystemKind::F2fs => &F2FS,
        FileSystemKind::Nilfs2 => &NILFS2,
    };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let has_value = options.takes_value(word).ok_or_else(|| {
            let program = kind.mkfs().map_or("mkfs", |(program, _)| program);
            invalid!(
                "mkfs word '{word}' cannot be used: {program} is given only options that touch \
                 nothing but the image (remove it)"
            )
        })?;
        if has_value {
            // A missing value is not an error here. mkfs reports it.
            words.next();
        }
    }
    Ok(())
}

impl Options {
    /// Whether the next word is the value of this option. Returns `None` if the option is not
    /// allowed.
    fn takes_value(&self, word: &str) -> Option<bool> {
        if let Some(long) = word.strip_prefix("--") {
            let (name, value) = long
                .split_once('=')
                .map_or((long, None), |(name, value)| (name, Some(value)));
            // Abbreviated names are refused, because they could match an option that is not
            // allowed.
            let has = |names: &str| names.split_whitespace().any(|known| known == name);
            return match value {
                None if has(self.long.0) => Some(false),
                _ if has(self.long.1) => Some(value.is_none()),
                _ => None,
            };
        }
        let letters = word
            .strip_prefix('-')
            .filter(|letters| !letters.is_empty())?;
        for (at, letter) in letters.char_indices() {
            if self.short.1.contains(letter) {
                // The rest of the word is the value; without a rest, the next word is the value.
                return Some(letters[at + letter.len_utf8()..].is_empty());
            }
            if !self.short.0.contains(letter) {
                return None;
            }
        }
        Some(false)
    }
}
