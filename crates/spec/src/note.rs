//! What was made of the words that may surprise: all of it in one list, with the words in which it is told.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workload::Weights;
use workload::fingerprint::GENERATORS_VERSION;
use workload::mix::Think;

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
        /// The version of the generators that drew that run's operations; nothing where it is this one's.
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
                "The pool is shared, so the classic pairs became the mix {weights}: a transaction is one operation, and no \
                 edition's generator draws them"
            ),
            Self::ThinkGivesWay { think, per_second } => {
                write!(f, "The preset's think time ({think}) gives way to ")?;
                match per_second {
                    Some(rate) => write!(f, "the rate of {rate} a second"),
                    None => f.write_str("the sweep"),
                }
            }
            Self::OtherWork { generators } => {
                f.write_str("This is other work than that of the run that --like names (the fingerprints differ)")?;
                match generators {
                    Some(theirs) => write!(
                        f,
                        ": its operations were drawn by generators of version {theirs}, these are of version {GENERATORS_VERSION}"
                    ),
                    None => Ok(()),
                }
            }
            Self::NoAckLog => f.write_str(
                "The run that --like names kept an acknowledgement log, which made it wait; this one has none without --ack-log FILE",
            ),
            Self::NotPrepared => f.write_str(
                "The run that --like names had its operations drawn before it began; this one draws them as it goes",
            ),
            Self::ArchiveOnTarget { archive, shared } => write!(
                f,
                "the archive {archive} lies on the target's {shared}: what is written to it, between phases only, goes there, too \
                 (--archive FILE on another device, or --archive none)"
            ),
        }
    }
}
