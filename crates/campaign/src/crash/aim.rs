//! The moments at which a round can crash.

use faultfs::forget::Moment;
use serde::{Deserialize, Serialize};
use workload::random::{Key, below};

/// When a round crashes, after the time that was drawn for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aim {
    /// As soon as the time has passed.
    #[default]
    Time,
    /// In the middle of the next sync of a file.
    Sync,
    /// In the middle of the next rename.
    Rename,
    /// In the middle of the next sync of a directory.
    DirectorySync,
    /// As soon as the acknowledgement log contains another acknowledgement.
    Acknowledgement,
    /// One of the others, which the seed determines for each round.
    Mixed,
}

impl Aim {
    pub const ALL: [Self; 6] = [
        Self::Time,
        Self::Sync,
        Self::Rename,
        Self::DirectorySync,
        Self::Acknowledgement,
        Self::Mixed,
    ];

    /// The name by which a user selects the moment.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Sync => "sync",
            Self::Rename => "rename",
            Self::DirectorySync => "directory-sync",
            Self::Acknowledgement => "acknowledgement",
            Self::Mixed => "mixed",
        }
    }

    /// Whether only a file system of this program can crash at this moment, because another one
    /// does not show its requests.
    pub const fn needs_requests(self) -> bool {
        !matches!(self, Self::Time | Self::Acknowledgement)
    }

    /// The moment of a round, which is never [`Self::Mixed`].
    pub(super) fn of_round(self, seed: u64, round: u32) -> Self {
        match self {
            Self::Mixed => {
                let key = Key::new(seed, "crash moment", 0);
                let single = Self::ALL.len() as u64 - 1;
                Self::ALL[below(key.at(round.into()), single) as usize]
            }
            single => single,
        }
    }

    /// The request in whose middle the file system crashes.
    pub(super) const fn request(self) -> Option<Moment> {
        match self {
            Self::Sync => Some(Moment::Sync),
            Self::Rename => Some(Moment::Rename),
            Self::DirectorySync => Some(Moment::DirectorySync),
            Self::Time | Self::Acknowledgement | Self::Mixed => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mixed_rounds_use_every_moment_and_repeat_with_the_seed() {
        let moments = |seed| (1..=60).map(move |round| Aim::Mixed.of_round(seed, round));
        for aim in Aim::ALL {
            assert_eq!(moments(7).any(|of| of == aim), aim != Aim::Mixed, "{aim:?}");
        }
        assert!(moments(7).eq(moments(7)) && !moments(7).eq(moments(8)));
        assert_eq!(Aim::Rename.of_round(7, 3), Aim::Rename);
    }
}
