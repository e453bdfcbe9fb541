//! File systems that a study makes and removes: `make:ext4?size=4GiB`.
//!
//! A [`MakeSpec`] says what is to be made. [`MakeSpec::check`] finds, before anything is made, what
//! is missing: privileges, programs, the kernel's file system, a loop device, room. [`Made::make`]
//! makes it; [`Made::remake`], [`Made::save`] and [`Made::restore`] let each run start from the
//! same state; [`Made::remove`] removes all of it. What a killed program left is found by [`find`]
//! and removed by [`FoundMade::remove`].
//!
//! It never touches an existing device: every block device is a loop device over an image that it
//! made itself. It prints nothing, and does not know what runs on its file systems.
//!
//! What is made is held open and recorded with its identity, and only that is removed: where it was
//! moved to, and never what has its name instead.
//!
//! All that is made lies in a directory of its own, `postmark-made-SECOND-PROCESS-N`, in the
//! directory of the image:
//!
//! | name | is |
//! |---|---|
//! | `.postmark-made.json` | the manifest: on disk first, locked meanwhile, removed last |
//! | `image`, `journal` | the images of the file system and of its external journal |
//! | `mount` | the file system is mounted here: target in `work`, filler in `filler` |
//! | `below` | of an overlay: where the ext4 with its layers is mounted |
//! | `saved-STATE-image`, `saved-STATE-journal` | copies of states |
//!
//! A journal that is to lie elsewhere has a directory of the same form there, with a manifest of
//! its own; each manifest names the other directory.

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
