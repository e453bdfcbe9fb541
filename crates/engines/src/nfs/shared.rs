//! Data that all sessions of an engine share with its namespace: targets, their servers, and
//! counters.

use core::time::Duration;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use engine::server::{CallCount, FactValue, ServerFacts, ServerTraffic, Unreachable};
use engine::{Durability, Url};
use nfs_client::{AllCounters, Calls, Counters, Mounted, Procedure, Program, mount};

use super::durable::Durable;
use super::url::{SYNTAX, connections, export, is_privileged};
use super::verifiers::Verifiers;

/// The protocol's name in messages.
pub(crate) const PROTOCOL: &str = "NFS version 3";

/// A target whose server was reached and that is mounted.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) url: Url,
    pub(crate) mounted: Mounted,
    pub(crate) verifiers: Verifiers,
}

#[derive(Debug)]
pub(crate) struct NfsShared {
    pub(crate) depth: usize,
    /// The engine's targets; the namespace also accepts other URLs.
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

    pub(crate) fn url_of(&self, path: &Path) -> Result<Url, Unreachable> {
        SYNTAX.parse(path).map_err(|error| Unreachable {
            doing: "use",
            of: path.display().to_string(),
            why: error.to_string(),
            is_silent: false,
        })
    }

    /// Returns the target that contains a URL's directory, and the rest of the URL's path. Mounts
    /// the target on its first use.
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
        // Mounts the target without the lock on `targets`, so that other threads do not wait for a
        // server that does not answer.
        let mounted = mount(&export(wanted), self.timeout_of(wanted), counters);
        let mounted = mounted.map_err(|error| Unreachable {
            doing: error.doing,
            of: error.of,
            why: error.why,
            is_silent: error.is_silent,
        })?;
        if let Some(known) = self.known(wanted) {
            return Ok((known, rest));
        }
        let target = Arc::new(Target {
            url: wanted.clone(),
            mounted,
            verifiers: Verifiers::default(),
        });
        self.targets().push(Arc::clone(&target));
        Ok((target, rest))
    }

    /// Returns the time limit for replies of a server: the URL's parameter `timeout`, or the
    /// engine's time limit.
    pub(crate) fn timeout_of(&self, url: &Url) -> Duration {
        let given = url
            .parameter("timeout")
            .map(|seconds| Duration::from_secs(seconds.into()));
        given.unwrap_or(self.timeout)
    }

    /// Returns the facts of the targets' servers in the order of the targets; targets not yet
    /// reached are omitted.
    pub(crate) fn facts(&self, durability: Durability) -> Vec<ServerFacts> {
        let known = self.urls.iter().filter_map(|url| self.known(url));
        known
            .map(|target| self.facts_of(&target, durability))
            .collect()
    }

    fn facts_of(&self, target: &Target, durability: Durability) -> ServerFacts {
        let Target { url, mounted, .. } = target;
        let stability = Durable::of(durability).map_or("", |durable| durable.name);
        let text = |text: &str| FactValue::Text(text.to_owned());
        let number = |number: u32| FactValue::Number(number.into());
        let facts = [
            ("address", text(&mounted.endpoint.address.to_string())),
            ("mount_port", number(mounted.mount_port.into())),
            ("export", text(&String::from_utf8_lossy(&mounted.export))),
            ("connections", number(connections(url))),
            ("uid", number(mounted.caller.uid)),
            ("gid", number(mounted.caller.gid)),
            ("privileged_port", FactValue::Flag(is_privileged(url))),
            ("read_bytes_max", number(mounted.sizes.read)),
            ("write_bytes_max", number(mounted.sizes.write)),
            ("listing_bytes", number(mounted.sizes.listing)),
            (
                "timeout_ms",
                FactValue::Number(self.timeout_of(url).as_millis() as u64),
            ),
            ("stability", text(stability)),
        ];
        ServerFacts {
            protocol: "nfs3",
            url: url.to_string(),
            facts: facts.into(),
        }
    }

    /// Returns the calls and bytes exchanged with all servers.
    pub(crate) fn traffic(&self) -> ServerTraffic {
        let totals = self.counters.sum();
        let mut counts = totals.by_name();
        let is_nfs = |(procedure, _): &(Procedure, Calls)| procedure.program() == Program::Nfs;
        let (calls, others): (Vec<_>, Vec<_>) = totals.procedures().partition(is_nfs);
        let others = others.iter().map(|(_, of)| of.calls + of.repetitions);
        counts.push(("other_calls", others.sum()));
        let count = |(procedure, of): (Procedure, Calls)| CallCount {
            procedure: procedure.name(),
            calls: of.calls,
            repetitions: of.repetitions,
            sent_bytes: of.sent_bytes,
            received_bytes: of.received_bytes,
        };
        ServerTraffic {
            calls: calls.into_iter().map(count).collect(),
            counts,
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
