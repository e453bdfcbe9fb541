//! `posix`: what a careful program does today. Names are relative to a held directory, so that a path is not
//! walked for every file and nothing outside the directory can be hit; no call is made that does nothing.

use crate::calls::{Calls, Style};
use crate::contract::{Name, OpenError, Operation, Session, Settings, Steps, Storage, Submitted, Ticket};
use crate::system::{At, Kernel};

/// The storage of this module.
#[derive(Clone, Copy, Debug, Default)]
pub struct Posix;

/// A worker's session of it.
#[derive(Debug)]
pub struct PosixSession(Calls<Kernel, PosixStyle>);

#[derive(Debug)]
pub(crate) struct PosixStyle;

impl Style for PosixStyle {
    #[inline]
    fn at(name: Name<'_>) -> At<'_> {
        At::Location(name.location, name.relative)
    }
    const CREATE: i32 = libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL | libc::O_NOFOLLOW | libc::O_CLOEXEC;
    const APPEND: i32 = libc::O_WRONLY | libc::O_APPEND | libc::O_NOFOLLOW | libc::O_CLOEXEC;
    const READ: i32 = libc::O_RDONLY | libc::O_NOFOLLOW | libc::O_CLOEXEC;
    const EMPTY_REMAINDER: bool = false;
}

impl Storage for Posix {
    type Session = PosixSession;

    fn name(&self) -> &'static str {
        "posix"
    }

    fn open(&self, settings: &Settings) -> Result<PosixSession, OpenError> {
        let directories = settings.locations.iter().map(|location| location.directory.as_path());
        Calls::new(Kernel::in_directories(directories)?, settings).map(PosixSession)
    }
}

impl Session for PosixSession {
    #[inline]
    fn submit<S: Steps>(&mut self, ticket: Ticket, operation: &Operation<'_>, steps: &mut S) -> Submitted {
        self.0.submit(ticket, operation, steps)
    }
}
