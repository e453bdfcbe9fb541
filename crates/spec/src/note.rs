//! Notes about options with effects that a user may not expect, in one list, with their messages.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workload::Weights;
use workload::fingerprint::GENERATORS_VERSION;
use workload::mix::Think;

use crate::values::ThinkOption;

/// Something that who asked for a run may not expect of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "note", rename_all = "kebab-case")]
pub enum Note {
    /// The pool is shared, so the classic pairs became a mix.
    PairsBecameMix {
        /// With these weights.
        weights: Weights,
    },
    /// Transactions come at a rate, so the preset's think time is left out.
    ThinkGivesWay {
        /// What the preset says.
        think: Think,
        /// The rate, a second; nothing where loads are climbed.
        per_second: Option<f64>,
    },
    /// It is other work than that of the run that `--like` names.
    OtherWork {
        /// The version of the generators that drew that run's operations; nothing where it is this
        /// one's.
        generators: Option<u32>,
    },
    /// The run that `--like` names kept an acknowledgement log, and this one keeps none.
    NoAckLog,
    /// The run that `--like` names had its operations drawn before it began.
    NotPrepared,
    /// The archive is written to what is measured.
    ArchiveOnTarget {
        /// Its path.
        archive: String,
        /// What the two share.
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
            Self::ThinkGivesWay { think, per_second } => {
                write!(
                    f,
                    "The preset's think time ({}) is ignored because of ",
                    ThinkOption(*think)
                )?;
                match per_second {
                    Some(rate) => write!(f, "--rate {rate}."),
                    None => f.write_str("--sweep."),
                }
            }
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
            Self::ArchiveOnTarget { archive, shared } => write!(
                f,
                "The archive {archive} is on the target's {shared} and is written between phases. \
                 Use --archive FILE on another device, or --archive none."
            ),
        }
    }
}
