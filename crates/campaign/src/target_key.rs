//! Identifies targets, to find earlier runs on the same target.

use std::path::PathBuf;

use record::{Fact, LocationRecord};
use system::{Mount, Target};

/// Identifies the file system or server that contains the files of a target. Two targets are the
/// same if their keys are equal. A target without a key is not the same as any other target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TargetKey {
    Mount {
        source: String,
        mount_point: PathBuf,
        file_system_type: String,
    },
    /// A server that the I/O engine calls itself: its URL or its description.
    Server(String),
    /// The I/O engine uses no file system and no server.
    Nothing,
}

impl TargetKey {
    /// Returns the key of a directory's file system; `None` if its mount is not known.
    pub(crate) fn of_directory(target: &Target) -> Option<Self> {
        let key = |mount: &Mount| Self::Mount {
            source: mount.source.clone(),
            mount_point: mount.mount_point.clone(),
            file_system_type: mount.file_system_type.clone(),
        };
        target.mount.known().map(key)
    }

    /// Returns the key of a location of a run; `None` if the record does not contain its mount.
    pub(crate) fn of_location(location: &LocationRecord) -> Option<Self> {
        match (&location.target, &location.server) {
            (Fact::Known(target), _) => Self::of_directory(target),
            (Fact::NotApplicable, Some(server)) => Some(Self::Server(server.one_line())),
            (Fact::NotApplicable, None) => Some(Self::Nothing),
            (Fact::Unavailable(_), _) => None,
        }
    }

    /// Whether two lists contain the same targets in the same order. A missing key equals no other.
    pub(crate) fn are_same(some: &[Option<Self>], others: &[Option<Self>]) -> bool {
        some.iter().all(Option::is_some) && some == others
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_without_a_known_mount_are_not_the_same() {
        let location = |target: Fact<Target>| LocationRecord {
            weight: 1,
            directory: "/mnt".to_owned(),
            target,
            durability: None,
            server: None,
        };
        let of = |target: Fact<Target>| [TargetKey::of_location(&location(target))];
        let unknown = of(Fact::Unavailable("no mount table".to_owned()));
        assert!(!TargetKey::are_same(&unknown, &unknown));
        let nothing = of(Fact::NotApplicable);
        assert!(TargetKey::are_same(&nothing, &nothing));
        assert!(!TargetKey::are_same(&nothing, &unknown));
    }
}
