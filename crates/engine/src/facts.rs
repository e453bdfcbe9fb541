//! What is known of an I/O engine before it is made: the columns of the registry.

use crate::url::UrlSyntax;
use crate::{Capability, Durability, Need, OperationKind, Unsupported};

/// What an engine's targets are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Targets {
    /// The engine makes no files: targets are not used.
    None,
    /// Directories of this machine's file systems.
    Directories,
    /// URLs of this form.
    Urls(&'static UrlSyntax),
}

/// Which cache may answer a read before its target does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cached {
    /// The kernel's page cache.
    PageCache,
    /// No cache of this machine.
    None,
}

/// What an engine's namespace knows of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamespaceFacts {
    /// By what a file is known again under another name.
    pub identity: bool,
    /// When it was made.
    pub birth: bool,
    /// Whether a mark is locked by a run that goes on.
    pub locks: bool,
}

/// An I/O engine as all other parts know it.
#[derive(Debug, PartialEq, Eq)]
pub struct EngineFacts {
    /// The name that options take.
    pub name: &'static str,
    /// One sentence for the help.
    pub help: &'static str,
    /// What its targets are.
    pub targets: Targets,
    /// The protocol by which the engine itself calls a server; `None` if it calls no server.
    pub protocol: Option<&'static str>,
    /// The most operations that a session may have in flight.
    pub depth_max: usize,
    /// What its operations may need.
    pub capabilities: &'static [Capability],
    /// Which cache may answer its reads.
    pub cache: Cached,
    /// Whether it has direct input and output.
    pub direct: bool,
    /// The policies of durability that it has; `Batch` stands for all batches.
    pub durability: &'static [Durability],
    /// What its namespace knows; `None` if it makes no files.
    pub namespace: Option<NamespaceFacts>,
}

impl EngineFacts {
    /// Whether its files exist anywhere.
    pub fn makes_files(&self) -> bool {
        self.namespace.is_some()
    }

    /// Whether its files are in directories of this machine's file systems.
    pub fn uses_directories(&self) -> bool {
        self.targets == Targets::Directories
    }

    /// Whether its targets are URLs.
    pub fn uses_urls(&self) -> bool {
        matches!(self.targets, Targets::Urls(_))
    }

    /// An example of its URLs for messages; empty if it has none.
    pub fn url_example(&self) -> &'static str {
        match self.targets {
            Targets::Urls(syntax) => syntax.example,
            Targets::None | Targets::Directories => "",
        }
    }

    /// Whether the engine itself calls a server.
    pub fn calls_server(&self) -> bool {
        self.protocol.is_some()
    }

    /// Whether this machine's kernel caches its files and writes them back.
    pub fn uses_page_cache(&self) -> bool {
        self.cache == Cached::PageCache
    }

    /// Whether the engine has what a workload needs.
    ///
    /// # Errors
    /// The first thing that it does not have.
    pub fn supports(&self, need: &Need) -> Result<(), Unsupported> {
        let has_policy = |has: &Durability| has.is_same_policy(need.durability);
        let lacks = |kind: &&OperationKind| !self.capabilities.contains(&kind.needs());
        if need.direct && !self.direct {
            return Err(self.lacks(match self.cache {
                Cached::PageCache => "cannot do direct I/O (use --storage posix)",
                Cached::None => "has no page cache that --direct could bypass (remove --direct)",
            }));
        }
        if !self.durability.iter().any(has_policy) {
            return Err(self.lacks_durability(need.durability));
        }
        match need.operations.iter().find(lacks) {
            None => Ok(()),
            Some(operation) => Err(self.lacks(match self.protocol {
                None => format!("cannot perform '{operation}' (use --storage posix or raw)"),
                Some(protocol) => format!(
                    "cannot perform '{operation}': {protocol} has no call for it (leave it out of \
                     --mix)"
                ),
            })),
        }
    }

    fn lacks(&self, lack: impl Into<String>) -> Unsupported {
        let lack = lack.into();
        Unsupported {
            engine: self.name,
            lack,
        }
    }

    /// That it does not have a policy of durability.
    pub fn lacks_durability(&self, durability: Durability) -> Unsupported {
        let why = match self.protocol {
            None => " (use --storage posix or raw, or a policy of none, fdatasync, fsync, \
                     fsync+dir, batch:N)"
                .to_owned(),
            Some(protocol) => format!(
                ": {protocol} cannot sync a file system (use none, fdatasync, fsync, fsync+dir, \
                 o-dsync or o-sync)"
            ),
        };
        self.lacks(format!("cannot provide --durability {durability}{why}"))
    }
}
