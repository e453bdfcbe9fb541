//! Generates the command lines of mkfs.
//!
//! The options switch off the initialisation that the kernel would otherwise perform during a run
//! (mke2fs(8): `lazy_itable_init`, `lazy_journal_init`). A file system keeps its identity when it
//! is remade. All ext file systems use one hash seed, because the seed determines the order of
//! directory entries. Compared configurations therefore start alike.

use std::ffi::OsString;

use crate::kind::FileSystemKind;
use crate::spec::MakeSpec;

/// A fixed seed for the directory hash of ext file systems, because the seed determines the order
/// of directory entries.
const HASH_SEED: &str = "9c4d8be1-6a39-4f0e-8f5d-2b7b1a6e3c50";
/// Default block size in bytes of an ext file system with an external journal. The journal must
/// have the same block size.
const JOURNAL_BLOCK: &str = "4096";

/// The devices to be formatted, and the UUIDs that mkfs assigns to the file system and to its
/// external journal.
pub(crate) struct Devices<'a> {
    pub(crate) image: &'a str,
    pub(crate) journal: Option<&'a str>,
    pub(crate) uuid: &'a str,
    pub(crate) journal_uuid: &'a str,
}

/// Returns the programs to be run, with their arguments, in order. For an ext file system with an
/// external journal, the program that formats the journal comes first.
pub(crate) fn commands(spec: &MakeSpec, devices: &Devices) -> Vec<(&'static str, Vec<OsString>)> {
    use FileSystemKind::{Btrfs, Ext2, Ext3, Ext4, F2fs, Nilfs2, Overlay, Tmpfs, Xfs};

    let kind = spec.kind.on_image();
    let Some((program, _)) = kind.mkfs() else {
        return Vec::new();
    };
    let mut commands = Vec::new();
    let mut words: Vec<String> = Vec::new();
    let identity = format!("uuid={}", devices.uuid);
    match kind {
        Tmpfs | Overlay => {}
        Ext2 | Ext3 | Ext4 => {
            let of_journal = format_ext(spec, devices, &mut words);
            commands.extend(of_journal.map(|of_journal| (program, of_journal)));
        }
        Xfs => add(&mut words, &["-f", "-q", "-m", &identity]),
        Btrfs => add(&mut words, &["-f", "-q", "-U", devices.uuid]),
        F2fs => {
            let discard = if spec.discard { "1" } else { "0" };
            add(&mut words, &["-f", "-q", "-t", discard]);
        }
        Nilfs2 => add(&mut words, &["-f", "-q"]),
    }
    // With `-K`, mkfs does not discard the device. A discard would deallocate the blocks of the
    // image.
    if !spec.discard && matches!(kind, Xfs | Btrfs | Nilfs2) {
        words.push("-K".to_owned());
    }
    if let (Xfs, Some(journal)) = (kind, devices.journal) {
        add(&mut words, &["-l", &format!("logdev={journal}")]);
    }
    if matches!(kind, Xfs | Btrfs | F2fs | Nilfs2) {
        words.extend(spec.mkfs_words.iter().cloned());
    }
    words.push(devices.image.to_owned());
    commands.push((program, words.into_iter().map(OsString::from).collect()));
    commands
}

fn add(words: &mut Vec<String>, more: &[&str]) {
    words.extend(more.iter().map(|word| (*word).to_owned()));
}

/// Adds the arguments of mke2fs. Returns the arguments for the external journal, which must be made
/// first.
fn format_ext(
    spec: &MakeSpec,
    devices: &Devices,
    words: &mut Vec<String>,
) -> Option<Vec<OsString>> {
    // A second option -E would replace the first one, so the user's values are appended to those of
    // this program.
    let (extended, others) = extended_options(&spec.mkfs_words);
    let discard = if spec.discard { "discard" } else { "nodiscard" };
    let mut own = format!("lazy_itable_init=0,lazy_journal_init=0,hash_seed={HASH_SEED},{discard}");
    for option in extended {
        own.push(',');
        own.push_str(&option);
    }
    add(words, &["-F", "-q", "-U", devices.uuid, "-E", &own]);
    let of_journal = devices.journal.map(|journal| {
        let block = block_of(&others).unwrap_or(JOURNAL_BLOCK).to_owned();
        let of_journal = [
            "-F",
            "-q",
            "-O",
            "journal_dev",
            "-b",
            &block,
            "-U",
            devices.journal_uuid,
            "-E",
            discard,
            journal,
        ];
        add(words, &["-b", &block, "-J", &format!("device={journal}")]);
        of_journal.map(OsString::from).to_vec()
    });
    words.extend(others);
    of_journal
}

/// Returns the mount options for the file system on the image.
pub(crate) fn mount_options(spec: &MakeSpec, journal: Option<&str>) -> Vec<String> {
    // For an overlay, the user's options apply to the overlay itself, not to the ext4 below it.
    let mut options = if spec.kind == FileSystemKind::Overlay {
        Vec::new()
    } else {
        spec.mount_options.clone()
    };
    let has = |options: &[String], name: &str| {
        options
            .iter()
            .any(|option| option.split('=').next() == Some(name))
    };
    if spec.discard {
        if !has(&options, "discard") {
            options.push("discard".into());
        }
    } else if matches!(spec.kind, FileSystemKind::Btrfs | FileSystemKind::F2fs)
        && !has(&options, "discard")
        && !has(&options, "nodiscard")
    {
        // Btrfs and F2FS discard by default if the device supports it.
        options.push("nodiscard".into());
    }
    if let Some(journal) = journal {
        let name = if spec.kind == FileSystemKind::Xfs {
            "logdev"
        } else {
            "journal_path"
        };
        options.push(format!("{name}={journal}"));
    }
    options
}

/// Separates the values of the options `-E` from the other arguments.
fn extended_options(words: &[String]) -> (Vec<String>, Vec<String>) {
    let (mut extended, mut others) = (Vec::new(), Vec::new());
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        match word.strip_prefix("-E") {
            Some("") if words.peek().is_some() => extended.extend(words.next().cloned()),
            Some(value) if !value.is_empty() => extended.push(value.to_owned()),
            _ => others.push(word.clone()),
        }
    }
    (extended, others)
}

/// Returns the block size that the user's arguments request for an ext file system.
fn block_of(words: &[String]) -> Option<&str> {
    let at = words.iter().rposition(|word| word.starts_with("-b"))?;
    match words[at].strip_prefix("-b") {
        Some("") => words.get(at + 1).map(String::as_str),
        value => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(word: &str, journal: Option<&str>) -> String {
        let spec: MakeSpec = word.parse().unwrap();
        let devices = Devices {
            image: "/dev/loop7",
            journal,
            uuid: "U",
            journal_uuid: "V",
        };
        let lines = commands(&spec, &devices)
            .into_iter()
            .map(|(program, words)| {
                let words = words.iter().map(|word| word.to_str().unwrap());
                std::iter::once(program)
                    .chain(words)
                    .collect::<Vec<_>>()
                    .join(" ")
            });
        lines.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn extended_options_of_the_user_follow_those_of_the_program() {
        assert_eq!(
            line("make:ext4?mkfs=-E stride=4 -I 256 -Eresize=8G", None),
            format!(
                "mkfs.ext4 -F -q -U U -E \
                 lazy_itable_init=0,lazy_journal_init=0,hash_seed={HASH_SEED},nodiscard,stride=4,\
                 resize=8G -I 256 /dev/loop7"
            )
        );
    }

    #[test]
    fn journal_and_file_system_use_the_same_block_size() {
        let lines = line("make:ext3?journal=64MiB&mkfs=-b 1024", Some("/dev/loop8"));
        assert_eq!(
            lines.lines().next(),
            Some("mkfs.ext3 -F -q -O journal_dev -b 1024 -U V -E nodiscard /dev/loop8")
        );
        assert!(
            lines.ends_with("-b 1024 -J device=/dev/loop8 -b 1024 /dev/loop7"),
            "{lines}"
        );
    }

    #[test]
    fn mkfs_and_mount_do_not_discard_unless_requested() {
        assert_eq!(
            line("make:xfs", None),
            "mkfs.xfs -f -q -m uuid=U -K /dev/loop7"
        );
        assert_eq!(
            line("make:xfs?discard", None),
            "mkfs.xfs -f -q -m uuid=U /dev/loop7"
        );
        assert_eq!(
            line("make:btrfs", None),
            "mkfs.btrfs -f -q -U U -K /dev/loop7"
        );
        let options = |word: &str| mount_options(&word.parse().unwrap(), None).join(",");
        assert_eq!(options("make:btrfs?mount=noatime"), "noatime,nodiscard");
        assert_eq!(options("make:btrfs?mount=discard=async"), "discard=async");
        assert_eq!(options("make:ext4?discard"), "discard");
        assert_eq!(options("make:overlay?mount=volatile"), "");
    }
}
