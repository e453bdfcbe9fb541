//! Being told when the table of mounts changes, rather than looking at it again and again.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use crate::Sources;

/// A watch on the mounts that this process sees: poll(2) on `/proc/self/mountinfo`, see proc(5).
#[derive(Debug)]
pub struct MountChanges {
    table: File,
}

/// Why a wait has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waited {
    /// Something was mounted, unmounted or remounted since the watch began or the last wait ended
    /// so.
    Changed,
    /// The other side of `until` was closed.
    Ended,
}

impl MountChanges {
    /// Begins to watch.
    ///
    /// # Errors
    /// What the system answers to opening the table.
    pub fn watch(sources: &Sources) -> io::Result<Self> {
        let table = File::open(sources.path("/proc/self/mountinfo"))?;
        Ok(Self { table })
    }

    /// Waits for a change, or until the writing end of the pipe `until` is closed.
    ///
    /// # Errors
    /// What the system answers to poll(2).
    pub fn wait(&self, until: impl AsFd) -> io::Result<Waited> {
        loop {
            // The table can always be read; changes are told as an exception.
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
    fn a_wait_ends_when_the_other_side_is_gone() {
        let changes = MountChanges::watch(&Sources::default()).unwrap();
        let (reader, writer) = rustix::pipe::pipe().unwrap();
        std::thread::scope(|scope| {
            let waited = scope.spawn(|| {
                // Somebody else may mount something meanwhile.
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
