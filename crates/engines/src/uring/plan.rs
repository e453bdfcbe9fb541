//! Translates an operation to the stages of a flight, as its durability policy requires.

use engine::{DIRECT_ALIGNMENT, Errno, Name, Operation};

use super::flight::{Context, Flight, set_text};
use super::stage::Stage;
use crate::calls::{ContentsOnly, Style, Syncs, have_one_directory};
use crate::posix::PosixStyle;

/// The flags of `posix` without `O_CLOEXEC`, which files in the ring's own table cannot have.
const fn flags(of: std::ffi::c_int) -> std::ffi::c_int {
    of & !libc::O_CLOEXEC
}

const CREATE: i32 = flags(PosixStyle::CREATE);
const APPEND: i32 = flags(PosixStyle::APPEND);
const READ: i32 = flags(PosixStyle::READ);
const OVERWRITE: i32 = flags(PosixStyle::OVERWRITE);

impl Flight {
    /// Copies the parameters of an operation, and lists its stages.
    ///
    /// # Errors
    /// Returns an error if there is no memory for a copy of the contents.
    pub(super) fn plan(
        &mut self,
        operation: &Operation<'_>,
        context: &Context,
    ) -> Result<(), Errno> {
        let syncs = context.syncs[operation.kind() as usize];
        match *operation {
            Operation::Create { name, content } => {
                self.write(name, CREATE, content, syncs, context)?;
                self.sync_directory_of(0, syncs);
            }
            Operation::Append { name, content } => {
                self.write(name, APPEND, content, syncs, context)?;
            }
            Operation::Overwrite { name, content } => {
                self.write(name, OVERWRITE, content, syncs, context)?;
            }
            Operation::Replace {
                name,
                temporary,
                content,
            } => self.write_elsewhere([temporary, name], true, content, context)?,
            Operation::Deliver {
                temporary,
                name,
                content,
            } => self.write_elsewhere([temporary, name], false, content, context)?,
            Operation::Read { name, bytes } => self.read(name, None, bytes, context),
            Operation::ReadRange {
                name,
                offset,
                bytes,
            } => self.read(name, Some(offset), bytes, context),
            _ => self.plan_without_contents(operation, syncs),
        }
        Ok(())
    }

    fn plan_without_contents(&mut self, operation: &Operation<'_>, syncs: Syncs) {
        self.names[0].set(operation.name());
        match *operation {
            Operation::Truncate { bytes, .. } => {
                self.bytes = Some(bytes);
                let flags = OVERWRITE | syncs.write_flags;
                self.on_file(flags, Stage::Truncate, syncs);
            }
            Operation::SetExtended { key, value, .. } => {
                set_text(&mut self.text, key);
                self.set_value(value);
                self.on_file(READ, Stage::SetExtended, syncs);
            }
            Operation::GetExtended { key, value, .. } => {
                set_text(&mut self.text, key);
                self.expect_value(value);
                self.stages
                    .extend([Stage::Open(READ), Stage::GetExtended, Stage::Close]);
            }
            Operation::Evict { .. } => {
                self.stages
                    .extend([Stage::Open(READ), Stage::Evict, Stage::Close]);
            }
            Operation::OpenClose { .. } => self.stages.extend([Stage::Open(READ), Stage::Close]),
            Operation::Stat { bytes, .. } => {
                self.bytes = bytes;
                self.stages.push(Stage::Stat);
            }
            Operation::StatMissing { .. } => self.stages.push(Stage::StatMissing),
            Operation::OpenMissing { .. } => self.stages.push(Stage::OpenMissing(READ)),
            Operation::MakeDirectoryExisting { .. } => self.stages.push(Stage::MakeExisting),
            Operation::Delete { .. } => self.on_name(Stage::Unlink, syncs),
            Operation::MakeDirectory { .. } => self.on_name(Stage::MakeDirectory, syncs),
            Operation::RemoveDirectory { .. } => self.on_name(Stage::RemoveDirectory, syncs),
            Operation::SymbolicLink { target, .. } => {
                set_text(&mut self.text, target);
                self.on_name(Stage::SymbolicLink, syncs);
            }
            Operation::Link { to, .. } => {
                self.names[1].set(to);
                self.stages.push(Stage::Link);
                self.sync_directory_of(1, syncs);
            }
            Operation::Rename { name, to } => {
                self.names[1].set(to);
                self.stages.push(Stage::Rename { replaces: false });
                self.sync_directory_of(1, syncs);
                if !have_one_directory(to, name) {
                    self.sync_directory_of(0, syncs);
                }
            }
            _ => unreachable!("{:?} is performed by system calls", operation.kind()),
        }
    }

    fn on_name(&mut self, stage: Stage, syncs: Syncs) {
        self.stages.push(stage);
        self.sync_directory_of(0, syncs);
    }

    fn on_file(&mut self, flags: i32, stage: Stage, syncs: Syncs) {
        self.stages.extend([Stage::Open(flags), stage]);
        self.sync_and_close(syncs);
    }

    #[inline]
    fn write(
        &mut self,
        name: Name<'_>,
        flags: i32,
        content: &[u8],
        syncs: Syncs,
        context: &Context,
    ) -> Result<(), Errno> {
        assert_alignment(content.len() as u64, context);
        self.names[0].set(name);
        self.set_content(content, context)?;
        let flags = flags | syncs.write_flags | context.content_flags;
        self.on_file(flags, Stage::Write, syncs);
        Ok(())
    }

    fn write_elsewhere(
        &mut self,
        [temporary, name]: [Name<'_>; 2],
        replaces: bool,
        content: &[u8],
        context: &Context,
    ) -> Result<(), Errno> {
        let syncs = context.syncs[self.kind as usize];
        self.write(temporary, CREATE, content, syncs, context)?;
        self.names[1].set(name);
        self.stages.push(Stage::Rename { replaces });
        self.sync_directory_of(1, syncs);
        Ok(())
    }

    /// Adds the stages that read `bytes` bytes from `offset`. If `offset` is `None`, they read the
    /// whole file, and check its size if contents are kept.
    #[inline]
    fn read(&mut self, name: Name<'_>, offset: Option<u64>, bytes: u64, context: &Context) {
        self.names[0].set(name);
        (self.offset, self.bytes) = (offset.unwrap_or(0), Some(bytes));
        assert_alignment(self.offset, context);
        assert_alignment(bytes, context);
        let flags = READ | context.content_flags;
        self.stages.extend([Stage::Open(flags), Stage::Read]);
        if context.keeps && offset.is_none() {
            self.stages.push(Stage::Stat);
        }
        self.stages.push(Stage::Close);
    }

    #[inline]
    fn sync_and_close(&mut self, syncs: Syncs) {
        if let Some(ContentsOnly(contents_only)) = syncs.file {
            self.stages.push(Stage::Sync { contents_only });
        }
        self.stages.push(Stage::Close);
    }

    /// Adds the stages that sync the directory of the first (0) or second (1) name, if the policy
    /// requires it.
    #[inline]
    fn sync_directory_of(&mut self, name: usize, syncs: Syncs) {
        if syncs.directories {
            self.stages.extend([
                Stage::OpenDirectory(name),
                Stage::SyncDirectory,
                Stage::CloseDirectory,
            ]);
        }
    }
}

/// Panics if direct I/O is requested with a size that is not a multiple of the alignment: the
/// caller violated the contract.
#[inline]
fn assert_alignment(bytes: u64, context: &Context) {
    assert!(
        !context.is_direct() || bytes.is_multiple_of(DIRECT_ALIGNMENT as u64),
        "{bytes} bytes are no multiple of {DIRECT_ALIGNMENT}, as direct input and output needs it"
    );
}
