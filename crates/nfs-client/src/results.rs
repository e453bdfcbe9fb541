//! The results of procedures that were performed: what follows the status `NFS3_OK` (RFC 1813,
//! section 3.3, and appendix I for MOUNT).

use crate::data::{FileAttributes, Handle, Stable, WriteVerifier};
use crate::procedure::Procedure;
use crate::xdr::{Garbled, Reader};

/// The longest name of an entry that is believed: Linux has 255 bytes, others up to four times
/// that.
const NAME_BYTES_MAX: usize = 1024;
/// The longest target of a symbolic link.
const PATH_BYTES_MAX: usize = 4096;
/// A server does not offer more ways than these.
const FLAVORS_MAX: u32 = 64;

/// What was known of a directory before and after (`wcc_data`).
#[inline]
pub fn changes(reader: &mut Reader<'_>) -> Result<Option<FileAttributes>, Garbled> {
    // Its size and two times before the change.
    reader.optional(|reader| reader.fixed::<24>().map(drop))?;
    FileAttributes::read_optional(reader)
}

/// Of SETATTR, REMOVE, RMDIR, RENAME and LINK: that it was done.
#[inline]
pub fn changed(procedure: Procedure, mut reader: Reader<'_>) -> Result<(), Garbled> {
    match procedure {
        Procedure::Link => drop(FileAttributes::read_optional(&mut reader)?),
        Procedure::Rename => drop(changes(&mut reader)?),
        _ => {}
    }
    changes(&mut reader).map(drop)
}

/// Of LOOKUP.
#[inline]
pub fn lookup(mut reader: Reader<'_>) -> Result<(Handle, Option<FileAttributes>), Garbled> {
    let handle = Handle::read(&mut reader)?;
    let attributes = FileAttributes::read_optional(&mut reader)?;
    let _of_the_directory = FileAttributes::read_optional(&mut reader)?;
    Ok((handle, attributes))
}

/// Of CREATE, MKDIR and SYMLINK: a server need not tell what it has made.
#[inline]
pub fn made(mut reader: Reader<'_>) -> Result<Option<Handle>, Garbled> {
    let handle = reader.optional(Handle::read)?;
    let _attributes = FileAttributes::read_optional(&mut reader)?;
    let _of_the_directory = changes(&mut reader)?;
    Ok(handle)
}

/// Of READ.
#[derive(Clone, Copy, Debug)]
pub struct ReadResult<'a> {
    /// Of the file, where the server tells them.
    pub attributes: Option<FileAttributes>,
    /// Whether the file ends behind these bytes.
    pub is_end: bool,
    /// What was read.
    pub data: &'a [u8],
}

/// Of READ of so many bytes.
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

/// Of WRITE.
#[derive(Clone, Copy, Debug)]
pub struct WriteResult {
    /// Bytes that were written.
    pub count: usize,
    /// How durable they are.
    pub stable: Stable,
    /// Of the server since its start.
    pub verifier: WriteVerifier,
}

/// Of WRITE of so many bytes.
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

/// Of COMMIT.
#[inline]
pub fn commit(mut reader: Reader<'_>) -> Result<WriteVerifier, Garbled> {
    let _of_the_file = changes(&mut reader)?;
    reader.fixed().copied()
}

/// Of READLINK.
pub fn read_link(mut reader: Reader<'_>) -> Result<&[u8], Garbled> {
    let _of_the_link = FileAttributes::read_optional(&mut reader)?;
    reader.opaque(PATH_BYTES_MAX)
}

/// An entry of a directory.
#[derive(Clone, Copy, Debug)]
pub struct ListedEntry<'a> {
    /// The number of what it stands for.
    pub number: u64,
    /// The name.
    pub name: &'a [u8],
    /// Where the listing goes on behind it.
    pub cookie: u64,
    /// Of READDIRPLUS, where the server tells it.
    pub attributes: Option<FileAttributes>,
}

/// A page of a directory's entries, which are read one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    /// What the listing goes on with besides the cookie.
    pub verifier: [u8; 8],
    entries: Reader<'a>,
    is_plus: bool,
}

impl<'a> Page<'a> {
    /// Of READDIR or READDIRPLUS.
    pub fn read(mut reader: Reader<'a>, is_plus: bool) -> Result<Self, Garbled> {
        let _of_the_directory = FileAttributes::read_optional(&mut reader)?;
        Ok(Self {
            verifier: *reader.fixed()?,
            entries: reader,
            is_plus,
        })
    }

    /// The next entry.
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

    /// Whether the directory ends here. To be asked behind the last entry.
    pub fn is_end(mut self) -> Result<bool, Garbled> {
        self.entries.bool()
    }
}

/// Of FSSTAT: bytes that are free, also those that are kept for the system's user.
pub fn free_bytes(mut reader: Reader<'_>) -> Result<u64, Garbled> {
    let _of_the_root = FileAttributes::read_optional(&mut reader)?;
    let _all = reader.u64()?;
    reader.u64()
}

/// Of FSINFO: what the server prefers, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PreferredSizes {
    /// The most that a READ may ask for.
    pub read_max: u32,
    /// What a READ should ask for; 0 where it is not told.
    pub read: u32,
    /// The most that a WRITE may have.
    pub write_max: u32,
    /// What a WRITE should have; 0 where it is not told.
    pub write: u32,
}

/// See [`PreferredSizes`].
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

/// Of MNT: the handle of what was exported, and whether AUTH_SYS is among the ways in which callers
/// may show who they are.
pub fn mount(mut reader: Reader<'_>) -> Result<(Handle, bool), Garbled> {
    const AUTH_SYS: u32 = 1;
    let handle = Handle::read(&mut reader)?;
    let flavors = reader.u32()?;
    if flavors > FLAVORS_MAX {
        return Err(Garbled);
    }
    // A server that names none takes what it gets.
    let mut takes_system = flavors == 0;
    for _ in 0..flavors {
        takes_system |= reader.u32()? == AUTH_SYS;
    }
    Ok((handle, takes_system))
}

/// Of GETPORT; 0 where the program is not registered.
pub fn port(mut reader: Reader<'_>) -> Result<u16, Garbled> {
    u16::try_from(reader.u32()?).map_err(|_| Garbled)
}

/// Goes through the results of a procedure to their end, and gives how many entries or bytes of
/// contents it has.
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
