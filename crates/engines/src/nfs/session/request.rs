//! The requests of an operation: the procedure of each call and its arguments.

use engine::OperationKind;
use engine::namespace::DIRECTORY_MODE;
use nfs_client::arguments::{self, Creation, NewAttributes, Times};
use nfs_client::{Handle, Procedure, Stable, TransferSizes};

use super::flight::{NfsFlight, Stage};
use super::tree_state::Part;

/// The permissions of new files; a server does not apply the process's umask.
pub(crate) const FILE_MODE: u32 = 0o644;
/// A WRITE with at least this number of data bytes uses a vectored send, which then is cheaper than
/// copying the data to the buffer of requests.
const LONG_PART_BYTES: usize = 8 << 10;

impl NfsFlight {
    #[inline]
    pub(super) fn procedure(&self) -> Procedure {
        match self.stage {
            Stage::Directory(_)
            | Stage::LookupNew
            | Stage::Lookup
            | Stage::LookupMade
            | Stage::LookupEntry => Procedure::Lookup,
            Stage::GetAttributes => Procedure::GetAttributes,
            Stage::SetNew | Stage::SetAttributes => Procedure::SetAttributes,
            Stage::Create => Procedure::Create,
            Stage::Write => Procedure::Write,
            Stage::Commit => Procedure::Commit,
            Stage::Read => Procedure::Read,
            Stage::ReadLink => Procedure::ReadLink,
            Stage::Remove => Procedure::Remove,
            Stage::MakeDirectory => Procedure::MakeDirectory,
            Stage::RemoveDirectory => Procedure::RemoveDirectory,
            Stage::SymbolicLink => Procedure::SymbolicLink,
            Stage::Link => Procedure::Link,
            Stage::Rename => Procedure::Rename,
            Stage::List if self.kind == OperationKind::ListWithStat => Procedure::ReadDirectoryPlus,
            Stage::List => Procedure::ReadDirectory,
        }
    }

    /// Returns the number of bytes that the current READ requests.
    #[inline]
    pub(super) fn read_bytes(&self, sizes: &TransferSizes) -> u32 {
        let left = self.bytes_to_read().saturating_sub(self.done);
        left.min(sizes.read.into()) as u32
    }

    /// Returns the number of bytes to read from the current file.
    #[inline]
    pub(super) fn bytes_to_read(&self) -> u64 {
        match self.kind {
            OperationKind::CopyTree => self.copied_bytes(),
            _ => self.bytes.unwrap_or(0),
        }
    }

    /// Returns the part of the content that the current WRITE sends.
    #[inline]
    pub(super) fn write_part(&self, sizes: &TransferSizes) -> &[u8] {
        let left = &self.content[self.done as usize..];
        &left[..left.len().min(sizes.write as usize)]
    }

    /// Returns the part of the content that the current WRITE sends without a copy in the buffer of
    /// requests. `None` for a short part, and for calls other than WRITE.
    #[inline]
    pub(super) fn long_part(&self, sizes: &TransferSizes) -> Option<&[u8]> {
        if self.stage != Stage::Write {
            return None;
        }
        Some(self.write_part(sizes)).filter(|part| part.len() >= LONG_PART_BYTES)
    }

    /// Returns the name of the listed entry that is looked up.
    pub(super) fn entry(&self) -> &[u8] {
        let at = self.entries_at;
        let length = self.entries.get(at..at + 2).map_or(0, |bytes| {
            usize::from(bytes[0]) << 8 | usize::from(bytes[1])
        });
        self.entries
            .get(at + 2..at + 2 + length)
            .unwrap_or_default()
    }

    /// Writes the arguments of the current call; `stable` is the stability that a WRITE requests.
    #[inline]
    pub(super) fn arguments(&self, out: &mut Vec<u8>, sizes: &TransferSizes, stable: Stable) {
        let [first, second, _] = &self.places;
        let (directory, name) = self.named();
        let at = self.offset + self.done;
        match self.stage {
            Stage::Directory(_)
            | Stage::LookupNew
            | Stage::Lookup
            | Stage::LookupMade
            | Stage::LookupEntry
            | Stage::Remove
            | Stage::RemoveDirectory => arguments::name_in(out, directory, name),
            Stage::GetAttributes | Stage::ReadLink => self.file.write(out),
            Stage::SetNew | Stage::SetAttributes => {
                arguments::set_attributes(out, &self.file, &self.new_attributes());
            }
            Stage::Create => {
                let creation = match self.call.creation_verifier {
                    None => Creation::Guarded(FILE_MODE),
                    Some(verifier) => Creation::Exclusive(verifier),
                };
                arguments::create(out, directory, name, creation);
            }
            Stage::Write => {
                arguments::write(out, &self.file, at, stable, self.write_part(sizes));
            }
            Stage::Commit => arguments::commit(out, &self.file),
            Stage::Read => arguments::read(out, &self.file, at, self.read_bytes(sizes)),
            Stage::MakeDirectory => arguments::make_directory(out, directory, name, DIRECTORY_MODE),
            Stage::SymbolicLink => arguments::symbolic_link(out, directory, name, &self.content),
            Stage::Link => {
                let (directory, name) = match self.tree.made() {
                    Some(made) => (made, self.entry()),
                    None => (&second.directory, second.name()),
                };
                arguments::link(out, &self.file, directory, name);
            }
            Stage::Rename => arguments::rename(
                out,
                (&first.directory, first.name()),
                (&second.directory, second.name()),
            ),
            Stage::List => {
                let is_plus = self.kind == OperationKind::ListWithStat;
                arguments::list(out, directory, self.listed.place(), sizes.listing, is_plus);
            }
        }
    }

    /// Returns the directory and the name that the current call uses.
    fn named(&self) -> (&Handle, &[u8]) {
        let [first, second, made] = &self.places;
        match self.stage {
            Stage::Directory(number) => {
                let place = &self.places[number];
                (&place.directory, place.next_name())
            }
            Stage::LookupNew => (&second.directory, second.name()),
            Stage::List => (self.listed_directory(), b""),
            Stage::LookupEntry => (self.listed_directory(), self.entry()),
            Stage::MakeDirectory | Stage::LookupMade | Stage::Create if self.kind.makes_tree() => {
                match self.tree.made() {
                    Some(made) => (made, self.entry()),
                    None => (&second.directory, second.name()),
                }
            }
            Stage::Remove | Stage::RemoveDirectory if self.kind == OperationKind::RemoveTree => {
                match self.tree.part {
                    Part::Own => (&second.directory, second.name()),
                    _ => (self.listed_directory(), self.entry()),
                }
            }
            Stage::MakeDirectory if self.uses[2] => (&made.directory, made.name()),
            _ => (&first.directory, first.name()),
        }
    }

    fn new_attributes(&self) -> NewAttributes {
        if self.stage == Stage::SetNew {
            return NewAttributes {
                times: Times::Server,
                ..NewAttributes::of_mode(FILE_MODE)
            };
        }
        if let (OperationKind::Truncate | OperationKind::Rewrite, Some(bytes)) =
            (self.kind, self.bytes)
        {
            return NewAttributes::of_size(bytes);
        }
        const NS: i64 = 1_000_000_000;
        let time = (
            self.times_ns.div_euclid(NS),
            self.times_ns.rem_euclid(NS) as u32,
        );
        NewAttributes {
            times: Times::These(time, time),
            ..NewAttributes::of_mode(self.mode)
        }
    }
}
