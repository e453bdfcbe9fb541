//! Observes a tree of files.

use std::path::PathBuf;

use crate::profile::Profile;

/// What to observe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeRequest {
    /// The root of the tree.
    pub directory: PathBuf,
    /// Whether directories on which other file systems are mounted belong to the tree.
    pub crosses_mounts: bool,
}

/// Why a tree cannot be observed.
#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    /// The root cannot be read.
    #[error("cannot read the directory {path:?}: {cause}", path = .0, cause = .1)]
    Root(PathBuf, std::io::Error),
    /// The tree has no regular file.
    #[error("the tree {0:?} has no regular files, from which a workload could be learned")]
    Empty(PathBuf),
}

/// Observes a tree, and writes nothing to it.
///
/// # Errors
/// Returns an error if the root cannot be read, or the tree has no regular files.
pub fn learn_tree(request: &TreeRequest) -> Result<Profile, TreeError> {
    Err(TreeError::Empty(request.directory.clone()))
}
