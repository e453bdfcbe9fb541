//! Operations on attributes of a file: stat, mode and times, and extended attributes.

use std::ffi::CStr;

use super::{Calls, Style, at, in_step};
use crate::system::{Object, System};
use engine::{Cause, Failure, Name, OperationOutcome, Step, Steps};

impl<S: System, T: Style> Calls<S, T> {
    pub(super) fn stat(
        &mut self,
        name: Name<'_>,
        bytes: Option<u64>,
        steps: &mut dyn Steps,
    ) -> OperationOutcome {
        let found = in_step(Step::Stat, || self.system.size(at(name)))?;
        if let Some(expected) = bytes.filter(|expected| *expected != found) {
            return Err(Failure::wrong(
                Step::Stat,
                Cause::WrongSize { found, expected },
            ));
        }
        steps.ended(Step::Stat);
        Ok(())
    }

    pub(super) fn set_attributes(
        &mut self,
        name: Name<'_>,
        mode: u32,
        times_ns: i64,
        steps: &mut dyn Steps,
    ) -> OperationOutcome {
        if self.policy.now.file.is_none() && !self.opens_to_set_mode {
            match self.set_attributes_of(Object::Name(at(name)), mode, times_ns, steps) {
                Err(failure)
                    if failure.step == Step::SetMode && failure.errno() == Some(libc::ENOSYS) =>
                {
                    self.opens_to_set_mode = true;
                }
                answer => return answer,
            }
        }
        self.on_file(name, T::READ, 0, steps, |calls, file, steps| {
            calls.set_attributes_of(Object::File(file), mode, times_ns, steps)?;
            calls.sync_file(file, 0, steps)
        })
    }

    pub(super) fn set_attributes_of(
        &mut self,
        object: Object<'_>,
        mode: u32,
        times_ns: i64,
        steps: &mut dyn Steps,
    ) -> OperationOutcome {
        self.step(Step::SetMode, steps, |system| system.set_mode(object, mode))?;
        self.step(Step::SetTimes, steps, |system| {
            system.set_times(object, times_ns)
        })
    }

    pub(super) fn set_extended(
        &mut self,
        name: Name<'_>,
        key: &CStr,
        value: &[u8],
        steps: &mut dyn Steps,
    ) -> OperationOutcome {
        self.on_file(name, T::READ, 0, steps, |calls, file, steps| {
            calls.step(Step::SetExtended, steps, |system| {
                system.set_extended(file, key, value)
            })?;
            calls.sync_file(file, 0, steps)
        })
    }

    pub(super) fn get_extended(
        &mut self,
        name: Name<'_>,
        key: &CStr,
        value: &[u8],
        steps: &mut dyn Steps,
    ) -> OperationOutcome {
        self.on_file(name, T::READ, 0, steps, |calls, file, steps| {
            let room = calls.answers.all();
            let length = in_step(Step::GetExtended, || {
                calls.system.get_extended(file, key, room)
            })?;
            if room[..length] != *value {
                return Err(Failure::wrong(Step::GetExtended, Cause::WrongValue));
            }
            steps.ended(Step::GetExtended);
            Ok(())
        })
    }
}
