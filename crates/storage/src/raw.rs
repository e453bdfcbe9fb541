//! `raw`: open, read, write, close by path, call for call as the original's unbuffered mode; creation is
//! exclusive, where the original opens whatever is there. What the original does not have is done by path, too.

use crate::calls::{Calls, Style, asks_its_calls};
use crate::contract::{
    Name, Need, OpenError, Operation, Session, Settings, Steps, Storage, Submitted, Ticket, Unsupported,
};
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
    const OVERWRITE: i32 = libc::O_WRONLY;
    const LIST: i32 = libc::O_RDONLY | libc::O_DIRECTORY;
    const EMPTY_REMAINDER: bool = true;
    const EXTENDED_BY_PATH: bool = true;
}

impl Storage for Raw {
    type Session = RawSession;

    fn name(&self) -> &'static str {
        "raw"
    }

    fn supports(&self, need: &Need) -> Result<(), Unsupported> {
        if need.direct {
            return Err(Unsupported::Direct { storage: self.name() });
        }
        Ok(())
    }

    fn open(&self, settings: &Settings) -> Result<RawSession, OpenError> {
        if settings.direct {
            return Err(Unsupported::Direct { storage: self.name() }.into());
        }
        Calls::new(Kernel::by_path(settings)?, settings).map(RawSession)
    }
}

impl Session for RawSession {
    #[inline]
    fn submit<S: Steps>(&mut self, ticket: Ticket, operation: &Operation<'_>, steps: &mut S) -> Submitted {
        self.0.submit(ticket, operation, steps)
    }

    asks_its_calls!(0);
}
