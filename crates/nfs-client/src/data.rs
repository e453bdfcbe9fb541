//! The protocol's data: handles of files, what is known of them, and why a call failed (RFC 1813,
//! sections 2.5 and 2.6).

use std::fmt;

use rustix::io::Errno;

use crate::xdr::{Garbled, Reader, Writer};

/// The longest handle of a file.
const HANDLE_BYTES_MAX: usize = 64;

/// What a server knows a file by.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Handle {
    length: u8,
    bytes: [u8; HANDLE_BYTES_MAX],
}

impl Handle {
    /// Of no file.
    pub const NONE: Self = Self {
        length: 0,
        bytes: [0; HANDLE_BYTES_MAX],
    };

    /// Reads it.
    #[inline]
    pub fn read(reader: &mut Reader<'_>) -> Result<Self, Garbled> {
        let found = reader.opaque(HANDLE_BYTES_MAX)?;
        if found.is_empty() {
            return Err(Garbled);
        }
        let mut handle = Self::NONE;
        handle.length = found.len() as u8;
        handle.bytes[..found.len()].copy_from_slice(found);
        Ok(handle)
    }

    /// Writes it.
    #[inline]
    pub fn write(&self, out: &mut Vec<u8>) {
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

/// A moment: seconds and nanoseconds of the epoch.
pub type Stamp = (i64, u32);

/// What a name stands for (`ftype3`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    SymbolicLink,
    /// A device, a socket, a pipe.
    Other,
}

/// What is known of a file (`fattr3`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileAttributes {
    /// What it is.
    pub kind: FileKind,
    /// The permissions.
    pub mode: u32,
    /// How many names it has.
    pub names: u32,
    /// The user who has it.
    pub owner: u32,
    /// Its size.
    pub size_bytes: u64,
    /// The room that it takes.
    pub used_bytes: u64,
    /// The number of its file system.
    pub file_system: u64,
    /// Its own number there.
    pub number: u64,
    /// When it was read last.
    pub accessed: Stamp,
    /// When its contents were changed last.
    pub modified: Stamp,
    /// When anything of it was changed last.
    pub changed: Stamp,
}

impl FileAttributes {
    /// Reads them.
    #[inline]
    pub fn read(reader: &mut Reader<'_>) -> Result<Self, Garbled> {
        let kind = match reader.u32()? {
            1 => FileKind::File,
            2 => FileKind::Directory,
            5 => FileKind::SymbolicLink,
            3 | 4 | 6 | 7 => FileKind::Other,
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
    pub fn read_optional(reader: &mut Reader<'_>) -> Result<Option<Self>, Garbled> {
        reader.optional(Self::read)
    }

    /// Whether it is of the same file.
    pub fn is_same_file(&self, other: &Self) -> bool {
        (self.file_system, self.number) == (other.file_system, other.number)
    }
}

/// What a call came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The results follow.
    Done,
    /// The server has begun something that takes long: the call is to be made again later.
    Later,
    /// The procedure failed.
    Failed(Errno),
}

impl Status {
    /// Reads it.
    #[inline]
    pub fn read(reader: &mut Reader<'_>) -> Result<Self, Garbled> {
        match reader.u32()? {
            0 => Ok(Self::Done),
            10_008 => Ok(Self::Later),
            number => errno(number).map(Self::Failed).ok_or(Garbled),
        }
    }
}

/// The system's error for one of the protocol's (`nfsstat3`, and `mountstat3`, which has some of
/// these); `None` for what is none.
pub fn errno(status: u32) -> Option<Errno> {
    Some(match status {
        1 => Errno::PERM,
        2 => Errno::NOENT,
        5 => Errno::IO,
        6 => Errno::NXIO,
        13 => Errno::ACCESS,
        17 => Errno::EXIST,
        18 => Errno::XDEV,
        19 => Errno::NODEV,
        20 => Errno::NOTDIR,
        21 => Errno::ISDIR,
        22 => Errno::INVAL,
        27 => Errno::FBIG,
        28 => Errno::NOSPC,
        30 => Errno::ROFS,
        31 => Errno::MLINK,
        63 => Errno::NAMETOOLONG,
        66 => Errno::NOTEMPTY,
        69 => Errno::DQUOT,
        // A handle that is stale, or that was never one.
        70 | 10_001 => Errno::STALE,
        71 => Errno::REMOTE,
        // The place in a listing is not the server's any more; the update was not synchronised.
        10_002 | 10_003 => Errno::BADE,
        10_004 => Errno::OPNOTSUPP,
        // The reply would not fit; a fault of the server; a kind of file that it does not have.
        10_005 => Errno::OVERFLOW,
        10_006 => Errno::REMOTEIO,
        10_007 => Errno::INVAL,
        _ => return None,
    })
}

/// How durable what was written is (`stable_how`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stable {
    /// In the server's memory.
    Unstable = 0,
    /// On stable storage, with what is needed to find it.
    Data = 1,
    /// On stable storage, with all attributes.
    File = 2,
}

impl Stable {
    /// Reads it.
    pub fn read(reader: &mut Reader<'_>) -> Result<Self, Garbled> {
        match reader.u32()? {
            0 => Ok(Self::Unstable),
            1 => Ok(Self::Data),
            2 => Ok(Self::File),
            _ => Err(Garbled),
        }
    }
}

/// What a server answers to writes and commits: another one after a restart.
pub type WriteVerifier = [u8; 8];
