//! The command lines of mkfs.
//!
//! Nothing is left to be initialised later, in the middle of a run (mke2fs(8): `lazy_itable_init`,
//! `lazy_journal_init`). The identity of a file system stays over its remaking, and the seed of
//! ext's hashes, which decides the order of directory entries, is one for all, so that cells that
//! are compared start alike.

use std::ffi::OsString;

use crate::kind::FileSystemKind;
use crate::spec::MakeSpec;

/// The seed of the hashes of all ext file systems that are made.
const HASH_SEED: &str = "9c4d8be1-6a39-4f0e-8f5d-2b7b1a6e3c50";
/// The block of an ext with an external journal, which must be the same for both.
const JOURNAL_BLOCK: &str = "4096";

/// The devices, and what identifies them.
pub(crate) struct Devices<'a> {
    pub(crate) image: &'a str,
    pub(crate) journal: Option<&'a str>,
    pub(crate) uuid: &'a str,
    pub(crate) journal_uuid: &'a str,
}

/// Programs with their arguments, in the order in which they are run.
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
    // Without the option it discards, which would give the blocks of the image back.
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

/// Adds the words for mke2fs; gives those that make the external journal, which come first.
fn format_ext(
    spec: &MakeSpec,
    devices: &Devices,
    words: &mut Vec<String>,
) -> Option<Vec<OsString>> {
    // A second -E would replace the first one: the user's words follow ours in one.
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

/// The options of mount on the image.
pub(crate) fn mount_options(spec: &MakeSpec, journal: Option<&str>) -> Vec<String> {
    // The user's options are those of the overlay itself, not of what lies below.
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
        // Their default discards where the device can.
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

/// The values of `-E`, and the other words.
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

/// The block that the user's words give an ext.
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
    fn extended_options_of_the_user_follow_ours_in_one() {
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
    fn journal_and_file_system_have_one_block() {
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
    fn discard_is_off_unless_it_is_asked_for() {
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
