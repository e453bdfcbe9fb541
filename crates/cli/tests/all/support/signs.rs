//! Signs of life (`rundir/src/life.rs`) that programs of a test have left in memory, which were killed or have failed. `clean` needs
//! them, so they go when the test is over, and not before.

use std::cell::RefCell;
use std::path::PathBuf;

struct Left(Vec<PathBuf>);

impl Drop for Left {
    fn drop(&mut self) {
        for path in &self.0 {
            // It may have been cleaned.
            let _ = std::fs::remove_file(path);
        }
    }
}

thread_local! {
    /// Of the test that this thread performs.
    static LEFT: RefCell<Left> = const { RefCell::new(Left(Vec::new())) };
}

/// What a process that is gone has left goes with the test.
pub fn go_with_the_test(process: &str) {
    let names = std::fs::read_dir("/dev/shm").into_iter().flatten().flatten();
    let is_its = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("postmark-") && name.split('-').nth(2) == Some(process)
    };
    let paths = names.map(|name| name.path()).filter(is_its);
    LEFT.with_borrow_mut(|left| left.0.extend(paths));
}
