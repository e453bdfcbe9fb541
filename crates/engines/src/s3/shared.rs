//! Data that all sessions of an engine share with its namespace: targets, their servers, and
//! counters.

use core::time::Duration;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use engine::Url;
use engine::server::{CallCount, FactValue, ServerFacts, ServerTraffic, Unreachable};
use s3_client::{AllCounters, Credentials, CredentialsError, Endpoint, Environment, Server, Style};

use super::url::{SYNTAX, part_bytes, prefix, signs_payload, style};

/// The protocol's name in messages.
pub(crate) const PROTOCOL: &str = "S3";

/// The region in signatures if neither the URL nor the environment contains one. Servers other than
/// AWS ignore the region.
const REGION: &str = "us-east-1";

/// Whether a server supports the header `If-None-Match: *`, with which it creates an object only if
/// the key does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exclusive {
    /// Not yet determined; requests contain the header.
    Unknown,
    Supported,
    /// The server rejects or ignores the header, so each creation first checks by HEAD that the
    /// object does not exist.
    Missing,
}

/// A target whose server's name was resolved.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) url: Url,
    pub(crate) server: Arc<Server>,
    exclusive: AtomicU8,
}

impl Target {
    pub(crate) fn exclusive(&self) -> Exclusive {
        match self.exclusive.load(Ordering::Relaxed) {
            0 => Exclusive::Unknown,
            1 => Exclusive::Supported,
            _ => Exclusive::Missing,
        }
    }

    pub(crate) fn set_exclusive(&self, exclusive: Exclusive) {
        self.exclusive.store(exclusive as u8, Ordering::Relaxed);
    }
}

#[derive(Debug)]
pub(crate) struct S3Shared {
    pub(crate) depth: usize,
    /// The engine's targets; the namespace also accepts other URLs.
    pub(crate) urls: Vec<Url>,
    pub(crate) counters: AllCounters,
    credentials: Result<Credentials, CredentialsError>,
    region: Option<String>,
    /// The file with the certificates of trusted authorities.
    authorities: Option<PathBuf>,
    targets: Mutex<Vec<Arc<Target>>>,
}

impl S3Shared {
    pub(crate) fn new(depth: usize, targets: &[PathBuf], environment: &Environment<'_>) -> Self {
        let urls = targets
            .iter()
            .filter_map(|target| SYNTAX.parse(target).ok());
        Self {
            depth,
            urls: urls.collect(),
            counters: AllCounters::default(),
            credentials: environment.credentials(),
            region: environment.region(),
            authorities: environment.authorities(),
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

    /// Returns the target that contains a URL's directory. On the first use of a target, resolves
    /// the name of its server.
    pub(crate) fn target(&self, url: &Url) -> Result<Arc<Target>, Unreachable> {
        let above = self.urls.iter().filter(|target| target.leads_to(url));
        let wanted = above.max_by_key(|target| target.path.len()).unwrap_or(url);
        if let Some(known) = self.known(wanted) {
            return Ok(known);
        }
        // Resolves the server's name without the lock on `targets`, so that other threads do not
        // wait for a name server.
        let server = self.server(wanted).map_err(|why| Unreachable {
            doing: "use",
            of: wanted.to_string(),
            why,
            is_silent: false,
        })?;
        if let Some(known) = self.known(wanted) {
            return Ok(known);
        }
        let target = Arc::new(Target {
            url: wanted.clone(),
            server: Arc::new(server),
            exclusive: AtomicU8::new(Exclusive::Unknown as u8),
        });
        self.targets().push(Arc::clone(&target));
        Ok(target)
    }

    fn server(&self, url: &Url) -> Result<Server, String> {
        if url.port.is_some() {
            let why = "a bucket has no port (give the address of the service as \
                       ?endpoint=http://host:port)";
            return Err(why.to_owned());
        }
        let Some(endpoint) = url.text("endpoint") else {
            return Err("it names no service (add ?endpoint=http://host:port)".to_owned());
        };
        let endpoint = Endpoint::parse(endpoint).map_err(|error| error.to_string())?;
        let credentials = self
            .credentials
            .clone()
            .map_err(|error| error.to_string())?;
        let region = url.text("region").or(self.region.as_deref());
        let region = region.unwrap_or(REGION);
        let authorities = self.authorities.as_deref();
        let server = Server::new(
            &endpoint,
            &url.host,
            style(url),
            region,
            credentials,
            authorities,
        );
        let mut server = server.map_err(|error| error.to_string())?;
        let seconds = url.parameter("timeout").unwrap_or(20);
        server.timeout = Duration::from_secs(seconds.into());
        server.signs_payload = signs_payload(url);
        Ok(server)
    }

    /// Whether a URL is a target itself. The directory of a target exists even if no key has its
    /// prefix.
    pub(crate) fn is_target(&self, url: &Url) -> bool {
        self.urls.iter().any(|target| target.bare() == url.bare())
    }

    /// Returns the facts of the targets' servers in the order of the targets; targets not yet
    /// reached are omitted.
    pub(crate) fn facts(&self) -> Vec<ServerFacts> {
        let known = self.urls.iter().filter_map(|url| self.known(url));
        known.map(|target| self.facts_of(&target)).collect()
    }

    fn facts_of(&self, target: &Target) -> ServerFacts {
        let (url, server) = (&target.url, &target.server);
        let text = |text: &str| FactValue::Text(text.to_owned());
        let place = [server.bucket.as_bytes(), b"/", prefix(url)].concat();
        let style = match server.style {
            Style::Path => "path",
            Style::Virtual => "virtual",
        };
        let payload = if server.signs_payload {
            "signed"
        } else {
            "unsigned"
        };
        let facts = [
            ("address", text(&server.address().to_string())),
            ("export", text(&String::from_utf8_lossy(&place))),
            ("connections", FactValue::Number(self.depth as u64)),
            ("region", text(&server.region)),
            ("style", text(style)),
            ("payload", text(payload)),
            ("part_bytes", FactValue::Number(part_bytes(url) as u64)),
            (
                "timeout_ms",
                FactValue::Number(server.timeout.as_millis() as u64),
            ),
        ];
        ServerFacts {
            protocol: "s3",
            url: url.to_string(),
            facts: facts.into(),
        }
    }

    /// Returns the requests and bytes exchanged with all servers.
    pub(crate) fn traffic(&self) -> ServerTraffic {
        let totals = self.counters.sum();
        let calls = totals.kinds().map(|(kind, of)| CallCount {
            procedure: kind.name(),
            calls: of.requests,
            repetitions: 0,
            sent_bytes: of.sent_bytes,
            received_bytes: of.received_bytes,
        });
        ServerTraffic {
            calls: calls.collect(),
            counts: totals.by_name(),
        }
    }

    fn known(&self, url: &Url) -> Option<Arc<Target>> {
        let targets = self.targets();
        targets.iter().find(|target| target.url == *url).cloned()
    }

    fn targets(&self) -> std::sync::MutexGuard<'_, Vec<Arc<Target>>> {
        self.targets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
