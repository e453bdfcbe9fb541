//! `raw`: open, read, write, close by path, call for call as the original's unbuffered mode; creation is
//! exclusive, where the original opens whatever is there.

use crate::calls::{Calls, Style};
use crate::contract::{Name, OpenError, Operation, Session, Settings, Steps, Storage, Submitted, Ticket};
use crate::system::{At, Kernel};

/// The storage of this module.
#[derive(Clone, Copy, Debug, Default)]
pub struct Raw;

/// A worker's session of it.
#[derive(Debug)]
pub struct RawSession(Calls<Kernel, RawStyle>);

#[derive(Debug)]
pub(crate) struct RawStyle;

impl Style for RawStyle {
    #[inline]
    fn at(name: Name<'_>) -> At<'_> {
        At::Path(name.path)
    }
    const CREATE: i32 = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL;
    const APPEND: i32 = libc::O_RDWR | libc::O_APPEND;
    const READ: i32 = libc::O_RDONLY;
    const EMPTY_REMAINDER: bool = true;
}

impl Storage for Raw {
    type Session = RawSession;

    fn name(&self) -> &'static str {
        "raw"
    }

    fn open(&self, settings: &Settings) -> Result<RawSession, OpenError> {
        Calls::new(Kernel::by_path(), settings).map(RawSession)
    }
}

impl Session for RawSession {
    #[inline]
    fn submit<S: Steps>(&mut self, ticket: Ticket, operation: &Operation<'_>, steps: &mut S) -> Submitted {
        self.0.submit(ticket, operation, steps)
    }
}
