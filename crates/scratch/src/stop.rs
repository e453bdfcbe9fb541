//! Whether what is being made is still wanted.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::MakeError;

/// Where a signal's number is left that ends what is being made; 0 is none. The default never ends
/// anything.
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

    /// Ends what takes long.
    pub(crate) fn check(&self, what: impl FnOnce() -> String) -> Result<(), MakeError> {
        match self.is_asked() {
            true => Err(MakeError::interrupted(&what())),
            false => Ok(()),
        }
    }
}
