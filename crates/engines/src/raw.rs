//! `raw`: open, read, write, close, call for call as the original's unbuffered mode, but for what
//! keeps others' files safe: names are resolved from the held directory of the location and no link
//! is followed; creation is exclusive, where the original opens whatever is there.

use std::sync::Arc;

use crate::calls::{Calls, Style};
use crate::kernel_namespace::KernelNamespace;
use crate::system::kernel::KernelCalls;
use engine::namespace::Namespace;
use engine::{
    Cached, Capability, Durability, Engine, EngineFacts, Need, OpenError, Session, Settings,
    Targets,
};

/// What is known of it before a run.
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
    namespace: Some(KernelNamespace::FACTS),
};

/// The engine of this module.
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
