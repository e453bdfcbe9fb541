//! Calls and replies as they lie on a TCP connection: records of fragments (RFC 5531, section 11),
//! and no more of their contents than tells them apart.

use std::io::{Read, Result};

/// A procedure of NFS version 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Procedure(pub u32);

impl Procedure {
    pub const LOOKUP: Self = Self(3);
    pub const READ: Self = Self(6);
    pub const WRITE: Self = Self(7);
    pub const CREATE: Self = Self(8);
    pub const REMOVE: Self = Self(12);
    pub const COMMIT: Self = Self(21);

    /// Their names, by number (RFC 1813).
    const NAMES: [&'static str; 22] = [
        "NULL",
        "GETATTR",
        "SETATTR",
        "LOOKUP",
        "ACCESS",
        "READLINK",
        "READ",
        "WRITE",
        "CREATE",
        "MKDIR",
        "SYMLINK",
        "MKNOD",
        "REMOVE",
        "RMDIR",
        "RENAME",
        "LINK",
        "READDIR",
        "READDIRPLUS",
        "FSSTAT",
        "FSINFO",
        "PATHCONF",
        "COMMIT",
    ];

    pub fn name(self) -> &'static str {
        Self::NAMES[self.0 as usize]
    }
}

/// The mark of a fragment that is the last of its record.
const LAST: u32 = 1 << 31;
/// The NFS program.
const PROGRAM: u32 = 100_003;

/// A record that was read whole, without its marks.
#[derive(Clone, Debug)]
pub struct Message(pub Vec<u8>);

impl Message {
    /// The next one of a connection.
    pub fn read(connection: &mut impl Read) -> Result<Self> {
        let mut bytes = Vec::new();
        loop {
            let mut mark = [0; 4];
            connection.read_exact(&mut mark)?;
            let mark = u32::from_be_bytes(mark);
            let before = bytes.len();
            bytes.resize(before + (mark & !LAST) as usize, 0);
            connection.read_exact(&mut bytes[before..])?;
            if mark & LAST != 0 {
                return Ok(Self(bytes));
            }
        }
    }

    fn word(&self, place: usize) -> Option<u32> {
        let bytes = self.0.get(4 * place..4 * place + 4)?;
        Some(u32::from_be_bytes(bytes.try_into().unwrap()))
    }

    /// What a reply has in common with its call.
    pub fn id(&self) -> u32 {
        self.word(0).unwrap_or_default()
    }

    /// The procedure of a call of NFS.
    pub fn procedure(&self) -> Option<Procedure> {
        let is_call = self.word(1) == Some(0) && self.word(3) == Some(PROGRAM);
        self.word(5).filter(|_| is_call).map(Procedure)
    }

    /// It as one fragment.
    pub fn as_one(&self) -> Vec<u8> {
        self.as_fragments(usize::MAX).concat()
    }

    /// It as fragments of at most so many bytes.
    pub fn as_fragments(&self, bytes_max: usize) -> Vec<Vec<u8>> {
        let count = self.0.chunks(bytes_max.min(self.0.len().max(1))).count();
        let chunks = self
            .0
            .chunks(bytes_max.min(self.0.len().max(1)))
            .enumerate();
        let fragment = |(number, chunk): (usize, &[u8])| {
            let last = if number + 1 == count { LAST } else { 0 };
            [&(last | chunk.len() as u32).to_be_bytes()[..], chunk].concat()
        };
        chunks.map(fragment).collect()
    }

    /// A reply to this call with a status of NFS and no attributes.
    pub fn answered_with(&self, status: u32) -> Self {
        let without_attributes: &[u32] = match self.procedure().map(Procedure::name) {
            // Of the file or directory, optional ones.
            Some(
                "LOOKUP" | "READ" | "ACCESS" | "READDIR" | "READDIRPLUS" | "FSSTAT" | "FSINFO"
                | "READLINK",
            ) => &[0],
            // Of one directory before and after.
            Some(
                "SETATTR" | "WRITE" | "CREATE" | "MKDIR" | "SYMLINK" | "REMOVE" | "RMDIR"
                | "COMMIT",
            ) => &[0, 0],
            // Of two directories.
            Some("RENAME") => &[0, 0, 0, 0],
            Some("LINK") => &[0, 0, 0],
            _ => &[],
        };
        // A reply, accepted, without a verifier, successful.
        let head = [self.id(), 1, 0, 0, 0, 0, status];
        let words = head.iter().chain(without_attributes);
        Self(words.flat_map(|word| word.to_be_bytes()).collect())
    }
}

#[test]
fn records_come_back_from_their_fragments() {
    let call = Message(
        [7, 0, 2, PROGRAM, 3, 8, 0]
            .iter()
            .flat_map(|word: &u32| word.to_be_bytes())
            .collect(),
    );
    assert_eq!((call.id(), call.procedure()), (7, Some(Procedure::CREATE)));
    for bytes_max in [1, 5, 28, 100] {
        let fragments = call.as_fragments(bytes_max);
        assert_eq!(fragments.len(), 28_usize.div_ceil(bytes_max));
        assert_eq!(
            Message::read(&mut &fragments.concat()[..]).unwrap().0,
            call.0
        );
    }
    let reply = call.answered_with(70);
    assert_eq!(
        (reply.id(), reply.procedure(), reply.0.len()),
        (7, None, 36)
    );
}
