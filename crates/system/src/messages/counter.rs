//! Counters of messages: where they are, and what belongs to targets.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where messages are counted.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum MessageCounter {
    /// This machine's NFS client, for one file system (`/proc/self/mountstats`).
    NfsClient,
    /// This machine's NFS server, for all of its clients
    /// (`/proc/net/rpc/nfsd`).
    NfsServer,
    /// NFS-Ganesha, a server in user space, on this machine, for all of its clients (D-Bus:
    /// `GetFULLV3Stats`, and `GetFastOPS` for the operations of version 4).
    NfsGanesha,
    /// This machine's SMB client, for one share (`/proc/fs/cifs/Stats`).
    SmbClient,
    /// A disk of this machine that an iSCSI session provides
    /// (`/sys/class/block/DISK/device/iorequest_cnt`).
    IscsiSession,
    /// The client of NFS that is a part of this program (`--storage nfs`), all of its sessions
    /// together.
    #[serde(rename = "nfs-storage")]
    NfsEngine,
}

/// One counter that is read.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct WatchedCounter {
    /// Where it is.
    pub counter: MessageCounter,
    /// [`MessagesReading::protocol`](super::MessagesReading::protocol).
    pub protocol: String,
    /// [`MessagesReading::of`](super::MessagesReading::of).
    pub of: String,
}

/// The counters of messages that belong to targets. Found once, read often.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchedMessages {
    /// The counters.
    pub list: Vec<WatchedCounter>,
    /// Why messages of a target are not among them; empty if all are.
    pub unseen: Vec<String>,
}
