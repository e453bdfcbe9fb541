//! Processor time of this process by thread.
//!
//! At most [`THREADS_MAX`] threads are listed. The remainder of the process's time is one number,
//! for which no files are read. This remainder is the time of ended threads and of threads beyond
//! the limit.

use std::fmt::Write;

use procfs_core::FromRead;
use procfs_core::process::Schedstat;
use rustix::io::Errno;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cpu::{NANOSECONDS_PER_SECOND, ProcessTimes, STATUS};
use crate::fact::{Fact, grown};
use crate::sources::Sources;
use crate::sources::small_files::SmallFiles;

const TASK: &str = "/proc/self/task";

/// Maximum number of listed threads. The first threads of the kernel's list are listed; the list is
/// ordered by the start of the threads.
pub const THREADS_MAX: usize = 128;

/// Processor time by thread, since the threads started or between two snapshots.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Threads {
    /// Number of threads of this process (`Threads` of proc_pid_status(5)), at least the number in
    /// `each`.
    pub count: Fact<u64>,
    /// The listed threads, by ascending number.
    pub each: Vec<ThreadTimes>,
    /// Processor time of this process that no thread in `each` used, in nanoseconds: the time of
    /// ended threads and of threads beyond the limit. This time is inexact because process and
    /// threads are not read at the same moment; a negative result becomes 0.
    pub rest_cpu_ns: Fact<u64>,
}

/// Processor time and waiting time of one thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadTimes {
    /// Thread identifier in the kernel (gettid(2)).
    pub tid: u32,
    /// Name of the thread (proc_pid_comm(5)), which the kernel cuts after 15 bytes; bytes that are
    /// not UTF-8 become U+FFFD.
    pub name: Fact<String>,
    /// Processor time in user mode and in the kernel, in nanoseconds: the first number of
    /// `schedstat` (Documentation/scheduler/sched-stats.rst), which may lag by a tick for a running
    /// thread. If the kernel has no `schedstat`, the time from `stat` (proc_pid_stat(5)), in whole
    /// ticks.
    pub cpu_ns: Fact<u64>,
    /// Time that the thread was runnable but waited for a processor, in nanoseconds: the second
    /// number of `schedstat`. Not applicable if the kernel has no `schedstat`.
    pub waiting_ns: Fact<u64>,
}

impl Threads {
    /// Reads the threads. `process` contains the resources used by the whole process, and `status`
    /// is the text of `/proc/self/status`.
    pub(super) fn read(
        sources: &Sources,
        process: &Fact<ProcessTimes>,
        status: &Fact<String>,
    ) -> Fact<Threads> {
        SmallFiles::open(sources, TASK).and_then(|files| {
            let numbers = match files.numbers::<u32>(THREADS_MAX) {
                Ok(numbers) => numbers,
                Err(error) => return sources.unavailable(TASK, error),
            };
            let mut files = ThreadFiles {
                sources,
                files,
                path: String::new(),
            };
            let mut each: Vec<ThreadTimes> = numbers
                .into_iter()
                .filter_map(|tid| files.thread(tid))
                .collect();
            each.sort_by_key(|thread| thread.tid);
            // The count of threads was read before the list. A thread that started in between makes
            // the list longer than the count.
            let told_apart = each.len() as u64;
            Fact::Known(Threads {
                count: sources
                    .line(STATUS, status, "Threads", ":")
                    .map(|count| count.max(told_apart)),
                rest_cpu_ns: rest_cpu_ns(process, &each),
                each,
            })
        })
    }

    /// Returns the growth since an earlier snapshot; `process` is the growth of the CPU time of the
    /// whole process. All CPU time of a thread that started after the earlier snapshot is included.
    pub(super) fn since(&self, earlier: &Threads, process: &Fact<ProcessTimes>) -> Threads {
        // Whether the earlier snapshot lists all threads. If it does not, a thread that it lacks
        // may already have run, so the growth of the thread's CPU time is unknown.
        let told_all = earlier.each.len() < THREADS_MAX
            && earlier
                .count
                .known()
                .is_none_or(|count| *count <= THREADS_MAX as u64);
        let each = self.each.iter().map(|thread| {
            let found = earlier
                .each
                .binary_search_by_key(&thread.tid, |before| before.tid);
            match found {
                Ok(index) => thread.since(&earlier.each[index]),
                Err(_) if told_all => thread.clone(),
                Err(_) => thread.without_past(),
            }
        });
        let each: Vec<ThreadTimes> = each.collect();
        Threads {
            count: self.count.clone(),
            rest_cpu_ns: rest_cpu_ns(process, &each),
            each,
        }
    }
}

impl ThreadTimes {
    fn since(&self, earlier: &ThreadTimes) -> ThreadTimes {
        let grown = |file: &str, later: &Fact<u64>, earlier: &Fact<u64>| {
            grown(format_args!("{TASK}/{}: {file}", self.tid), later, earlier)
        };
        ThreadTimes {
            cpu_ns: grown("processor time", &self.cpu_ns, &earlier.cpu_ns),
            waiting_ns: grown("waiting time", &self.waiting_ns, &earlier.waiting_ns),
            ..self.clone()
        }
    }

    fn without_past(&self) -> ThreadTimes {
        let tid = self.tid;
        let why = format!("{TASK}/{tid}: was beyond the {THREADS_MAX} threads read");
        ThreadTimes {
            cpu_ns: Fact::Unavailable(why.clone()),
            waiting_ns: Fact::Unavailable(why),
            ..self.clone()
        }
    }
}

/// Returns the CPU time of the process minus the known CPU times of the listed threads. The result
/// therefore includes the CPU time of a listed thread if that time is unknown.
fn rest_cpu_ns(process: &Fact<ProcessTimes>, each: &[ThreadTimes]) -> Fact<u64> {
    let known = each.iter().filter_map(|thread| thread.cpu_ns.known());
    let told = known.fold(0u64, |sum, cpu_ns| sum.saturating_add(*cpu_ns));
    process
        .as_ref()
        .map(|process| process.cpu_ns().saturating_sub(told))
}

/// Reads the files of threads. Paths are written to one buffer, so that they need no allocation.
struct ThreadFiles<'sources> {
    sources: &'sources Sources,
    files: SmallFiles,
    path: String,
}

impl ThreadFiles<'_> {
    /// Reads the times of a thread. `None` if the thread has ended since the list was read.
    fn thread(&mut self, tid: u32) -> Option<ThreadTimes> {
        let mut buffer = [0; 1024];
        let schedstat = self.read(tid, "schedstat", &mut buffer).map(schedstat);
        let (cpu_ns, waiting_ns) = match schedstat {
            Ok(Some(times)) => (
                Fact::Known(times.sum_exec_runtime),
                Fact::Known(times.run_delay),
            ),
            Ok(None) => {
                let why = "counts no time slice";
                (self.by_ticks(tid), self.unavailable(tid, "schedstat", why))
            }
            Err(Errno::NOENT | Errno::SRCH) => {
                // If `stat` is missing as well, the thread has ended. Otherwise only `schedstat` is
                // missing.
                let _ = self.read(tid, "stat", &mut [0]).ok()?;
                (self.by_ticks(tid), Fact::NotApplicable)
            }
            Err(error) => (
                self.by_ticks(tid),
                self.unavailable(tid, "schedstat", error),
            ),
        };
        let name = match self.read(tid, "comm", &mut buffer) {
            Ok(name) => Fact::Known(
                String::from_utf8_lossy(name.strip_suffix(b"\n").unwrap_or(name)).into_owned(),
            ),
            Err(error) => self.unavailable(tid, "comm", error),
        };
        Some(ThreadTimes {
            tid,
            name,
            cpu_ns,
            waiting_ns,
        })
    }

    fn by_ticks(&mut self, tid: u32) -> Fact<u64> {
        let mut buffer = [0; 1024];
        match self.read(tid, "stat", &mut buffer).map(stat) {
            Ok(Some(cpu_ns)) => Fact::Known(cpu_ns),
            Ok(None) => self.unavailable(tid, "stat", "has no processor time"),
            Err(error) => self.unavailable(tid, "stat", error),
        }
    }

    fn read<'buffer>(
        &mut self,
        tid: u32,
        file: &str,
        buffer: &'buffer mut [u8],
    ) -> Result<&'buffer [u8], Errno> {
        self.path.clear();
        // Writing to a string cannot fail.
        let _ = write!(self.path, "{tid}/{file}");
        self.files.read(&self.path, buffer)
    }

    fn unavailable<T>(&self, tid: u32, file: &str, why: impl std::fmt::Display) -> Fact<T> {
        self.sources
            .unavailable(&format!("{TASK}/{tid}/{file}"), why)
    }
}

/// Parses `schedstat`. Returns `None` if the text is invalid, or if the processor time and the
/// number of time slices are 0: the kernel does not count them, or the thread has never run.
pub(crate) fn schedstat(text: &[u8]) -> Option<Schedstat> {
    let times = Schedstat::from_read(text).ok()?;
    (times.pcount != 0 || times.sum_exec_runtime != 0).then_some(times)
}

/// Parses the processor time from a text such as `7 (any) name) S 1 …`. It is the sum of fields 14
/// and 15, converted from ticks to nanoseconds.
fn stat(text: &[u8]) -> Option<u64> {
    let name_end = text.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(&text[name_end + 1..]).ok()?;
    // The field after the name is field 3.
    let mut fields = rest.split_ascii_whitespace().skip(14 - 3);
    let mut next = || fields.next()?.parse::<u64>().ok();
    let ticks = next()?.checked_add(next()?)?;
    let tick_ns = NANOSECONDS_PER_SECOND.checked_div(rustix::param::clock_ticks_per_second())?;
    ticks.checked_mul(tick_ns)
}

#[cfg(test)]
mod tests;
