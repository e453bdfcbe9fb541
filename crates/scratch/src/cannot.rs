//! Why a file system cannot be made here.

use std::path::PathBuf;

use crate::kind::FileSystemKind;

/// Why a file system cannot be made here. Nothing was made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CannotMake {
    /// Mounting needs root.
    #[error(
        "cannot make {kind}: {actions} needs root (run as root, or use a directory of a mounted \
         file system)"
    )]
    NotRoot {
        /// The kind.
        kind: FileSystemKind,
        /// What needs root.
        actions: String,
    },
    /// A program is missing.
    #[error("cannot make {kind}: {program} is not installed (install the package {package})")]
    NoProgram {
        /// The kind.
        kind: FileSystemKind,
        /// The program.
        program: &'static str,
        /// The package of Debian that has it.
        package: &'static str,
    },
    /// The kernel does not have the file system.
    #[error(
        "cannot make {kind}: the kernel does not have it ({why}; use another kind, or another \
         kernel)"
    )]
    NoFileSystem {
        /// The kind.
        kind: FileSystemKind,
        /// What modprobe answered.
        why: String,
    },
    /// No loop devices can be made.
    #[error(
        "cannot make {kind}: no loop device: /dev/loop-control: {answer} (load the module loop, \
         or let the container use /dev/loop*)"
    )]
    NoLoop {
        /// The kind.
        kind: FileSystemKind,
        /// The system's answer.
        answer: String,
    },
    /// The directory for the image is not there or cannot be used.
    #[error("cannot make {kind} in {}: {answer} (use in=DIRECTORY)", directory.display())]
    Directory {
        /// The kind.
        kind: FileSystemKind,
        /// The directory.
        directory: PathBuf,
        /// What is wrong.
        answer: String,
    },
    /// Another user could exchange the image.
    #[error("cannot make {kind} in {}: another user can rename {} (use a directory that only root \
        can change, or /var/tmp)", directory.display(), renamed.display())]
    UnsafeDirectory {
        /// The kind.
        kind: FileSystemKind,
        /// The directory for the image.
        directory: PathBuf,
        /// The directory of others: itself or one above.
        renamed: PathBuf,
    },
    /// The image does not fit.
    #[error("no room for {kind} in {}: {needed_bytes} bytes needed, {available_bytes} available \
        (make room, use a smaller size, or in=DIRECTORY)", directory.display())]
    NoRoom {
        /// The kind.
        kind: FileSystemKind,
        /// The directory for the image.
        directory: PathBuf,
        /// What making it takes there.
        needed_bytes: u64,
        /// What is available there.
        available_bytes: u64,
    },
}
