//! Operations on open files: copies and clones, reads by mmap, and locks.

use std::ffi::c_int;

use super::{Calls, Style, in_step};
use crate::system::{Object, System};
use engine::{Cause, Failure, Name, OperationOutcome, Step, Steps};

/// The smallest page size of all architectures, in bytes. Reading one byte per `PAGE_BYTES` touches
/// every page.
const PAGE_BYTES: usize = 4096;

impl<S: System, T: Style> Calls<S, T> {
    /// Creates the file `to` with the contents of the file `name`. `step` is a copy or a clone.
    /// Sets mode and times of the new file if `set` contains them.
    pub(super) fn copy(
        &mut self,
        (name, to): (Name<'_>, Name<'_>),
        bytes: u64,
        step: Step,
        set: Option<(u32, i64)>,
        steps: &mut dyn Steps,
    ) -> OperationOutcome {
        let from = self.open(name, T::READ)?;
        let copied = self.copy_to((from, to), bytes, step, set, steps);
        self.close(from, bytes, copied, steps)?;
        self.sync_directory_of(to, bytes, steps)
    }

    fn copy_to(
        &mut self,
        (from, to): (c_int, Name<'_>),
        bytes: u64,
        step: Step,
        set: Option<(u32, i64)>,
        steps: &mut dyn Steps,
    ) -> OperationOutcome {
        let file = self.open(to, T::CREATE | self.policy.now.write_flags)?;
        steps.ended(Step::Open);
        let copied = match step {
            Step::Clone => in_step(step, || self.system.clone_blocks(from, file)),
            _ => self.copy_bytes(from, file, bytes),
        };
        let synced = copied.and_then(|()| {
            steps.ended(step);
            if let Some((mode, times_ns)) = set {
                self.set_attributes_of(Object::File(file), mode, times_ns, steps)
                    .map_err(|failure| failure.having_moved(bytes))?;
            }
            self.sync_file(file, bytes, steps)
        });
        let closed = self.system.close(file);
        synced?;
        closed.map_err(|errno| Failure::system(Step::Close, errno).having_moved(bytes))
    }

    fn copy_bytes(&mut self, from: c_int, to: c_int, bytes: u64) -> OperationOutcome {
        let mut done = 0;
        while done < bytes {
            self.go_on(Step::Copy, done)?;
            let wanted = usize::try_from(bytes - done).unwrap_or(usize::MAX);
            let copied = in_step(Step::Copy, || self.system.copy(from, to, wanted))
                .map_err(|failure| failure.having_moved(done))?;
            if copied == 0 {
                let ended = Cause::EndedEarly {
                    read: done,
                    expected: bytes,
                };
                return Err(Failure::wrong(Step::Copy, ended).having_moved(done));
            }
            done += copied as u64;
        }
        Ok(())
    }

    pub(super) fn read_mapped(
        &mut self,
        name: Name<'_>,
        bytes: u64,
        steps: &mut dyn Steps,
    ) -> OperationOutcome {
        self.reads.begin();
        self.on_file(name, T::READ, bytes, steps, |calls, file, steps| {
            let Self { system, reads, .. } = calls;
            if bytes > 0 {
                in_step(Step::Map, || {
                    let length = bytes as usize;
                    system.map(file, length, &mut |content| match reads.keeps() {
                        true => reads.keep(content),
                        false => touch(content),
                    })
                })?;
            }
            steps.ended(Step::Map);
            if calls.reads.keeps() {
                calls.check_size(file, bytes)?;
                steps.ended(Step::Stat);
            }
            Ok(())
        })
    }

    pub(super) fn lock(&mut self, name: Name<'_>, steps: &mut dyn Steps) -> OperationOutcome {
        self.on_file(name, T::OVERWRITE, 0, steps, |calls, file, steps| {
            calls.step(Step::Lock, steps, |system| system.lock(file))?;
            calls.step(Step::Unlock, steps, |system| system.unlock(file))
        })
    }
}

/// Reads one byte of each page.
fn touch(content: &[u8]) {
    for byte in content.iter().step_by(PAGE_BYTES) {
        std::hint::black_box(*byte);
    }
}
