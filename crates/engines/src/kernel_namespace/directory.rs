//! A directory of a mounted file system that is held open.

use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use engine::Errno;
use engine::namespace::{ActingUser, Directory, Entry, EntryKind, Facts, Held, Lock, Mark, Stamp};
use rustix::fs::{AtFlags, Dir, Mode, OFlags, RenameFlags, Timespec, Timestamps};

use super::cached;
use super::facts::{facts_at, facts_of_open};
use super::mark::{CREATE, KernelMark, MARK_MODE};
use crate::acting_user::Acting;

#[derive(Clone, Debug)]
pub(super) struct KernelDirectory {
    pub(super) held: Arc<OwnedFd>,
    pub(super) acts_as: Option<ActingUser>,
}

pub(super) const OPEN: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC);
const OPEN_FILE: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK);
/// Magic number of FUSE file systems (linux/magic.h).
const FUSE_SUPER_MAGIC: rustix::fs::FsWord = 0x6573_5546;
/// Magic number of NFS (linux/magic.h).
const NFS_SUPER_MAGIC: rustix::fs::FsWord = 0x6969;

impl KernelDirectory {
    /// Returns a guard: until it is dropped, this thread makes calls as the user in `acts_as`.
    fn acting(&self) -> Result<Acting, Errno> {
        Acting::begin(self.acts_as)
    }

    /// Wraps an opened directory, which is used with the same rights as `self`.
    fn beside(&self, opened: Result<OwnedFd, Errno>) -> Result<Arc<dyn Directory>, Errno> {
        let held = Arc::new(opened?);
        Ok(Arc::new(Self {
            held,
            acts_as: self.acts_as,
        }))
    }

    fn open_at(&self, name: &[u8], flags: OFlags) -> Result<OwnedFd, Errno> {
        let flags = flags | OFlags::CLOEXEC;
        rustix::fs::openat(&self.held, OsStr::from_bytes(name), flags, Mode::empty())
    }

    /// Opens an entry without updating its access time if the user may do so (`O_NOATIME`).
    fn open_untraced(&self, name: &[u8], flags: OFlags) -> Result<OwnedFd, Errno> {
        match self.open_at(name, flags | OFlags::NOATIME) {
            Err(Errno::PERM) => self.open_at(name, flags),
            opened => opened,
        }
    }

    /// Creates a new file; fails if the name exists.
    fn create(&self, name: &str) -> Result<OwnedFd, Errno> {
        rustix::fs::openat(&self.held, name, CREATE, Mode::from_raw_mode(MARK_MODE))
    }

    fn mark_of(&self, file: impl Into<File>, name: &str) -> Box<dyn Mark> {
        Box::new(KernelMark {
            file: file.into(),
            directory: Arc::clone(&self.held),
            name: name.to_owned(),
        })
    }

    fn name_new(&self, draft: Box<dyn Mark>, name: &str) -> Result<Box<dyn Mark>, Errno> {
        let (directory, from) = (&*self.held, draft.name());
        let lacks = |errno| {
            matches!(
                errno,
                Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP | Errno::PERM | Errno::MLINK
            )
        };
        match rustix::fs::renameat_with(directory, from, directory, name, RenameFlags::NOREPLACE) {
            Err(errno) if lacks(errno) => {}
            renamed => return renamed.map(|()| draft),
        }
        // File systems without `RENAME_NOREPLACE` usually support hard links, and link(2) does not
        // replace an existing name either.
        match rustix::fs::linkat(directory, from, directory, name, AtFlags::empty()) {
            Err(errno) if lacks(errno) => {}
            linked => return linked.and_then(|()| self.rename_closed(draft, name)),
        }
        // Some FUSE file systems support neither `RENAME_NOREPLACE` nor hard links. On these file
        // systems, this process creates the name exclusively, and then renames the draft over the
        // created file.
        self.create(name)?;
        let renamed = rustix::fs::renameat(directory, from, directory, name).inspect_err(|_| {
            let _ = rustix::fs::unlinkat(directory, name, AtFlags::empty());
        });
        renamed.map(|()| draft)
    }

    /// Removes the draft's name from a file that now has the mark's name as well. The file is
    /// closed first, because NFS and FUSE do not remove a name of an open file, but rename it to a
    /// hidden name.
    fn rename_closed(&self, draft: Box<dyn Mark>, name: &str) -> Result<Box<dyn Mark>, Errno> {
        let (identity, from) = (draft.facts()?.identity, draft.name().to_owned());
        drop(draft);
        rustix::fs::unlinkat(&self.held, from, AtFlags::empty())?;
        let named = self.mark(name)?.ok_or(Errno::NOENT)?;
        let is_ours = named.facts()?.identity == identity || self.renumbers();
        match named.lock()? {
            Lock::Ours | Lock::Unknown if is_ours => Ok(named),
            // Another run locked or replaced the mark in the meantime.
            Lock::Ours | Lock::Unknown | Lock::Others => Err(Errno::WOULDBLOCK),
        }
    }

    fn is_of_kind(&self, kinds: &[rustix::fs::FsWord]) -> bool {
        rustix::fs::fstatfs(&self.held).is_ok_and(|facts| kinds.contains(&facts.f_type))
    }
}

impl Directory for KernelDirectory {
    fn facts(&self) -> Result<Facts, Errno> {
        facts_of_open(&self.held)
    }

    fn facts_of(&self, name: &[u8]) -> Result<Facts, Errno> {
        let _acting = self.acting()?;
        facts_at(
            &self.held,
            OsStr::from_bytes(name),
            AtFlags::SYMLINK_NOFOLLOW,
        )
    }

    fn list(&self, each: &mut dyn FnMut(&Entry<'_>) -> Result<(), Errno>) -> Result<(), Errno> {
        let _acting = self.acting()?;
        // Opens a separate descriptor, so that reading entries does not move the position of the
        // held descriptor.
        let own = self.open_untraced(b".", OPEN);
        for entry in own.and_then(Dir::new)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                each(&Entry {
                    name,
                    number: Some(entry.ino()),
                })?;
            }
        }
        Ok(())
    }

    fn open(&self, name: &[u8]) -> Result<Arc<dyn Directory>, Errno> {
        let _acting = self.acting()?;
        self.beside(self.open_at(name, OPEN | OFlags::NOFOLLOW))
    }

    fn above(&self) -> Result<Arc<dyn Directory>, Errno> {
        let _acting = self.acting()?;
        self.beside(self.open_at(b"..", OPEN))
    }

    fn acts_as(&self) -> Option<ActingUser> {
        self.acts_as
    }

    fn with_own_rights(&self) -> Option<Arc<dyn Directory>> {
        self.acts_as?;
        Some(Arc::new(Self {
            acts_as: None,
            ..self.clone()
        }))
    }

    fn make(&self, name: &[u8], mode: u32) -> Result<(), Errno> {
        let _acting = self.acting()?;
        let mode = Mode::from_raw_mode(mode);
        rustix::fs::mkdirat(&self.held, OsStr::from_bytes(name), mode)
    }

    fn read(&self, name: &[u8], offset: u64, into: &mut [u8]) -> Result<usize, Errno> {
        let _acting = self.acting()?;
        let file = self.open_untraced(name, OPEN_FILE)?;
        let mut length = 0;
        while length < into.len() {
            match rustix::io::pread(&file, &mut into[length..], offset + length as u64) {
                Ok(0) => break,
                Ok(read) => length += read,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno),
            }
        }
        Ok(length)
    }

    fn hold(&self, name: &[u8]) -> Result<Option<Box<dyn Held>>, Errno> {
        let _acting = self.acting()?;
        self.open_at(name, OPEN_FILE)
            .map(|file| Some(Box::new(cached::KernelHeld(file)) as Box<dyn Held>))
    }

    fn target(&self, name: &[u8]) -> Result<Vec<u8>, Errno> {
        let _acting = self.acting()?;
        rustix::fs::readlinkat(&self.held, OsStr::from_bytes(name), Vec::new())
            .map(std::ffi::CString::into_bytes)
    }

    fn remove(&self, name: &[u8], looked_at: &Facts) -> Result<bool, Errno> {
        let _acting = self.acting()?;
        if looked_at.identity.is_some() && self.facts_of(name)?.identity != looked_at.identity {
            return Ok(false);
        }
        let flags = match looked_at.kind {
            EntryKind::Directory => AtFlags::REMOVEDIR,
            EntryKind::File | EntryKind::SymbolicLink | EntryKind::Other => AtFlags::empty(),
        };
        rustix::fs::unlinkat(&self.held, OsStr::from_bytes(name), flags).map(|()| true)
    }

    fn set_times(&self, accessed: Stamp, modified: Stamp) -> Result<(), Errno> {
        let _acting = self.acting()?;
        let time = |(seconds, nanoseconds): Stamp| Timespec {
            tv_sec: seconds,
            tv_nsec: nanoseconds.into(),
        };
        let times = Timestamps {
            last_access: time(accessed),
            last_modification: time(modified),
        };
        rustix::fs::futimens(&self.held, &times)
    }

    fn sync(&self) -> Result<(), Errno> {
        match rustix::fs::fsync(&self.held) {
            // Some file systems do not support syncing a directory.
            Err(Errno::INVAL | Errno::OPNOTSUPP) => Ok(()),
            answer => answer,
        }
    }

    fn sync_file_system(&self) -> Result<(), Errno> {
        rustix::fs::syncfs(&self.held)
    }

    fn free_bytes(&self) -> Option<u64> {
        let facts = rustix::fs::fstatvfs(&self.held).ok()?;
        Some(facts.f_bfree * facts.f_frsize)
    }

    fn renumbers(&self) -> bool {
        self.is_of_kind(&[FUSE_SUPER_MAGIC])
    }

    fn keeps_removed(&self) -> bool {
        self.is_of_kind(&[FUSE_SUPER_MAGIC, NFS_SUPER_MAGIC])
    }

    fn draft(&self, name: &str) -> Result<Box<dyn Mark>, Errno> {
        let _acting = self.acting()?;
        let made = self.create(name)?;
        Ok(self.mark_of(made, name))
    }

    fn name_draft(
        &self,
        draft: Box<dyn Mark>,
        name: &str,
        replaces: bool,
    ) -> Result<Box<dyn Mark>, Errno> {
        let _acting = self.acting()?;
        if !replaces {
            return self.name_new(draft, name);
        }
        rustix::fs::renameat(&self.held, draft.name(), &self.held, name)?;
        Ok(draft)
    }

    fn mark(&self, name: &str) -> Result<Option<Box<dyn Mark>>, Errno> {
        let _acting = self.acting()?;
        // The mark is opened for writing, because network file systems grant exclusive locks to
        // writers only.
        let opened = match self.open_at(name.as_bytes(), OPEN_FILE | OFlags::RDWR) {
            Err(Errno::ACCESS | Errno::PERM | Errno::ROFS) => {
                self.open_at(name.as_bytes(), OPEN_FILE)
            }
            opened => opened,
        };
        match opened {
            Ok(file) => Ok(Some(self.mark_of(file, name))),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno),
        }
    }

    fn gives_its_own(&self) -> bool {
        /// Magic numbers of file systems that assign owners and modes themselves: FUSE, NFS, SMB,
        /// CIFS, 9p, FAT, exFAT and NTFS (linux/magic.h and headers of the file systems).
        const GIVE_THEIR_OWN: [rustix::fs::FsWord; 9] = [
            FUSE_SUPER_MAGIC,
            NFS_SUPER_MAGIC,
            0xfe53_4d42,
            0xff53_4d42,
            0x0102_1997,
            0x4d44,
            0x2011_bab0,
            0x5346_544e,
            0x7366_746e,
        ];
        self.is_of_kind(&GIVE_THEIR_OWN)
    }
}
