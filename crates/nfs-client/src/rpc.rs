//! Remote procedure calls over TCP (RFC 5531): headers of calls and replies, and AUTH_SYS
//! credentials.

use rustix::io::Errno;

use crate::procedure::{Procedure, Program};
use crate::records::{MARK_BYTES, mark};
use crate::xdr::{Garbled, Reader, Writer};

const CALL: u32 = 0;
const REPLY: u32 = 1;
const RPC_VERSION: u32 = 2;
const AUTH_NONE: u32 = 0;
const AUTH_SYS: u32 = 1;
/// The maximum length of credentials and verifiers (RFC 5531, section 8.2).
const AUTH_BYTES_MAX: usize = 400;
/// The maximum number of additional groups of a caller (RFC 5531, appendix A).
const GROUPS_MAX: usize = 16;
/// The maximum length of the caller's machine name (RFC 5531, appendix A).
const MACHINE_NAME_MAX: usize = 255;
/// Offsets of the XID and the procedure number in a call, including the record mark.
const XID_AT: usize = 4;
const PROCEDURE_AT: usize = 24;

/// The credentials of a caller (AUTH_SYS).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The host name of the client.
    pub machine: Vec<u8>,
    /// The user ID by which the server checks permissions.
    pub uid: u32,
    /// The primary group ID by which the server checks permissions.
    pub gid: u32,
    /// The IDs of additional groups; only the first 16 are sent.
    pub groups: Vec<u32>,
}

/// The encoded header of calls to a program, which is copied to the start of each call.
#[derive(Clone, Debug)]
pub struct CallHead(Vec<u8>);

impl CallHead {
    /// Encodes the header. Without a caller, calls have no credentials (AUTH_NONE).
    pub fn new(program: Program, caller: Option<&Caller>) -> Self {
        let mut head = Vec::with_capacity(128);
        // The record mark and the XID, which each call sets.
        head.extend_from_slice(&[0; 8]);
        for word in [CALL, RPC_VERSION, program.number(), program.version(), 0] {
            head.put_u32(word);
        }
        match caller {
            Some(caller) => {
                let mut body = Vec::with_capacity(64);
                // The stamp, which a caller may choose freely.
                body.put_u32(0);
                let name = &caller.machine[..caller.machine.len().min(MACHINE_NAME_MAX)];
                body.put_opaque(name);
                body.put_u32(caller.uid);
                body.put_u32(caller.gid);
                let groups = &caller.groups[..caller.groups.len().min(GROUPS_MAX)];
                body.put_u32(groups.len() as u32);
                groups.iter().for_each(|group| body.put_u32(*group));
                head.put_u32(AUTH_SYS);
                head.put_opaque(&body);
            }
            None => {
                head.put_u32(AUTH_NONE);
                head.put_opaque(b"");
            }
        }
        // An empty verifier.
        head.put_u32(AUTH_NONE);
        head.put_opaque(b"");
        Self(head)
    }

    /// Appends a call to `out`; returns its length including the record mark.
    #[inline]
    pub fn write(
        &self,
        out: &mut Vec<u8>,
        xid: u32,
        procedure: Procedure,
        arguments: impl FnOnce(&mut Vec<u8>),
    ) -> usize {
        self.write_with_tail(out, xid, procedure, 0, arguments)
    }

    /// Appends a call to `out` without its last `tail_bytes` bytes, which the caller sends without
    /// copying them to `out`. Returns the length of the whole call including the record mark.
    #[inline]
    pub fn write_with_tail(
        &self,
        out: &mut Vec<u8>,
        xid: u32,
        procedure: Procedure,
        tail_bytes: usize,
        arguments: impl FnOnce(&mut Vec<u8>),
    ) -> usize {
        let begin = out.len();
        out.extend_from_slice(&self.0);
        arguments(out);
        let call = &mut out[begin..];
        let length = call.len() + tail_bytes;
        call[..MARK_BYTES].copy_from_slice(&mark(length - MARK_BYTES, true));
        call[XID_AT..][..4].copy_from_slice(&xid.to_be_bytes());
        call[PROCEDURE_AT..][..4].copy_from_slice(&procedure.number().to_be_bytes());
        length
    }
}

/// The reason why a server rejected a call in the RPC layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RpcRefusal {
    /// RPC_MISMATCH: the server does not support version 2 of RPC.
    #[error("the server does not support version 2 of RPC")]
    RpcVersion,
    /// The server rejected the credentials; the number is RFC 5531's `auth_stat`.
    #[error("the server refused the credentials (auth_stat {0})")]
    Credentials(u32),
    /// PROG_UNAVAIL: the server does not provide the program.
    #[error("the server does not have this program")]
    Program,
    /// PROG_MISMATCH: the server provides only other versions of the program.
    #[error("the server has versions {low} to {high} of this program only")]
    Version {
        /// The lowest version that the server supports.
        low: u32,
        /// The highest version that the server supports.
        high: u32,
    },
    /// PROC_UNAVAIL: the program does not provide the procedure.
    #[error("the server does not have this procedure")]
    Procedure,
    /// GARBAGE_ARGS: the server could not decode the arguments.
    #[error("the server could not decode the arguments")]
    Arguments,
    /// SYSTEM_ERR: the server failed internally, for example for lack of memory.
    #[error("the server reported an error of its own (SYSTEM_ERR)")]
    System,
}

impl RpcRefusal {
    /// The system's error number that describes the rejection most closely.
    pub fn errno(self) -> Errno {
        match self {
            Self::Credentials(_) => Errno::ACCESS,
            Self::RpcVersion | Self::Program | Self::Version { .. } => Errno::PROTONOSUPPORT,
            Self::Procedure => Errno::OPNOTSUPP,
            Self::Arguments => Errno::INVAL,
            Self::System => Errno::REMOTEIO,
        }
    }
}

/// The body of a reply: the results, a rejection, or an error if the body is invalid.
pub type Body<'a> = Result<Result<Reader<'a>, RpcRefusal>, Garbled>;

/// Decodes a reply; returns its XID and its body. Returns an error if the record is not a reply.
#[inline]
pub fn reply(record: &[u8]) -> Result<(u32, Body<'_>), Garbled> {
    let mut reader = Reader::new(record);
    let xid = reader.u32()?;
    if reader.u32()? != REPLY {
        return Err(Garbled);
    }
    Ok((xid, body(reader)))
}

#[inline]
fn body(mut reader: Reader<'_>) -> Body<'_> {
    match reader.u32()? {
        0 => {}
        1 => return denied(reader).map(Err),
        _ => return Err(Garbled),
    }
    let _flavor = reader.u32()?;
    reader.opaque(AUTH_BYTES_MAX)?;
    Ok(Err(match reader.u32()? {
        0 => return Ok(Ok(reader)),
        1 => RpcRefusal::Program,
        2 => {
            let (low, high) = (reader.u32()?, reader.u32()?);
            RpcRefusal::Version { low, high }
        }
        3 => RpcRefusal::Procedure,
        4 => RpcRefusal::Arguments,
        5 => RpcRefusal::System,
        _ => return Err(Garbled),
    }))
}

fn denied(mut reader: Reader<'_>) -> Result<RpcRefusal, Garbled> {
    match reader.u32()? {
        0 => {
            let _versions = (reader.u32()?, reader.u32()?);
            Ok(RpcRefusal::RpcVersion)
        }
        1 => reader.u32().map(RpcRefusal::Credentials),
        _ => Err(Garbled),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn call_is_encoded_as_in_the_rfc() {
        let caller = Caller {
            machine: b"box".to_vec(),
            uid: 1,
            gid: 2,
            groups: vec![3; 20],
        };
        let mut out = vec![7];
        let head = CallHead::new(Program::Nfs, Some(&caller));
        let bytes = head.write(&mut out, 0x1234_5678, Procedure::GetAttributes, |out| {
            out.put_u32(9)
        });
        let mut expected = Vec::new();
        // The words are: mark, XID, CALL, RPC version, NFS, version of NFS, GETATTR, AUTH_SYS, 88
        // bytes of credentials, stamp, and length of the name. The name, the user, the group and 16
        // additional groups follow.
        for word in [
            0x8000_0084_u32,
            0x1234_5678,
            0,
            2,
            100_003,
            3,
            1,
            1,
            88,
            0,
            3,
        ] {
            expected.put_u32(word);
        }
        expected.extend_from_slice(b"box\0");
        [1, 2, 16].iter().for_each(|word| expected.put_u32(*word));
        [3; 16].iter().for_each(|word| expected.put_u32(*word));
        // The verifier is empty, and the arguments follow.
        [0, 0, 9].iter().for_each(|word| expected.put_u32(*word));
        assert_eq!(out[1..], expected);
        assert_eq!(bytes, expected.len());
    }

    #[test]
    fn replies_and_rejections_are_decoded() {
        let record = |words: &[u32]| {
            words
                .iter()
                .flat_map(|word| word.to_be_bytes())
                .collect::<Vec<_>>()
        };
        let accepted = record(&[5, 1, 0, 0, 0, 0, 42]);
        let (xid, body) = reply(&accepted).unwrap();
        assert_eq!((xid, body.unwrap().unwrap().u32()), (5, Ok(42)));
        for (words, expected) in [
            (&[5, 1, 0, 0, 0, 1][..], RpcRefusal::Program),
            (
                &[5, 1, 0, 0, 0, 2, 2, 4],
                RpcRefusal::Version { low: 2, high: 4 },
            ),
            (&[5, 1, 0, 0, 0, 3], RpcRefusal::Procedure),
            (&[5, 1, 0, 0, 0, 4], RpcRefusal::Arguments),
            (&[5, 1, 0, 0, 0, 5], RpcRefusal::System),
            (&[5, 1, 1, 0, 2, 2], RpcRefusal::RpcVersion),
            (&[5, 1, 1, 1, 5], RpcRefusal::Credentials(5)),
        ] {
            let (_, body) = (reply(&record(words))
                .map(|(xid, body)| (xid, body.map(|body| body.map(drop)))))
            .unwrap();
            assert_eq!(body, Ok(Err(expected)));
        }
        for words in [
            &[5, 1, 2][..],
            &[5, 1, 0, 0, 0, 6],
            &[5, 1, 0, 0, 401],
            &[5, 1, 1, 2],
            &[5, 1],
        ] {
            assert_eq!(
                reply(&record(words)).unwrap().1.map(|body| body.map(drop)),
                Err(Garbled)
            );
        }
        assert!(reply(&record(&[5, 0])).is_err() && reply(&record(&[5])).is_err());
    }
}
