//! The namespace of NFS servers. Every call uses the handle of a directory that was looked up, and
//! follows no symbolic link.
//!
//! The client implements no locks, so only the process ID in a mark shows whether the run that
//! created the mark is active. The protocol has no times of creation, so files are identified by
//! their numbers and times of last change. Checking which file a name denotes and removing the name
//! are two calls, because the protocol has no call that does both.

mod directory;
mod line;
mod mark;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use engine::namespace::{Directory, Facts, Namespace};
use engine::server::{ServerFacts, ServerTraffic, Unreachable};
use engine::{Durability, Errno, Url};
use nfs_client::{CallError, Handle};

use super::shared::NfsShared;
use super::url::SYNTAX;
use crate::kernel_namespace::KernelNamespace;
use directory::NfsDirectory;
use line::HomeLine;

#[derive(Debug)]
pub(crate) struct NfsNamespace {
    shared: Arc<NfsShared>,
    /// A connection for each target that was used.
    lines: Mutex<Vec<Arc<HomeLine>>>,
}

impl NfsNamespace {
    pub(crate) fn new(shared: Arc<NfsShared>) -> Self {
        Self {
            shared,
            lines: Mutex::default(),
        }
    }

    /// Returns the connection to the server of a directory, and the directory's path relative to
    /// the target's mounted directory.
    fn line(&self, url: &Url) -> Result<(Arc<HomeLine>, Vec<u8>), Unreachable> {
        let counters = self.shared.counters.add();
        let found = self.shared.target(url, &counters);
        self.shared.counters.end(&counters);
        let (target, rest) = found?;
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(line) = lines.iter().find(|line| Arc::ptr_eq(&line.target, &target)) {
            return Ok((Arc::clone(line), rest));
        }
        let line = HomeLine::new(&self.shared, target).map_err(|errno| Unreachable {
            doing: "connect to",
            of: url.host.clone(),
            why: errno.to_string(),
            is_silent: false,
        })?;
        let line = Arc::new(line);
        lines.push(Arc::clone(&line));
        Ok((line, rest))
    }

    /// Returns the handle of a directory and the connection to its server.
    fn find(&self, url: &Url) -> Result<(Arc<HomeLine>, Handle), NotFound> {
        let (line, rest) = self.line(url).map_err(NotFound::Server)?;
        let root = line.target.mounted.directory;
        let directory = line.with(|client| client.open_directory(&root, &rest));
        let directory = directory.map_err(NotFound::Directory)?;
        Ok((line, directory))
    }

    fn found(&self, path: &Path) -> Result<(Arc<HomeLine>, Handle), Errno> {
        let url = SYNTAX.parse(path).map_err(|_| Errno::INVAL)?;
        self.find(&url).map_err(|not_found| match not_found {
            NotFound::Server(_) => Errno::HOSTUNREACH,
            NotFound::Directory(error) => error.errno(),
        })
    }
}

enum NotFound {
    Server(Unreachable),
    Directory(CallError),
}

impl Namespace for NfsNamespace {
    fn open(&self, path: &Path) -> Result<Arc<dyn Directory>, Errno> {
        let (line, handle) = self.found(path)?;
        Ok(Arc::new(NfsDirectory { line, handle }))
    }

    fn facts(&self, path: &Path) -> Result<Facts, Errno> {
        let (line, handle) = self.found(path)?;
        line.facts(&handle)
    }

    fn real_path(&self, path: &Path) -> Result<PathBuf, Errno> {
        let url = SYNTAX.parse(path).map_err(|_| Errno::INVAL)?;
        self.found(path).map(|_| url.bare())
    }

    fn with_own_rights(self: Arc<Self>) -> Arc<dyn Namespace> {
        self
    }

    fn user(&self) -> Option<u32> {
        let given = self
            .shared
            .urls
            .first()
            .and_then(|url| url.parameter("uid"));
        given.or_else(|| KernelNamespace::default().user())
    }

    fn is_alive(&self, process: u32) -> bool {
        KernelNamespace::default().is_alive(process)
    }

    fn reach(&self, path: &Path) -> Result<(), Unreachable> {
        let url = self.shared.url_of(path)?;
        match self.find(&url) {
            Ok(_) => Ok(()),
            Err(NotFound::Server(unreachable)) => Err(unreachable),
            Err(NotFound::Directory(error)) => Err(Unreachable {
                doing: "open",
                of: url.to_string(),
                why: error.errno().to_string(),
                is_silent: matches!(error, CallError::Connection(_)),
            }),
        }
    }

    fn servers(&self, durability: Durability) -> Vec<ServerFacts> {
        self.shared.facts(durability)
    }

    fn traffic(&self) -> Option<ServerTraffic> {
        Some(self.shared.traffic())
    }
}
