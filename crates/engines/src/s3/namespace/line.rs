//! The client of a namespace, and requests that several types of the namespace make.

use std::sync::{Arc, Mutex, PoisonError};

use engine::namespace::{EntryKind, Facts};
use engine::{Identity, name_digest};
use s3_client::{CallError, Client, Condition, Counters, Found, Reason, Tag};

use crate::s3::shared::{Exclusive, S3Shared, Target};

/// A client with which a namespace makes its requests, one at a time.
#[derive(Debug)]
pub(super) struct Line {
    shared: Arc<S3Shared>,
    pub(super) target: Arc<Target>,
    counters: Arc<Counters>,
    client: Mutex<Client>,
}

impl Drop for Line {
    fn drop(&mut self) {
        self.shared.counters.end(&self.counters);
    }
}

impl Line {
    pub(super) fn new(shared: &Arc<S3Shared>, target: Arc<Target>) -> Self {
        let counters = shared.counters.add();
        let client = Client::new(&target.server, Arc::clone(&counters));
        Self {
            shared: Arc::clone(shared),
            target,
            counters,
            client: Mutex::new(client),
        }
    }

    /// Performs `work` with exclusive use of the client.
    pub(super) fn with<T>(
        &self,
        work: impl FnOnce(&mut Client) -> Result<T, CallError>,
    ) -> Result<T, CallError> {
        work(&mut self.client.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Creates an object; fails with [`Reason::Exists`] if the key exists. If the server does not
    /// support `If-None-Match: *`, a HEAD request first checks that the key does not exist.
    pub(super) fn create(&self, key: &[u8], body: &[u8]) -> Result<(), CallError> {
        if self.target.exclusive() != Exclusive::Missing {
            match self.with(|client| client.put(key, body, Condition::Missing)) {
                Err(error) if error.is(Reason::NotImplemented) => {
                    self.target.set_exclusive(Exclusive::Missing);
                }
                created => return created,
            }
        }
        self.counters.unconditional_creations.add(1);
        if self.with(|client| client.head(key))?.is_some() {
            let exists = s3_client::Failed::new(412, b"PreconditionFailed");
            return Err(CallError::Failed(exists));
        }
        self.with(|client| client.put(key, body, Condition::None))
    }

    /// Determines whether the server supports `If-None-Match: *`, if that is still unknown. Creates
    /// an object, tries to create it again with this header, and deletes it. A server that supports
    /// the header refuses the second creation.
    pub(super) fn probe(&self, key: &[u8], body: &[u8]) -> Result<(), CallError> {
        if self.target.exclusive() != Exclusive::Unknown {
            return Ok(());
        }
        self.with(|client| client.put(key, body, Condition::None))?;
        let again = self.with(|client| client.put(key, body, Condition::Missing));
        self.target.set_exclusive(match &again {
            Err(error) if error.is(Reason::Exists) => Exclusive::Supported,
            _ => Exclusive::Missing,
        });
        self.with(|client| client.delete(key))?;
        match again {
            Err(lost @ CallError::Lost { .. }) => Err(lost),
            _ => Ok(()),
        }
    }

    /// A hash of the endpoint and the bucket's name, which serves as device number.
    pub(super) fn device(&self) -> u64 {
        let endpoint = self.target.url.text("endpoint").unwrap_or_default();
        let place = [endpoint, "/", &self.target.server.bucket];
        name_digest(place.concat().as_bytes())
    }

    pub(super) fn facts_of_object(&self, found: &Found) -> Facts {
        let Found {
            size_bytes,
            modified_s,
            tag,
        } = found;
        let changed = modified_s.map(|seconds| (seconds, 0));
        let identity = [
            &size_bytes.to_ne_bytes()[..],
            &modified_s.unwrap_or(0).to_ne_bytes(),
            tag.as_ref().map_or(b"", Tag::bytes),
        ]
        .concat();
        Facts {
            size_bytes: *size_bytes,
            changed,
            modified: changed,
            ..self.facts(EntryKind::File, &identity)
        }
    }

    pub(super) fn facts_of_prefix(&self, prefix: &[u8]) -> Facts {
        self.facts(EntryKind::Directory, prefix)
    }

    fn facts(&self, kind: EntryKind, identity: &[u8]) -> Facts {
        Facts {
            kind,
            size_bytes: 0,
            allocated_bytes: None,
            names: None,
            owner: None,
            mode: None,
            identity: Some(Identity {
                device: self.device(),
                inode: name_digest(identity),
            }),
            born: None,
            changed: None,
            accessed: None,
            modified: None,
        }
    }
}
