//! What an application is: its requirements, its preparation, and the work that is timed.

use crate::result::Result;

use super::cell::{Cell, Step};
use super::data::Data;
use super::needs::Need;

/// An application that one or more presets claim to predict.
pub struct Application {
    pub name: &'static str,
    /// Applications of a group run one after another in the same directory: `cp`, `find`, `grep`
    /// and `rm` use the tree that `tar` has unpacked.
    pub group: &'static str,
    /// Programs and data that must be on this machine.
    pub needs: fn(Data) -> Vec<Need>,
    /// Makes the initial files, which is not timed.
    pub prepare: fn(&mut Cell<'_>) -> Result<()>,
    /// Performs the work and times its steps.
    pub run: fn(&mut Cell<'_>) -> Result<Vec<Step>>,
    /// The directory with the application's files, relative to the directory of its group.
    pub files: &'static str,
    /// Whether the files are those of published packages. Sizes are compared only then, because
    /// mail, news and web objects are generated.
    pub has_real_sizes: bool,
}
