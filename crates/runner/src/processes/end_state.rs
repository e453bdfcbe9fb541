//! How the work of a run has ended, as far as that decides what is left of its place.

use rundir::manifest::Position;
use rundir::worker_status::PartlyWritten;
use serde::{Deserialize, Serialize};

/// What must be known of the work of all processes before the place is left.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct EndState {
    /// All of them have come to their end.
    pub complete: bool,
    /// Somebody did not come back, or is lost: nothing is to be touched.
    pub abandoned: bool,
    pub any_spoiled: bool,
    pub partly_written: PartlyWritten,
    pub set_back_ns: i64,
    /// All of them have come to their end, or were interrupted.
    pub is_whole: bool,
    /// By worker; nothing where that is not known of all.
    pub positions: Option<Vec<Position>>,
    pub names: u64,
    pub in_use: bool,
    pub latest_ns: i64,
}

impl EndState {
    /// Of two processes.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.complete &= other.complete;
        self.abandoned |= other.abandoned;
        self.any_spoiled |= other.any_spoiled;
        self.partly_written.extend(other.partly_written);
        self.set_back_ns = self.set_back_ns.max(other.set_back_ns);
        self.is_whole &= other.is_whole;
        self.positions = self
            .positions
            .zip(other.positions)
            .map(|(one, other)| [one, other].concat());
        self.names += other.names;
        self.in_use |= other.in_use;
        self.latest_ns = self.latest_ns.max(other.latest_ns);
        self
    }
}
