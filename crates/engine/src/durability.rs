//! Durability policies: which changes are on the device when an operation completes.

use std::fmt;
use std::num::ParseIntError;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::capability::Bytes;
use crate::operation::OperationKind;
use crate::step::Step;

/// A durability policy: the syncs that operations make. Operations that change nothing never sync.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Durability {
    /// No syncs: the kernel decides when data is written to the device.
    #[default]
    None,
    /// Each changed file is synced by fdatasync(2) before it is closed.
    Fdatasync,
    /// Each changed file is synced by fsync(2) before it is closed.
    Fsync,
    /// In addition to [`Fsync`](Self::Fsync), each directory whose entries changed is synced by
    /// fsync(2).
    FsyncDirectory,
    /// Files are opened with `O_DSYNC`: each write call waits until its data is on the device.
    ODsync,
    /// Files are opened with `O_SYNC`: each write call waits until data and attributes are on the
    /// device.
    OSync,
    /// A location's file system is synced by syncfs(2) after this number of changing operations in
    /// the location; at least 1.
    Batch(u32),
}

/// How a file is synced before it is closed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FileSync {
    /// Not at all.
    #[default]
    None,
    /// By fdatasync(2).
    Data,
    /// By fsync(2).
    All,
}

/// The syncs of a single operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OperationSyncs {
    /// That of the changed file.
    pub file: FileSync,
    /// Whether the directories whose entries changed are synced by fsync(2).
    pub directories: bool,
}

/// The reason why a text is not a valid durability policy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DurabilityError {
    /// The text, which is not the name of a policy.
    #[error("expected none, fdatasync, fsync, fsync+dir, o-dsync, o-sync or batch:N")]
    Unknown(String),
    /// `N` of `batch:N` cannot be parsed.
    #[error(
        "invalid value '{said}': {cause} (batch:N takes a number of operations from 1 to {})",
        u32::MAX
    )]
    Number {
        /// The complete text of the policy, such as `batch:0`.
        said: String,
        /// The error of parsing `N`, which may exceed [`u32::MAX`].
        cause: ParseIntError,
    },
    /// A batch of 0 operations.
    #[error("a batch needs at least 1 operation (for no sync, use none)")]
    EmptyBatch,
}

impl Durability {
    /// All policies. `Batch` has a size of one operation.
    pub const ALL: [Self; 7] = [
        Self::None,
        Self::Fdatasync,
        Self::Fsync,
        Self::FsyncDirectory,
        Self::ODsync,
        Self::OSync,
        Self::Batch(1),
    ];

    /// Whether two values are the same policy, regardless of the number of operations of a batch.
    pub fn is_same_policy(self, other: Self) -> bool {
        core::mem::discriminant(&self) == core::mem::discriminant(&other)
    }

    /// The policy's name in options, without the number of operations of a batch.
    pub const fn policy(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Fdatasync => "fdatasync",
            Self::Fsync => "fsync",
            Self::FsyncDirectory => "fsync+dir",
            Self::ODsync => "o-dsync",
            Self::OSync => "o-sync",
            Self::Batch(_) => "batch",
        }
    }

    /// Whether an operation of this kind completes only when its changes are on the device. `false`
    /// for batches, because only the last operation of a batch syncs.
    pub fn covers(self, kind: OperationKind) -> bool {
        let has = |step: Step| kind.steps().iter().any(|part| part.step == step);
        match self {
            Self::None | Self::Batch(_) => false,
            Self::Fdatasync | Self::Fsync => has(Step::Sync),
            Self::FsyncDirectory => has(Step::Sync) || has(Step::SyncDirectory),
            Self::ODsync | Self::OSync => kind.bytes() == Bytes::Written,
        }
    }
}

impl fmt::Display for Durability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Batch(operations) => write!(f, "batch:{operations}"),
            policy => f.pad(policy.policy()),
        }
    }
}

impl FromStr for Durability {
    type Err = DurabilityError;

    fn from_str(text: &str) -> Result<Self, DurabilityError> {
        let Some(number) = text.strip_prefix("batch:") else {
            let [plain @ .., _batch] = Self::ALL;
            return plain
                .into_iter()
                .find(|policy| policy.policy() == text)
                .ok_or_else(|| DurabilityError::Unknown(text.to_owned()));
        };
        match number.parse() {
            Ok(0) => Err(DurabilityError::EmptyBatch),
            Ok(operations) => Ok(Self::Batch(operations)),
            Err(cause) => Err(DurabilityError::Number {
                said: text.to_owned(),
                cause,
            }),
        }
    }
}

impl Serialize for Durability {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Durability {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policy_covers_operations_whose_changes_it_syncs() {
        use OperationKind as Kind;
        for (policy, kind, is_covered) in [
            (Durability::None, Kind::Create, false),
            (Durability::Batch(1), Kind::Create, false),
            (Durability::Fsync, Kind::Create, true),
            (Durability::Fdatasync, Kind::Truncate, true),
            (Durability::Fsync, Kind::Delete, false),
            (Durability::FsyncDirectory, Kind::Delete, true),
            (Durability::FsyncDirectory, Kind::Read, false),
            (Durability::ODsync, Kind::Append, true),
            (Durability::OSync, Kind::Truncate, false),
        ] {
            assert_eq!(policy.covers(kind), is_covered, "{policy}, {}", kind.name());
        }
    }

    #[test]
    fn every_durability_policy_round_trips() {
        for (policy, text) in [
            (Durability::None, "none"),
            (Durability::Fdatasync, "fdatasync"),
            (Durability::Fsync, "fsync"),
            (Durability::FsyncDirectory, "fsync+dir"),
            (Durability::ODsync, "o-dsync"),
            (Durability::OSync, "o-sync"),
            (Durability::Batch(1), "batch:1"),
            (Durability::Batch(u32::MAX), "batch:4294967295"),
        ] {
            assert_eq!(policy.to_string(), text);
            assert_eq!(text.parse(), Ok(policy));
            let json = format!("\"{text}\"");
            assert_eq!(serde_json::to_string(&policy).unwrap(), json);
            assert_eq!(serde_json::from_str::<Durability>(&json).unwrap(), policy);
        }
        assert_eq!(Durability::default(), Durability::None);
    }

    #[test]
    fn invalid_durability_policies_are_rejected_with_a_hint() {
        for (text, words) in [
            ("sync", "expected none, fdatasync, fsync, fsync+dir"),
            ("Fsync", "expected none"),
            ("", "expected none"),
            ("batch", "batch:N"),
            (
                "batch:",
                "cannot parse integer from empty string (batch:N takes a number",
            ),
            ("batch:ten", "invalid digit"),
            ("batch:-1", "invalid digit"),
            ("batch:4294967296", "number too large"),
            ("batch:0", "at least 1 operation"),
        ] {
            let said = text.parse::<Durability>().unwrap_err().to_string();
            assert!(said.contains(words), "{said}");
            let json = serde_json::from_str::<Durability>(&format!("\"{text}\"")).unwrap_err();
            assert!(json.to_string().contains(&said), "{json}");
        }
    }
}
