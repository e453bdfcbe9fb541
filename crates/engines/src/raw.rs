//! `raw`: open, read, write, close, call for call as the original's unbuffered mode, but for what
//! keeps others' files safe: names are resolved from the held directory of the location and no link
//! is followed; creation is exclusive, where the original opens whatever is there.

use std::sync::Arc;

use crate::calls::{Calls, Style};
use crate::kernel_namespace::KernelNamespace;
use crate::system::KernelCalls;
use engine::namespace::Namespace;
use engine::{Engine, Need, OpenError, Session, Settings, Unsupported};

/// The storage of this module.
#[derive(Clone, Copy, Debug, Default)]
pub struct Raw;

#[derive(Debug)]
pub(crate) struct RawStyle;

impl Style for RawStyle {
    const CREATE: i32 = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL | libc::O_NOFOLLOW;
    const APPEND: i32 = libc::O_RDWR | libc::O_APPEND | libc::O_NOFOLLOW;
    const READ: i32 = libc::O_RDONLY | libc::O_NOFOLLOW;
    const OVERWRITE: i32 = libc::O_WRONLY | libc::O_NOFOLLOW;
    const LIST: i32 = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_NOFOLLOW;
    const EMPTY_REMAINDER: bool = true;
}

impl Engine for Raw {
    fn name(&self) -> &'static str {
        "raw"
    }

    fn supports(&self, need: &Need) -> Result<(), Unsupported> {
        if need.direct {
            return Err(Unsupported::Direct {
                storage: self.name(),
            });
        }
        Ok(())
    }

    fn home(&self) -> Option<Arc<dyn Namespace>> {
        Some(Arc::new(KernelNamespace::default()))
    }

    fn open(&self, settings: &Settings) -> Result<Box<dyn Session>, OpenError> {
        if settings.direct {
            return Err(Unsupported::Direct {
                storage: self.name(),
            }
            .into());
        }
        Ok(Box::new(Calls::<_, RawStyle>::new(
            KernelCalls::new(settings)?,
            settings,
        )?))
    }
}
