//! What the policies of durability come to in the protocol.

use engine::Durability;
use nfs_client::Stable;

/// How durable writes are asked to be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Durable {
    /// Of each WRITE.
    pub(crate) stable: Stable,
    /// What the answers must be at least, so that no COMMIT is needed; `None` where there is none
    /// in any case.
    pub(crate) commits_below: Option<Stable>,
    /// The protocol's words for it.
    pub(crate) name: &'static str,
}

impl Durable {
    /// `None` where the protocol has nothing for a policy.
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
