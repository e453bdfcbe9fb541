//! `s3`: object storage over HTTP/1.1, with this program's own client. A file is an object, and a
//! directory is a prefix of keys, marked by an empty object whose key ends with a slash.
//!
//! An operation makes only the requests that it needs (`docs/reference/s3.md` lists them). Each
//! operation in flight has a connection of its own, which performs one request at a time. No
//! request is repeated: if a connection is lost, the operation fails. The cause is
//! [`Cause::NotKnown`](engine::Cause) if the server may have performed the operation.
//!
//! The protocol has no blocks: a request moves a whole object, a range of an object, or a part of
//! an upload.

mod namespace;
mod session;
mod shared;
mod url;

use std::path::PathBuf;
use std::sync::Arc;

use engine::namespace::Namespace;
use engine::{
    Cached, Capability, Durability, Engine, EngineFacts, NamespaceFacts, OpenError, Promise,
    Session, Settings, Targets,
};
use s3_client::Environment;

use namespace::S3Namespace;
use session::S3Session;
use shared::{PROTOCOL, S3Shared};

/// Maximum queue depth; each operation in flight uses a connection.
const DEPTH_MAX: usize = 256;

pub static FACTS: EngineFacts = EngineFacts {
    name: "s3",
    help: "Requests of S3 that the program makes itself: the default of targets like \
           s3://bucket/prefix?endpoint=http://host:9000",
    targets: Targets::Urls(&url::SYNTAX),
    protocol: Some(PROTOCOL),
    depth_max: DEPTH_MAX,
    capabilities: &[
        Capability::Contents,
        Capability::Ranges,
        Capability::Names,
        Capability::Replacement,
        Capability::Trees,
    ],
    cache: Cached::None,
    direct: false,
    durability: &[Durability::None],
    // A successful answer means that the object is stored as a whole.
    promise: Promise::All,
    namespace: Some(NamespaceFacts {
        identity: true,
        birth: false,
        locks: false,
    }),
};

/// The `s3` engine. Clones share counters and targets.
#[derive(Clone, Debug)]
pub struct S3 {
    shared: Arc<S3Shared>,
}

impl S3 {
    /// Creates an engine whose sessions keep up to `depth` operations in flight. Each target is the
    /// text of a [`Url`](engine::Url); an invalid URL is rejected when the target is opened.
    /// The credentials and the region come from the process's environment variables and credentials
    /// files.
    pub fn new(depth: usize, targets: &[PathBuf]) -> Self {
        Self::in_environment(depth, targets, &Environment::own())
    }

    /// Creates an engine with the credentials and the region of another environment.
    pub fn in_environment(
        depth: usize,
        targets: &[PathBuf],
        environment: &Environment<'_>,
    ) -> Self {
        Self {
            shared: Arc::new(S3Shared::new(
                depth.clamp(1, DEPTH_MAX),
                targets,
                environment,
            )),
        }
    }
}

impl Engine for S3 {
    fn facts(&self) -> &'static EngineFacts {
        &FACTS
    }

    fn depth(&self) -> usize {
        self.shared.depth
    }

    fn namespace(&self) -> Option<Arc<dyn Namespace>> {
        Some(Arc::new(S3Namespace::new(Arc::clone(&self.shared))))
    }

    fn open(&self, settings: &Settings) -> Result<Box<dyn Session>, OpenError> {
        Ok(Box::new(S3Session::open(&self.shared, settings)?))
    }
}
