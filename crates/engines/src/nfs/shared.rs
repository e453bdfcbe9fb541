//! What all sessions of a storage and its home share: targets, their servers as they were found,
//! and what was counted.

use core::time::Duration;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use engine::Url;
use engine::server::{ServerFacts, Unreachable};

use super::client::counters::{AllCounters, Counters};
use super::client::mount::{Mounted, mount};
use super::client::procedure::Program;
use super::client::rpc::CallHead;
use super::client::talk::Way;
use super::url::{SYNTAX, connections, export, is_privileged};
use super::verifiers::Verifiers;

/// The protocol's name in messages.
pub(crate) const PROTOCOL: &str = "NFS version 3";

/// A target whose server was reached.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) url: Url,
    pub(crate) mounted: Arc<Mounted>,
    pub(crate) verifiers: Arc<Verifiers>,
}

/// See the module's text.
#[derive(Debug)]
pub(crate) struct NfsShared {
    pub(crate) depth: usize,
    /// Those that the storage was made with. Others may be asked for.
    pub(crate) urls: Vec<Url>,
    timeout: Duration,
    pub(crate) counters: AllCounters,
    targets: Mutex<Vec<Arc<Target>>>,
}

impl NfsShared {
    pub(crate) fn new(depth: usize, targets: &[PathBuf], timeout: Duration) -> Self {
        let urls = targets
            .iter()
            .filter_map(|target| SYNTAX.parse(target).ok());
        Self {
            depth,
            urls: urls.collect(),
            timeout,
            counters: AllCounters::default(),
            targets: Mutex::default(),
        }
    }

    /// The URL that a path is.
    pub(crate) fn url_of(&self, path: &Path) -> Result<Url, Unreachable> {
        SYNTAX.parse(path).map_err(|error| Unreachable {
            doing: "use",
            of: path.display().to_string(),
            why: error.to_string(),
        })
    }

    /// The target in which the directory of a URL lies, its server reached, and the rest of the
    /// URL's path.
    pub(crate) fn target(
        &self,
        url: &Url,
        counters: &Arc<Counters>,
    ) -> Result<(Arc<Target>, Vec<u8>), Unreachable> {
        let above = self.urls.iter().filter(|target| target.leads_to(url));
        let wanted = above.max_by_key(|target| target.path.len()).unwrap_or(url);
        let rest = url
            .path
            .get(wanted.path.len()..)
            .unwrap_or_default()
            .to_vec();
        if let Some(known) = self.known(wanted) {
            return Ok((known, rest));
        }
        // Others are not kept waiting for a server that does not answer.
        let mounted = mount(&export(wanted), self.timeout_of(wanted), counters)?;
        if let Some(known) = self.known(wanted) {
            return Ok((known, rest));
        }
        let target = Arc::new(Target {
            url: wanted.clone(),
            mounted: Arc::new(mounted),
            verifiers: Arc::default(),
        });
        self.targets().push(Arc::clone(&target));
        Ok((target, rest))
    }

    /// How long a reply of a target's server is waited for.
    pub(crate) fn timeout_of(&self, url: &Url) -> Duration {
        let given = url
            .parameter("timeout")
            .map(|seconds| Duration::from_secs(seconds.into()));
        given.unwrap_or(self.timeout)
    }

    /// How a target's files are reached.
    pub(crate) fn way(&self, target: &Target) -> Way {
        let mounted = &target.mounted;
        Way {
            address: mounted.address,
            privileged: is_privileged(&target.url),
            head: CallHead::new(Program::Nfs, Some(&mounted.caller)),
            timeout: self.timeout_of(&target.url),
            record_bytes_max: mounted.sizes.record_bytes_max(),
        }
    }

    /// What is known of the servers of the targets, in their order, as far as these were reached.
    pub(crate) fn facts(&self) -> Vec<ServerFacts> {
        let known = self.urls.iter().filter_map(|url| self.known(url));
        known.map(|target| self.facts_of(&target)).collect()
    }

    fn facts_of(&self, target: &Target) -> ServerFacts {
        let Target { url, mounted, .. } = target;
        ServerFacts {
            protocol: "nfs3",
            url: url.to_string(),
            address: mounted.address.to_string(),
            mount_port: mounted.mount_port,
            export: String::from_utf8_lossy(&mounted.export).into_owned(),
            connections: connections(url),
            uid: mounted.caller.uid,
            gid: mounted.caller.gid,
            privileged_port: is_privileged(url),
            read_bytes_max: mounted.sizes.read,
            write_bytes_max: mounted.sizes.write,
            listing_bytes: mounted.sizes.listing,
            timeout_ms: self.timeout_of(url).as_millis() as u64,
        }
    }

    fn known(&self, url: &Url) -> Option<Arc<Target>> {
        self.targets()
            .iter()
            .find(|target| target.url == *url)
            .cloned()
    }

    fn targets(&self) -> std::sync::MutexGuard<'_, Vec<Arc<Target>>> {
        self.targets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
