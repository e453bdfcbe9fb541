//! A mark (such as a manifest) in an object. Its text is collected in memory, and stored as one
//! object when the mark gets its final name.

use std::sync::{Arc, Mutex, PoisonError};

use engine::Errno;
use engine::namespace::{EntryKind, Facts, Lock, Mark};

use super::line::Line;

#[derive(Debug)]
pub(super) struct S3Mark {
    pub(super) line: Arc<Line>,
    pub(super) key: Vec<u8>,
    pub(super) name: String,
    /// The facts of the object when it was opened; `None` if it is not stored yet.
    pub(super) opened: Option<Facts>,
    pub(super) text: Mutex<Vec<u8>>,
}

impl S3Mark {
    pub(super) fn text(&self) -> Vec<u8> {
        let text = self.text.lock().unwrap_or_else(PoisonError::into_inner);
        text.clone()
    }

    fn found(&self) -> Result<Option<Facts>, Errno> {
        let found = self.line.with(|client| client.head(&self.key))?;
        Ok(found.map(|found| self.line.facts_of_object(&found)))
    }
}

impl Mark for S3Mark {
    fn name(&self) -> &str {
        &self.name
    }

    fn facts(&self) -> Result<Facts, Errno> {
        match self.opened {
            Some(opened) => Ok(opened),
            None => Ok(Facts {
                kind: EntryKind::File,
                ..self.line.facts_of_prefix(&self.key)
            }),
        }
    }

    fn lock(&self) -> Result<Lock, Errno> {
        Ok(Lock::Unknown)
    }

    fn is_named(&self) -> Result<bool, Errno> {
        let identity = |facts: &Facts| facts.identity;
        let found = self.found()?;
        Ok(found.is_some() && found.as_ref().map(identity) == self.opened.as_ref().map(identity))
    }

    fn read(&self, bytes_max: u64) -> Result<Vec<u8>, Errno> {
        if self.opened.is_none() {
            return Ok(self.text());
        }
        let size = self.facts()?.size_bytes.min(bytes_max);
        let size = usize::try_from(size).map_err(|_| Errno::FBIG)?;
        Ok(self.line.with(|client| client.get(&self.key, 0, size))?)
    }

    fn write(&self, text: &[u8]) -> Result<(), Errno> {
        if self.opened.is_some() {
            return Err(Errno::OPNOTSUPP);
        }
        *self.text.lock().unwrap_or_else(PoisonError::into_inner) = text.to_vec();
        Ok(())
    }
}
