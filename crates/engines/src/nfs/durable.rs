//! Translates durability policies into the stability level of WRITE calls, and into COMMIT calls.

use engine::Durability;
use nfs_client::Stable;

/// How the protocol implements a durability policy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Durable {
    /// The stability that each WRITE requests.
    pub(crate) stable: Stable,
    /// COMMIT is needed if the stability in a reply is below this value; `None` if the policy never
    /// needs COMMIT.
    pub(crate) commits_below: Option<Stable>,
    /// The policy in terms of the protocol, such as `UNSTABLE, then COMMIT`.
    pub(crate) name: &'static str,
}

impl Durable {
    /// Returns `None` if the protocol does not support the policy.
    pub(crate) fn of(durability: Durability) -> Option<Self> {
        let commit = "UNSTABLE, then COMMIT";
        let (stable, commits_below, name) = match durability {
            Durability::None => (Stable::Unstable, None, "UNSTABLE"),
            Durability::Fdatasync => (Stable::Unstable, Some(Stable::Data), commit),
            Durability::Fsync | Durability::FsyncDirectory => {
                (Stable::Unstable, Some(Stable::File), commit)
            }
            Durability::ODsync => (Stable::Data, None, "DATA_SYNC"),
            Durability::OSync => (Stable::File, None, "FILE_SYNC"),
            Durability::Batch(_) => return None,
        };
        Some(Self {
            stable,
            commits_below,
            name,
        })
    }
}
