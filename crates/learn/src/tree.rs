//! Observes a tree of files. Nothing is written to the tree, no link is followed, and memory does
//! not grow with the tree.

mod counts;
mod equal_sizes;
mod open;
mod reservoir;
mod sample;
mod walk;

use std::io;
use std::path::PathBuf;

use self::counts::Counts;
use self::walk::Walk;
use crate::profile::Profile;

/// What to observe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeRequest {
    /// The root of the tree. If it is a symbolic link, the tree is the directory to which it
    /// points.
    pub directory: PathBuf,
    /// Whether file systems that are mounted in the tree belong to it.
    pub crosses_mounts: bool,
}

/// Why a tree cannot be observed.
#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    /// The root cannot be opened.
    #[error(
        "cannot open the directory {shown}: {1} (name a directory that you can read)",
        shown = document::sanitize::path(.0)
    )]
    Root(PathBuf, io::Error),
    /// The tree has no regular file.
    #[error(
        "cannot learn from {shown}: the tree has no regular files{}",
        .1,
        shown = document::sanitize::path(.0)
    )]
    Empty(PathBuf, String),
}

/// Observes a tree: its metadata, and samples of its contents of at most 80 MiB.
///
/// Access times of files and directories do not change if the user owns them or is root.
///
/// # Errors
/// Returns an error if the root cannot be opened, or if no regular file was found.
pub fn learn_tree(request: &TreeRequest) -> Result<Profile, TreeError> {
    let failed = |errno: rustix::io::Errno| {
        TreeError::Root(request.directory.clone(), io::Error::from(errno))
    };
    let root = open::root(&request.directory).map_err(failed)?;
    let mut counts = Counts::default();
    let walk = Walk::new(&root, request.crosses_mounts, &mut counts);
    walk.map_err(failed)?.all();
    if counts.files() == 0 {
        let why = counts.first_problem();
        let why = why.map_or_else(String::new, |why| format!(" that can be read ({why})"));
        return Err(TreeError::Empty(request.directory.clone(), why));
    }
    let mut contents = sample::read(&root, counts.sampled());
    sample::compare(&root, counts.equal_sizes(), &mut contents);
    Ok(counts.into_profile(contents))
}
