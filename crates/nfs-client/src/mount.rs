//! A directory of a server: the request to mount it, and the result.

use crate::data::Handle;
use crate::endpoint::Endpoint;
use crate::rpc::Caller;

/// The maximum size of a READ or WRITE. Larger sizes are not faster, and each call in flight would
/// use more memory.
pub(crate) const TRANSFER_BYTES_MAX: u32 = 1 << 20;
/// The minimum size of a READ or WRITE, which a server must support.
pub(crate) const TRANSFER_BYTES_MIN: u32 = 512;
/// The size of a page of a listing. Larger pages gain little, because a directory of 20,000 entries
/// takes only 57 pages of this size. Servers also shorten larger pages.
pub(crate) const LISTING_BYTES: u32 = 64 << 10;

/// The maximum length of the headers and attributes of a reply, without contents or entries.
const REPLY_HEAD_BYTES_MAX: usize = 4096;

/// The sizes of READ, WRITE and listing calls. The sizes of READ and WRITE depend on the sizes that
/// the server prefers (FSINFO).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransferSizes {
    /// The maximum size of a READ in bytes.
    pub read: u32,
    /// The maximum size of a WRITE in bytes.
    pub write: u32,
    /// The size of a page of a listing in bytes.
    pub listing: u32,
}

impl TransferSizes {
    /// The maximum length of a reply in bytes.
    pub fn record_bytes_max(&self) -> usize {
        // Some servers count the bytes of a page differently and exceed the requested size. Up to
        // four times this size is accepted.
        (self.read.max(4 * self.listing)) as usize + REPLY_HEAD_BYTES_MAX
    }

    /// The sizes before the server's preferred sizes are known.
    pub(crate) const UNKNOWN: Self = Self {
        read: TRANSFER_BYTES_MIN,
        write: TRANSFER_BYTES_MIN,
        listing: LISTING_BYTES,
    };
}

/// A directory of a server, and the parameters of the connection.
#[derive(Clone, Debug)]
pub struct Export {
    /// A host name or an IP address.
    pub host: String,
    /// The port of the NFS service; `None` asks the server's port mapper.
    pub port: Option<u16>,
    /// The port of the MOUNT service; `None` asks the server's port mapper.
    pub mount_port: Option<u16>,
    /// The absolute path of the directory on the server, such as `/export/path`. The server may
    /// export only a parent directory.
    pub path: Vec<u8>,
    /// The user ID of calls; `None` for the user ID of this process.
    pub uid: Option<u32>,
    /// The group ID of calls; `None` for the group ID of this process.
    pub gid: Option<u32>,
    /// Whether connections use a local port below 1024, which some servers require.
    pub privileged: bool,
}

impl Export {
    /// Creates an export with ports from the port mapper and the IDs of this process.
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

/// The result of [`mount`](crate::mount()): what a client needs for NFS calls.
#[derive(Debug)]
pub struct Mounted {
    /// How to call the NFS service: its address, credentials and timeout.
    pub endpoint: Endpoint,
    /// The port of the MOUNT service, from the export or the port mapper.
    pub mount_port: u16,
    /// The path that was mounted: the path of the export, or of one of its parent directories.
    pub export: Vec<u8>,
    /// The handle of the directory at [`Export::path`], which may be below `export`.
    pub directory: Handle,
    /// The user and group IDs that NFS calls contain.
    pub caller: Caller,
    /// The sizes negotiated with the server.
    pub sizes: TransferSizes,
}

/// The error if a server cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot {doing} {of}: {why}")]
pub struct MountError {
    /// The failed action, as a verb that `of` can follow, such as `connect to` or `mount`.
    pub doing: &'static str,
    /// The server or directory that the action concerned.
    pub of: String,
    /// The error of the server or the system, and what to do about it.
    pub why: String,
    /// `true` if no server answered, or the host name could not be resolved. `false` if a server
    /// answered, and refused the action.
    pub is_silent: bool,
}

/// Returns the credentials of an export; additional groups of this process are included only if
/// calls use the user ID of this process.
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
    fn credentials_contain_ids_of_export() {
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
