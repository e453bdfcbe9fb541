//! What a durability policy promises about an acknowledged operation after a crash.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::capability::Bytes;
use crate::durability::Durability;
use crate::operation::OperationKind;
use crate::step::Step;

/// The changes of an acknowledged operation that a crash must not undo.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Promise {
    /// No change.
    #[default]
    Nothing,
    /// The name, which exists or is removed.
    Names,
    /// The size and contents of the file, if its name exists.
    Contents,
    /// The name, and the size and contents of the file.
    All,
}

impl Promise {
    /// Whether a name must exist, or must be absent, as acknowledged.
    pub const fn has_names(self) -> bool {
        matches!(self, Self::Names | Self::All)
    }

    /// Whether size and contents must be as acknowledged.
    pub const fn has_contents(self) -> bool {
        matches!(self, Self::Contents | Self::All)
    }

    /// The promise in a table.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Names => "names",
            Self::Contents => "contents",
            Self::All => "all",
        }
    }

    /// Everything that one of the two promises.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        match (
            self.has_names() || other.has_names(),
            self.has_contents() || other.has_contents(),
        ) {
            (true, true) => Self::All,
            (true, false) => Self::Names,
            (false, true) => Self::Contents,
            (false, false) => Self::Nothing,
        }
    }
}

impl Durability {
    /// What the policy promises about an operation of this kind that a file system acknowledged.
    /// A batch promises nothing about a single operation, because only its last one syncs.
    pub fn promises(self, kind: OperationKind) -> Promise {
        let syncs = kind.steps().iter().any(|part| part.step == Step::Sync);
        match self {
            Self::FsyncDirectory => Promise::All,
            // Without a sync of the directory, the name may refer to the old file again.
            _ if kind == OperationKind::Replace => Promise::Nothing,
            Self::Fdatasync | Self::Fsync if syncs => Promise::Contents,
            Self::ODsync | Self::OSync if kind.bytes() == Bytes::Written => Promise::Contents,
            _ => Promise::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::OperationKind as Kind;

    #[test]
    fn policy_promises_what_its_syncs_make_durable() {
        for (policy, kind, promise) in [
            (Durability::None, Kind::Create, Promise::Nothing),
            (Durability::Batch(1), Kind::Create, Promise::Nothing),
            (Durability::Fdatasync, Kind::Append, Promise::Contents),
            (Durability::Fsync, Kind::Truncate, Promise::Contents),
            (Durability::Fsync, Kind::Rename, Promise::Nothing),
            (Durability::Fsync, Kind::Replace, Promise::Nothing),
            (Durability::OSync, Kind::Append, Promise::Contents),
            (Durability::ODsync, Kind::Truncate, Promise::Nothing),
            (Durability::FsyncDirectory, Kind::Delete, Promise::All),
        ] {
            assert_eq!(policy.promises(kind), promise, "{policy}, {}", kind.name());
        }
    }

    #[test]
    fn promises_are_combined() {
        assert_eq!(Promise::Names.or(Promise::Contents), Promise::All);
        assert_eq!(Promise::Nothing.or(Promise::Names), Promise::Names);
        assert_eq!(Promise::All.or(Promise::Nothing), Promise::All);
    }
}
