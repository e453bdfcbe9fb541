//! Waits for changes of the table of mounts, instead of polling it.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use crate::Sources;

/// A watch on the mounts that this process sees, by poll(2) on `/proc/self/mountinfo` (proc(5)).
#[derive(Debug)]
pub struct MountChanges {
    table: File,
}

/// Reason why a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waited {
    /// A file system was mounted, unmounted or remounted since the watch began or since the last
    /// reported change.
    Changed,
    /// The writing end of the pipe `until` was closed.
    Ended,
}

impl MountChanges {
    /// Opens the table of mounts.
    ///
    /// # Errors
    /// Returns an error if the table cannot be opened.
    pub fn watch(sources: &Sources) -> io::Result<Self> {
        let table = File::open(sources.path("/proc/self/mountinfo"))?;
        Ok(Self { table })
    }

    /// Waits for a change, or until the writing end of the pipe `until` is closed.
    ///
    /// # Errors
    /// Returns the error of poll(2).
    pub fn wait(&self, until: impl AsFd) -> io::Result<Waited> {
        loop {
            // The table is always readable; poll(2) reports a change as an exceptional condition.
            let mut watched = [
                PollFd::new(&self.table, PollFlags::PRI),
                PollFd::new(&until, PollFlags::IN),
            ];
            match poll(&mut watched, None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
            if !watched[1].revents().is_empty() {
                return Ok(Waited::Ended);
            }
            if watched[0]
                .revents()
                .intersects(PollFlags::PRI | PollFlags::ERR)
            {
                return Ok(Waited::Changed);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wait_ends_when_the_pipe_is_closed() {
        let changes = MountChanges::watch(&Sources::default()).unwrap();
        let (reader, writer) = rustix::pipe::pipe().unwrap();
        std::thread::scope(|scope| {
            let waited = scope.spawn(|| {
                // Other processes may mount file systems during the test.
                loop {
                    match changes.wait(&reader) {
                        Ok(Waited::Changed) => {}
                        other => return other.unwrap(),
                    }
                }
            });
            drop(writer);
            assert_eq!(waited.join().unwrap(), Waited::Ended);
        });
    }
}
