//! The protocol's data: handles of files, what is known of them, and why a call failed (RFC 1813,
//! sections 2.5 and 2.6).

use std::fmt;

use engine::namespace::{EntryKind, Facts, Stamp};
use engine::{Errno, Identity};

use super::xdr::{Garbled, Reader, Writer};

/// The longest handle of a file.
const HANDLE_BYTES_MAX: usize = 64;

/// What a server knows a file by.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Handle {
    length: u8,
    bytes: [u8; HANDLE_BYTES_MAX],
}

impl Handle {
    /// Of no file.
    pub(crate) const NONE: Self = Self {
        length: 0,
        bytes: [0; HANDLE_BYTES_MAX],
    };

    #[inline]
    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, Garbled> {
        let found = reader.opaque(HANDLE_BYTES_MAX)?;
        if found.is_empty() {
            return Err(Garbled);
        }
        let mut handle = Self::NONE;
        handle.length = found.len() as u8;
        handle.bytes[..found.len()].copy_from_slice(found);
        Ok(handle)
    }

    #[inline]
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.put_opaque(&self.bytes[..usize::from(self.length)]);
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.bytes[..usize::from(self.length)]
            .iter()
            .try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// What is known of a file (`fattr3`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileAttributes {
    pub(crate) kind: EntryKind,
    pub(crate) mode: u32,
    pub(crate) names: u32,
    pub(crate) owner: u32,
    pub(crate) size_bytes: u64,
    pub(crate) used_bytes: u64,
    pub(crate) file_system: u64,
    pub(crate) number: u64,
    pub(crate) accessed: Stamp,
    pub(crate) modified: Stamp,
    pub(crate) changed: Stamp,
}

impl FileAttributes {
    #[inline]
    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, Garbled> {
        let kind = match reader.u32()? {
            1 => EntryKind::File,
            2 => EntryKind::Directory,
            5 => EntryKind::SymbolicLink,
            3 | 4 | 6 | 7 => EntryKind::Other,
            _ => return Err(Garbled),
        };
        let (mode, names, owner, _group) =
            (reader.u32()?, reader.u32()?, reader.u32()?, reader.u32()?);
        let (size_bytes, used_bytes, _device) = (reader.u64()?, reader.u64()?, reader.u64()?);
        let (file_system, number) = (reader.u64()?, reader.u64()?);
        let mut stamp = || Ok((i64::from(reader.u32()?), reader.u32()?));
        Ok(Self {
            kind,
            mode,
            names,
            owner,
            size_bytes,
            used_bytes,
            file_system,
            number,
            accessed: stamp()?,
            modified: stamp()?,
            changed: stamp()?,
        })
    }

    /// Attributes that may be there (`post_op_attr`).
    #[inline]
    pub(crate) fn read_optional(reader: &mut Reader<'_>) -> Result<Option<Self>, Garbled> {
        reader.optional(Self::read)
    }

    pub(crate) fn identity(&self) -> Identity {
        Identity {
            device: self.file_system,
            inode: self.number,
        }
    }

    /// The same as a run's home tells it. The protocol knows no birth.
    pub(crate) fn facts(&self) -> Facts {
        Facts {
            kind: self.kind,
            size_bytes: self.size_bytes,
            allocated_bytes: Some(self.used_bytes),
            names: Some(self.names.into()),
            owner: Some(self.owner),
            mode: Some(self.mode & 0o7777),
            identity: Some(self.identity()),
            born: None,
            changed: Some(self.changed),
            accessed: Some(self.accessed),
            modified: Some(self.modified),
        }
    }
}

/// What a call came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Done,
    /// The server has begun something that takes long: the call is to be made again later.
    Later,
    Failed(Errno),
}

impl Status {
    #[inline]
    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, Garbled> {
        match reader.u32()? {
            0 => Ok(Self::Done),
            10_008 => Ok(Self::Later),
            number => errno(number).map(Self::Failed).ok_or(Garbled),
        }
    }
}

/// The system's error for one of the protocol's (`nfsstat3`, and `mountstat3`, which has some of
/// these); `None` for what is none.
pub(crate) fn errno(status: u32) -> Option<Errno> {
    Some(Errno(match status {
        1 => libc::EPERM,
        2 => libc::ENOENT,
        5 => libc::EIO,
        6 => libc::ENXIO,
        13 => libc::EACCES,
        17 => libc::EEXIST,
        18 => libc::EXDEV,
        19 => libc::ENODEV,
        20 => libc::ENOTDIR,
        21 => libc::EISDIR,
        22 => libc::EINVAL,
        27 => libc::EFBIG,
        28 => libc::ENOSPC,
        30 => libc::EROFS,
        31 => libc::EMLINK,
        63 => libc::ENAMETOOLONG,
        66 => libc::ENOTEMPTY,
        69 => libc::EDQUOT,
        // A handle that is stale, or that was never one.
        70 | 10_001 => libc::ESTALE,
        71 => libc::EREMOTE,
        // The place in a listing is not the server's any more; the update was not synchronised.
        10_002 | 10_003 => libc::EBADE,
        10_004 => libc::EOPNOTSUPP,
        // The reply would not fit; a fault of the server; a kind of file that it does not have.
        10_005 => libc::EOVERFLOW,
        10_006 => libc::EREMOTEIO,
        10_007 => libc::EINVAL,
        _ => return None,
    }))
}

/// How durable what was written is (`stable_how`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stable {
    Unstable = 0,
    Data = 1,
    File = 2,
}

impl Stable {
    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, Garbled> {
        match reader.u32()? {
            0 => Ok(Self::Unstable),
            1 => Ok(Self::Data),
            2 => Ok(Self::File),
            _ => Err(Garbled),
        }
    }
}

/// What a server answers to writes and commits: another one after a restart.
pub(crate) type WriteVerifier = [u8; 8];
