//! Operations that consist of several simpler operations: installing a file, and creating and
//! removing a lock file.

use super::durability::directory_of;
use super::{Calls, Style, at};
use crate::system::{Object, System};
use engine::{Name, OperationOutcome, Step, Steps};

impl<S: System, T: Style> Calls<S, T> {
    /// Makes the first two calls of an installation. The first call requests the attributes of the
    /// new name, which must not exist. The second call tries to create its directory, which must
    /// exist.
    pub(super) fn look_for(&mut self, name: Name<'_>, steps: &mut dyn Steps) -> OperationOutcome {
        self.stat_missing(name, steps)?;
        let mut path = std::mem::take(&mut self.policy.directory);
        let made = self.make_existing(directory_of(name, &mut path), steps);
        self.policy.directory = path;
        made
    }

    pub(super) fn install(
        &mut self,
        name: Name<'_>,
        content: &[u8],
        (mode, times_ns): (u32, i64),
        steps: &mut dyn Steps,
    ) -> OperationOutcome {
        self.look_for(name, steps)?;
        let bytes = content.len() as u64;
        self.assert_alignment(bytes);
        let flags = T::CREATE | self.policy.now.write_flags | self.policy.content_flags;
        self.on_file(name, flags, bytes, steps, |calls, file, steps| {
            calls.write_blocks(file, content, false)?;
            steps.ended(Step::Write);
            calls
                .set_attributes_of(Object::File(file), mode, times_ns, steps)
                .map_err(|failure| failure.having_moved(bytes))?;
            calls.sync_file(file, bytes, steps)
        })?;
        self.sync_directory_of(name, bytes, steps)
    }

    /// Creates a lock file, writes to it and removes it. The file is opened without `O_DIRECT`,
    /// because the size of its contents is not aligned.
    pub(super) fn lock_file(
        &mut self,
        name: Name<'_>,
        content: &[u8],
        steps: &mut dyn Steps,
    ) -> OperationOutcome {
        let flags = T::CREATE | self.policy.now.write_flags;
        self.on_file(name, flags, 0, steps, |calls, file, steps| {
            calls.write_blocks(file, content, false)?;
            steps.ended(Step::Write);
            calls.sync_file(file, 0, steps)
        })?;
        self.step(Step::Unlink, steps, |system| system.unlink(at(name)))?;
        self.sync_directory_of(name, 0, steps)
    }
}
