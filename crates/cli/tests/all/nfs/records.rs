//! NFS calls and replies on a TCP connection, as records of fragments (RFC 5531, section 11). Only
//! the fields that identify a message are parsed.

use std::io::{Read, Result};

use testkit::nfs::PROCEDURES;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Procedure(pub u32);

impl Procedure {
    pub const LOOKUP: Self = Self(3);
    pub const READ: Self = Self(6);
    pub const WRITE: Self = Self(7);
    pub const CREATE: Self = Self(8);
    pub const REMOVE: Self = Self(12);
    pub const COMMIT: Self = Self(21);

    pub fn name(self) -> &'static str {
        PROCEDURES[self.0 as usize]
    }
}

/// RPC program number of NFS.
const PROGRAM: u32 = 100_003;

/// A call or a reply: the contents of a record, without record marks.
#[derive(Clone, Debug)]
pub struct Message(pub Vec<u8>);

impl Message {
    pub fn read(connection: &mut impl Read) -> Result<Self> {
        nfs_client::read_record(connection).map(Self)
    }

    /// The message with its record mark, as it is sent.
    pub fn marked(&self) -> Vec<u8> {
        nfs_client::fragments(&self.0, usize::MAX).concat()
    }

    fn word(&self, place: usize) -> Option<u32> {
        let bytes = self.0.get(4 * place..4 * place + 4)?;
        Some(u32::from_be_bytes(bytes.try_into().unwrap()))
    }

    /// The transaction identifier (xid), which a call and its reply share.
    pub fn id(&self) -> u32 {
        self.word(0).unwrap_or_default()
    }

    /// The procedure of a call; `None` if this is not an NFS call.
    pub fn procedure(&self) -> Option<Procedure> {
        let is_call = self.word(1) == Some(0) && self.word(3) == Some(PROGRAM);
        self.word(5).filter(|_| is_call).map(Procedure)
    }

    /// A reply to this call with a status and no attributes.
    pub fn answered_with(&self, status: u32) -> Self {
        let without_attributes: &[u32] = match self.procedure().map(Procedure::name) {
            // A reply to these calls contains optional attributes of the file or directory.
            Some(
                "LOOKUP" | "READ" | "ACCESS" | "READDIR" | "READDIRPLUS" | "FSSTAT" | "FSINFO"
                | "READLINK",
            ) => &[0],
            // A reply to these calls contains optional attributes of one directory or file, before
            // and after the call.
            Some(
                "SETATTR" | "WRITE" | "CREATE" | "MKDIR" | "SYMLINK" | "REMOVE" | "RMDIR"
                | "COMMIT",
            ) => &[0, 0],
            // A reply to these calls contains optional attributes of two directories, or of a file
            // and a directory.
            Some("RENAME") => &[0, 0, 0, 0],
            Some("LINK") => &[0, 0, 0],
            _ => &[],
        };
        // RPC header of a successful reply without an authentication verifier.
        let head = [self.id(), 1, 0, 0, 0, 0, status];
        let words = head.iter().chain(without_attributes);
        Self(words.flat_map(|word| word.to_be_bytes()).collect())
    }
}

#[test]
fn reply_has_the_transaction_number_of_its_call() {
    let words = [7_u32, 0, 2, PROGRAM, 3, 8, 0];
    let call = Message(words.iter().flat_map(|word| word.to_be_bytes()).collect());
    assert_eq!((call.id(), call.procedure()), (7, Some(Procedure::CREATE)));
    let reply = call.answered_with(70);
    assert_eq!(
        (reply.id(), reply.procedure(), reply.0.len()),
        (7, None, 36)
    );
}
