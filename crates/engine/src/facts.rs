//! Facts about an I/O engine that are the same for every run. The registry of engines is a table of
//! these facts.

use crate::url::UrlSyntax;
use crate::{Action, Capability, Durability, Need, OperationKind, Promise, Unsupported};

/// The kind of targets on which an engine creates files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Targets {
    /// No targets: the engine creates no files.
    None,
    /// Directories of mounted file systems.
    Directories,
    /// Directories on servers, as URLs with this syntax.
    Urls(&'static UrlSyntax),
}

/// The cache on this machine that may serve the engine's reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cached {
    /// The kernel's page cache, unless the run uses direct I/O.
    PageCache,
    /// No cache: each read reaches the target.
    None,
}

/// The facts about files that an engine's namespace can provide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamespaceFacts {
    /// Whether files have an identity that does not depend on their names, such as device and inode
    /// number.
    pub identity: bool,
    /// Whether files have a birth time, such as `stx_btime` of statx(2).
    pub birth: bool,
    /// Whether marks, the files by which runs claim directories, can be locked. As long as a mark
    /// is locked, the run that created it is active.
    pub locks: bool,
}

/// The properties of an I/O engine. The program uses them to check options and to print the help.
#[derive(Debug, PartialEq, Eq)]
pub struct EngineFacts {
    /// The engine's name, as the value of the option `--engine`.
    pub name: &'static str,
    /// One sentence that describes the engine in the help.
    pub help: &'static str,
    /// Where the engine creates files: in mounted directories, on servers, or nowhere.
    pub targets: Targets,
    /// The protocol in which the engine itself calls a server; `None` if it calls no server.
    pub protocol: Option<&'static str>,
    /// The maximum number of operations that a session keeps in flight; 1 for a synchronous engine.
    pub depth_max: usize,
    /// The capabilities that the engine supports. Workloads that need other capabilities are
    /// rejected.
    pub capabilities: &'static [Capability],
    /// The cache on this machine that may serve the engine's reads.
    pub cache: Cached,
    /// Whether the engine supports direct I/O, which bypasses the page cache (`--direct`).
    pub direct: bool,
    /// The supported durability policies; `Batch` represents batches of any size.
    pub durability: &'static [Durability],
    /// What the engine's protocol promises about every acknowledged change, whatever the policy.
    pub promise: Promise,
    /// The facts that the engine's namespace provides; `None` if the engine creates no files.
    pub namespace: Option<NamespaceFacts>,
}

impl EngineFacts {
    /// Whether the engine creates files; `false` for an engine without a namespace.
    pub fn makes_files(&self) -> bool {
        self.namespace.is_some()
    }

    /// Whether targets are directories of mounted file systems.
    pub fn uses_directories(&self) -> bool {
        self.targets == Targets::Directories
    }

    /// Whether targets are URLs of directories on servers.
    pub fn uses_urls(&self) -> bool {
        matches!(self.targets, Targets::Urls(_))
    }

    /// An example of a target's URL for messages; empty if targets are not URLs.
    pub fn url_example(&self) -> &'static str {
        match self.targets {
            Targets::Urls(syntax) => syntax.example,
            Targets::None | Targets::Directories => "",
        }
    }

    /// Whether the engine itself calls a server. Servers of mounted file systems do not count.
    pub fn calls_server(&self) -> bool {
        self.protocol.is_some()
    }

    /// Whether reads may be served by the kernel's page cache, which may also delay writes.
    pub fn uses_page_cache(&self) -> bool {
        self.cache == Cached::PageCache
    }

    /// Whether the engine can perform operations of this kind.
    pub fn performs(&self, kind: OperationKind) -> bool {
        self.capabilities.contains(&kind.needs())
    }

    /// Checks that the engine supports everything that a workload needs.
    ///
    /// # Errors
    /// Describes the first need that the engine does not support, or all operations that it cannot
    /// perform.
    pub fn supports(&self, need: &Need) -> Result<(), Unsupported> {
        let has_policy = |policy: &Durability| {
            let mut own = self.durability.iter();
            own.any(|own| own.is_same_policy(*policy))
        };
        let lacks = |kind: &&OperationKind| !self.performs(**kind);
        if need.direct && !self.direct {
            return Err(self.lacks(match self.cache {
                Cached::PageCache => "cannot do direct I/O (use --engine posix)",
                Cached::None => "has no page cache that --direct could bypass (remove --direct)",
            }));
        }
        if let Some(policy) = need.durability.all().find(|policy| !has_policy(policy)) {
            return Err(self.lacks_durability(policy));
        }
        let lacking = need.operations.iter().filter(lacks);
        let lacking: Vec<String> = lacking.map(|kind| format!("'{kind}'")).collect();
        let Some((last, others)) = lacking.split_last() else {
            return Ok(());
        };
        let (all, it) = match others {
            [] => (last.clone(), "it"),
            _ => (format!("{} and {last}", others.join(", ")), "them"),
        };
        Err(self.lacks(match self.protocol {
            None => format!("cannot perform {all} (use --engine posix or raw)"),
            Some(protocol) => format!(
                "cannot perform {all}: {protocol} has no call for {it} ({})",
                self.possible_mix(&need.mix).map_or_else(
                    || format!("leave {it} out of --mix"),
                    |mix| format!("use {mix}")
                )
            ),
        }))
    }

    /// Returns `--mix` with the weights of the operations that the engine can perform. `None` if
    /// the engine can perform no operation of the mix.
    fn possible_mix(&self, mix: &[(Action, u32)]) -> Option<String> {
        let possible = mix
            .iter()
            .filter(|(action, _)| action.performs().is_some_and(|kind| self.performs(kind)));
        let weights: Vec<String> = possible
            .map(|(action, weight)| format!("{}={weight}", action.name()))
            .collect();
        (!weights.is_empty()).then(|| format!("--mix {}", weights.join(",")))
    }

    /// Returns the error for a run that the engine cannot perform. The message consists of
    /// `--engine`, the engine's name and `lack`, which includes a solution.
    pub fn lacks(&self, lack: impl Into<String>) -> Unsupported {
        let lack = lack.into();
        Unsupported {
            engine: self.name,
            lack,
        }
    }

    /// Returns the error for an unsupported durability policy; its message lists usable policies.
    pub fn lacks_durability(&self, durability: Durability) -> Unsupported {
        let why = match self.protocol {
            None => " (use --engine posix or raw, or a policy of none, fdatasync, fsync, \
                     fsync+dir, batch:N)"
                .to_owned(),
            Some(protocol) => {
                let own: Vec<&str> = self.durability.iter().map(|own| own.policy()).collect();
                let what = match own.len() {
                    1 => "sync",
                    _ => "sync a file system",
                };
                format!(": {protocol} cannot {what} (use {})", own.join(", "))
            }
        };
        self.lacks(format!("cannot provide --durability {durability}{why}"))
    }
}
