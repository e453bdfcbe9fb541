//! Resources used by all threads of this process, including ended threads (getrusage(2)).
//!
//! Times and counts are not read from `/proc/self`, because its times are in ticks and its context
//! switches exclude ended threads. Peak memory is read from `/proc/self`, because `ru_maxrss` of
//! getrusage survives execve(2): it could be the peak of a larger program that started PostMark.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fact::{Fact, added};
use crate::sources::Sources;

pub(crate) const NANOSECONDS_PER_SECOND: u64 = 1_000_000_000;
pub(crate) const STATUS: &str = "/proc/self/status";

/// Resources used by all threads of this process, since it started or between two snapshots.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessTimes {
    /// Processor time in user mode, in nanoseconds. The kernel reports microseconds, and may split
    /// the process's time into user and system time only by whole ticks.
    pub user_ns: u64,
    /// Processor time in the kernel, in nanoseconds.
    pub system_ns: u64,
    /// Number of times that a thread gave up its processor to wait.
    pub voluntary_context_switches: u64,
    /// Number of times that a thread was preempted.
    pub involuntary_context_switches: u64,
    /// Peak resident memory since this program started, in bytes (`VmHWM` of `/proc/self/status`).
    pub max_resident_bytes: Fact<u64>,
    /// Number of page faults that needed no device.
    pub minor_faults: u64,
    /// Number of page faults that waited for a device.
    pub major_faults: u64,
}

impl ProcessTimes {
    pub fn read(sources: &Sources) -> Fact<ProcessTimes> {
        ProcessTimes::beside(sources, &sources.text(STATUS))
    }

    /// Reads the resources; `status` is the text of `/proc/self/status`.
    pub(crate) fn beside(sources: &Sources, status: &Fact<String>) -> Fact<ProcessTimes> {
        this_process().and_then(|usage| {
            let times = ProcessTimes::of(&usage, sources.kibibytes(STATUS, status, "VmHWM"));
            Fact::found(times, || "getrusage: a negative count".into())
        })
    }

    /// Processor time in user mode and in the kernel, in nanoseconds.
    pub fn cpu_ns(&self) -> u64 {
        self.user_ns.saturating_add(self.system_ns)
    }

    /// Adds the resources used by two processes. The memory peaks of the processes may have
    /// occurred at different moments, so the sum of the peaks is an upper bound.
    #[must_use]
    pub fn and(&self, other: &ProcessTimes) -> ProcessTimes {
        ProcessTimes {
            max_resident_bytes: added(&self.max_resident_bytes, &other.max_resident_bytes),
            ..self.with(other, u64::saturating_add)
        }
    }

    /// Returns the resources used since an earlier snapshot. `max_resident_bytes` is not a counter,
    /// so its current value is returned.
    pub fn since(&self, earlier: &ProcessTimes) -> ProcessTimes {
        // The kernel guarantees that the counters of getrusage(2) never go backwards.
        self.with(earlier, u64::saturating_sub)
    }

    fn with(&self, other: &ProcessTimes, each: fn(u64, u64) -> u64) -> ProcessTimes {
        let each = |of: fn(&ProcessTimes) -> u64| each(of(self), of(other));
        ProcessTimes {
            user_ns: each(|times| times.user_ns),
            system_ns: each(|times| times.system_ns),
            voluntary_context_switches: each(|times| times.voluntary_context_switches),
            involuntary_context_switches: each(|times| times.involuntary_context_switches),
            max_resident_bytes: self.max_resident_bytes.clone(),
            minor_faults: each(|times| times.minor_faults),
            major_faults: each(|times| times.major_faults),
        }
    }

    fn of(usage: &libc::rusage, max_resident_bytes: Fact<u64>) -> Option<ProcessTimes> {
        let nanoseconds = |time: &libc::timeval| -> Option<u64> {
            let seconds = u64::try_from(time.tv_sec).ok()?;
            let microseconds = u64::try_from(time.tv_usec).ok()?;
            Some(seconds * super::NANOSECONDS_PER_SECOND + microseconds * 1000)
        };
        Some(ProcessTimes {
            user_ns: nanoseconds(&usage.ru_utime)?,
            system_ns: nanoseconds(&usage.ru_stime)?,
            voluntary_context_switches: u64::try_from(usage.ru_nvcsw).ok()?,
            involuntary_context_switches: u64::try_from(usage.ru_nivcsw).ok()?,
            max_resident_bytes,
            minor_faults: u64::try_from(usage.ru_minflt).ok()?,
            major_faults: u64::try_from(usage.ru_majflt).ok()?,
        })
    }
}

/// Calls getrusage(2), which rustix 1.1 does not provide.
fn this_process() -> Fact<libc::rusage> {
    // SAFETY: a `struct rusage` holds integers only, so zeroes are valid.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is valid for writing a `struct rusage`, and the call does not keep it.
    match unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut usage) } {
        0 => Fact::Known(usage),
        _ => Fact::Unavailable(format!("getrusage: {}", std::io::Error::last_os_error())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::tests::Tree;
    use std::time::{Duration, Instant};

    fn read() -> ProcessTimes {
        ProcessTimes::read(&Sources::default())
            .into_known()
            .unwrap()
    }

    /// Minor faults, major faults and processor time in ticks, read from `/proc`.
    fn by_proc() -> [u64; 3] {
        let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
        let fields: Vec<&str> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
        // proc_pid_stat(5) numbers fields from 1, and `fields` lacks the first two.
        let field = |number: usize| fields[number - 3].parse::<u64>().unwrap();
        [field(10), field(12), field(14) + field(15)]
    }

    /// Checks the results of getrusage(2) against `/proc`: each value in `/proc` is between two
    /// readings, one before and one after it.
    #[test]
    fn times_and_page_faults_agree_with_proc() {
        // Causes page faults, so that no counter is compared while it is 0.
        std::hint::black_box(vec![1u8; 4 << 20]);
        let before = read();
        let [minor_faults, major_faults, ticks] = by_proc();
        let after = read();
        assert!(minor_faults > 0);
        let between = |value, low, high| assert!((low..=high).contains(&value), "{value}");
        between(minor_faults, before.minor_faults, after.minor_faults);
        between(major_faults, before.major_faults, after.major_faults);
        let tick_ns = 1_000_000_000 / rustix::param::clock_ticks_per_second();
        let low = (before.user_ns + before.system_ns).saturating_sub(2 * tick_ns);
        between(ticks * tick_ns, low, after.user_ns + after.system_ns);
    }

    #[test]
    fn peak_memory_is_read_from_the_status_of_the_process() {
        let tree = Tree::new(&[(STATUS, "VmPeak: 9 kB\nVmHWM:\t    4176 kB\n")]);
        let greatest = |tree: &Tree| {
            ProcessTimes::read(&tree.sources)
                .into_known()
                .unwrap()
                .max_resident_bytes
        };
        assert_eq!(greatest(&tree), Fact::Known(4_276_224));
        let none = Tree::new(&[(STATUS, "VmHWM: 4176\n")]);
        assert!(greatest(&none).why().unwrap().contains("VmHWM"));
        assert!(read().max_resident_bytes.known().unwrap() > &100_000);
    }

    #[test]
    fn work_uses_processor_time_and_sleep_causes_a_context_switch() {
        let before = read();
        let started = Instant::now();
        while started.elapsed() < Duration::from_millis(60) {
            std::hint::black_box(started);
        }
        std::thread::spawn(|| std::thread::sleep(Duration::from_millis(2)))
            .join()
            .unwrap();
        let used = read().since(&before);
        let processor_ns = used.user_ns + used.system_ns;
        assert!(processor_ns >= 5_000_000, "{used:?}");
        assert!(processor_ns < 3_600_000_000_000, "{used:?}");
        assert!(used.voluntary_context_switches >= 1, "{used:?}");
    }

    #[test]
    fn negative_count_is_rejected() {
        let mut usage = this_process().into_known().unwrap();
        assert!(ProcessTimes::of(&usage, Fact::NotApplicable).is_some());
        usage.ru_minflt = -1;
        assert_eq!(ProcessTimes::of(&usage, Fact::NotApplicable), None);
    }
}
