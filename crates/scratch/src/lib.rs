//! Scratch file systems: file systems that a study makes and removes, such as
//! `make:ext4?size=4GiB`.
//!
//! A [`MakeSpec`] describes the file system. [`MakeSpec::check`] finds, before anything is made,
//! what is missing: privileges, programs, the kernel's driver, a loop device or free space.
//! [`Made::make`] makes it. [`Made::remake`], [`Made::save`] and [`Made::restore`] let each run
//! start from the same state. [`Made::remove`] removes all of it. [`find`] finds what a killed
//! program left behind, and [`FoundMade::remove`] removes that.
//!
//! This crate never uses an existing device: every block device is a loop device over an image that
//! it created itself. It prints nothing, and is independent of what runs on the file systems.
//!
//! Files and directories are held open and recorded with their identity. Removal follows the
//! identity: it removes what was made, even if it was moved, and never a file that has replaced it.
//!
//! All files are in a new directory `postmark-made-SECOND-PROCESS-N`, in the directory for images:
//!
//! | name | content |
//! |---|---|
//! | `.postmark-made.json` | the manifest: written first, locked during use, removed last |
//! | `image`, `journal` | images of the file system and of its external journal |
//! | `mount` | mount point of the file system: target in `work`, filler in `filler` |
//! | `below` | for an overlay: mount point of the ext4 with its layers |
//! | `saved-STATE-image`, `saved-STATE-journal` | copies of saved states |
//!
//! An external journal in another directory has a directory of the same form there, with its own
//! manifest. Each of the two manifests names the other directory.

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
mod stop;
mod tool;
mod word;

pub use error::MakeError;
pub use facts::{MadeFacts, ToolFacts};
pub use find::{FoundMade, MadeState, find};
pub use invalid::InvalidMakeSpec;
pub use kind::FileSystemKind;
pub use making::{Made, MakeStage};
pub use needs::{MakeNeeds, RoomNeed};
pub use owned::MadeLeft;
pub use removal::MadeRemoved;
pub use spec::{DEFAULT_DIRECTORY, DEFAULT_SIZE_BYTES, ExternalJournal, MakeSpec};
pub use stop::MakeStop;
