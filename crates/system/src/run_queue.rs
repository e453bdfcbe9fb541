//! The time that one thread has waited for a processor.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use crate::counters::schedstat;
use crate::sources::Sources;

/// Counter of the time that a thread has waited in the run queue while it was runnable.
pub struct RunQueue {
    schedstat: File,
}

impl RunQueue {
    /// Opens the counter of the calling thread.
    ///
    /// # Errors
    /// Returns an error if the kernel does not count this time, or `/proc` cannot be read.
    pub fn of_this_thread(sources: &Sources) -> io::Result<Self> {
        let run_queue = Self {
            schedstat: File::open(sources.path("/proc/thread-self/schedstat"))?,
        };
        run_queue.waited_ns().map(|_| run_queue)
    }

    /// Returns the waiting time since the thread started, in nanoseconds (run delay,
    /// Documentation/scheduler/sched-stats.rst). A thread that is stopped or frozen does not wait.
    ///
    /// # Errors
    /// Returns the same errors as [`RunQueue::of_this_thread`].
    pub fn waited_ns(&self) -> io::Result<u64> {
        let mut buffer = [0; 128];
        let length = self.schedstat.read_at(&mut buffer, 0)?;
        let times = schedstat(&buffer[..length]).ok_or(io::ErrorKind::Unsupported)?;
        Ok(times.run_delay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn a_thread_that_sleeps_does_not_wait_for_a_processor() {
        let Ok(run_queue) = RunQueue::of_this_thread(&Sources::default()) else {
            return;
        };
        let (before, began) = (run_queue.waited_ns().unwrap(), Instant::now());
        std::thread::sleep(Duration::from_millis(50));
        let waited = Duration::from_nanos(run_queue.waited_ns().unwrap() - before);
        // The time in the run queue excludes the sleep of 50 ms, so it is at most the elapsed time
        // minus 50 ms. The test tolerates 5 ms more.
        assert!(
            waited + Duration::from_millis(45) <= began.elapsed(),
            "{waited:?}"
        );
    }

    #[test]
    fn kernel_without_run_queue_counters_is_an_error() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("proc/thread-self")).unwrap();
        let at = || {
            RunQueue::of_this_thread(&Sources::beneath(root.path()))
                .map(|run_queue| run_queue.waited_ns())
        };
        assert!(at().is_err());
        std::fs::write(root.path().join("proc/thread-self/schedstat"), "0 0 0\n").unwrap();
        assert!(at().is_err());
        std::fs::write(root.path().join("proc/thread-self/schedstat"), "150 25 4\n").unwrap();
        assert_eq!(at().unwrap().unwrap(), 25);
    }
}
