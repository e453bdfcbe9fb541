//! What a reply makes of an operation: the next call, or its end.

use engine::{Cause, Errno, OperationKind};
use nfs_client::{
    Counters, FileAttributes, FileKind, Garbled, NoEnd, Stable, Status, TransferSizes,
    WriteVerifier, results, rpc::Body, xdr::Reader,
};

use super::directories::Directories;
use super::flight::{NfsFlight, Stage};
use crate::nfs::durable::Durable;
use crate::nfs::ours;
use crate::nfs::verifiers::Verifiers;
use crate::system::entries::is_counted;

/// A server whose verifier changes more often than this while one operation writes is no server.
const REWRITES_MAX: u32 = 16;

/// Entries of a directory may go away while a page of it is read, but not for ever.
const PAGES_AGAIN_MAX: u32 = 32;

/// Names of a listing that are wanted together take no more memory.
const NAMES_BYTES_MAX: usize = 512 << 20;
/// A name that is kept takes so much besides its length.
const NAME_KEPT_BYTES: usize = size_of::<Vec<u8>>() + 16;

/// What an operation needs of its session while it goes on.
pub(super) struct Context<'a> {
    pub(super) directories: &'a mut Directories,
    pub(super) counters: &'a Counters,
    pub(super) verifiers: &'a Verifiers,
    pub(super) sizes: &'a TransferSizes,
    pub(super) durable: Durable,
    /// Bytes of contents that are kept; 0: none.
    pub(super) keep_bytes: usize,
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    Call(Stage),
    Done,
    /// The same call, later.
    Later,
}

type Advanced = Result<Next, Cause>;

fn failed(errno: i32) -> Cause {
    Cause::System(Errno(errno))
}

fn garbled(_: Garbled) -> Cause {
    Cause::Garbled
}

impl NfsFlight {
    /// Takes the body of the reply to its call.
    #[inline]
    pub(super) fn advance(&mut self, body: Body<'_>, context: &mut Context<'_>) -> Advanced {
        let mut reader = body
            .map_err(garbled)?
            .map_err(|refusal| Cause::System(ours(refusal.errno())))?;
        match Status::read(&mut reader).map_err(garbled)? {
            Status::Done => self.done(reader, context),
            Status::Later => Ok(Next::Later),
            Status::Failed(errno) => self.failed(ours(errno), context),
        }
    }

    fn failed(&mut self, errno: Errno, context: &mut Context<'_>) -> Advanced {
        match (self.stage, errno) {
            (Stage::LookupNew, Errno::NOENT) => return Ok(Next::Call(Stage::Rename)),
            // Somebody has removed it since it was listed.
            (Stage::LookupEntry, Errno::NOENT) => return Ok(self.next_entry()),
            // No directory is gone: one that is has a stale handle. A server may say so of a page
            // whose entries change.
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
                let places = if self.has_second { 2 } else { 1 };
                for place in &self.places[..places] {
                    context
                        .directories
                        .forget(place.location, &place.path[..place.directory_end]);
                }
            }
            _ => {}
        }
        Err(Cause::System(errno))
    }

    fn done(&mut self, mut reader: Reader<'_>, context: &mut Context<'_>) -> Advanced {
        match self.stage {
            Stage::Directory(number) => self.found_directory(number, reader, context),
            Stage::LookupNew => {
                results::lookup(reader).map_err(garbled)?;
                Err(failed(libc::EEXIST))
            }
            Stage::Lookup => {
                let (file, attributes) = results::lookup(reader).map_err(garbled)?;
                self.file = file;
                self.looked_up(attributes, context)
            }
            Stage::LookupMade => {
                self.file = results::lookup(reader).map_err(garbled)?.0;
                Ok(self.made(context))
            }
            Stage::LookupEntry => {
                results::lookup(reader).map_err(garbled)?;
                let mut listing = self.listing;
                listing.add(self.entry());
                self.listing = listing;
                Ok(self.next_entry())
            }
            Stage::GetAttributes => {
                let attributes = FileAttributes::read(&mut reader).map_err(garbled)?;
                self.has_attributes(&attributes, context)
            }
            Stage::Create => match results::made(reader).map_err(garbled)? {
                Some(file) => {
                    self.file = file;
                    Ok(self.made(context))
                }
                None => Ok(Next::Call(Stage::LookupMade)),
            },
            Stage::SetNew => {
                results::changed(self.procedure(), reader).map_err(garbled)?;
                Ok(self.write_first(context))
            }
            Stage::Write => self.written(reader, context),
            Stage::Commit => self.committed(reader, context),
            Stage::Read => self.has_read(reader, context),
            Stage::ReadLink => match results::read_link(reader).map_err(garbled)? == self.content {
                true => Ok(Next::Done),
                false => Err(Cause::WrongTarget),
            },
            Stage::MakeDirectory => {
                if let Some(handle) = results::made(reader).map_err(garbled)? {
                    let place = &self.places[0];
                    context
                        .directories
                        .insert(place.location, &place.path, handle);
                }
                Ok(Next::Done)
            }
            Stage::SymbolicLink => results::made(reader).map_err(garbled).map(|_| Next::Done),
            Stage::RemoveDirectory => {
                results::changed(self.procedure(), reader).map_err(garbled)?;
                context
                    .directories
                    .forget(self.places[0].location, &self.places[0].path);
                Ok(Next::Done)
            }
            Stage::SetAttributes | Stage::Remove | Stage::Link | Stage::Rename => {
                results::changed(self.procedure(), reader).map_err(garbled)?;
                Ok(Next::Done)
            }
            Stage::List => self.listed(reader),
        }
    }

    fn found_directory(
        &mut self,
        number: usize,
        reader: Reader<'_>,
        context: &mut Context<'_>,
    ) -> Advanced {
        let (handle, attributes) = results::lookup(reader).map_err(garbled)?;
        match attributes.map(|attributes| attributes.kind) {
            None | Some(FileKind::Directory) => {}
            Some(FileKind::SymbolicLink) => return Err(failed(libc::ELOOP)),
            Some(FileKind::File | FileKind::Other) => return Err(failed(libc::ENOTDIR)),
        }
        let place = &self.places[number];
        context
            .directories
            .insert(place.location, &place.path[..place.next_end()], handle);
        Ok(Next::Call(self.first_stage(context.directories)))
    }

    /// The file is found.
    #[inline]
    fn looked_up(
        &mut self,
        attributes: Option<FileAttributes>,
        context: &mut Context<'_>,
    ) -> Advanced {
        if self.kind.bytes() != engine::Bytes::None || self.kind == OperationKind::Truncate {
            match attributes.map(|attributes| attributes.kind) {
                None | Some(FileKind::File) => {}
                Some(FileKind::Directory) => return Err(failed(libc::EISDIR)),
                Some(FileKind::SymbolicLink) => return Err(failed(libc::ELOOP)),
                Some(FileKind::Other) => return Err(failed(libc::EINVAL)),
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
            OperationKind::Overwrite => return Ok(self.write_first(context)),
            OperationKind::Link => Stage::Link,
            OperationKind::ReadLink => Stage::ReadLink,
            _ => Stage::SetAttributes,
        }))
    }

    /// The attributes are there that an operation wanted to know.
    #[inline]
    fn has_attributes(
        &mut self,
        attributes: &FileAttributes,
        context: &mut Context<'_>,
    ) -> Advanced {
        let found = attributes.size_bytes;
        if self.kind == OperationKind::Append {
            self.offset = found;
            return Ok(self.write_first(context));
        }
        match self.bytes {
            Some(expected) if expected != found => Err(Cause::WrongSize { found, expected }),
            _ => Ok(Next::Done),
        }
    }

    /// A new file is there.
    #[inline]
    fn made(&mut self, context: &Context<'_>) -> Next {
        match self.call.creation_verifier {
            // The server has put the verifier where times and other attributes are.
            Some(_) => Next::Call(Stage::SetNew),
            None => self.write_first(context),
        }
    }

    #[inline]
    fn write_first(&mut self, context: &Context<'_>) -> Next {
        self.done = 0;
        (self.verifier, self.least) = (None, Stable::File);
        if self.content.is_empty() {
            return self.all_written(context);
        }
        Next::Call(Stage::Write)
    }

    #[inline]
    fn written(&mut self, reader: Reader<'_>, context: &mut Context<'_>) -> Advanced {
        let asked = self.write_part(context.sizes).len();
        let result = results::write(reader, asked).map_err(garbled)?;
        if result.count == 0 {
            return Err(Cause::NothingWritten);
        }
        if result.stable < context.durable.stable {
            // What was asked for was not done, and nothing else takes its place.
            return Err(Cause::System(Errno::IO));
        }
        context.counters.written_bytes.add(result.count as u64);
        context
            .counters
            .stronger_answers
            .add(u64::from(result.stable > context.durable.stable));
        context.verifiers.saw(&result.verifier, context.counters);
        self.done += result.count as u64;
        self.least = self.least.min(result.stable);
        let commits = context.durable.commits_below.is_some();
        if commits
            && self
                .verifier
                .is_some_and(|before| before != result.verifier)
        {
            return self.write_again(context);
        }
        self.verifier = Some(result.verifier);
        if self.done < self.content.len() as u64 {
            return Ok(Next::Call(Stage::Write));
        }
        Ok(self.all_written(context))
    }

    /// The server has restarted since it took a part, and may have lost that.
    fn write_again(&mut self, context: &mut Context<'_>) -> Advanced {
        self.rewrites += 1;
        if self.rewrites > REWRITES_MAX {
            return Err(Cause::System(Errno::IO));
        }
        context.counters.rewritten_bytes.add(self.done);
        Ok(self.write_first(context))
    }

    #[inline]
    fn all_written(&mut self, context: &Context<'_>) -> Next {
        match context.durable.commits_below {
            Some(enough) if self.least < enough => Next::Call(Stage::Commit),
            _ => self.all_durable(),
        }
    }

    #[inline]
    fn committed(&mut self, reader: Reader<'_>, context: &mut Context<'_>) -> Advanced {
        let verifier: WriteVerifier = results::commit(reader).map_err(garbled)?;
        context.verifiers.saw(&verifier, context.counters);
        if self.verifier != Some(verifier) {
            return self.write_again(context);
        }
        Ok(self.all_durable())
    }

    #[inline]
    fn all_durable(&self) -> Next {
        match self.kind {
            OperationKind::Replace => Next::Call(Stage::Rename),
            OperationKind::Deliver => Next::Call(Stage::LookupNew),
            _ => Next::Done,
        }
    }

    #[inline]
    fn has_read(&mut self, reader: Reader<'_>, context: &mut Context<'_>) -> Advanced {
        let asked = self.read_bytes(context.sizes) as usize;
        let result = results::read(reader, asked).map_err(garbled)?;
        context.counters.read_bytes.add(result.data.len() as u64);
        self.keep(result.data, context.keep_bytes);
        self.done += result.data.len() as u64;
        let expected = self.bytes.unwrap_or(0);
        if self.done == expected {
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

    /// All was read that was wanted. Of a file that is verified there must not be more.
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

    /// Keeps what was read: what is longer than the room begins at its beginning again.
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

    fn listed(&mut self, reader: Reader<'_>) -> Advanced {
        let is_plus = self.kind == OperationKind::ListWithStat;
        let mut page = results::Page::read(reader, is_plus).map_err(garbled)?;
        let (mut last, mut entries) = (0, 0);
        self.entries.clear();
        self.entries_at = 0;
        while let Some(entry) = page.next_entry().map_err(garbled)? {
            (last, entries) = (entry.cookie, entries + 1);
            if let (Some(names), false) = (&mut self.names, matches!(entry.name, b"." | b"..")) {
                names.push(entry.name.to_owned());
                self.names_bytes += entry.name.len() + NAME_KEPT_BYTES;
            }
            if !is_counted(entry.name) {
                continue;
            }
            if is_plus && entry.attributes.is_none() {
                self.entries
                    .extend_from_slice(&(entry.name.len() as u16).to_be_bytes());
                self.entries.extend_from_slice(entry.name);
            } else {
                self.listing.add(entry.name);
            }
        }
        self.is_listed = page.is_end().map_err(garbled)?;
        if self.names_bytes > NAMES_BYTES_MAX {
            return Err(Cause::System(ours(NoEnd::TOO_LONG)));
        }
        if !self.is_listed {
            let goes_on = self.listed.go_on(entries, last, page.verifier);
            goes_on.map_err(|no_end| match no_end {
                NoEnd::Circle => Cause::Garbled,
                NoEnd::TooLong => Cause::System(ours(NoEnd::TOO_LONG)),
            })?;
        }
        Ok(self.look_at_entries())
    }

    /// One entry was looked up, or is there no more.
    fn next_entry(&mut self) -> Next {
        self.entries_at += 2 + self.entry().len();
        self.look_at_entries()
    }

    fn look_at_entries(&self) -> Next {
        if self.entries_at < self.entries.len() {
            return Next::Call(Stage::LookupEntry);
        }
        match self.is_listed {
            true => Next::Done,
            false => Next::Call(Stage::List),
        }
    }
}
