//! A directory in object storage, which is a prefix of keys.

use std::sync::{Arc, Mutex, PoisonError};

use engine::Errno;
use engine::namespace::{Directory, Entry, EntryKind, Facts, Mark, Stamp};
use s3_client::{CallError, Condition, Found, Page, Reason};

use super::line::Line;
use super::mark::S3Mark;

/// Names of entries with their facts.
type Entries = Vec<(Vec<u8>, Facts)>;

/// Maximum number of entries in a page of a listing.
const ENTRIES: usize = 1_000;

#[derive(Debug)]
pub(super) struct S3Directory {
    line: Arc<Line>,
    /// The beginning of the keys of all entries: empty, or ends with a slash.
    prefix: Vec<u8>,
    /// The name and facts of the entry that [`list`](Directory::list) is passing to its callback;
    /// `None` at other times.
    listed: Mutex<Option<(Vec<u8>, Facts)>>,
}

impl S3Directory {
    pub(super) fn new(line: Arc<Line>, path: &[u8]) -> Self {
        let mut prefix = path.to_vec();
        if !prefix.is_empty() {
            prefix.push(b'/');
        }
        Self {
            line,
            prefix,
            listed: Mutex::default(),
        }
    }

    fn key(&self, name: &[u8]) -> Vec<u8> {
        [&self.prefix, name].concat()
    }

    fn inner_prefix(&self, name: &[u8]) -> Vec<u8> {
        [&self.prefix, name, b"/"].concat()
    }

    /// Requests the first key of the directory; returns whether the directory contains any key.
    pub(super) fn ask(&self) -> Result<bool, CallError> {
        self.has_key(&self.prefix)
    }

    pub(super) fn has_any(&self) -> Result<bool, Errno> {
        Ok(self.ask()?)
    }

    fn has_key(&self, prefix: &[u8]) -> Result<bool, CallError> {
        let page = self
            .line
            .with(|client| client.list(prefix, false, None, 1, &mut |_| ()))?;
        Ok(page.entries > 0)
    }

    /// Requests a page of the directory's listing; returns the entries with their facts.
    fn page(&self, token: Option<&[u8]>) -> Result<(Entries, Page), CallError> {
        let mut entries = Vec::new();
        let mut is_foreign = false;
        let mut each = |listed: &s3_client::xml::Listed<'_>| {
            let Some(name) = listed.key.strip_prefix(self.prefix.as_slice()) else {
                is_foreign = true;
                return;
            };
            match (listed.is_prefix, name.strip_suffix(b"/")) {
                (true, Some(name)) if !name.is_empty() => {
                    entries.push((name.to_vec(), self.line.facts_of_prefix(listed.key)));
                }
                // Skips the object that marks the directory itself, and keys with an empty name
                // (`//`).
                _ if name.is_empty() || listed.is_prefix => {}
                _ => {
                    let found = Found {
                        size_bytes: listed.size_bytes,
                        modified_s: listed.modified_s,
                        tag: listed.tag,
                    };
                    entries.push((name.to_vec(), self.line.facts_of_object(&found)));
                }
            }
        };
        let page = self
            .line
            .with(|client| client.list(&self.prefix, true, token, ENTRIES, &mut each))?;
        match is_foreign {
            true => Err(CallError::Garbled),
            false => Ok((entries, page)),
        }
    }

    /// Aborts incomplete uploads in a directory. Then removes the directory's mark, or fails if the
    /// directory contains other keys.
    fn remove_directory(&self, name: &[u8]) -> Result<(), CallError> {
        let prefix = self.inner_prefix(name);
        self.abort_uploads(&prefix, &|_| true)?;
        let not_empty = CallError::Lost {
            error: Errno::NOTEMPTY,
            was_sent: false,
        };
        let mut has_other = false;
        self.line.with(|client| {
            client.list(&prefix, false, None, 2, &mut |listed| {
                has_other |= listed.key != prefix;
            })
        })?;
        match has_other {
            true => Err(not_empty),
            false => self.line.with(|client| client.delete(&prefix)),
        }
    }

    /// Aborts incomplete uploads of the keys that begin with `prefix`, if `is_own` accepts the rest
    /// of the key.
    fn abort_uploads(
        &self,
        prefix: &[u8],
        is_own: &dyn Fn(&[u8]) -> bool,
    ) -> Result<(), CallError> {
        /// Maximum number of pages of uploads that one call aborts.
        const PAGES_MAX: usize = 1_000;
        let mut after = None;
        for _ in 0..PAGES_MAX {
            let page = self
                .line
                .with(|client| client.uploads(prefix, after.as_ref()));
            let (uploads, next) = match page {
                Err(error) if error.is(Reason::NotImplemented) => return Ok(()),
                listed => listed?,
            };
            for upload in uploads {
                if !upload.key.strip_prefix(prefix).is_some_and(is_own) {
                    continue;
                }
                match self.line.with(|client| client.abort(&upload)) {
                    Err(error) if error.is(Reason::Missing) => {}
                    aborted => aborted?,
                }
            }
            // A server that repeats a page would be asked without end.
            if next.is_none() || next == after {
                break;
            }
            after = next;
        }
        Ok(())
    }

    fn mark_of(&self, name: &str, opened: Option<Facts>) -> S3Mark {
        S3Mark {
            line: Arc::clone(&self.line),
            key: self.key(name.as_bytes()),
            name: name.to_owned(),
            opened,
            text: Mutex::default(),
        }
    }

    fn found(&self, name: &[u8]) -> Result<Option<Facts>, CallError> {
        let found = self.line.with(|client| client.head(&self.key(name)))?;
        Ok(found.map(|found| self.line.facts_of_object(&found)))
    }

    fn listed(&self) -> std::sync::MutexGuard<'_, Option<(Vec<u8>, Facts)>> {
        self.listed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Directory for S3Directory {
    fn facts(&self) -> Result<Facts, Errno> {
        Ok(self.line.facts_of_prefix(&self.prefix))
    }

    fn facts_of(&self, name: &[u8]) -> Result<Facts, Errno> {
        // While an entry is listed, its facts are known from the page, without a request.
        if let Some((listed, facts)) = &*self.listed()
            && listed == name
        {
            return Ok(*facts);
        }
        if let Some(facts) = self.found(name)? {
            return Ok(facts);
        }
        let inner = self.inner_prefix(name);
        match self.has_key(&inner)? {
            true => Ok(self.line.facts_of_prefix(&inner)),
            false => Err(Errno::NOENT),
        }
    }

    fn list(&self, each: &mut dyn FnMut(&Entry<'_>) -> Result<(), Errno>) -> Result<(), Errno> {
        let mut token: Option<Vec<u8>> = None;
        loop {
            let (entries, page) = self.page(token.as_deref())?;
            for (name, facts) in entries {
                let number = facts.identity.map(|identity| identity.inode);
                *self.listed() = Some((name.clone(), facts));
                let seen = each(&Entry {
                    name: &name,
                    number,
                });
                *self.listed() = None;
                seen?;
            }
            match page.next {
                None => return Ok(()),
                // A server that repeats a token would make the listing endless.
                next if next == token => return Err(Errno::BADMSG),
                next => token = next,
            }
        }
    }

    fn open(&self, name: &[u8]) -> Result<Arc<dyn Directory>, Errno> {
        if !self.has_key(&self.inner_prefix(name))? {
            return Err(match self.found(name)? {
                Some(_) => Errno::NOTDIR,
                None => Errno::NOENT,
            });
        }
        let line = Arc::clone(&self.line);
        Ok(Arc::new(Self::new(line, &self.key(name))))
    }

    fn above(&self) -> Result<Arc<dyn Directory>, Errno> {
        let path = self.prefix.strip_suffix(b"/").ok_or(Errno::NOENT)?;
        let end = path.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
        let line = Arc::clone(&self.line);
        Ok(Arc::new(Self::new(line, &path[..end])))
    }

    fn make(&self, name: &[u8], _: u32) -> Result<(), Errno> {
        Ok(self.line.create(&self.inner_prefix(name), b"")?)
    }

    fn read(&self, name: &[u8], offset: u64, into: &mut [u8]) -> Result<usize, Errno> {
        let key = self.key(name);
        let bytes = self
            .line
            .with(|client| client.get(&key, offset, into.len()))?;
        into[..bytes.len()].copy_from_slice(&bytes);
        Ok(bytes.len())
    }

    fn target(&self, _: &[u8]) -> Result<Vec<u8>, Errno> {
        Err(Errno::INVAL)
    }

    fn remove(&self, name: &[u8], looked_at: &Facts) -> Result<bool, Errno> {
        if looked_at.kind == EntryKind::Directory {
            self.remove_directory(name)?;
            return Ok(true);
        }
        let found = self.found(name)?.ok_or(Errno::NOENT)?;
        if looked_at.identity.is_some() && found.identity != looked_at.identity {
            return Ok(false);
        }
        self.line.with(|client| client.delete(&self.key(name)))?;
        Ok(true)
    }

    fn discard_incomplete(&self, is_own: &dyn Fn(&[u8]) -> bool) -> Result<(), Errno> {
        Ok(self.abort_uploads(&self.prefix, is_own)?)
    }

    fn set_times(&self, _: Stamp, _: Stamp) -> Result<(), Errno> {
        Err(Errno::OPNOTSUPP)
    }

    /// Makes no request: the protocol has none that makes acknowledged changes more durable.
    fn sync(&self) -> Result<(), Errno> {
        Ok(())
    }

    fn sync_file_system(&self) -> Result<(), Errno> {
        Err(Errno::OPNOTSUPP)
    }

    fn free_bytes(&self) -> Option<u64> {
        None
    }

    fn draft(&self, name: &str) -> Result<Box<dyn Mark>, Errno> {
        Ok(Box::new(self.mark_of(name, None)))
    }

    fn name_draft(
        &self,
        draft: Box<dyn Mark>,
        name: &str,
        replaces: bool,
    ) -> Result<Box<dyn Mark>, Errno> {
        let text = draft.read(u64::MAX)?;
        let (from, key) = (self.key(draft.name().as_bytes()), self.key(name.as_bytes()));
        match replaces {
            true => self
                .line
                .with(|client| client.put(&key, &text, Condition::None))?,
            false => {
                self.line.probe(&from, &text)?;
                self.line.create(&key, &text)?;
            }
        }
        let facts = self.found(name.as_bytes())?.ok_or(Errno::NOENT)?;
        Ok(Box::new(self.mark_of(name, Some(facts))))
    }

    fn mark(&self, name: &str) -> Result<Option<Box<dyn Mark>>, Errno> {
        let found = self.found(name.as_bytes())?;
        Ok(found.map(|facts| Box::new(self.mark_of(name, Some(facts))) as Box<dyn Mark>))
    }
}
