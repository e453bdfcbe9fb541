//! The file system that forgets what was not synced, mounted over the target.

use std::path::Path;

use document::sanitize;
use faultfs::forget::Forgetting;
use nix::sched::{CloneFlags, unshare};
use rustix::mount::{MountPropagationFlags, mount_change};

use super::plan::{Crash, CrashPlan};
use crate::Error;

/// Mounts the file system of `--crash forget` over the target; `None` for other crashes.
///
/// The mount is in a mount namespace of the calling thread and of the processes that it starts.
/// Other processes see the directory below, and the mount vanishes with this process, even if the
/// process is killed.
///
/// # Errors
/// Returns an error if the system does not permit the mount.
pub fn mount(plan: &CrashPlan) -> Result<Option<Forgetting>, Error> {
    let Crash::Forget(bug) = plan.crash else {
        return Ok(None);
    };
    let refused = |why: &dyn std::fmt::Display| {
        Error::refused(format_args!(
            "cannot mount the file system of --crash forget over {}: {why} (use a build \
             with the feature forget, as root, where /dev/fuse exists; or use --crash COMMAND)",
            sanitize::path(&plan.target)
        ))
    };
    faultfs::is_possible().map_err(|why| refused(&why))?;
    unshare(CloneFlags::CLONE_NEWNS).map_err(|cause| refused(&cause))?;
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change(Path::new("/"), private).map_err(|cause| refused(&cause))?;
    let mounted = Forgetting::mount(&plan.target, plan.seed, bug);
    mounted.map(Some).map_err(|cause| refused(&cause))
}
