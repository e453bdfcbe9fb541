//! The manifest of a directory: proof that this program made what lies in it, and, by its lock,
//! that the maker lives.
//!
//! It is on disk before an image, a loop device or a mount is made, and is removed last. Its first
//! line says whose it is. Each other line says what is going to be made, what was made with its
//! identity, or what was removed; a file is empty until its identity is on disk. A manifest is
//! believed only where it is a regular file with one name in the directory that it was written for,
//! and both belong to this user and can be written by nobody else.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Write};

use rustix::fs::{AtFlags, FileType, FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::directory::{Facts, Identity, MANIFEST, MadeDirectory, facts_of, maker_of};
use crate::error::MakeError;
use crate::owned::Owned;

/// What a directory has of a made file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Part {
    /// Its mounts and its image.
    FileSystem,
    /// The image of its external journal.
    Journal,
}

/// The first line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Head {
    /// [`FORMAT`].
    pub(crate) format: String,
    /// The last part of the directory's name: one for all directories of a made file system.
    pub(crate) id: String,
    /// The maker's process.
    pub(crate) process: u32,
    /// What lies here.
    pub(crate) part: Part,
    /// What the maker calls it.
    pub(crate) name: String,
    /// The canonical word of what was asked.
    pub(crate) spec: String,
    /// The directory: a copy of it is not ours.
    pub(crate) directory: Option<Identity>,
    /// The path of the directory with the other part.
    pub(crate) other: Option<OsString>,
}

/// Another line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Entry {
    /// This name is going to be given to something empty.
    Intended(String),
    /// It was made.
    Made(String, Identity),
    /// It was removed.
    Removed(String),
}

pub(crate) const FORMAT: &str = "postmark-made-2";
/// More than a manifest has.
const BYTES_MAX: u64 = 4 << 20;

/// What was made in a directory, by name; without an identity where it may have been made.
pub(crate) type Account = BTreeMap<String, Option<Identity>>;

fn add(account: &mut Account, entry: Entry) {
    match entry {
        Entry::Intended(name) => drop(account.insert(name, None)),
        Entry::Made(name, identity) => drop(account.insert(name, Some(identity))),
        Entry::Removed(name) => drop(account.remove(&name)),
    }
}

/// A locked manifest with what it says.
#[derive(Debug)]
pub(crate) struct Manifest {
    pub(crate) head: Head,
    pub(crate) account: Account,
    pub(crate) file: File,
}

impl Manifest {
    /// Writes it to a new directory, durably.
    pub(crate) fn create(directory: &MadeDirectory, mut head: Head) -> Result<Self, MakeError> {
        let error =
            |errno: Errno| MakeError::io("create the manifest", &directory.at(MANIFEST), errno);
        head.directory = Some(directory.facts().map_err(error)?.identity);
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::APPEND;
        let mode = Mode::from_raw_mode(0o600);
        let file = rustix::fs::openat(directory.held(), MANIFEST, flags, mode).map_err(error)?;
        let file = File::from(file);
        rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).map_err(error)?;
        let manifest = Self {
            head,
            account: Account::new(),
            file,
        };
        let written = manifest
            .write(directory, &manifest.head)
            .and_then(|()| directory.sync());
        if written.is_err() {
            // The error that is told is the first one.
            let _ = remove(directory, &manifest.file);
        }
        written.map(|()| manifest)
    }

    /// Adds a line, durably.
    pub(crate) fn add(&mut self, directory: &MadeDirectory, entry: Entry) -> Result<(), MakeError> {
        self.write(directory, &entry)?;
        add(&mut self.account, entry);
        Ok(())
    }

    fn write(&self, directory: &MadeDirectory, line: &impl Serialize) -> Result<(), MakeError> {
        let write = || -> std::io::Result<()> {
            let mut text = serde_json::to_vec(line)?;
            text.push(b'\n');
            let before = self.file.metadata()?.len();
            let written = (&self.file)
                .write_all(&text)
                .and_then(|()| self.file.sync_all());
            // A part of a line would spoil the next one.
            written.or_else(|error| self.file.set_len(before).and(Err(error)))
        };
        write()
            .map_err(|answer| MakeError::io("write the manifest", &directory.at(MANIFEST), answer))
    }
}

/// Removes a manifest, if its name is still that of the open file.
pub(crate) fn remove(directory: &MadeDirectory, file: &File) -> Result<(), Errno> {
    let Some(there) = directory.facts_in(MANIFEST)? else {
        return Ok(());
    };
    if there.identity != facts_of(file)?.identity {
        return Err(Errno::EXIST);
    }
    rustix::fs::unlinkat(directory.held(), MANIFEST, AtFlags::empty())
}

/// What a look into a directory finds.
#[derive(Debug)]
pub(crate) enum Look {
    /// It is not a directory of this form.
    Nothing,
    /// The maker lives, or a program that it started does.
    Active(Option<u32>),
    /// The maker was killed before the manifest was whole: nothing was made after it. The file is
    /// locked, where there is one.
    Unfinished(MadeDirectory, Option<File>),
    /// The maker is gone.
    Abandoned(Box<Owned>),
    /// It is not believed: why not.
    Untrusted(String),
}

/// Looks at a directory by its manifest. One with a manifest may have been renamed.
pub(crate) fn look(directory: MadeDirectory) -> Result<Look, MakeError> {
    let error = |errno: Errno| MakeError::io("look at", directory.path(), errno);
    let maker = directory.path().file_name().and_then(maker_of);
    let facts = directory.facts().map_err(error)?;
    let manifest = directory.facts_in(MANIFEST).map_err(error)?;
    if maker.is_none() && manifest.is_none() {
        return Ok(Look::Nothing);
    }
    let user = rustix::process::geteuid().as_raw();
    if facts.owner != user {
        // Mounting needs root, so those of others are only called so: anybody can make a directory
        // of any name.
        return Ok(match facts.owner {
            0 => Look::Untrusted("it belongs to root (clean as root)".to_owned()),
            _ => Look::Nothing,
        });
    }
    if facts.mode & 0o022 != 0 {
        let why = "other users can write to the directory";
        return Ok(Look::Untrusted(why.to_owned()));
    }
    let process = maker.map(|(_, process)| process);
    let flags =
        OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::APPEND;
    let untrusted = |why: String| Ok(Look::Untrusted(format!("the manifest {why}")));
    let file = match rustix::fs::openat(directory.held(), MANIFEST, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(Errno::NOENT) if process.is_some_and(is_alive) => return Ok(Look::Active(process)),
        Err(Errno::NOENT) => return Ok(Look::Unfinished(directory, None)),
        Err(errno) => return untrusted(format!("cannot be opened: {errno}")),
    };
    let of_file = facts_of(&file).map_err(error)?;
    let is_plain = of_file.kind == FileType::RegularFile && of_file.links == 1;
    if !is_plain || of_file.owner != user || of_file.mode & 0o022 != 0 {
        return untrusted("is not a regular file of this user's alone".to_owned());
    }
    read(directory, &facts, file, process)
}

/// What the manifest of a directory says, whose maker has the number `process`.
fn read(
    directory: MadeDirectory,
    facts: &Facts,
    file: File,
    process: Option<u32>,
) -> Result<Look, MakeError> {
    let is_locked = rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_err();
    let mut text = Vec::new();
    (&file)
        .take(BYTES_MAX)
        .read_to_end(&mut text)
        .map_err(|error| MakeError::io("read", &directory.at(MANIFEST), error))?;
    let (first, rest) = match text.iter().position(|byte| *byte == b'\n') {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (&text[..], None),
    };
    let head: Option<Head> = serde_json::from_slice(first).ok();
    if is_locked {
        return Ok(Look::Active(head.map(|head| head.process).or(process)));
    }
    let of_other = |why: &str| Ok(Look::Untrusted(format!("the manifest {why}")));
    let Some((head, rest)) = head.zip(rest) else {
        return match rest {
            None if process.is_some_and(is_alive) => Ok(Look::Active(process)),
            None if process.is_some() && is_cut_short(first) => {
                Ok(Look::Unfinished(directory, Some(file)))
            }
            _ => of_other("is not one of this version of the program"),
        };
    };
    if head.format != FORMAT {
        return of_other("was written by another version of the program");
    }
    if head.directory != Some(facts.identity) {
        return of_other("was written for another directory: this one is a copy");
    }
    let mut account = Account::new();
    // The last line may have been cut short: what it was to say had not been done.
    let lines = rest.split_inclusive(|byte| *byte == b'\n');
    for line in lines.filter(|line| line.ends_with(b"\n")) {
        match serde_json::from_slice(line) {
            Ok(entry) => add(&mut account, entry),
            Err(_) => return of_other("has a line that is not understood"),
        }
    }
    let manifest = Manifest {
        head,
        account,
        file,
    };
    Ok(Look::Abandoned(Box::new(Owned {
        directory,
        manifest,
    })))
}

/// Whether a text can be the beginning of a first line that was not written to its end.
fn is_cut_short(text: &[u8]) -> bool {
    let error = serde_json::from_slice::<serde_json::Value>(text).err();
    error.is_none_or(|error| error.is_eof())
}

fn is_alive(process: u32) -> bool {
    let process = i32::try_from(process).ok();
    process
        .and_then(rustix::process::Pid::from_raw)
        .is_some_and(|process| rustix::process::test_kill_process(process) != Err(Errno::SRCH))
}

/// Whether what has a name is what was made under it.
pub(crate) fn is_ours(recorded: Option<Identity>, there: &Facts) -> bool {
    match recorded {
        Some(identity) => identity == there.identity,
        // The maker was killed in between: nothing is in it by then.
        None => {
            let is_empty = there.kind == FileType::Directory || there.bytes == 0;
            is_empty && there.owner == rustix::process::geteuid().as_raw()
        }
    }
}
