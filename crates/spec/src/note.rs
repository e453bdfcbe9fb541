//! Notes about effects of options that a user may not expect, and the message of each note.

use std::fmt;

use document::units::{bytes, latency};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workload::Weights;
use workload::fingerprint::GENERATORS_VERSION;

/// An effect of the options that the user may not expect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "note", rename_all = "kebab-case")]
pub enum Note {
    /// The pool is shared, so the pairs of operations of the classic workload became a mix.
    PairsBecameMix {
        /// Weights of the resulting mix.
        weights: Weights,
    },
    /// The workload differs from that of the earlier run that the option `--like` names.
    OtherWork {
        /// Version of the generators that drew the operations of the earlier run; null if this run
        /// uses the same version.
        generators: Option<u32>,
    },
    /// The earlier run that the option `--like` names wrote an acknowledgement log, and this run
    /// writes none.
    NoAckLog,
    /// The earlier run that the option `--like` names drew its operations before it started. This
    /// run draws its operations while it runs.
    NotPrepared,
    /// The run waited until earlier writes of other programs were on their devices.
    WaitedForWriteBack {
        /// Duration of the wait before the run, in nanoseconds: at most about 15 s, even if data is
        /// left.
        waited_ns: u64,
        /// Dirty data and data under write-back on the machine before the wait, in bytes (`Dirty`
        /// and `Writeback` of `/proc/meminfo`).
        before_bytes: u64,
        /// Dirty data and data under write-back on the machine after the wait, in bytes.
        left_bytes: u64,
    },
    /// The archive is written to a file system or device that the run measures.
    ArchiveOnTarget {
        /// Path of the archive's database file, such as
        /// `/home/me/.local/share/postmark/archive.db`.
        archive: String,
        /// What the archive and the target share, as text: the file system or a device.
        shared: String,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PairsBecameMix { weights } => write!(
                f,
                "The pool is shared, so the workload is the mix {weights}. Each transaction is \
                 one operation."
            ),
            Self::OtherWork { generators } => {
                f.write_str(
                    "The workload differs from that of the repeated run (the fingerprints differ)",
                )?;
                match generators {
                    Some(theirs) => write!(
                        f,
                        ": that run used generators of version {theirs}, this one uses version \
                         {GENERATORS_VERSION}."
                    ),
                    None => f.write_str("."),
                }
            }
            Self::NoAckLog => f.write_str(
                "The repeated run wrote an acknowledgement log. This run writes none (add \
                 --ack-log FILE).",
            ),
            Self::NotPrepared => f.write_str(
                "The repeated run chose its operations before it began. This run chooses them \
                 while it runs.",
            ),
            Self::WaitedForWriteBack {
                waited_ns,
                before_bytes,
                left_bytes,
            } => write!(
                f,
                "The run waited {} for earlier writes of other programs: {} were not on their \
                 devices before, {} after.",
                latency(*waited_ns as f64),
                bytes(*before_bytes as f64),
                bytes(*left_bytes as f64)
            ),
            Self::ArchiveOnTarget { archive, shared } => write!(
                f,
                "The archive {archive} is on the target's {shared} and is written between phases. \
                 Use --archive FILE on another device, or --archive none."
            ),
        }
    }
}
