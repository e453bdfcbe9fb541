//! The mark that a run leaves before its first file: what it may make, so that anybody can remove it later.
//!
//! A manifest is made exclusively, is on disk (with its directory) before the first file, and stays locked as
//! long as its run lives. One that is locked belongs to a run that goes on; one that is not, to a run that was killed.
//!
//! What it says is believed where the file system says that this user made it in this directory, and not otherwise:
//! anybody can write a file of this name.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::fs::{
    AtFlags, FileType, FlockOperation, Mode, OFlags, RenameFlags, Stat, StatxFlags, fchmod, flock, fstat, fsync,
    linkat, openat, renameat, renameat_with, statat, statx, unlinkat,
};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use workload::layout::Layout;
use workload::names::Names;

use super::before::{Before, for_each_name};
use super::ownership::{Makes, READ_OR_WRITE, Stamp};
use super::removal::running_number;

/// The manifest's name, in the directory that holds the files.
pub const NAME: &str = ".postmark-manifest.json";
/// What the names of manifests that are being written begin with; the process's number and the moment at which its run
/// began follow.
const DRAFT_PREFIX: &str = ".postmark-manifest.json.";
/// What the text of every manifest begins with, also of one that was not written to its end.
const TEXT_BEGINS: &[u8] = b"{\n  \"postmark_manifest\": ";

/// The version of the manifests that this program writes.
const VERSION: u32 = 1;
/// No manifest is larger: 4,096 workers with a kept pool each take less than a tenth of it.
const BYTES_MAX: u64 = 8 << 20;
/// Other locations of the run are listed up to so many bytes: every location's manifest lists all others.
const OTHERS_BYTES_MAX: usize = 16 << 10;
/// Files that the run makes beside a manifest that has only its name are not older than this.
const CLAIM_LIVES: Duration = Duration::from_secs(2);
/// The mode of new files is this without the process's mask, or what the file system gives instead.
const DRAFT_MODE: u32 = 0o666;
/// What others may not do to a manifest.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// What kind of directory a manifest lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    /// A directory that the run made for itself.
    OwnDirectory,
    /// The user's own directory: the files lie beside whatever else is there.
    Location,
}

/// What a run says of itself before it makes its first file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    pub postmark_manifest: u32,
    pub tool: String,
    pub kind: Kind,
    pub process: u32,
    pub host: String,
    pub began_unix_ns: u64,
    /// The files have running numbers from 1 to this as names.
    pub numbers_max: u64,
    /// With more than one, the files lie in `s0` and so on, which the run makes.
    pub subdirectories: u32,
    /// With more than one, each has a directory of its own: `w0` and so on.
    #[serde(default)]
    pub workers: u32,
    /// How the files and directories of a mix are called; nothing in a classic run.
    #[serde(default)]
    pub mix: Option<MixNames>,
    /// What all of its files have in common.
    pub makes: Makes,
    /// The number of the directory that it was written in, by which a copy elsewhere is known.
    pub directory_inode: u64,
    /// When the run began, where this manifest was written later in the place of another.
    #[serde(default)]
    pub born: Option<Stamp>,
    /// Where the run shows signs of life.
    #[serde(default)]
    pub life: Option<String>,
    /// Whether the pool was left for a later run, and how far its workers had come.
    #[serde(default)]
    pub kept: Option<Kept>,
    /// The user's directory before the run.
    pub before: Before,
    /// The directories that the same run uses besides, the first few of them, and how many more there are.
    pub others: Vec<String>,
    #[serde(default)]
    pub others_more: u64,
}

/// How a mix calls what it makes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MixNames {
    pub layout: Layout,
    pub names: Names,
}

/// A pool that was left for a later run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Kept {
    /// What the pool was made of, in a fixed form: seed and all.
    pub pool: String,
    /// The workload without its number of transactions, in a fixed form.
    pub workload: String,
    /// How much of each worker's stream the pool has behind it.
    pub positions: Vec<Position>,
    /// How many files, links and directories there are.
    pub names: u64,
    /// When it was left, in nanoseconds of the epoch: what was made later is somebody else's.
    pub left_ns: i64,
    /// By how much the wall clock was set back until then.
    #[serde(default)]
    pub set_back_ns: i64,
}

/// How far a worker's stream was performed when its pool was left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Position {
    /// Transactions that had begun.
    pub transactions: u64,
    /// Intents of transactions that were performed.
    pub intents: u64,
}

/// A manifest that is there.
#[derive(Debug)]
pub(crate) enum Found {
    /// Whole and ours, and its lock is ours now.
    Abandoned(Box<Manifest>, File),
    /// Its run goes on.
    Active(Option<Box<Manifest>>),
    /// Its run's process, which this is, is gone, and another one has the lock: it cleans, or takes a pool that was kept.
    InHands(u32),
    /// Ours, and not whole: its run was killed before it had made anything.
    Unfinished(File),
    /// Not one that is believed, and why.
    Foreign(String),
}

/// The name of the directory of a worker that has one of its own.
pub(crate) fn worker_directory(worker: u32) -> String {
    format!("w{worker}")
}

impl Manifest {
    pub(crate) fn version() -> u32 {
        VERSION
    }

    /// Writes the manifest into a directory, durably, and keeps it locked by the file that is given back. It is
    /// whole and locked before it gets its name, so that nobody ever finds it otherwise. The modes of the run's files are
    /// filled in, by what the file system gives to this one.
    pub(crate) fn write(&mut self, directory: impl AsFd) -> Result<File, Errno> {
        let mut tries_left = 10;
        loop {
            match self.write_as(&directory, |draft, file| name(&directory, draft, file)) {
                // Until the draft is locked, `clean` in another process namespace takes it for one of a run that was killed.
                Err(Errno::NOENT | Errno::WOULDBLOCK) if tries_left > 0 => tries_left -= 1,
                written => return written,
            }
        }
    }

    /// Writes the manifest in the place of the one that is there, durably; it stays locked by the file that is given back.
    pub(crate) fn rewrite(&mut self, directory: impl AsFd) -> Result<File, Errno> {
        self.write_as(&directory, |draft, file| {
            renameat(&directory, draft, &directory, NAME).map(|()| file)
        })
    }

    fn write_as(
        &mut self,
        directory: impl AsFd,
        name: impl FnOnce(&str, File) -> Result<File, Errno>,
    ) -> Result<File, Errno> {
        let draft = format!("{DRAFT_PREFIX}{}-{}", self.process, self.began_unix_ns);
        let mut file = File::from(openat(&directory, &draft, CREATE, Mode::from_raw_mode(DRAFT_MODE))?);
        let written = self
            .fill(&directory, &mut file)
            .and_then(|()| name(&draft, file))
            .and_then(|file| sync_directory(&directory).map(|()| file));
        written.inspect_err(|_| {
            // Nothing was made yet, or the manifest that was there is there still. Where the draft cannot be removed,
            // `clean` will.
            let _ = unlinkat(&directory, &draft, AtFlags::empty());
        })
    }

    fn fill(&mut self, directory: impl AsFd, file: &mut File) -> Result<(), Errno> {
        if matches!(lock(file)?, Lock::Others) {
            return Err(Errno::WOULDBLOCK);
        }
        let given = fstat(&*file)?.st_mode & 0o7777;
        // Of a pool that an earlier run has kept, the files that are there have its modes.
        for mode in self.makes.modes.clone() {
            let mode = mode_given(given, mode);
            if !self.makes.modes.contains(&mode) {
                self.makes.modes.push(mode);
            }
        }
        for mode in self.makes.directory_modes.clone() {
            let mode = mode_given(given, mode) & READ_OR_WRITE;
            if !self.makes.directory_modes.contains(&mode) {
                self.makes.directory_modes.push(mode);
            }
        }
        if given & WRITABLE_BY_OTHERS != 0 {
            // A file system whose modes are fixed refuses, and there its owner cannot help it.
            let _ = fchmod(&*file, Mode::from_raw_mode(given & !WRITABLE_BY_OTHERS));
        }
        self.directory_inode = fstat(directory)?.st_ino;
        let text = serde_json::to_vec_pretty(self).unwrap_or_default();
        file.write_all(&text)
            .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        fsync(file)
    }

    /// The manifest of a directory, if it has one.
    pub(crate) fn find(directory: impl AsFd) -> Result<Option<Found>, Errno> {
        let mut tries_left = 10;
        let (mut file, locked) = loop {
            let file = match open(&directory, NAME) {
                Ok(file) => file,
                Err(Errno::NOENT) => return Ok(None),
                Err(Errno::LOOP) => return Ok(Some(Found::Foreign("it is a symbolic link".to_owned()))),
                Err(errno) => return Err(errno),
            };
            if let Err(why) = is_made_by_us(&directory, &file)? {
                return Ok(Some(Found::Foreign(why)));
            }
            let locked = lock(&file)?;
            tries_left -= 1;
            // Else another one was put in its place meanwhile. Some file systems number their files anew all the time.
            if tries_left == 0 || is_named(&directory, &file)? {
                break (file, locked);
            }
        };
        let size = fstat(&file)?.st_size as u64;
        if size > BYTES_MAX {
            return Ok(Some(Found::Foreign(format!(
                "it has {size} bytes, more than any manifest"
            ))));
        }
        let mut text = Vec::new();
        let read = file.read_to_end(&mut text);
        read.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        let parsed = serde_json::from_slice::<Self>(&text).map(Box::new);
        let is_active = match locked {
            Lock::Ours => false,
            Lock::Others => true,
            Lock::Unknown => parsed.as_ref().is_ok_and(|manifest| manifest.seems_alive()),
        };
        if is_active {
            let parsed = parsed.ok();
            let gone = parsed.as_ref().filter(|manifest| !manifest.seems_alive());
            return Ok(Some(match gone {
                Some(manifest) => Found::InHands(manifest.process),
                None => Found::Active(parsed),
            }));
        }
        let manifest = match parsed {
            Ok(manifest) => manifest,
            Err(error) if is_cut_short(&text) && error.is_eof() => return Self::unfinished(&directory, file),
            Err(error) => return Ok(Some(Found::Foreign(format!("it cannot be understood: {error}")))),
        };
        if manifest.postmark_manifest != VERSION {
            let version = manifest.postmark_manifest;
            return Ok(Some(Found::Foreign(format!(
                "it has version {version}: use the version of postmark that made it"
            ))));
        }
        let here = fstat(&directory)?.st_ino;
        if manifest.directory_inode != here && !numbers_its_files_anew(&directory) {
            return Ok(Some(Found::Foreign(
                "it was made for another directory, and this is a copy of it".to_owned(),
            )));
        }
        Ok(Some(Found::Abandoned(manifest, file)))
    }

    /// A manifest that was not written to its end. A name that was claimed a moment ago may be a run's that is about to
    /// begin; and a run that was killed at this point has made nothing yet.
    fn unfinished(directory: impl AsFd, file: File) -> Result<Option<Found>, Errno> {
        let facts = statx(&file, "", AtFlags::EMPTY_PATH, StatxFlags::BASIC_STATS)?;
        let age = now_s().saturating_sub(facts.stx_ctime.tv_sec);
        if (0..CLAIM_LIVES.as_secs() as i64).contains(&age) {
            return Ok(Some(Found::Active(None)));
        }
        let mut holds_more = false;
        for_each_name(directory, |name| {
            holds_more |= running_number(name.strip_prefix(b"s").or(name.strip_prefix(b"w")).unwrap_or(name)).is_some();
            Ok(())
        })?;
        Ok(Some(match holds_more {
            true => Found::Foreign("it is not whole, and there are files that a run may have made".to_owned()),
            false => Found::Unfinished(file),
        }))
    }

    /// Lists other locations of the run, as many as there is room for.
    pub(crate) fn list_others(&mut self, others: impl Iterator<Item = String>) {
        let mut bytes = 0;
        for other in others {
            bytes += other.len();
            if bytes <= OTHERS_BYTES_MAX {
                self.others.push(other);
            } else {
                self.others_more += 1;
            }
        }
    }

    /// Who has the manifest that lies in a directory: the owner of all files of its run.
    pub(crate) fn owner(directory: impl AsFd) -> Result<u32, Errno> {
        let facts = statat(directory, NAME, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(facts.st_uid)
    }

    /// Whether the run may still go on, as far as locks do not tell: its process is there, or was on another machine.
    fn seems_alive(&self) -> bool {
        let here = rustix::system::uname().nodename().to_string_lossy() == self.host;
        !here || is_alive(self.process)
    }
}

/// Whether a process is there and seems to be one of this program.
pub(crate) fn is_alive(process: u32) -> bool {
    let Some(pid) = i32::try_from(process).ok().and_then(rustix::process::Pid::from_raw) else {
        return false;
    };
    if rustix::process::test_kill_process(pid) == Err(Errno::SRCH) {
        return false;
    }
    let name = |who: &str| std::fs::read(format!("/proc/{who}/comm")).ok();
    match (name("self"), name(&process.to_string())) {
        (Some(own), Some(its)) => own == its,
        _ => true,
    }
}

fn now_s() -> i64 {
    rustix::time::clock_gettime(rustix::time::ClockId::Realtime).tv_sec
}

/// The mode of a file that is made with `asked`, where the system gave `given` to one that was made with [`DRAFT_MODE`].
fn mode_given(given: u32, asked: u32) -> u32 {
    if given & !DRAFT_MODE == 0 { given & asked } else { given }
}

/// Whether a file in a directory is one that this user has made there, as far as the file system knows; and if not, why.
fn is_made_by_us(directory: impl AsFd, file: &File) -> Result<Result<(), String>, Errno> {
    let facts = fstat(file)?;
    if FileType::from_raw_mode(facts.st_mode) != FileType::RegularFile {
        return Ok(Err("it is no regular file".to_owned()));
    }
    if facts.st_nlink > 1 {
        return Ok(Err("it has other names besides, and was made elsewhere".to_owned()));
    }
    let me = rustix::process::geteuid().as_raw();
    let mode = facts.st_mode & 0o7777;
    if facts.st_uid == me && mode & WRITABLE_BY_OTHERS == 0 {
        return Ok(Ok(()));
    }
    match probe(&directory) {
        Some((owner, given)) if owner == facts.st_uid && given == mode => Ok(Ok(())),
        _ if facts.st_uid != me => {
            let owner = facts.st_uid;
            Ok(Err(format!(
                "it belongs to user {owner}, and this is user {me}: only its owner can clean, as with 'sudo -u #{owner}'"
            )))
        }
        _ => Ok(Err(format!(
            "its mode is {mode:04o}, so that others may have written it"
        ))),
    }
}

/// The owner and the mode that a manifest gets that this process makes in a directory, where its file system may give other
/// ones than were asked for. The directory's times stay as they are.
fn probe(directory: impl AsFd) -> Option<(u32, u32)> {
    /// FUSE, NFS, SMB and CIFS, 9p, FAT, exFAT, NTFS (magic.h of Linux, and the file systems' own headers).
    const GIVE_THEIR_OWN: [rustix::fs::FsWord; 9] = [
        FUSE_SUPER_MAGIC,
        0x6969,
        0xfe53_4d42,
        0xff53_4d42,
        0x0102_1997,
        0x4d44,
        0x2011_bab0,
        0x5346_544e,
        0x7366_746e,
    ];
    let kind = rustix::fs::fstatfs(&directory).ok()?.f_type;
    if !GIVE_THEIR_OWN.contains(&kind) {
        return None;
    }
    let before = Before::read(&directory, |_| ()).ok()?;
    let draft = format!("{DRAFT_PREFIX}{}-0", std::process::id());
    let file = openat(&directory, &draft, CREATE, Mode::from_raw_mode(DRAFT_MODE)).ok()?;
    let mode_of = |facts: Stat| facts.st_mode & 0o7777;
    let given = fstat(&file).map(mode_of).unwrap_or_default();
    let _ = fchmod(&file, Mode::from_raw_mode(given & !WRITABLE_BY_OTHERS));
    let probed = fstat(&file).map(|facts| (facts.st_uid, mode_of(facts)));
    unlinkat(&directory, &draft, AtFlags::empty()).ok()?;
    // Where that is somebody else's right the times are true.
    let _ = before.restore(&directory);
    probed.ok()
}

/// The magic number of FUSE file systems (linux/magic.h).
const FUSE_SUPER_MAGIC: rustix::fs::FsWord = 0x6573_5546;
/// The same of NFS.
const NFS_SUPER_MAGIC: rustix::fs::FsWord = 0x6969;

/// Whether a directory's file system gives other numbers to the same files after it was mounted again: FUSE.
fn numbers_its_files_anew(directory: impl AsFd) -> bool {
    rustix::fs::fstatfs(directory).is_ok_and(|facts| facts.f_type == FUSE_SUPER_MAGIC)
}

/// Whether a text may be the first part of a manifest's.
fn is_cut_short(text: &[u8]) -> bool {
    let length = text.len().min(TEXT_BEGINS.len());
    text[..length] == TEXT_BEGINS[..length]
}

/// How drafts are made.
const CREATE: OFlags = OFlags::RDWR
    .union(OFlags::CREATE)
    .union(OFlags::EXCL)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// Gives a draft its name, unless there is a manifest already; it stays locked by the file that is given back.
fn name(directory: impl AsFd, draft: &str, file: File) -> Result<File, Errno> {
    let lacks = |errno| {
        matches!(
            errno,
            Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP | Errno::PERM | Errno::MLINK
        )
    };
    match renameat_with(&directory, draft, &directory, NAME, RenameFlags::NOREPLACE) {
        Err(errno) if lacks(errno) => {}
        answer => return answer.map(|()| file),
    }
    // A file system that cannot rename like that can have two names for a file.
    match linkat(&directory, draft, &directory, NAME, AtFlags::empty()) {
        Ok(()) => return rename_closed(&directory, draft, file),
        Err(errno) if lacks(errno) => {}
        Err(errno) => return Err(errno),
    }
    // One that can do neither (FUSE) can make a file that is not there: whoever has made the name may replace what it has.
    drop(openat(&directory, NAME, CREATE, Mode::from_raw_mode(DRAFT_MODE))?);
    let renamed = renameat(&directory, draft, &directory, NAME).inspect_err(|_| {
        let _ = unlinkat(&directory, NAME, AtFlags::empty());
    });
    renamed.map(|()| file)
}

/// Takes the draft's name from a file that has the manifest's, too. It is closed then: of a file that is open, NFS and FUSE keep a removed name under
/// another one.
fn rename_closed(directory: impl AsFd, draft: &str, file: File) -> Result<File, Errno> {
    let number = fstat(&file)?.st_ino;
    drop(file);
    unlinkat(&directory, draft, AtFlags::empty())?;
    let named = open(&directory, NAME)?;
    let is_ours = fstat(&named)?.st_ino == number || numbers_its_files_anew(&directory);
    match lock(&named)? {
        Lock::Ours | Lock::Unknown if is_ours => Ok(named),
        // Somebody has taken it in between.
        _ => Err(Errno::WOULDBLOCK),
    }
}

/// How NFS and FUSE call files that were removed while they were open, until they are closed.
const REMOVED_OPEN: [&[u8]; 2] = [b".nfs", b".fuse_hidden"];
/// A file that was closed is gone after this, or stays.
const TO_BE_GONE: Duration = Duration::from_secs(1);

/// Waits until what was removed while it was open, and has been closed just now, is gone from the directory.
pub(crate) fn wait_for_closed(directory: impl AsFd) {
    let kind = rustix::fs::fstatfs(&directory).map_or(0, |facts| facts.f_type);
    let is_there = || {
        let mut is_there = false;
        let listed = for_each_name(&directory, |name| {
            is_there |= REMOVED_OPEN.iter().any(|begins| name.starts_with(begins));
            Ok(())
        });
        listed.is_ok() && is_there
    };
    let began = Instant::now();
    while [FUSE_SUPER_MAGIC, NFS_SUPER_MAGIC].contains(&kind) && began.elapsed() < TO_BE_GONE && is_there() {
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Whether the manifest's name still leads to this file.
fn is_named(directory: impl AsFd, file: &File) -> Result<bool, Errno> {
    let held = fstat(file)?;
    match statat(&directory, NAME, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(named) => Ok((named.st_dev, named.st_ino) == (held.st_dev, held.st_ino)),
        Err(Errno::NOENT) => Ok(false),
        Err(errno) => Err(errno),
    }
}

/// Opens a manifest for locking: network file systems give exclusive locks to writers only.
fn open(directory: impl AsFd, name: &str) -> Result<File, Errno> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = match openat(&directory, name, OFlags::RDWR | flags, Mode::empty()) {
        Err(Errno::ACCESS | Errno::PERM | Errno::ROFS) => {
            openat(&directory, name, OFlags::RDONLY | flags, Mode::empty())
        }
        opened => opened,
    };
    opened.map(File::from)
}

/// Whether a name is one of the marks that runs leave: a manifest, or the draft of one.
pub(crate) fn is_mark(name: &[u8]) -> bool {
    name == NAME.as_bytes() || draft_process(name).is_some()
}

/// The process whose draft a name is.
fn draft_process(name: &[u8]) -> Option<u32> {
    let text = std::str::from_utf8(name.strip_prefix(DRAFT_PREFIX.as_bytes())?).ok()?;
    let (process, began) = text.split_once('-')?;
    running_number(began.as_bytes())?;
    u32::try_from(running_number(process.as_bytes())?).ok()
}

/// Removes the drafts of runs that were killed before they had made anything. Gives their names.
pub(crate) fn remove_drafts(directory: impl AsFd) -> Result<Vec<String>, Errno> {
    let mut drafts = Vec::new();
    for_each_name(&directory, |name| {
        if draft_process(name).is_some_and(|process| !is_alive(process)) {
            drafts.extend(std::str::from_utf8(name).map(str::to_owned));
        }
        Ok(())
    })?;
    let mut removed = Vec::new();
    for draft in drafts {
        // What cannot be opened, is locked or has other contents belongs to somebody else.
        if is_abandoned_draft(&directory, &draft) && unlinkat(&directory, draft.as_str(), AtFlags::empty()).is_ok() {
            removed.push(draft);
        }
    }
    Ok(removed)
}

fn is_abandoned_draft(directory: impl AsFd, draft: &str) -> bool {
    let Ok(file) = open(&directory, draft) else {
        return false;
    };
    let mut text = Vec::new();
    matches!(is_made_by_us(&directory, &file), Ok(Ok(())))
        && matches!(lock(&file), Ok(Lock::Ours | Lock::Unknown))
        && file.take(TEXT_BEGINS.len() as u64).read_to_end(&mut text).is_ok()
        && is_cut_short(&text)
}

/// Whose a manifest's lock is.
enum Lock {
    Ours,
    Others,
    /// The file system has no locks.
    Unknown,
}

fn lock(file: &File) -> Result<Lock, Errno> {
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Lock::Ours),
        Err(Errno::WOULDBLOCK) => Ok(Lock::Others),
        Err(Errno::NOLCK | Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL | Errno::BADF) => Ok(Lock::Unknown),
        Err(errno) => Err(errno),
    }
}

/// Puts a directory's names on disk, where its file system lets a directory be synced.
pub(crate) fn sync_directory(directory: impl AsFd) -> Result<(), Errno> {
    match fsync(directory) {
        Err(Errno::INVAL | Errno::OPNOTSUPP) => Ok(()),
        answer => answer,
    }
}
