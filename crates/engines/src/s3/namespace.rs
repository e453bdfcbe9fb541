//! The namespace of object storage. A directory is a prefix of keys. If a run creates a directory,
//! it creates an empty object whose key is the prefix and ends with a slash.
//!
//! The identity of an object is a hash of its size, time of last change and tag. It changes if the
//! object is written again. The identity of a prefix is a hash of its name. Objects have no owners,
//! modes and times of creation, and the protocol has no locks. Only the process ID in a mark shows
//! whether the run that wrote the mark is active.

mod directory;
mod line;
mod mark;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use engine::namespace::{Directory, Facts, Namespace};
use engine::server::{ServerFacts, ServerTraffic, Unreachable};
use engine::{Durability, Errno, Url};
use s3_client::CallError;

use super::shared::S3Shared;
use super::url::{SYNTAX, prefix};
use crate::kernel_namespace::KernelNamespace;
use directory::S3Directory;
use line::Line;

/// Describes why a server gave no listing. A server of TLS closes connections without TLS.
fn explained(error: &CallError, url: &Url) -> String {
    let endpoint = url.text("endpoint").unwrap_or_default();
    match error {
        CallError::Lost {
            error: Errno::CONNRESET,
            ..
        } if !endpoint.starts_with("https:") => {
            format!("{error} (if it speaks TLS, use an https:// endpoint)")
        }
        _ => error.to_string(),
    }
}

#[derive(Debug)]
pub(crate) struct S3Namespace {
    shared: Arc<S3Shared>,
    /// A client for each target that was used.
    lines: Mutex<Vec<Arc<Line>>>,
}

impl S3Namespace {
    pub(crate) fn new(shared: Arc<S3Shared>) -> Self {
        Self {
            shared,
            lines: Mutex::default(),
        }
    }

    fn directory(&self, url: &Url) -> Result<S3Directory, Unreachable> {
        let target = self.shared.target(url)?;
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let known = lines.iter().find(|line| Arc::ptr_eq(&line.target, &target));
        let line = match known {
            Some(line) => Arc::clone(line),
            None => {
                let line = Arc::new(Line::new(&self.shared, target));
                lines.push(Arc::clone(&line));
                line
            }
        };
        Ok(S3Directory::new(line, prefix(url)))
    }

    /// Returns a directory if it exists. A target always exists; any other directory exists if its
    /// prefix is that of at least one key.
    fn found(&self, path: &Path) -> Result<S3Directory, Errno> {
        let url = SYNTAX.parse(path).map_err(|_| Errno::INVAL)?;
        let directory = self.directory(&url).map_err(|_| Errno::HOSTUNREACH)?;
        if !self.shared.is_target(&url) && !directory.has_any()? {
            return Err(Errno::NOENT);
        }
        Ok(directory)
    }
}

impl Namespace for S3Namespace {
    fn open(&self, path: &Path) -> Result<Arc<dyn Directory>, Errno> {
        Ok(Arc::new(self.found(path)?))
    }

    fn facts(&self, path: &Path) -> Result<Facts, Errno> {
        self.found(path)?.facts()
    }

    fn real_path(&self, path: &Path) -> Result<PathBuf, Errno> {
        let url = SYNTAX.parse(path).map_err(|_| Errno::INVAL)?;
        self.found(path).map(|_| url.bare())
    }

    fn with_own_rights(self: Arc<Self>) -> Arc<dyn Namespace> {
        self
    }

    fn user(&self) -> Option<u32> {
        None
    }

    fn is_alive(&self, process: u32) -> bool {
        KernelNamespace::default().is_alive(process)
    }

    fn reach(&self, path: &Path) -> Result<(), Unreachable> {
        let url = self.shared.url_of(path)?;
        let directory = self.directory(&url)?;
        let asked = directory.ask();
        asked.map(drop).map_err(|error| Unreachable {
            doing: "list objects of",
            of: url.to_string(),
            why: explained(&error, &url),
            is_silent: matches!(error, CallError::Lost { .. }),
        })
    }

    fn servers(&self, _: Durability) -> Vec<ServerFacts> {
        self.shared.facts()
    }

    fn traffic(&self) -> Option<ServerTraffic> {
        Some(self.shared.traffic())
    }
}
