//! Removes the heartbeat files (`rundir/src/heartbeat.rs`) that killed or failed runs of a test
//! left in memory. `clean` needs these files, so they are removed only at the end of the test.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

const DIRECTORY: &str = "/dev/shm";

struct Left(Vec<PathBuf>);

impl Drop for Left {
    fn drop(&mut self) {
        for path in &self.0 {
            // `clean` may already have removed the file.
            let _ = std::fs::remove_file(path);
        }
    }
}

thread_local! {
    /// Heartbeat files of the test that runs on this thread.
    static LEFT: RefCell<Left> = const { RefCell::new(Left(Vec::new())) };
}

/// When the test ends, removes the heartbeat files of a process.
pub fn remove_after_test(process: &str) {
    let names = std::fs::read_dir(DIRECTORY).into_iter().flatten().flatten();
    let is_its = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("postmark-") && name.split('-').nth(2) == Some(process)
    };
    let paths = names.map(|name| name.path()).filter(is_its);
    LEFT.with_borrow_mut(|left| left.0.extend(paths));
}

/// When the test ends, removes the heartbeat files that a manifest names.
pub fn remove_manifests_after_test(manifest: &Path) {
    let text = std::fs::read(manifest).unwrap();
    let manifest: serde_json::Value = serde_json::from_slice(&text).unwrap();
    let others = manifest["ranks"].as_array().into_iter().flatten();
    let names = std::iter::once(&manifest).chain(others);
    let names = names.filter_map(|one| one["life"].as_str());
    let paths = names.map(|name| Path::new(DIRECTORY).join(name));
    LEFT.with_borrow_mut(|left| left.0.extend(paths));
}
