//! Decodes the results of successful calls, which follow the status `NFS3_OK` (RFC 1813, section
//! 3.3, and appendix I for MOUNT).

use crate::data::{FileAttributes, Handle, Stable, WriteVerifier};
use crate::procedure::Procedure;
use crate::xdr::{Garbled, Reader};

/// The maximum length of an entry's name. Linux limits names to 255 bytes, other systems to up to
/// four times as many.
const NAME_BYTES_MAX: usize = 1024;
/// The maximum length of a symbolic link's target, as Linux's `PATH_MAX`; the protocol has no
/// limit.
const PATH_BYTES_MAX: usize = 4096;
/// The maximum number of authentication flavors that a server may offer.
const FLAVORS_MAX: u32 = 64;

/// Decodes the attributes of a file before and after a change (`wcc_data`); returns the attributes
/// after the change.
#[inline]
pub fn changes(reader: &mut Reader<'_>) -> Result<Option<FileAttributes>, Garbled> {
    // Skips the size and two times before the change.
    reader.optional(|reader| reader.fixed::<24>().map(drop))?;
    FileAttributes::read_optional(reader)
}

/// Decodes the results of SETATTR, REMOVE, RMDIR, RENAME or LINK, which contain only attributes.
#[inline]
pub fn changed(procedure: Procedure, mut reader: Reader<'_>) -> Result<(), Garbled> {
    match procedure {
        Procedure::Link => drop(FileAttributes::read_optional(&mut reader)?),
        Procedure::Rename => drop(changes(&mut reader)?),
        _ => {}
    }
    changes(&mut reader).map(drop)
}

/// Decodes the results of LOOKUP: the handle and the optional attributes.
#[inline]
pub fn lookup(mut reader: Reader<'_>) -> Result<(Handle, Option<FileAttributes>), Garbled> {
    let handle = Handle::read(&mut reader)?;
    let attributes = FileAttributes::read_optional(&mut reader)?;
    let _of_the_directory = FileAttributes::read_optional(&mut reader)?;
    Ok((handle, attributes))
}

/// Decodes the results of CREATE, MKDIR or SYMLINK: the handle, which servers may omit.
#[inline]
pub fn made(mut reader: Reader<'_>) -> Result<Option<Handle>, Garbled> {
    let handle = reader.optional(Handle::read)?;
    let _attributes = FileAttributes::read_optional(&mut reader)?;
    let _of_the_directory = changes(&mut reader)?;
    Ok(handle)
}

/// The results of READ; `data` borrows the bytes of the reply.
#[derive(Clone, Copy, Debug)]
pub struct ReadResult<'a> {
    /// The attributes of the file, if the server includes them.
    pub attributes: Option<FileAttributes>,
    /// Whether the file ends after these bytes.
    pub is_end: bool,
    /// The bytes that were read, at most as many as requested.
    pub data: &'a [u8],
}

/// Decodes the results of READ. A reply with more than `asked` bytes of contents is invalid.
#[inline]
pub fn read(mut reader: Reader<'_>, asked: usize) -> Result<ReadResult<'_>, Garbled> {
    let attributes = FileAttributes::read_optional(&mut reader)?;
    let count = reader.u32()? as usize;
    let is_end = reader.bool()?;
    let data = reader.opaque(asked)?;
    if count != data.len() {
        return Err(Garbled);
    }
    Ok(ReadResult {
        attributes,
        is_end,
        data,
    })
}

/// The results of WRITE; the server may write fewer bytes than requested.
#[derive(Clone, Copy, Debug)]
pub struct WriteResult {
    /// Number of bytes written, at most as many as requested.
    pub count: usize,
    /// The stability of the written bytes, which may differ from the requested stability.
    pub stable: Stable,
    /// The server's write verifier, which changes when the server restarts.
    pub verifier: WriteVerifier,
}

/// Decodes the results of WRITE. A reply that counts more than `asked` bytes is invalid.
#[inline]
pub fn write(mut reader: Reader<'_>, asked: usize) -> Result<WriteResult, Garbled> {
    let _of_the_file = changes(&mut reader)?;
    let count = reader.u32()? as usize;
    if count > asked {
        return Err(Garbled);
    }
    Ok(WriteResult {
        count,
        stable: Stable::read(&mut reader)?,
        verifier: *reader.fixed()?,
    })
}

/// Decodes the results of COMMIT: the server's write verifier.
#[inline]
pub fn commit(mut reader: Reader<'_>) -> Result<WriteVerifier, Garbled> {
    let _of_the_file = changes(&mut reader)?;
    reader.fixed().copied()
}

/// Decodes the results of READLINK: the target of the symbolic link.
pub fn read_link(mut reader: Reader<'_>) -> Result<&[u8], Garbled> {
    let _of_the_link = FileAttributes::read_optional(&mut reader)?;
    reader.opaque(PATH_BYTES_MAX)
}

/// An entry of a listed directory.
#[derive(Clone, Copy, Debug)]
pub struct ListedEntry<'a> {
    /// The number of the file in its file system (`fileid`).
    pub number: u64,
    /// The name of the entry, which is not empty and contains neither `/` nor NUL.
    pub name: &'a [u8],
    /// The cookie from which a listing continues after this entry.
    pub cookie: u64,
    /// The attributes, if READDIRPLUS includes them.
    pub attributes: Option<FileAttributes>,
}

/// A page of a directory's entries, which are decoded one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    /// The verifier that the request for the next page must contain, in addition to the cookie of
    /// the last entry.
    pub verifier: [u8; 8],
    entries: Reader<'a>,
    is_plus: bool,
}

impl<'a> Page<'a> {
    /// Decodes the head of a page of READDIR or READDIRPLUS.
    pub fn read(mut reader: Reader<'a>, is_plus: bool) -> Result<Self, Garbled> {
        let _of_the_directory = FileAttributes::read_optional(&mut reader)?;
        Ok(Self {
            verifier: *reader.fixed()?,
            entries: reader,
            is_plus,
        })
    }

    /// Decodes the next entry; `None` after the last entry of the page.
    #[inline]
    pub fn next_entry(&mut self) -> Result<Option<ListedEntry<'a>>, Garbled> {
        let is_plus = self.is_plus;
        self.entries.optional(|reader| {
            let number = reader.u64()?;
            let name = reader.opaque(NAME_BYTES_MAX)?;
            if name.is_empty() || name.contains(&b'/') || name.contains(&0) {
                return Err(Garbled);
            }
            let cookie = reader.u64()?;
            let mut attributes = None;
            if is_plus {
                attributes = FileAttributes::read_optional(reader)?;
                reader.optional(Handle::read)?;
            }
            Ok(ListedEntry {
                number,
                name,
                cookie,
                attributes,
            })
        })
    }

    /// Whether this is the last page of the directory. Call this only after the last entry.
    pub fn is_end(mut self) -> Result<bool, Garbled> {
        self.entries.bool()
    }
}

/// Decodes the results of FSSTAT: the free bytes, including those reserved for the superuser.
pub fn free_bytes(mut reader: Reader<'_>) -> Result<u64, Garbled> {
    let _of_the_root = FileAttributes::read_optional(&mut reader)?;
    let _all = reader.u64()?;
    reader.u64()
}

/// The results of FSINFO: preferred and maximum sizes in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PreferredSizes {
    /// The maximum size of a READ.
    pub read_max: u32,
    /// The preferred size of a READ; 0 if the server has no preference.
    pub read: u32,
    /// The maximum size of a WRITE.
    pub write_max: u32,
    /// The preferred size of a WRITE; 0 if the server has no preference.
    pub write: u32,
}

/// Decodes the results of FSINFO, and skips the fields that the client does not use.
pub fn preferred_sizes(mut reader: Reader<'_>) -> Result<PreferredSizes, Garbled> {
    let _of_the_root = FileAttributes::read_optional(&mut reader)?;
    let mut three = || Ok((reader.u32()?, reader.u32()?, reader.u32()?));
    let (read_max, read, _multiple) = three()?;
    let (write_max, write, _multiple) = three()?;
    let _of_listings = reader.u32()?;
    Ok(PreferredSizes {
        read_max,
        read,
        write_max,
        write,
    })
}

/// Decodes the results of MNT: the handle of the exported directory, and whether the server accepts
/// AUTH_SYS.
pub fn mount(mut reader: Reader<'_>) -> Result<(Handle, bool), Garbled> {
    const AUTH_SYS: u32 = 1;
    let handle = Handle::read(&mut reader)?;
    let flavors = reader.u32()?;
    if flavors > FLAVORS_MAX {
        return Err(Garbled);
    }
    // A server that lists no flavors accepts any.
    let mut takes_system = flavors == 0;
    for _ in 0..flavors {
        takes_system |= reader.u32()? == AUTH_SYS;
    }
    Ok((handle, takes_system))
}

/// Decodes the results of GETPORT: the port of the program, or 0 if the program is not registered.
pub fn port(mut reader: Reader<'_>) -> Result<u16, Garbled> {
    u16::try_from(reader.u32()?).map_err(|_| Garbled)
}

/// Decodes all results of a procedure; returns the number of entries or bytes of contents.
pub fn examine(procedure: Procedure, mut reader: Reader<'_>) -> Result<usize, Garbled> {
    Ok(match procedure {
        Procedure::GetAttributes => FileAttributes::read(&mut reader).map(|_| 0)?,
        Procedure::Lookup => lookup(reader).map(|_| 0)?,
        Procedure::ReadLink => read_link(reader)?.len(),
        Procedure::Read => read(reader, usize::MAX)?.data.len(),
        Procedure::Write => write(reader, usize::MAX).map(|_| 0)?,
        Procedure::Create | Procedure::MakeDirectory | Procedure::SymbolicLink => {
            made(reader).map(|_| 0)?
        }
        Procedure::SetAttributes
        | Procedure::Remove
        | Procedure::RemoveDirectory
        | Procedure::Rename
        | Procedure::Link => changed(procedure, reader).map(|()| 0)?,
        Procedure::ReadDirectory | Procedure::ReadDirectoryPlus => {
            let mut page = Page::read(reader, procedure == Procedure::ReadDirectoryPlus)?;
            let mut entries = 0;
            while page.next_entry()?.is_some() {
                entries += 1;
            }
            page.is_end()?;
            entries
        }
        Procedure::FileSystemStatus => free_bytes(reader).map(|_| 0)?,
        Procedure::FileSystemInformation => preferred_sizes(reader).map(|_| 0)?,
        Procedure::Commit => commit(reader).map(|_| 0)?,
        Procedure::Mount => mount(reader).map(|_| 0)?,
        Procedure::GetPort => port(reader).map(|_| 0)?,
    })
}
