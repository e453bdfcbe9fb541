//! Determines from a reply how an operation continues: the next call, or its end.

use engine::{Cause, Errno, OperationKind, Stopping};
use nfs_client::{
    Counters, FileAttributes, FileKind, Garbled, Handle, Status, TransferSizes, results, rpc::Body,
    xdr::Reader,
};

use super::directories::Directories;
use super::flight::{NfsFlight, Stage};
use super::place::Place;
use super::tree_state::Part;
use crate::nfs::durable::Durable;
use crate::nfs::verifiers::Verifiers;

/// Limit of repeated requests for a page whose entries are removed while the server reads the page.
const PAGES_AGAIN_MAX: u32 = 32;

/// The parts of a session that an operation needs to process a reply.
pub(super) struct Context<'a> {
    pub(super) directories: &'a mut Directories,
    pub(super) counters: &'a Counters,
    pub(super) verifiers: &'a Verifiers,
    pub(super) sizes: &'a TransferSizes,
    pub(super) durable: Durable,
    /// Maximum number of bytes of contents that are kept for verification; 0 keeps none.
    pub(super) keep_bytes: usize,
    pub(super) stopping: &'a Stopping,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    Call(Stage),
    Done,
    /// Repeat the same call after a delay.
    Later,
}

pub(super) type Advanced = Result<Next, Cause>;

pub(super) fn garbled(_: Garbled) -> Cause {
    Cause::Garbled
}

impl NfsFlight {
    /// Processes the body of the reply to the flight's call.
    #[inline]
    pub(super) fn advance(&mut self, body: Body<'_>, context: &mut Context<'_>) -> Advanced {
        let mut reader = body
            .map_err(garbled)?
            .map_err(|refusal| Cause::System(refusal.errno()))?;
        match Status::read(&mut reader).map_err(garbled)? {
            Status::Done => self.done(reader, context),
            Status::Later => Ok(Next::Later),
            Status::Failed(errno) => self.failed(errno, context),
        }
    }

    /// Whether the operation fails if its name exists.
    fn expects_missing(&self) -> bool {
        matches!(
            self.kind,
            OperationKind::StatMissing | OperationKind::OpenMissing | OperationKind::Install
        )
    }

    fn failed(&mut self, errno: Errno, context: &mut Context<'_>) -> Advanced {
        match (self.stage, errno) {
            (Stage::LookupNew, Errno::NOENT) => {
                return Ok(Next::Call(match self.kind {
                    OperationKind::InstallLink => self.after_missing(),
                    _ => Stage::Rename,
                }));
            }
            (Stage::Lookup, Errno::NOENT) if self.kind == OperationKind::Install => {
                return Ok(Next::Call(self.after_missing()));
            }
            (Stage::MakeDirectory, Errno::EXIST) if self.uses[2] => {
                return Ok(Next::Call(self.after_directory()));
            }
            // The entry was removed by another client after it was listed.
            (Stage::LookupEntry, Errno::NOENT) if self.kind.is_on_tree() => {
                return self.skip_entry();
            }
            (Stage::LookupEntry, Errno::NOENT) => return Ok(self.next_entry()),
            (Stage::Lookup, Errno::NOENT) if self.expects_missing() => return Ok(Next::Done),
            (Stage::MakeDirectory, Errno::EXIST)
                if self.kind == OperationKind::MakeDirectoryExisting =>
            {
                return Ok(Next::Done);
            }
            // A server may return NFS3ERR_NOENT if an entry of the page is removed while the page
            // is read, so the page is requested again. If the directory itself was removed, the
            // error is NFS3ERR_STALE instead.
            (Stage::List, Errno::NOENT) if self.pages_again < PAGES_AGAIN_MAX => {
                self.pages_again += 1;
                context.counters.delayed.add(1);
                return Ok(Next::Call(Stage::List));
            }
            (_, Errno::EXIST | Errno::NOENT)
                if self.call.was_sent && self.procedure().differs_repeated() =>
            {
                return Err(Cause::NotKnown);
            }
            (_, Errno::STALE) => {
                for (place, is_used) in self.places.iter().zip(self.uses) {
                    if is_used {
                        context
                            .directories
                            .forget(place.location, &place.path[..place.directory_end]);
                    }
                }
            }
            _ => {}
        }
        Err(Cause::System(errno))
    }

    fn done(&mut self, mut reader: Reader<'_>, context: &mut Context<'_>) -> Advanced {
        match self.stage {
            Stage::Directory(_)
            | Stage::LookupNew
            | Stage::Lookup
            | Stage::LookupMade
            | Stage::LookupEntry => {
                let (handle, attributes) = results::lookup(reader).map_err(garbled)?;
                self.found(handle, attributes, context)
            }
            Stage::GetAttributes => {
                let attributes = FileAttributes::read(&mut reader).map_err(garbled)?;
                self.has_attributes(&attributes, context)
            }
            Stage::Create => match results::made(reader).map_err(garbled)? {
                Some(file) => {
                    self.file = file;
                    self.made(context)
                }
                None => Ok(Next::Call(Stage::LookupMade)),
            },
            Stage::Write => self.written(reader, context),
            Stage::Commit => self.committed(reader, context),
            Stage::Read => self.has_read(reader, context),
            Stage::ReadLink => match results::read_link(reader).map_err(garbled)? == self.content {
                true => Ok(Next::Done),
                false => Err(Cause::WrongTarget),
            },
            Stage::MakeDirectory | Stage::SymbolicLink => self.has_no_contents(reader, context),
            Stage::SetNew
            | Stage::SetAttributes
            | Stage::Remove
            | Stage::RemoveDirectory
            | Stage::Link
            | Stage::Rename => {
                results::changed(self.procedure(), reader).map_err(garbled)?;
                match self.stage {
                    Stage::SetNew => return self.write_first(context),
                    Stage::SetAttributes if self.kind == OperationKind::Rewrite => {
                        return self.write_first(context);
                    }
                    Stage::Remove | Stage::RemoveDirectory
                        if self.kind == OperationKind::RemoveTree
                            && self.tree.part != Part::Own =>
                    {
                        return self.removed(context);
                    }
                    Stage::Link if self.kind == OperationKind::LinkTree => {
                        return self.copied(context);
                    }
                    Stage::RemoveDirectory => {
                        let Place { location, path, .. } = &self.places[0];
                        context.directories.forget(*location, path);
                        if self.tree.levels > 0 {
                            context.directories.forget_below(*location, path);
                        }
                    }
                    _ => {}
                }
                Ok(Next::Done)
            }
            Stage::List => self.listed(reader),
        }
    }

    /// Continues after a successful MKDIR or SYMLINK.
    fn has_no_contents(&mut self, reader: Reader<'_>, context: &mut Context<'_>) -> Advanced {
        let made = results::made(reader).map_err(garbled)?;
        if self.kind == OperationKind::MakeDirectoryExisting || self.uses[2] {
            return Err(Cause::System(Errno::NOENT));
        }
        if self.kind.makes_tree() {
            return Ok(match made {
                Some(handle) => self.made_directory(handle, context),
                None => Next::Call(Stage::LookupMade),
            });
        }
        if let (Stage::MakeDirectory, Some(handle)) = (self.stage, made) {
            let Place { location, path, .. } = &self.places[0];
            context.directories.insert(*location, path, handle);
        }
        Ok(Next::Done)
    }

    /// Continues after a successful LOOKUP.
    fn found(
        &mut self,
        handle: Handle,
        attributes: Option<FileAttributes>,
        context: &mut Context<'_>,
    ) -> Advanced {
        match self.stage {
            Stage::Directory(number) => self.found_directory(number, handle, attributes, context),
            Stage::LookupNew => Err(Cause::System(Errno::EXIST)),
            Stage::Lookup if self.expects_missing() => Err(Cause::System(Errno::EXIST)),
            Stage::LookupMade if self.kind.makes_tree() && self.tree.part != Part::Files => {
                Ok(self.made_directory(handle, context))
            }
            Stage::LookupMade => {
                self.file = handle;
                self.made(context)
            }
            Stage::LookupEntry if self.kind.is_on_tree() => {
                self.file = handle;
                match attributes {
                    Some(attributes) => self.tree_entry(&attributes),
                    None => Ok(Next::Call(Stage::GetAttributes)),
                }
            }
            Stage::LookupEntry => Ok(self.found_entry()),
            _ => {
                self.file = handle;
                self.looked_up(attributes, context)
            }
        }
    }

    fn found_directory(
        &mut self,
        number: usize,
        handle: Handle,
        attributes: Option<FileAttributes>,
        context: &mut Context<'_>,
    ) -> Advanced {
        match attributes.map(|attributes| attributes.kind) {
            None | Some(FileKind::Directory) => {}
            Some(FileKind::SymbolicLink) => return Err(Cause::System(Errno::LOOP)),
            Some(FileKind::File | FileKind::Other) => return Err(Cause::System(Errno::NOTDIR)),
        }
        let place = &self.places[number];
        context
            .directories
            .insert(place.location, &place.path[..place.next_end()], handle);
        Ok(Next::Call(self.first_stage(context.directories)))
    }

    /// Continues after the LOOKUP of the operation's file. `found_directory` handles directories on
    /// the path.
    #[inline]
    fn looked_up(
        &mut self,
        attributes: Option<FileAttributes>,
        context: &mut Context<'_>,
    ) -> Advanced {
        if self.kind.bytes() != engine::Bytes::None || self.kind == OperationKind::Truncate {
            match attributes.map(|attributes| attributes.kind) {
                None | Some(FileKind::File) => {}
                Some(FileKind::Directory) => return Err(Cause::System(Errno::ISDIR)),
                Some(FileKind::SymbolicLink) => return Err(Cause::System(Errno::LOOP)),
                Some(FileKind::Other) => return Err(Cause::System(Errno::INVAL)),
            }
        }
        Ok(Next::Call(match self.kind {
            OperationKind::Append | OperationKind::Stat => match attributes {
                Some(attributes) => return self.has_attributes(&attributes, context),
                None => Stage::GetAttributes,
            },
            OperationKind::Read | OperationKind::ReadRange if self.bytes == Some(0) => {
                return self.read_to_end(attributes, false, context);
            }
            OperationKind::Read | OperationKind::ReadRange => Stage::Read,
            OperationKind::Overwrite => return self.write_first(context),
            OperationKind::Link | OperationKind::InstallLink => Stage::Link,
            OperationKind::ReadLink => Stage::ReadLink,
            _ => Stage::SetAttributes,
        }))
    }

    /// Continues once the attributes of the operation's file are known; only the size is used.
    #[inline]
    fn has_attributes(
        &mut self,
        attributes: &FileAttributes,
        context: &mut Context<'_>,
    ) -> Advanced {
        if self.kind.is_on_tree() {
            return self.tree_entry(attributes);
        }
        let found = attributes.size_bytes;
        if self.kind == OperationKind::Append {
            self.offset = found;
            return self.write_first(context);
        }
        match self.bytes {
            Some(expected) if expected != found => Err(Cause::WrongSize { found, expected }),
            _ => Ok(Next::Done),
        }
    }

    #[inline]
    fn has_read(&mut self, reader: Reader<'_>, context: &mut Context<'_>) -> Advanced {
        let asked = self.read_bytes(context.sizes) as usize;
        let result = results::read(reader, asked).map_err(garbled)?;
        context.counters.read_bytes.add(result.data.len() as u64);
        let copies = self.kind == OperationKind::CopyTree;
        match copies {
            true => self.content.extend_from_slice(result.data),
            false => self.keep(result.data, context.keep_bytes),
        }
        self.done += result.data.len() as u64;
        let expected = self.bytes_to_read();
        if self.done == expected {
            if copies {
                return Ok(Next::Call(Stage::Create));
            }
            return self.read_to_end(result.attributes, result.is_end, context);
        }
        if result.is_end {
            return Err(Cause::EndedEarly {
                read: self.done,
                expected,
            });
        }
        match result.data.is_empty() {
            true => Err(Cause::Garbled),
            false => Ok(Next::Call(Stage::Read)),
        }
    }

    /// Completes a read after all requested bytes arrived. If contents are verified and the whole
    /// file was read, also checks that the file is not longer.
    #[inline]
    fn read_to_end(
        &mut self,
        attributes: Option<FileAttributes>,
        is_end: bool,
        context: &mut Context<'_>,
    ) -> Advanced {
        if self.kind == OperationKind::ReadRange || context.keep_bytes == 0 {
            return Ok(Next::Done);
        }
        match attributes {
            Some(attributes) => self.has_attributes(&attributes, context),
            None if is_end => Ok(Next::Done),
            None => Ok(Next::Call(Stage::GetAttributes)),
        }
    }

    /// Keeps the data for verification. When `keep_bytes` are stored, the buffer is emptied and
    /// filled from its start.
    #[inline]
    fn keep(&mut self, mut data: &[u8], keep_bytes: usize) {
        while keep_bytes > 0 && !data.is_empty() {
            if self.kept.len() == keep_bytes {
                self.kept.clear();
            }
            let (now, later) = data.split_at(data.len().min(keep_bytes - self.kept.len()));
            self.kept.extend_from_slice(now);
            data = later;
        }
    }
}
