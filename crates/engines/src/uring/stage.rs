//! The requests of an operation, in their order. Each stage is one request, but `Read` and `Write`
//! make a request for each block.

use std::ffi::c_int;

use engine::{OperationKind, Step};
use io_uring::opcode;

/// A stage of an operation. The first name is that of the file, or the temporary name of a
/// replacement; the second name is a new or final name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Opens the first name with these flags.
    Open(c_int),
    Read,
    Write,
    Sync {
        contents_only: bool,
    },
    Truncate,
    Evict,
    SetExtended,
    GetExtended,
    Close,
    /// Closes the file of an operation that has failed.
    Abandon,
    /// Requests the attributes of the first name, and compares the size with the expected size.
    Stat,
    /// Requests the attributes of the first name, which must not exist; `OpenMissing` tries to open
    /// it.
    StatMissing,
    OpenMissing(c_int),
    /// Tries to create the directory, which must exist already.
    MakeExisting,
    Unlink,
    MakeDirectory,
    RemoveDirectory,
    /// Renames the first name to the second name.
    Rename {
        replaces: bool,
    },
    /// Checks that the second name does not exist, if the rename itself cannot check that.
    Absent,
    Link,
    SymbolicLink,
    /// Opens the directory of the first (0) or second (1) name. `SyncDirectory` and
    /// `CloseDirectory` follow.
    OpenDirectory(usize),
    SyncDirectory,
    CloseDirectory,
}

impl Stage {
    /// The `Step` that a failure of the stage names.
    pub(super) fn step(self) -> Step {
        match self {
            Self::Open(_) | Self::OpenMissing(_) => Step::Open,
            Self::Read => Step::Read,
            Self::Write => Step::Write,
            Self::Sync { .. } => Step::Sync,
            Self::Truncate => Step::Truncate,
            Self::Evict => Step::Evict,
            Self::SetExtended => Step::SetExtended,
            Self::GetExtended => Step::GetExtended,
            Self::Close | Self::Abandon => Step::Close,
            Self::Stat | Self::StatMissing => Step::Stat,
            Self::MakeDirectory | Self::MakeExisting => Step::MakeDirectory,
            Self::Unlink => Step::Unlink,
            Self::RemoveDirectory => Step::RemoveDirectory,
            Self::Rename { .. } | Self::Absent => Step::Rename,
            Self::Link => Step::Link,
            Self::SymbolicLink => Step::SymbolicLink,
            Self::OpenDirectory(_) | Self::SyncDirectory | Self::CloseDirectory => {
                Step::SyncDirectory
            }
        }
    }

    /// Whether the end of the stage is the end of its [`step`](Self::step).
    pub(super) fn ends_step(self) -> bool {
        !matches!(
            self,
            Self::Absent | Self::Abandon | Self::OpenDirectory(_) | Self::SyncDirectory
        )
    }

    /// Whether the stage moves contents, by one request for each block; with 0 bytes, it makes no
    /// request.
    pub(super) fn moves(self) -> bool {
        matches!(self, Self::Read | Self::Write)
    }

    /// Whether the answer decides how the operation continues, so that no request may be linked
    /// to this one.
    pub(super) fn decides(self) -> bool {
        matches!(
            self,
            Self::GetExtended
                | Self::StatMissing
                | Self::OpenMissing(_)
                | Self::MakeExisting
                | Self::Absent
        )
    }

    pub(super) fn opens(self) -> bool {
        matches!(
            self,
            Self::Open(_) | Self::OpenMissing(_) | Self::OpenDirectory(_)
        )
    }

    pub(super) fn closes(self) -> bool {
        matches!(self, Self::Close | Self::Abandon | Self::CloseDirectory)
    }
}

const OPEN: u8 = opcode::OpenAt::CODE;
const CLOSE: u8 = opcode::Close::CODE;

/// The opcodes that operations of this kind need, besides fsync. An empty list means that the
/// operations are performed by system calls, as those of every new kind.
pub(super) fn opcodes(kind: OperationKind) -> &'static [u8] {
    use OperationKind as Kind;
    match kind {
        Kind::Create | Kind::Append | Kind::Overwrite => &[OPEN, opcode::Write::CODE, CLOSE],
        Kind::Read | Kind::ReadRange => &[OPEN, opcode::Read::CODE, CLOSE, opcode::Statx::CODE],
        Kind::Replace | Kind::Deliver => &[
            OPEN,
            opcode::Write::CODE,
            CLOSE,
            opcode::RenameAt::CODE,
            opcode::Statx::CODE,
        ],
        Kind::Rename => &[opcode::RenameAt::CODE, opcode::Statx::CODE],
        Kind::Delete | Kind::RemoveDirectory => &[opcode::UnlinkAt::CODE],
        Kind::MakeDirectory | Kind::MakeDirectoryExisting => &[opcode::MkDirAt::CODE],
        Kind::Stat | Kind::StatMissing => &[opcode::Statx::CODE],
        Kind::Truncate => &[OPEN, opcode::Ftruncate::CODE, CLOSE],
        Kind::Evict => &[OPEN, opcode::Fadvise::CODE, CLOSE],
        Kind::Link => &[opcode::LinkAt::CODE],
        Kind::SymbolicLink => &[opcode::SymlinkAt::CODE],
        Kind::SetExtended => &[OPEN, opcode::FSetXattr::CODE, CLOSE],
        Kind::GetExtended => &[OPEN, opcode::FGetXattr::CODE, CLOSE],
        Kind::OpenClose | Kind::OpenMissing => &[OPEN, CLOSE],
        _ => &[],
    }
}
