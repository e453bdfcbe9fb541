//! A directory of a server: what is wanted, and what was found.

use crate::data::Handle;
use crate::endpoint::Endpoint;
use crate::rpc::Caller;

/// No READ or WRITE is larger, whatever the server likes: more gains nothing, and takes memory for
/// each call in flight.
pub(crate) const TRANSFER_BYTES_MAX: u32 = 1 << 20;
/// Nor smaller: what the protocol's readers can count on.
pub(crate) const TRANSFER_BYTES_MIN: u32 = 512;
/// What a page of a listing may have. Larger ones gain little (a directory of 20,000 entries takes
/// 57 pages), and servers cut them.
pub(crate) const LISTING_BYTES: u32 = 64 << 10;

/// A reply may have so many bytes on top of the contents or entries in it.
const REPLY_HEAD_BYTES_MAX: usize = 4096;

/// How many bytes calls move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransferSizes {
    /// Of a READ at most.
    pub read: u32,
    /// Of a WRITE at most.
    pub write: u32,
    /// Of a page of a listing.
    pub listing: u32,
}

impl TransferSizes {
    /// No reply is longer.
    pub fn record_bytes_max(&self) -> usize {
        // Some servers count the entries of a page otherwise.
        (self.read.max(4 * self.listing)) as usize + REPLY_HEAD_BYTES_MAX
    }

    /// Before a server was asked.
    pub(crate) const UNKNOWN: Self = Self {
        read: TRANSFER_BYTES_MIN,
        write: TRANSFER_BYTES_MIN,
        listing: LISTING_BYTES,
    };
}

/// A directory of a server, and how the server is called.
#[derive(Clone, Debug)]
pub struct Export {
    /// A name or an address.
    pub host: String,
    /// The port of the NFS service; `None` asks the server's port mapper.
    pub port: Option<u16>,
    /// The port of the MOUNT service; `None` asks the server's port mapper.
    pub mount_port: Option<u16>,
    /// The directory's path.
    pub path: Vec<u8>,
    /// The user as whom calls are made; `None` is the user of this process.
    pub uid: Option<u32>,
    /// The group as which calls are made; `None` is the group of this process.
    pub gid: Option<u32>,
    /// Whether connections leave from a port below 1024.
    pub privileged: bool,
}

impl Export {
    /// This directory of this host, its ports asked for, called as this process's user.
    pub fn new(host: &str, path: &[u8]) -> Self {
        Self {
            host: host.to_owned(),
            port: None,
            mount_port: None,
            path: path.to_vec(),
            uid: None,
            gid: None,
            privileged: false,
        }
    }
}

/// An export's directory, found.
#[derive(Debug)]
pub struct Mounted {
    /// How its files are reached.
    pub endpoint: Endpoint,
    /// The port of the MOUNT service.
    pub mount_port: u16,
    /// The path that was mounted: the export's own, or one above it.
    pub export: Vec<u8>,
    /// The directory.
    pub directory: Handle,
    /// As whom calls are made.
    pub caller: Caller,
    /// How many bytes calls move.
    pub sizes: TransferSizes,
}

/// A server that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot {doing} {of}: {why}")]
pub struct MountError {
    /// What was being done, in words that `of` can follow: `connect to`, `mount`.
    pub doing: &'static str,
    /// The server or the directory.
    pub of: String,
    /// What the server or the system answered, and what to do about it.
    pub why: String,
}

/// The user and group of an export, or this process's.
pub(crate) fn caller(export: &Export) -> Caller {
    let user = rustix::process::geteuid().as_raw();
    let group = rustix::process::getegid().as_raw();
    let is_own = export.uid.is_none_or(|uid| uid == user);
    let groups = is_own.then(|| rustix::process::getgroups().ok()).flatten();
    Caller {
        machine: rustix::system::uname().nodename().to_bytes().to_vec(),
        uid: export.uid.unwrap_or(user),
        gid: export.gid.unwrap_or(group),
        groups: groups
            .unwrap_or_default()
            .into_iter()
            .map(|group| group.as_raw())
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callers_are_who_the_export_says() {
        let own = caller(&Export::new("server", b"/a"));
        assert_eq!(own.uid, rustix::process::geteuid().as_raw());
        let other = caller(&Export {
            uid: Some(own.uid + 1),
            gid: Some(7),
            ..Export::new("server", b"/a")
        });
        assert_eq!(
            (other.uid, other.gid, other.groups),
            (own.uid + 1, 7, Vec::new())
        );
    }
}
