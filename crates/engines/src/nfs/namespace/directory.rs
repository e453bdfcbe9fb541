//! A directory of a server, identified by its handle.

use core::time::Duration;
use std::sync::Arc;

use engine::Errno;
use engine::namespace::{Directory, Entry, EntryKind, Facts, Mark, Stamp};
use nfs_client::{
    CallError, FileKind, Handle, ListingProgress, NoEnd, Procedure, any_number,
    arguments::{self, Creation, ListingPlace, NewAttributes, Times},
    results,
};

use super::line::HomeLine;
use super::mark::NfsMark;
use crate::nfs::convert::facts;

/// The mode of marks: other users may read them.
const MARK_MODE: u32 = 0o644;

#[derive(Debug)]
pub(super) struct NfsDirectory {
    pub(super) line: Arc<HomeLine>,
    pub(super) handle: Handle,
}

/// A listing fails after this time, so that a slow server cannot block the run forever.
const LISTED_WITHIN: Duration = Duration::from_secs(60 * 60);

/// A page of a listing: names with inode numbers.
struct CopiedPage {
    names: Vec<(Vec<u8>, u64)>,
    /// The cookie of the page's last entry, from which the next page continues.
    cookie: u64,
    verifier: [u8; 8],
    is_end: bool,
}

impl NfsDirectory {
    /// Creates a new file; fails if the name exists. The exclusive verifier lets the server
    /// recognize a repeated call.
    fn create(&self, name: &[u8]) -> Result<Handle, CallError> {
        let creation = Creation::Exclusive(any_number().to_ne_bytes());
        let made = self.line.call(
            Procedure::Create,
            |out| arguments::create(out, &self.handle, name, creation),
            results::made,
        )?;
        let file = match made {
            Some(file) => file,
            None => self.line.look_up(&self.handle, name)?.0,
        };
        let new = NewAttributes {
            times: Times::Server,
            ..NewAttributes::of_mode(MARK_MODE)
        };
        self.line.set_attributes(&file, &new)?;
        Ok(file)
    }

    /// Removes a name with REMOVE or RMDIR.
    fn remove_name(&self, procedure: Procedure, name: &[u8]) -> Result<(), CallError> {
        let arguments = |out: &mut Vec<u8>| arguments::name_in(out, &self.handle, name);
        match self.line.change(procedure, arguments) {
            // The connection was lost before the reply to the first call. The repeated call did not
            // find the name, or got no reply either. A LOOKUP shows whether the name was removed.
            Err(CallError::NotKnown) => match self.line.look_up(&self.handle, name) {
                Err(CallError::Failed(Errno::NOENT)) => Ok(()),
                Err(error) => Err(error),
                Ok(_) => Err(CallError::NotKnown),
            },
            removed => removed,
        }
    }

    fn rename(&self, from: &[u8], to: &[u8]) -> Result<(), CallError> {
        self.line.change(Procedure::Rename, |out| {
            arguments::rename(out, (&self.handle, from), (&self.handle, to));
        })
    }

    /// Renames a file to a name that must not exist, by LINK and REMOVE.
    fn rename_to_new(&self, file: &Handle, from: &[u8], to: &[u8]) -> Result<(), CallError> {
        let arguments = |out: &mut Vec<u8>| arguments::link(out, file, &self.handle, to);
        match self.line.change(Procedure::Link, arguments) {
            Ok(()) => return self.remove_name(Procedure::Remove, from),
            // LINK was repeated. If the name denotes this file, the first LINK created the name.
            Err(CallError::NotKnown) if self.line.stands_for(&self.handle, to, file)? => {
                return self.remove_name(Procedure::Remove, from);
            }
            // Without hard links, `to` is created exclusively, which fails if the name exists. Then
            // the file is renamed over the created name.
            Err(CallError::Failed(Errno::OPNOTSUPP | Errno::PERM | Errno::MLINK)) => {}
            Err(error) => return Err(error),
        }
        self.create(to)?;
        self.rename(from, to).inspect_err(|_| {
            let _ = self.remove_name(Procedure::Remove, to);
        })
    }

    fn page(&self, place: &ListingPlace) -> Result<CopiedPage, CallError> {
        let bytes = self.line.target.mounted.sizes.listing;
        let arguments = |out: &mut Vec<u8>| arguments::list(out, &self.handle, place, bytes, false);
        self.line
            .call(Procedure::ReadDirectory, arguments, |reader| {
                let mut page = results::Page::read(reader, false)?;
                let (mut names, mut cookie) = (Vec::new(), 0);
                while let Some(entry) = page.next_entry()? {
                    cookie = entry.cookie;
                    names.push((entry.name.to_owned(), entry.number));
                }
                Ok(CopiedPage {
                    names,
                    cookie,
                    verifier: page.verifier,
                    is_end: page.is_end()?,
                })
            })
    }

    fn mark_of(&self, file: Handle, name: &str) -> Box<dyn Mark> {
        Box::new(NfsMark {
            line: Arc::clone(&self.line),
            directory: self.handle,
            file,
            name: name.to_owned(),
        })
    }
}

impl Directory for NfsDirectory {
    fn facts(&self) -> Result<Facts, Errno> {
        self.line.facts(&self.handle)
    }

    fn facts_of(&self, name: &[u8]) -> Result<Facts, Errno> {
        let found = self.line.look_up(&self.handle, name)?;
        Ok(facts(&found.1))
    }

    fn list(&self, each: &mut dyn FnMut(&Entry<'_>) -> Result<(), Errno>) -> Result<(), Errno> {
        let mut progress = ListingProgress::default();
        let began = self.line.elapsed();
        loop {
            // The page is complete before `each` is called, because `each` may make calls on the
            // same connection.
            let page = self.page(progress.place())?;
            for (name, number) in &page.names {
                if name != b"." && name != b".." {
                    each(&Entry {
                        name,
                        number: Some(*number),
                    })?;
                }
            }
            if page.is_end {
                return Ok(());
            }
            let goes_on = progress.go_on(page.names.len() as u64, page.cookie, page.verifier);
            goes_on.map_err(|no_end| match no_end {
                NoEnd::Circle => CallError::Garbled.errno(),
                NoEnd::TooLong => NoEnd::TOO_LONG,
            })?;
            if self.line.elapsed() - began > LISTED_WITHIN {
                return Err(NoEnd::TOO_LONG);
            }
        }
    }

    fn open(&self, name: &[u8]) -> Result<Arc<dyn Directory>, Errno> {
        let opened = self
            .line
            .with(|client| client.open_directory(&self.handle, name));
        let handle = opened?;
        let line = Arc::clone(&self.line);
        Ok(Arc::new(Self { line, handle }))
    }

    fn above(&self) -> Result<Arc<dyn Directory>, Errno> {
        Directory::open(self, b"..")
    }

    fn make(&self, name: &[u8], mode: u32) -> Result<(), Errno> {
        let arguments =
            |out: &mut Vec<u8>| arguments::make_directory(out, &self.handle, name, mode);
        self.line
            .call(Procedure::MakeDirectory, arguments, results::made)?;
        Ok(())
    }

    fn read(&self, name: &[u8], offset: u64, into: &mut [u8]) -> Result<usize, Errno> {
        let (file, attributes) = self.line.look_up(&self.handle, name)?;
        match attributes.kind {
            FileKind::File => {}
            FileKind::SymbolicLink => return Err(Errno::LOOP),
            FileKind::Directory | FileKind::Other => return Err(Errno::ISDIR),
        }
        Ok(self.line.read(&file, offset, into)?)
    }

    fn target(&self, name: &[u8]) -> Result<Vec<u8>, Errno> {
        let (link, _) = self.line.look_up(&self.handle, name)?;
        let read = self.line.call(
            Procedure::ReadLink,
            |out| link.write(out),
            |reader| results::read_link(reader).map(<[u8]>::to_vec),
        );
        Ok(read?)
    }

    fn remove(&self, name: &[u8], looked_at: &Facts) -> Result<bool, Errno> {
        if looked_at.identity.is_some() && self.facts_of(name)?.identity != looked_at.identity {
            return Ok(false);
        }
        let procedure = match looked_at.kind {
            EntryKind::Directory => Procedure::RemoveDirectory,
            EntryKind::File | EntryKind::SymbolicLink | EntryKind::Other => Procedure::Remove,
        };
        self.remove_name(procedure, name)?;
        Ok(true)
    }

    fn set_times(&self, accessed: Stamp, modified: Stamp) -> Result<(), Errno> {
        let new = NewAttributes {
            times: Times::These(accessed, modified),
            ..NewAttributes::default()
        };
        Ok(self.line.set_attributes(&self.handle, &new)?)
    }

    /// Makes no call, because the protocol requires that changed names are on stable storage when
    /// the server replies.
    fn sync(&self) -> Result<(), Errno> {
        Ok(())
    }

    /// The protocol has no call that syncs a file system.
    fn sync_file_system(&self) -> Result<(), Errno> {
        Err(Errno::OPNOTSUPP)
    }

    fn free_bytes(&self) -> Option<u64> {
        let handle = &self.handle;
        let found = self.line.call(
            Procedure::FileSystemStatus,
            |out| handle.write(out),
            results::free_bytes,
        );
        found.ok()
    }

    fn draft(&self, name: &str) -> Result<Box<dyn Mark>, Errno> {
        let made = self.create(name.as_bytes())?;
        Ok(self.mark_of(made, name))
    }

    fn name_draft(
        &self,
        draft: Box<dyn Mark>,
        name: &str,
        replaces: bool,
    ) -> Result<Box<dyn Mark>, Errno> {
        let from = draft.name().as_bytes();
        let (file, _) = self.line.look_up(&self.handle, from)?;
        let named = match replaces {
            true => self.rename(from, name.as_bytes()),
            false => self.rename_to_new(&file, from, name.as_bytes()),
        };
        named?;
        Ok(self.mark_of(file, name))
    }

    fn mark(&self, name: &str) -> Result<Option<Box<dyn Mark>>, Errno> {
        match self.line.look_up(&self.handle, name.as_bytes()) {
            Ok((_, attributes)) if attributes.kind == FileKind::SymbolicLink => Err(Errno::LOOP),
            Ok((file, _)) => Ok(Some(self.mark_of(file, name))),
            Err(CallError::Failed(Errno::NOENT)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// A server may assign files to another owner, for example to `nobody` if it does not trust
    /// user 0.
    fn gives_its_own(&self) -> bool {
        true
    }
}
