//! One operation in flight: its parameters, and the request that it waits for. Answers are
//! processed in [`advance`](super::advance).

use engine::{
    Cause, Listing, Name, NameKind, Operation, OperationKind, OperationOutcome, Step, Ticket,
};
use s3_client::{Condition, Connection, Counters, Kind, Request, Tag, xml};

use super::answer::Answer;
use super::tree_files::Tree;
use crate::s3::shared::Exclusive;

/// The request that an operation waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// HEAD of an object that must not exist, if the server does not support `If-None-Match: *`.
    Check,
    Put,
    /// PUT of the mark of a copied directory.
    PutMark,
    Get,
    Head,
    Delete,
    /// HEAD of the new name of a rename, which must not exist.
    CheckNew,
    Copy,
    /// Removes the old name of a rename.
    DeleteOld,
    List,
    CreateUpload,
    UploadPart,
    CompleteUpload,
    /// Aborts an incomplete upload after a failure.
    AbortUpload,
}

impl Stage {
    /// The name of the `Step` that ends when the head of an answer with an object has arrived.
    pub(super) const FIRST_BYTE: &str = "GetObject first byte";
    const BODY: &str = "GetObject body";

    pub(super) fn kind(self) -> Kind {
        match self {
            Self::Check | Self::CheckNew | Self::Head => Kind::Head,
            Self::Put | Self::PutMark => Kind::Put,
            Self::Get => Kind::Get,
            Self::Delete | Self::DeleteOld => Kind::Delete,
            Self::Copy => Kind::Copy,
            Self::List => Kind::List,
            Self::CreateUpload => Kind::CreateUpload,
            Self::UploadPart => Kind::UploadPart,
            Self::CompleteUpload => Kind::CompleteUpload,
            Self::AbortUpload => Kind::AbortUpload,
        }
    }

    /// Whether the request creates, replaces or removes an object. If its answer is lost, the
    /// outcome is not known.
    pub(super) fn is_final_change(self) -> bool {
        matches!(
            self,
            Self::Put
                | Self::PutMark
                | Self::Delete
                | Self::Copy
                | Self::DeleteOld
                | Self::CompleteUpload
        )
    }
}

/// The parameters of an operation's requests.
#[derive(Debug, Default)]
pub(super) struct Parameters {
    /// The key of the operation's object, or the prefix of a directory.
    pub(super) key: Vec<u8>,
    /// The key of the new name of a rename or a copy.
    pub(super) to: Vec<u8>,
    /// The contents to be written to the object.
    pub(super) content: Vec<u8>,
    /// Whether the request must fail if the object exists.
    pub(super) is_exclusive: bool,
    /// The offset of the first byte and the number of bytes of a range; `None` reads the whole
    /// object.
    pub(super) range: Option<(u64, u64)>,
    pub(super) entries_max: &'static [u8],
    /// Whether a listing contains all keys below the prefix, instead of the directory's entries.
    pub(super) lists_below: bool,
    /// The token of the next page of a listing; empty for the first page.
    pub(super) token: Vec<u8>,
    pub(super) upload: Vec<u8>,
    pub(super) part_bytes: usize,
    /// Number of bytes in the parts that the server has acknowledged.
    pub(super) uploaded_bytes: usize,
    pub(super) tags: Vec<Tag>,
    part_number: String,
    /// The body of the request that completes an upload.
    complete: Vec<u8>,
}

impl Parameters {
    /// Returns the part of the content that is uploaded next.
    pub(super) fn part(&self) -> &[u8] {
        let left = &self.content[self.uploaded_bytes..];
        &left[..left.len().min(self.part_bytes)]
    }

    /// Calls `perform` with the request of a stage.
    pub(super) fn with(&self, stage: Stage, perform: impl FnOnce(&Request<'_>)) {
        let condition = match self.is_exclusive {
            true => Condition::Missing,
            false => Condition::None,
        };
        let upload_id: [(&str, &[u8]); 1] = [("uploadId", &self.upload)];
        let part: [(&str, &[u8]); 2] = [("partNumber", self.part_number.as_bytes()), upload_id[0]];
        let first = usize::from(self.token.is_empty());
        let list: [(&str, &[u8]); 5] = [
            ("continuation-token", &self.token),
            ("delimiter", b"/"),
            ("list-type", b"2"),
            ("max-keys", self.entries_max),
            ("prefix", &self.key),
        ];
        let list_below = [list[0], list[2], list[3], list[4]];
        let of_key = Request::new(stage.kind(), &self.key);
        perform(&match stage {
            Stage::Check | Stage::Head | Stage::Delete | Stage::DeleteOld => of_key,
            Stage::CheckNew => Request::new(Kind::Head, &self.to),
            Stage::Put => Request {
                condition,
                body: &self.content,
                ..of_key
            },
            Stage::PutMark => Request::new(Kind::Put, &self.to),
            Stage::Get => Request {
                range: self.range,
                ..of_key
            },
            Stage::Copy => Request {
                copy_of: Some(&self.key),
                ..Request::new(Kind::Copy, &self.to)
            },
            Stage::List => Request {
                query: match self.lists_below {
                    true => &list_below[first..],
                    false => &list[first..],
                },
                ..Request::new(Kind::List, b"")
            },
            Stage::CreateUpload => Request {
                query: &[("uploads", b"")],
                ..of_key
            },
            Stage::UploadPart => Request {
                query: &part,
                body: self.part(),
                ..of_key
            },
            Stage::CompleteUpload => Request {
                query: &upload_id,
                condition,
                body: &self.complete,
                ..of_key
            },
            Stage::AbortUpload => Request {
                query: &upload_id,
                ..of_key
            },
        });
    }
}

/// An operation in flight, or an ended operation whose outcome the worker has not yet received.
#[derive(Debug)]
pub(super) struct Flight {
    pub(super) ticket: Ticket,
    pub(super) kind: OperationKind,
    pub(super) stage: Stage,
    pub(super) parameters: Parameters,
    pub(super) answer: Answer,
    /// Number of bytes to read, or the object's expected size.
    pub(super) bytes: Option<u64>,
    pub(super) listing: Listing,
    pub(super) tree: Tree,
    /// Collects all names of a listing, if they are requested.
    pub(super) names: Option<Vec<Vec<u8>>>,
    pub(super) names_bytes: usize,
    /// The failure of the operation, whose upload is aborted before the failure is reported.
    pub(super) undone: Option<(Step, Cause)>,
    pub(super) is_pending: bool,
    pub(super) outcome: OperationOutcome,
    /// The index of the operation's server in `S3Session::servers`.
    pub(super) server: usize,
    /// The slot's connection to each server; `None` before connecting and after a loss.
    pub(super) connections: Vec<Option<Connection>>,
    /// Whether the slot's last connection was lost, so that the next connection counts as a
    /// reconnection.
    pub(super) was_lost: bool,
}

impl Flight {
    pub(super) fn new(servers: usize) -> Self {
        Self {
            ticket: Ticket(0),
            kind: OperationKind::Stat,
            stage: Stage::Head,
            parameters: Parameters::default(),
            answer: Answer::default(),
            bytes: None,
            listing: Listing::default(),
            tree: Tree::default(),
            names: None,
            names_bytes: 0,
            undone: None,
            is_pending: false,
            outcome: Ok(()),
            server: 0,
            connections: (0..servers).map(|_| None).collect(),
            was_lost: false,
        }
    }

    /// Copies the parameters of an operation. `write_key` writes the key of a name.
    pub(super) fn begin(
        &mut self,
        ticket: Ticket,
        operation: &Operation<'_>,
        write_key: impl Fn(Name<'_>, &mut Vec<u8>),
    ) {
        (self.ticket, self.kind) = (ticket, operation.kind());
        (self.bytes, self.undone) = (None, None);
        (self.listing, self.names_bytes) = (Listing::default(), 0);
        self.tree.reset();
        self.answer.clear();
        self.answer.kept.clear();
        self.answer.read_bytes = 0;
        let of = &mut self.parameters;
        write_key(operation.name(), &mut of.key);
        for buffer in [&mut of.to, &mut of.content, &mut of.token, &mut of.upload] {
            buffer.clear();
        }
        of.tags.clear();
        (of.is_exclusive, of.range, of.uploaded_bytes) = (false, None, 0);
        (of.entries_max, of.lists_below) = (b"1000", false);
        match *operation {
            Operation::Create { content, .. } | Operation::Deliver { content, .. } => {
                of.content.extend_from_slice(content);
                of.is_exclusive = true;
            }
            Operation::Overwrite { content, .. } | Operation::Replace { content, .. } => {
                of.content.extend_from_slice(content);
            }
            Operation::Read { bytes, .. } => self.bytes = Some(bytes),
            Operation::ReadRange { offset, bytes, .. } => {
                self.bytes = Some(bytes);
                of.range = Some((offset, bytes));
            }
            Operation::Stat { name, bytes } => {
                self.bytes = bytes;
                add_slash(name, &mut of.key);
            }
            Operation::StatMissing { name } => add_slash(name, &mut of.key),
            Operation::MakeDirectory { .. } | Operation::MakeDirectoryExisting { .. } => {
                of.key.push(b'/');
                of.is_exclusive = true;
            }
            Operation::RemoveDirectory { .. } => {
                of.key.push(b'/');
                of.entries_max = b"2";
            }
            Operation::List { name } | Operation::ListWithStat { name } => {
                if !name.relative.is_empty() {
                    of.key.push(b'/');
                }
            }
            Operation::Rename { to, .. } => write_key(to, &mut of.to),
            Operation::CopyTree { from, .. } => {
                of.is_exclusive = true;
                write_key(from, &mut of.to);
                self.begin_tree(operation);
            }
            Operation::RemoveTree { .. } => self.begin_tree(operation),
            Operation::Delete { .. } | Operation::OpenMissing { .. } => {}
            _ => panic!(
                "{} has no request in S3: the engine does not support it",
                self.kind
            ),
        }
    }

    /// Returns the stage that writes the content.
    pub(super) fn write_stage(&self) -> Stage {
        match self.parameters.content.len() > self.parameters.part_bytes {
            true => Stage::CreateUpload,
            false => Stage::Put,
        }
    }

    pub(super) fn first_stage(&self, exclusive: Exclusive) -> Stage {
        match self.kind {
            OperationKind::Read | OperationKind::OpenMissing => Stage::Get,
            // HTTP has no range of 0 bytes, so a HEAD request only checks that the object exists.
            OperationKind::ReadRange if self.bytes == Some(0) => Stage::Head,
            OperationKind::ReadRange => Stage::Get,
            OperationKind::Stat | OperationKind::StatMissing => Stage::Head,
            OperationKind::Delete => Stage::Delete,
            OperationKind::Rename => Stage::CheckNew,
            OperationKind::RemoveDirectory
            | OperationKind::RemoveTree
            | OperationKind::List
            | OperationKind::ListWithStat => Stage::List,
            _ if self.parameters.is_exclusive && exclusive == Exclusive::Missing => Stage::Check,
            _ => self.write_stage(),
        }
    }

    /// Prepares the request of the current stage, and the checks of its answer.
    pub(super) fn prepare(&mut self, exclusive: Exclusive) {
        self.answer.clear();
        match self.stage {
            Stage::Get => {
                self.answer.wants_object = true;
                self.answer.wants_range = self.parameters.range.is_some();
                self.answer.expected_bytes = self.bytes.unwrap_or(0);
            }
            Stage::List => self.answer.is_listing = true,
            Stage::Put => {
                self.parameters.is_exclusive &= exclusive != Exclusive::Missing;
            }
            Stage::UploadPart => {
                use std::fmt::Write as _;
                self.parameters.part_number.clear();
                let number = self.parameters.tags.len() + 1;
                // Writing to a string cannot fail.
                let _ = write!(self.parameters.part_number, "{number}");
            }
            Stage::CompleteUpload => {
                self.parameters.is_exclusive &= exclusive != Exclusive::Missing;
                self.parameters.complete.clear();
                xml::complete(&self.parameters.tags, &mut self.parameters.complete);
            }
            _ => {}
        }
    }

    /// Returns the stage that aborts the operation's upload after a failure. `None` if there is no
    /// upload, its abortion failed, or it may have been completed.
    pub(super) fn undo(&mut self, cause: Cause) -> Option<Stage> {
        if self.parameters.upload.is_empty() || self.undone.is_some() {
            return None;
        }
        // The upload may have been completed, so it must not be aborted.
        if cause == Cause::NotKnown {
            return None;
        }
        self.undone = Some((self.step(), cause));
        Some(Stage::AbortUpload)
    }

    pub(super) fn step(&self) -> Step {
        Step::Call(match self.answer.is_object() {
            true => Stage::BODY,
            false => self.stage.kind().name(),
        })
    }

    /// Number of bytes of contents that the operation has moved.
    pub(super) fn moved_bytes(&self) -> u64 {
        match self.kind.bytes() {
            engine::Bytes::Read => self.answer.read_bytes,
            engine::Bytes::Written => self.parameters.uploaded_bytes as u64,
            engine::Bytes::None => self.tree.moved_bytes,
        }
    }

    pub(super) fn count_bytes(&self, counters: &Counters) {
        match self.kind.bytes() {
            engine::Bytes::Read => counters.read_bytes.add(self.answer.read_bytes),
            engine::Bytes::Written => {
                counters
                    .written_bytes
                    .add(self.parameters.content.len() as u64);
            }
            engine::Bytes::None => {}
        }
    }
}

/// Makes the key of a directory's name that of the object that marks the directory.
fn add_slash(name: Name<'_>, key: &mut Vec<u8>) {
    if NameKind::of_name(name.relative.to_bytes()).is_directory() {
        key.push(b'/');
    }
}
