//! `posix`: system calls as a careful modern program makes them. Descriptors are closed on exec,
//! files are opened with no more access than needed, and calls without effect are omitted.

use std::sync::Arc;

use crate::calls::{Calls, Style};
use crate::kernel_namespace::KernelNamespace;
use crate::raw;
use crate::system::kernel::KernelCalls;
use engine::namespace::Namespace;
use engine::{Engine, EngineFacts, OpenError, Session, Settings};

pub static FACTS: EngineFacts = EngineFacts {
    name: "posix",
    help: "System calls relative to an open directory, as careful programs make them",
    direct: true,
    ..raw::FACTS
};

#[derive(Clone, Copy, Debug, Default)]
pub struct Posix;

#[derive(Debug)]
pub(crate) struct PosixStyle;

impl Style for PosixStyle {
    const CREATE: i32 =
        libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL | libc::O_NOFOLLOW | libc::O_CLOEXEC;
    const APPEND: i32 = libc::O_WRONLY | libc::O_APPEND | libc::O_NOFOLLOW | libc::O_CLOEXEC;
    const READ: i32 = libc::O_RDONLY | libc::O_NOFOLLOW | libc::O_CLOEXEC;
    const OVERWRITE: i32 = libc::O_WRONLY | libc::O_NOFOLLOW | libc::O_CLOEXEC;
    const LIST: i32 = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_NOFOLLOW | libc::O_CLOEXEC;
    const EMPTY_REMAINDER: bool = false;
}

impl Engine for Posix {
    fn facts(&self) -> &'static EngineFacts {
        &FACTS
    }

    fn namespace(&self) -> Option<Arc<dyn Namespace>> {
        Some(Arc::new(KernelNamespace::default()))
    }

    fn open(&self, settings: &Settings) -> Result<Box<dyn Session>, OpenError> {
        Ok(Box::new(Calls::<_, PosixStyle>::new(
            KernelCalls::new(settings)?,
            settings,
        )?))
    }
}
