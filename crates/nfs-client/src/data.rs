//! Data types of the protocol: file handles, attributes and errors (RFC 1813, sections 2.5 and
//! 2.6).

use std::fmt;

use rustix::io::Errno;

use crate::xdr::{Garbled, Reader, Writer};

/// The maximum length of a file handle (`NFS3_FHSIZE`).
const HANDLE_BYTES_MAX: usize = 64;

/// A file handle, by which a server identifies a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Handle {
    length: u8,
    bytes: [u8; HANDLE_BYTES_MAX],
}

impl Handle {
    /// A placeholder that is the handle of no file.
    pub const NONE: Self = Self {
        length: 0,
        bytes: [0; HANDLE_BYTES_MAX],
    };

    /// Decodes a handle, which must not be empty.
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

    /// Encodes the handle, preceded by its length.
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

/// A time: seconds and nanoseconds since the epoch.
pub type Stamp = (i64, u32);

/// The type of a file (`ftype3`, RFC 1813, section 2.3.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file (`NF3REG`).
    File,
    /// A directory (`NF3DIR`).
    Directory,
    /// A symbolic link (`NF3LNK`), whose size is the length of its target.
    SymbolicLink,
    /// A device, a socket or a pipe (`NF3BLK`, `NF3CHR`, `NF3SOCK`, `NF3FIFO`).
    Other,
}

/// The attributes of a file (`fattr3`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileAttributes {
    /// The type of the file (`type`).
    pub kind: FileKind,
    /// The permission bits (`mode`).
    pub mode: u32,
    /// Number of hard links (`nlink`).
    pub names: u32,
    /// The user ID of the owner (`uid`).
    pub owner: u32,
    /// The size in bytes (`size`).
    pub size_bytes: u64,
    /// The allocated space in bytes (`used`).
    pub used_bytes: u64,
    /// The identifier of the file system (`fsid`).
    pub file_system: u64,
    /// The number that identifies the file in its file system (`fileid`), usually the inode number.
    pub number: u64,
    /// The time of the last access (`atime`).
    pub accessed: Stamp,
    /// The time of the last change of contents (`mtime`).
    pub modified: Stamp,
    /// The time of the last change of contents or attributes (`ctime`).
    pub changed: Stamp,
}

impl FileAttributes {
    /// Decodes the attributes; an unknown file type is invalid.
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

    /// Decodes optional attributes (`post_op_attr`).
    #[inline]
    pub fn read_optional(reader: &mut Reader<'_>) -> Result<Option<Self>, Garbled> {
        reader.optional(Self::read)
    }

    /// Whether these attributes and `other` belong to the same file.
    pub fn is_same_file(&self, other: &Self) -> bool {
        (self.file_system, self.number) == (other.file_system, other.number)
    }
}

/// The status in a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The call succeeded, and its results follow.
    Done,
    /// NFS3ERR_JUKEBOX: the server needs more time, so the call must be repeated later.
    Later,
    /// The procedure failed with this error.
    Failed(Errno),
}

impl Status {
    /// Decodes a status; an unknown number is invalid.
    #[inline]
    pub fn read(reader: &mut Reader<'_>) -> Result<Self, Garbled> {
        match reader.u32()? {
            0 => Ok(Self::Done),
            10_008 => Ok(Self::Later),
            number => errno(number).map(Self::Failed).ok_or(Garbled),
        }
    }
}

/// Returns the system's error for a status of the protocol (`nfsstat3`, or `mountstat3`, whose
/// values are a subset); `None` for an invalid status.
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
        // NFS3ERR_STALE and NFS3ERR_BADHANDLE.
        70 | 10_001 => Errno::STALE,
        71 => Errno::REMOTE,
        // NFS3ERR_NOT_SYNC and NFS3ERR_BAD_COOKIE.
        10_002 | 10_003 => Errno::BADE,
        10_004 => Errno::OPNOTSUPP,
        // The next three are NFS3ERR_TOOSMALL, NFS3ERR_SERVERFAULT and NFS3ERR_BADTYPE.
        10_005 => Errno::OVERFLOW,
        10_006 => Errno::REMOTEIO,
        10_007 => Errno::INVAL,
        _ => return None,
    })
}

/// The stability of written data (`stable_how`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stable {
    /// The data may be in the server's memory only.
    Unstable = 0,
    /// The data is on stable storage, with the metadata needed to read it.
    Data = 1,
    /// The data and all metadata are on stable storage.
    File = 2,
}

impl Stable {
    /// Decodes a stability; numbers above 2 are invalid.
    pub fn read(reader: &mut Reader<'_>) -> Result<Self, Garbled> {
        match reader.u32()? {
            0 => Ok(Self::Unstable),
            1 => Ok(Self::Data),
            2 => Ok(Self::File),
            _ => Err(Garbled),
        }
    }
}

/// The write verifier of a server, which changes when the server restarts.
pub type WriteVerifier = [u8; 8];
