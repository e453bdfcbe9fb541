//! Calls with the rights of another user. Whoever may exchange entries of a directory turns the
//! calls there on any file that the caller's rights reach: with the rights of the directory's owner
//! that is nothing that the owner could not reach alone.
//!
//! Linux has these rights by thread, and the system calls change the calling thread only, other
//! than the C library's functions of the same names. The thread's real and effective users stay, so
//! that the other user may neither signal nor trace it.

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
    /// With whose rights this thread's calls are made; `None` for the process's own.
    static ACTING: Cell<Option<ActingUser>> = const { Cell::new(None) };
}

/// The process's supplementary groups.
static GROUPS: OnceLock<Vec<Gid>> = OnceLock::new();

/// Until it is dropped, the thread's calls are made with the rights of another user.
#[must_use = "the rights are those of before when it is dropped"]
pub(crate) struct Acting {
    before: Option<ActingUser>,
    of_this_thread: PhantomData<*const ()>,
}

impl Acting {
    /// From now on the thread acts as this user; with the process's own rights where there is none.
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
        // Where it fails the thread has less rights than before: its calls fail.
        let _ = act_as(self.before);
    }
}

/// From now on the thread acts as this user, or with the process's own rights.
///
/// # Errors
/// Where the process may not act as that user. What follows must not be done then.
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
    // The same for all threads: one that acts as another user asks no more.
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
    // Quotas and reserved blocks are the other user's, too.
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
    // SAFETY: the calls touch no memory of ours. They answer with the user or group of before,
    // whatever they did; what no user or group has changes nothing, and tells the present one.
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

    /// Another thread, whose rights go with it.
    fn alone<A: Send>(act: impl FnOnce() -> A + Send) -> A {
        std::thread::scope(|scope| scope.spawn(act).join().unwrap())
    }

    #[test]
    fn a_thread_has_the_rights_of_the_other_user_and_its_own_again() {
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
        alone(|| {
            let before = (capabilities(None).unwrap(), getgroups().unwrap());
            {
                let _acting = Acting::begin(Some(user)).unwrap();
                assert!(std::fs::read(&roots).is_err() && std::fs::write(&roots, "").is_err());
                assert!(std::os::unix::fs::chown(&theirs, Some(1), None).is_err());
                std::fs::write(theirs.join("1"), "").unwrap();
                // Other threads go on as before.
                let elsewhere = alone(|| std::fs::read(&roots).is_err());
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
        // The thread that has started it has lost nothing.
        assert_eq!(std::fs::read(&roots).unwrap(), b"precious");
    }
}
