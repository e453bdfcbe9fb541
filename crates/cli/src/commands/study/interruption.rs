//! The first signal ends a study, which then removes its scratch file systems. A second signal ends
//! the program immediately. So after the first signal, the program prints which file systems remain
//! if a second signal follows.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use campaign::study::targets::MadeNames;
use document::sanitize;
use signal_hook::iterator::{Handle, Signals};

use crate::ui::problem::tell;
use crate::ui::signals;

/// After the first signal, prints the directories of the scratch file systems. Also prints the
/// command that removes them, because a second signal ends the program before it has removed them.
pub struct Interruption {
    directories: Arc<Mutex<BTreeSet<PathBuf>>>,
    watching: Option<JoinHandle<()>>,
    handle: Handle,
}

impl Interruption {
    /// Starts a thread that waits for the first signal. This thread only prints: the handlers in
    /// [`signals`] end the study. Returns `None` if no thread can be started.
    pub fn watch() -> Option<Box<dyn MadeNames>> {
        let directories = Arc::<Mutex<BTreeSet<PathBuf>>>::default();
        let named = Arc::clone(&directories);
        let mut signals = Signals::new(signals::ending()).ok()?;
        let handle = signals.handle();
        let watching = std::thread::Builder::new()
            .name("interruption".to_owned())
            .spawn(move || {
                if signals.forever().next().is_some() {
                    for directory in named.lock().unwrap_or_else(PoisonError::into_inner).iter() {
                        let directory = sanitize::path(directory);
                        tell(format_args!(
                            "the study removes its file system in {directory}. A second signal \
                             stops the removal; 'postmark clean {directory}' removes the rest."
                        ));
                    }
                }
            });
        Some(Box::new(Self {
            directories,
            watching: Some(watching.ok()?),
            handle,
        }))
    }
}

impl MadeNames for Interruption {
    fn add(&self, directory: &Path) {
        let mut directories = self
            .directories
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        directories.insert(directory.to_owned());
    }
}

impl Drop for Interruption {
    fn drop(&mut self) {
        self.handle.close();
        if let Some(watching) = self.watching.take() {
            // `join` returns an error only if the thread panicked.
            let _ = watching.join();
        }
    }
}
