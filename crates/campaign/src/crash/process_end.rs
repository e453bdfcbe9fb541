//! Waits for the end of a process, with a time limit.

use std::io;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

/// Interval at which a process is checked for its end.
const POLL: Duration = Duration::from_millis(2);

/// Waits for a process. Returns `None` if it does not end within the time limit.
pub(super) fn wait(child: &mut Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let begin = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if begin.elapsed() >= limit {
            return Ok(None);
        }
        std::thread::sleep(POLL);
    }
}
