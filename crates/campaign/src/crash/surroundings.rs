//! What the rounds use outside of this crate.

use std::path::Path;
use std::sync::Arc;

use engine::namespace::Namespace;
use faultfs::forget::Forgetting;

use super::run_process::Start;
use crate::{Error, User};

/// Returns the namespace of a target.
pub type OpenNamespace<'a> = dyn Fn(&Path) -> Result<Arc<dyn Namespace>, Error> + 'a;

/// What the rounds use outside of this crate.
pub struct Surroundings<'a> {
    /// Starts a process of this program.
    pub start: &'a Start<'a>,
    /// The namespace of the target. It is made again in each round, because a restored target may
    /// be another mount.
    pub namespace: &'a OpenNamespace<'a>,
    /// The file system over the target that this program crashes ([`mount`](super::mount)).
    pub forgetful: Option<Forgetting>,
    pub user: User,
    pub quiet: bool,
}
