//! Scratch file systems: file systems that a study makes and removes, such as
//! `make:ext4?size=4GiB`.
//!
//! A [`MakeSpec`] describes the file system. [`MakeSpec::check`] reports, before anything is made,
//! a missing requirement: privileges, programs, the kernel's driver, a loop device or free space.
//! [`Made::make`] makes the file system. [`Made::remake`], [`Made::save`] and [`Made::restore`] let
//! each run start from the same state. [`Made::remount`] empties its caches. [`Made::remove`]
//! removes the file system with all its files.
//! [`find`] lists the file systems that killed programs left behind, and [`FoundMade::remove`]
//! removes one of them.
//!
//! This crate never formats an existing device: every block device is a loop device over an image
//! that this crate created. The crate prints nothing, and is independent of the runs on the file
//! systems.
//!
//! Files and directories are held open, and their identities are recorded. Removal compares the
//! identity: it removes what this crate made, even if it was moved, and never a file that has
//! replaced it.
//!
//! The files of a scratch file system are in a new directory `postmark-made-SECOND-PROCESS-N`,
//! inside the directory for images:
//!
//! | name | content |
//! |---|---|
//! | `.postmark-made.json` | the manifest: written first, locked during use, removed last |
//! | `image`, `journal` | images of the file system and of its external journal |
//! | `mount` | mount point of the file system: target in `work`, filler in `filler` |
//! | `below` | for an overlay: mount point of the ext4 with its layers |
//! | `saved-STATE-image`, `saved-STATE-journal` | copies of saved states |
//!
//! An external journal may be in another directory. The crate then creates a second directory of
//! the same form there, with a second manifest. Each manifest contains the path of the other
//! directory.

#[macro_use]
mod invalid;
mod blocks;
mod directory;
mod error;
mod facts;
mod filler;
mod find;
mod held_path;
mod identifiers;
mod key;
mod kind;
mod loops;
mod making;
mod manifest;
mod mkfs;
mod mkfs_words;
mod mounts;
mod needs;
mod owned;
mod removal;
mod spec;
mod states;
mod still_used;
mod stop;
mod tool;
mod word;

pub use error::MakeError;
pub use facts::{MadeFacts, ToolFacts};
pub use find::{FoundMade, MadeState, find};
pub use invalid::InvalidMakeSpec;
pub use key::{KEYS, Key};
pub use kind::FileSystemKind;
pub use making::{Made, MakeStage};
pub use needs::{MakeNeeds, RoomNeed};
pub use owned::MadeLeft;
pub use removal::MadeRemoved;
pub use spec::{DEFAULT_DIRECTORY, DEFAULT_SIZE_BYTES, ExternalJournal, MakeSpec};
pub use still_used::StillUsed;
pub use stop::MakeStop;
