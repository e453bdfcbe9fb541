//! `raw`: open, read, write and close, call for call as in the unbuffered mode of the original
//! PostMark. Two differences protect files of other programs. Names are resolved relative to the
//! location's held directory, without following symbolic links. Creation is exclusive, whereas the
//! original opens an existing file.

use std::sync::Arc;

use crate::calls::{Calls, Style};
use crate::kernel_namespace::KernelNamespace;
use crate::system::kernel::KernelCalls;
use engine::namespace::Namespace;
use engine::{
    Cached, Capability, Durability, Engine, EngineFacts, Need, OpenError, Promise, Session,
    Settings, Targets,
};

pub static FACTS: EngineFacts = EngineFacts {
    name: "raw",
    help: "System calls with paths, as in the original PostMark with 'set buffering false'",
    targets: Targets::Directories,
    protocol: None,
    depth_max: 1,
    capabilities: &Capability::ALL,
    cache: Cached::PageCache,
    direct: false,
    durability: &Durability::ALL,
    promise: Promise::Nothing,
    namespace: Some(KernelNamespace::FACTS),
};

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
    fn facts(&self) -> &'static EngineFacts {
        &FACTS
    }

    fn namespace(&self) -> Option<Arc<dyn Namespace>> {
        Some(Arc::new(KernelNamespace::default()))
    }

    fn open(&self, settings: &Settings) -> Result<Box<dyn Session>, OpenError> {
        FACTS.supports(&Need::of_settings(settings))?;
        Ok(Box::new(Calls::<_, RawStyle>::new(
            KernelCalls::new(settings)?,
            settings,
        )?))
    }
}
