//! The namespace of file systems that the kernel mounts. Every call goes through a directory that
//! is held open, and follows no symbolic link.

mod cached;
mod directory;
pub(crate) mod exchange;
mod facts;
mod mark;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::namespace::{Access, Directory, Facts, Namespace};
use engine::{Errno, NamespaceFacts};
use rustix::fs::{AtFlags, CWD, Mode};

use self::directory::{KernelDirectory, OPEN};
use self::facts::{facts_at, of_io};

#[derive(Clone, Copy, Debug, Default)]
pub struct KernelNamespace {
    /// Whether the process's own rights are always used, even if other users may rename the
    /// directories.
    own_rights: bool,
}

impl KernelNamespace {
    /// The facts about files that this namespace provides.
    pub const FACTS: NamespaceFacts = NamespaceFacts {
        identity: true,
        birth: true,
        locks: true,
    };
}

impl Namespace for KernelNamespace {
    fn open(&self, path: &Path) -> Result<Arc<dyn Directory>, Errno> {
        let (held, acts_as) = if self.own_rights {
            let opened = rustix::fs::openat(CWD, path, OPEN, Mode::empty());
            (opened?, None)
        } else {
            match exchange::open(path)? {
                (opened, Access::Own) => (opened, None),
                (opened, Access::As(user, _)) => (opened, Some(user)),
                (_, Access::Refused(_) | Access::Link(_)) => return Err(Errno::PERM),
            }
        };
        let held = Arc::new(held);
        Ok(Arc::new(KernelDirectory { held, acts_as }))
    }

    fn facts(&self, path: &Path) -> Result<Facts, Errno> {
        facts_at(CWD, path.as_os_str(), AtFlags::empty())
    }

    fn real_path(&self, path: &Path) -> Result<PathBuf, Errno> {
        std::fs::canonicalize(path).map_err(|error| of_io(&error))
    }

    fn access(&self, path: &Path) -> Result<Access, Errno> {
        exchange::open(path).map(|(_, access)| access)
    }

    fn with_own_rights(self: Arc<Self>) -> Arc<dyn Namespace> {
        Arc::new(Self { own_rights: true })
    }

    fn user(&self) -> Option<u32> {
        Some(rustix::process::geteuid().as_raw())
    }

    fn is_alive(&self, process: u32) -> bool {
        let Some(pid) = i32::try_from(process)
            .ok()
            .and_then(rustix::process::Pid::from_raw)
        else {
            return false;
        };
        if rustix::process::test_kill_process(pid) == Err(Errno::SRCH) {
            return false;
        }
        let name = |who: &str| std::fs::read(format!("/proc/{who}/comm")).ok();
        match (name("self"), name(&process.to_string())) {
            (Some(own), Some(its)) => own == its,
            _ => true,
        }
    }
}
