//! Determines from an answer how an operation continues: the next request, or its end.

use engine::{Cause, Errno, OperationKind, Stopping};
use s3_client::xml::{Listed, Page};
use s3_client::{CallError, Counters, Garbled, Head, Reason, check, xml};

use super::flight::{Flight, Stage};
use crate::s3::shared::{Exclusive, Target};
use crate::system::entries::is_counted;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    Request(Stage),
    /// The operation failed; the request of this stage aborts its upload.
    Undo(Stage),
    Done,
    Failed(Cause),
}

/// What an operation uses besides its flight.
pub(super) struct Context<'a> {
    pub(super) target: &'a Target,
    pub(super) counters: &'a Counters,
    pub(super) stopping: &'a Stopping,
}

/// Maximum memory for the names of a listing when all names are kept. The listing fails beyond this
/// limit.
pub(super) const NAMES_BYTES_MAX: usize = 512 << 20;
/// The memory that a kept name uses in addition to its length.
const NAME_KEPT_BYTES: usize = size_of::<Vec<u8>>() + 16;

/// Calls `each` for the entries of a page, with the part of each key behind the directory's prefix:
/// empty for the object that marks the directory itself. Fails if a key has another prefix.
pub(super) fn each_entry(
    prefix: &[u8],
    body: &[u8],
    each: &mut dyn FnMut(&[u8], &Listed<'_>),
) -> Result<Page, Garbled> {
    let mut is_foreign = false;
    let page = xml::list(body, &mut |listed| match listed.key.strip_prefix(prefix) {
        Some(name) => each(name, listed),
        None => is_foreign = true,
    })?;
    match is_foreign {
        true => Err(Garbled),
        false => Ok(page),
    }
}

impl Flight {
    /// Processes the complete answer to the flight's request.
    #[inline]
    pub(super) fn advance(&mut self, context: &Context<'_>) -> Next {
        let Some(head) = self.answer.head else {
            return Next::Failed(Cause::Garbled);
        };
        if self.answer.is_object() {
            return self.has_read();
        }
        match check(&head, &self.answer.body) {
            Ok(()) => self.done(&head, context),
            Err(error) => {
                let is_slow = error.is(Reason::SlowDown);
                context.counters.slow_downs.add(u64::from(is_slow));
                self.failed(&error, context)
            }
        }
    }

    fn has_read(&mut self) -> Next {
        let (read, expected) = (self.answer.read_bytes, self.answer.expected_bytes);
        if self.kind == OperationKind::OpenMissing {
            return Next::Failed(Cause::System(Errno::EXIST));
        }
        match read == expected {
            true => Next::Done,
            false => Next::Failed(Cause::EndedEarly { read, expected }),
        }
    }

    fn failed(&mut self, error: &CallError, context: &Context<'_>) -> Next {
        let is_missing = error.is(Reason::Missing);
        match (self.stage, self.kind) {
            (Stage::Check, OperationKind::MakeDirectoryExisting) => {}
            (Stage::Check, _) if is_missing => return Next::Request(self.write_stage()),
            (Stage::CheckNew, _) if is_missing => return Next::Request(Stage::Copy),
            (Stage::Head, OperationKind::StatMissing)
            | (Stage::Get, OperationKind::OpenMissing)
                if is_missing =>
            {
                return Next::Done;
            }
            (_, OperationKind::MakeDirectoryExisting) if error.is(Reason::Exists) => {
                return Next::Done;
            }
            (Stage::Get, _) if error.is(Reason::Range) => {
                let expected = self.answer.expected_bytes;
                return Next::Failed(Cause::EndedEarly { read: 0, expected });
            }
            (Stage::Put, _) if self.parameters.is_exclusive && error.is(Reason::NotImplemented) => {
                // The server does not support `If-None-Match: *`, and has not performed the
                // request.
                context.target.set_exclusive(Exclusive::Missing);
                context.counters.unconditional_creations.add(1);
                return Next::Request(Stage::Check);
            }
            (Stage::AbortUpload, _) => return self.undone_cause(),
            _ => {}
        }
        let cause = Cause::System(error.errno());
        match self.undo(cause) {
            Some(stage) => Next::Undo(stage),
            None => Next::Failed(cause),
        }
    }

    fn undone_cause(&self) -> Next {
        Next::Failed(self.undone.map_or(Cause::Garbled, |(_, cause)| cause))
    }

    fn done(&mut self, head: &Head, context: &Context<'_>) -> Next {
        match self.stage {
            Stage::Put | Stage::CompleteUpload => match self.kind {
                OperationKind::MakeDirectoryExisting => Next::Failed(Cause::System(Errno::NOENT)),
                OperationKind::CopyTree => self.tree_made(),
                _ => Next::Done,
            },
            Stage::Check | Stage::CheckNew => match self.kind {
                OperationKind::MakeDirectoryExisting => Next::Done,
                _ => Next::Failed(Cause::System(Errno::EXIST)),
            },
            Stage::Head => self.has_head(head),
            Stage::Delete if self.kind == OperationKind::RemoveTree => self.tree_removed(context),
            Stage::Delete | Stage::DeleteOld => Next::Done,
            Stage::PutMark => self.tree_copied(context),
            Stage::Copy if self.kind == OperationKind::CopyTree => self.tree_copied(context),
            Stage::Copy => Next::Request(Stage::DeleteOld),
            Stage::List => match self.listed() {
                Ok(next) => next,
                Err(Garbled) => Next::Failed(Cause::Garbled),
            },
            Stage::CreateUpload => {
                match xml::upload_id(&self.answer.body, &mut self.parameters.upload) {
                    Ok(()) => Next::Request(Stage::UploadPart),
                    Err(Garbled) => Next::Failed(Cause::Garbled),
                }
            }
            Stage::UploadPart => self.uploaded(head),
            Stage::AbortUpload => self.undone_cause(),
            // Not reachable: `advance` processes successful answers to GET, and `check` rejects all
            // others.
            Stage::Get => Next::Failed(Cause::Garbled),
        }
    }

    fn has_head(&mut self, head: &Head) -> Next {
        match (self.kind, self.bytes, head.length) {
            (OperationKind::StatMissing, ..) => Next::Failed(Cause::System(Errno::EXIST)),
            (OperationKind::Stat, Some(_), None) => Next::Failed(Cause::Garbled),
            (OperationKind::Stat, Some(expected), Some(found)) if found != expected => {
                Next::Failed(Cause::WrongSize { found, expected })
            }
            _ => Next::Done,
        }
    }

    fn uploaded(&mut self, head: &Head) -> Next {
        let Some(tag) = head.tag else {
            return match self.undo(Cause::Garbled) {
                Some(stage) => Next::Undo(stage),
                None => Next::Failed(Cause::Garbled),
            };
        };
        let of = &mut self.parameters;
        of.uploaded_bytes += of.part().len();
        of.tags.push(tag);
        Next::Request(match of.uploaded_bytes < of.content.len() {
            true => Stage::UploadPart,
            false => Stage::CompleteUpload,
        })
    }

    /// Processes a page of a listing. The operation lists the directory, or removes the directory
    /// if it contains no entries.
    fn listed(&mut self) -> Result<Next, Garbled> {
        if self.kind.is_on_tree() {
            return self.tree_listed();
        }
        let (listing, names) = (&mut self.listing, &mut self.names);
        let (mut others, mut names_bytes) = (0_u64, self.names_bytes);
        let mut is_marked = false;
        let page = each_entry(&self.parameters.key, &self.answer.body, &mut |name, _| {
            let name = name.strip_suffix(b"/").unwrap_or(name);
            // Skips the object that marks the directory itself.
            if name.is_empty() {
                is_marked = true;
                return;
            }
            others += 1;
            if let Some(names) = names {
                names_bytes += name.len() + NAME_KEPT_BYTES;
                if names_bytes <= NAMES_BYTES_MAX {
                    names.push(name.to_owned());
                }
            }
            if is_counted(name) {
                listing.add(name);
            }
        })?;
        self.names_bytes = names_bytes;
        if names_bytes > NAMES_BYTES_MAX {
            return Err(Garbled);
        }
        if self.kind == OperationKind::RemoveDirectory {
            return Ok(match others {
                0 if !is_marked => Next::Failed(Cause::System(Errno::NOENT)),
                0 => Next::Request(Stage::Delete),
                _ => Next::Failed(Cause::System(Errno::NOTEMPTY)),
            });
        }
        Ok(match self.has_next_page(page)? {
            true => Next::Request(Stage::List),
            false => Next::Done,
        })
    }

    /// Whether another page of the listing follows, which the next request then asks for.
    pub(super) fn has_next_page(&mut self, page: Page) -> Result<bool, Garbled> {
        match page.next {
            None => Ok(false),
            // A server that repeats a token would make the listing endless.
            Some(next) if next == self.parameters.token => Err(Garbled),
            Some(next) => {
                self.parameters.token = next;
                Ok(true)
            }
        }
    }
}
