//! A signal that ends the making of a file system.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::MakeError;

/// Number of the signal that ends the operation; 0 means none. The default never ends anything.
#[derive(Clone, Debug, Default)]
pub struct MakeStop(Arc<AtomicUsize>);

impl From<Arc<AtomicUsize>> for MakeStop {
    fn from(caught: Arc<AtomicUsize>) -> Self {
        Self(caught)
    }
}

impl MakeStop {
    pub(crate) fn is_asked(&self) -> bool {
        self.0.load(Ordering::SeqCst) != 0
    }

    /// Returns an error if a signal has arrived.
    pub(crate) fn check(&self, what: impl FnOnce() -> String) -> Result<(), MakeError> {
        match self.is_asked() {
            true => Err(MakeError::interrupted(&what())),
            false => Ok(()),
        }
    }
}
