//! Ends the making of a file system when a signal has arrived.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::MakeError;

/// Number of the signal that requests the end; 0 if none has arrived. The number in
/// `MakeStop::default()` stays 0.
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
