//! Makes calls with the rights of another user. A user who may rename entries of a directory can
//! redirect root's calls there to any file that root may access. If the calls are made with the
//! rights of the directory's owner, a redirection reaches only files that the owner may access.
//!
//! Linux keeps these rights per thread. The calls in this module change only the calling thread.
//! The thread's real and effective user IDs do not change, so the other user may neither signal nor
//! trace the thread.

use std::cell::Cell;
use std::ffi::c_int;
use std::marker::PhantomData;
use std::sync::OnceLock;

use engine::Errno;
use engine::namespace::ActingUser;
use rustix::process::{Gid, getegid, geteuid, getgroups};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, set_capabilities, set_thread_groups,
};

thread_local! {
    /// The user with whose rights this thread makes calls; `None` for the process's own rights.
    static ACTING: Cell<Option<ActingUser>> = const { Cell::new(None) };
}

/// The process's supplementary groups, read once before the first change.
static GROUPS: OnceLock<Vec<Gid>> = OnceLock::new();

/// A guard: until it is dropped, the thread makes its calls with the rights of another user.
#[must_use = "the rights are those of before when it is dropped"]
pub(crate) struct Acting {
    before: Option<ActingUser>,
    of_this_thread: PhantomData<*const ()>,
}

impl Acting {
    /// Makes the thread act as `user`; `None` stands for the process's own rights.
    pub(crate) fn begin(user: Option<ActingUser>) -> Result<Self, Errno> {
        let before = ACTING.get();
        act_as(user)?;
        Ok(Self {
            before,
            of_this_thread: PhantomData,
        })
    }
}

impl Drop for Acting {
    fn drop(&mut self) {
        // If this fails, the thread has fewer rights than before, so its next calls fail.
        let _ = act_as(self.before);
    }
}

/// Makes the thread act as `user`, or with the process's own rights if `None`.
///
/// # Errors
/// Returns an error if the process may not act as that user. After an error, the caller must not
/// make its calls, because they would use other rights.
pub(crate) fn act_as(user: Option<ActingUser>) -> Result<(), Errno> {
    if ACTING.get() == user {
        return Ok(());
    }
    if let (Some(_), Some(groups)) = (ACTING.get(), GROUPS.get()) {
        return_to_own(groups)?;
    }
    let Some(user) = user else {
        return Ok(());
    };
    // The process's groups are read before the first change, because a thread that acts as another
    // user has no groups.
    let groups = match GROUPS.get() {
        Some(groups) => groups,
        None => {
            let groups = getgroups()?;
            GROUPS.get_or_init(|| groups)
        }
    };
    ACTING.set(Some(user));
    take(user).inspect_err(|_| {
        let _ = return_to_own(groups);
    })
}

fn take(ActingUser { user, group }: ActingUser) -> Result<(), Errno> {
    set_thread_groups(&[])?;
    set_file_system_id(libc::setfsgid, group)?;
    set_file_system_id(libc::setfsuid, user)?;
    // setfsuid(2) removes only some of root's capabilities. The remaining capabilities would bypass
    // quotas and the limit of reserved blocks.
    set_effective(|_| CapabilitySet::empty())
}

fn return_to_own(groups: &[Gid]) -> Result<(), Errno> {
    set_effective(|sets| sets.permitted)?;
    set_file_system_id(libc::setfsuid, geteuid().as_raw())?;
    set_file_system_id(libc::setfsgid, getegid().as_raw())?;
    set_thread_groups(groups)?;
    ACTING.set(None);
    Ok(())
}

fn set_effective(effective: impl FnOnce(CapabilitySets) -> CapabilitySet) -> Result<(), Errno> {
    let sets = capabilities(None)?;
    let effective = effective(sets);
    set_capabilities(None, CapabilitySets { effective, ..sets })
}

/// Sets the user or the group by which file systems check rights: setfsuid(2), setfsgid(2).
fn set_file_system_id(set: unsafe extern "C" fn(u32) -> c_int, id: u32) -> Result<(), Errno> {
    // SAFETY: the calls access no memory of this process. They return the previous ID, whether they
    // succeed or not. The second call passes an ID that no user or group has, so it changes nothing
    // and returns the present ID.
    let present = unsafe {
        set(id);
        set(u32::MAX)
    };
    match present as u32 == id {
        true => Ok(()),
        false => Err(Errno::PERM),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

    use super::*;

    /// Runs `act` on a new thread, so that changed rights end with that thread.
    fn on_new_thread<A: Send>(act: impl FnOnce() -> A + Send) -> A {
        std::thread::scope(|scope| scope.spawn(act).join().unwrap())
    }

    #[test]
    fn thread_acts_as_other_user_until_guard_is_dropped() {
        if !geteuid().is_root() {
            return;
        }
        let directory = tempfile::tempdir().unwrap();
        let (theirs, roots) = (
            directory.path().join("theirs"),
            directory.path().join("roots"),
        );
        std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        std::fs::create_dir(&theirs).unwrap();
        std::os::unix::fs::chown(&theirs, Some(12_345), None).unwrap();
        std::fs::write(&roots, "precious").unwrap();
        std::fs::set_permissions(&roots, std::fs::Permissions::from_mode(0o600)).unwrap();
        let user = ActingUser {
            user: 12_345,
            group: 65_534,
        };
        on_new_thread(|| {
            let before = (capabilities(None).unwrap(), getgroups().unwrap());
            {
                let _acting = Acting::begin(Some(user)).unwrap();
                assert!(std::fs::read(&roots).is_err() && std::fs::write(&roots, "").is_err());
                assert!(std::os::unix::fs::chown(&theirs, Some(1), None).is_err());
                std::fs::write(theirs.join("1"), "").unwrap();
                // A new thread inherits the rights of the thread that starts it.
                let elsewhere = on_new_thread(|| std::fs::read(&roots).is_err());
                assert!(elsewhere, "a thread begins as the one that has started it");
                let _own = Acting::begin(None).unwrap();
                assert_eq!(std::fs::read(&roots).unwrap(), b"precious");
            }
            let facts = std::fs::metadata(theirs.join("1")).unwrap();
            assert_eq!((facts.uid(), facts.gid()), (12_345, 65_534));
            let after = (capabilities(None).unwrap(), getgroups().unwrap());
            assert_eq!(before, after);
            assert_eq!(std::fs::read(&roots).unwrap(), b"precious");
        });
        // The thread that started the new threads still has its own rights.
        assert_eq!(std::fs::read(&roots).unwrap(), b"precious");
    }
}
