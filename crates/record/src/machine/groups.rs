//! The groups of columns, and the counter that each column contains.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use system::counters::{DeviceRole, SystemCountersDifference, ThreadTimes};
use system::{CountersDifference, DeviceCounters, Fact, ProcessTimes, SystemTimesSpent};

use super::columns::{Column, Counts, States};

/// Prefix of the names of workers' threads; the worker's number follows.
pub const WORKER_THREAD: &str = "worker ";

/// A function that receives each column of a group with its name and its value for the next slice.
pub(super) type Visit<'a> = dyn FnMut(&'static str, &mut dyn Column, Fact<u64>) + 'a;

/// Defines a group of columns. Each entry contains the column's description, the function that
/// reads its value from the counters, and its name in the output of `--live`. Columns without this
/// name are not in the output of `--live`. docs/reference/measurements-over-time.md has a table of
/// all columns.
macro_rules! over_time {
    (
        $(#[$about:meta])*
        $group:ident of $counted:ty { $($(#[$fixed_about:meta])* $fixed:ident: $fixed_type:ty,)* }
        $($(#[$doc:meta])* $column:ident: $kind:ident = $number:expr $(, live $live:literal)?;)*
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $group {
            $($(#[$fixed_about])* pub $fixed: $fixed_type,)*
            $($(#[$doc])* pub $column: $kind,)*
        }

        impl $group {
            pub(super) fn new($($fixed: $fixed_type),*) -> Self {
                Self { $($fixed,)* $($column: $kind::default(),)* }
            }

            pub(super) fn each(&mut self, counted: &Fact<&$counted>, visit: &mut Visit<'_>) {
                $(visit(stringify!($column), &mut self.$column, of(counted, $number));)*
            }

            /// Returns the names and numbers of this group in the output of `--live`.
            pub fn live(counted: &Fact<&$counted>) -> Vec<(&'static str, Option<u64>)> {
                vec![$($(($live, of(counted, $number).into_known()),)?)*]
            }
        }
    };
}

fn of<T>(counted: &Fact<&T>, number: fn(&T) -> Fact<u64>) -> Fact<u64> {
    counted.clone().and_then(number)
}

fn own(counted: &CountersDifference, number: fn(&ProcessTimes) -> u64) -> Fact<u64> {
    counted.process.as_ref().map(number)
}

fn time(
    system: &SystemCountersDifference,
    column: fn(&SystemTimesSpent) -> &Fact<u64>,
) -> Fact<u64> {
    system
        .times
        .as_ref()
        .and_then(|times| column(times).clone())
}

over_time! {
    /// Counters of this process: all threads, including ended threads (getrusage(2)).
    #[derive(Default)]
    ProcessOverTime of CountersDifference {}
    /// Processor time in user mode, in nanoseconds (`ru_utime`).
    user_ns: Counts = |counted| own(counted, |own| own.user_ns), live "cpu_user_ns";
    /// Processor time in the kernel, in nanoseconds (`ru_stime`).
    system_ns: Counts = |counted| own(counted, |own| own.system_ns), live "cpu_system_ns";
    /// Number of times that a thread gave up its processor to wait.
    voluntary_context_switches: Counts = |counted| own(counted, |own|
        own.voluntary_context_switches),
        live "voluntary_context_switches";
    /// Number of times that a thread was preempted.
    involuntary_context_switches: Counts = |counted| own(counted, |own|
        own.involuntary_context_switches),
        live "involuntary_context_switches";
    /// Number of page faults that needed no device.
    minor_faults: Counts = |counted| own(counted, |own| own.minor_faults), live "minor_faults";
    /// Number of page faults that waited for a device.
    major_faults: Counts = |counted| own(counted, |own| own.major_faults), live "major_faults";
    /// Resident memory, in bytes (`VmRSS` in `/proc/self/status`).
    resident_bytes: States = |counted| counted.resident_bytes.clone(), live "resident_bytes";
}

over_time! {
    /// Counters of one thread of this process.
    ThreadOverTime of ThreadTimes {
        /// Thread identifier in the kernel.
        tid: u32,
        /// Name of the thread, such as `worker 0`.
        name: Fact<String>,
    }
    /// Processor time, in nanoseconds. The time between the last reading and the thread's end is
    /// included in the process's time only.
    cpu_ns: Counts = |thread| thread.cpu_ns.clone(), live "cpu_ns";
    /// Time that the thread was runnable but waited for a processor, in nanoseconds.
    waiting_ns: Counts = |thread| thread.waiting_ns.clone(), live "waiting_ns";
}

over_time! {
    /// Counters of the machine: all processors together, including work of other programs
    /// (proc_stat(5), proc_meminfo(5)).
    #[derive(Default)]
    SystemOverTime of SystemCountersDifference {}
    /// Sum of the processor times in the first line of `/proc/stat`, in nanoseconds: about the
    /// elapsed time multiplied by the number of processors.
    total_ns: Counts = |system| time(system, |times| &times.total_ns), live "machine_total_ns";
    /// Busy time, in nanoseconds: all except idle, iowait and steal.
    busy_ns: Counts = |system| time(system, |times| &times.busy_ns), live "machine_busy_ns";
    /// Time in user mode with normal priority, in nanoseconds.
    user_ns: Counts = |system| time(system, |times| &times.user_ns);
    /// Time in user mode with low priority, in nanoseconds.
    nice_ns: Counts = |system| time(system, |times| &times.nice_ns);
    /// Time in the kernel, in nanoseconds (`system` in proc_stat(5)).
    system_ns: Counts = |system| time(system, |times| &times.system_ns);
    /// Idle time while a task waits for a device, in nanoseconds. The kernel's counter can
    /// decrease; the slice then has no number.
    iowait_ns: Counts = |system| time(system, |times| &times.iowait_ns), live "machine_iowait_ns";
    /// Time in hardware interrupts, in nanoseconds.
    irq_ns: Counts = |system| time(system, |times| &times.irq_ns);
    /// Time in soft interrupts, in nanoseconds.
    softirq_ns: Counts = |system| time(system, |times| &times.softirq_ns);
    /// Time taken by the hypervisor (CPU steal), in nanoseconds.
    steal_ns: Counts = |system| time(system, |times| &times.steal_ns), live "machine_steal_ns";
    /// Number of context switches of all processors (`ctxt` in `/proc/stat`).
    context_switches: Counts = |system| system.context_switches.clone(),
        live "machine_context_switches";
    /// Number of tasks that run or are runnable.
    running_tasks: States = |system| system.running_tasks.clone(), live "running_tasks";
    /// Number of tasks that wait for a device.
    blocked_tasks: States = |system| system.blocked_tasks.clone(), live "blocked_tasks";
    /// Memory that waits to be written to a device, in bytes (`Dirty` in `/proc/meminfo`).
    dirty_bytes: States = |system| system.dirty_bytes.clone(), live "dirty_bytes";
    /// Memory that is being written to a device, in bytes.
    write_back_bytes: States = |system| system.write_back_bytes.clone(), live "write_back_bytes";
}

over_time! {
    /// Counters of one device below the targets, including work of other programs
    /// (Documentation/block/stat.rst).
    DeviceOverTime of DeviceCounters {
        /// Kernel name of the device, such as `sda`.
        name: String,
        /// Relation of the device to the target, such as the device of its file system or of its
        /// journal.
        role: DeviceRole,
    }
    /// Number of reads that the device completed.
    reads: Counts = |device| device.reads.clone(), live "reads";
    /// Number of reads that the block layer merged into other reads before issuing them.
    reads_merged: Counts = |device| device.reads_merged.clone();
    /// Bytes that the completed reads transferred.
    read_bytes: Counts = |device| device.read_bytes.clone(), live "read_bytes";
    /// Sum of the durations of all reads, in milliseconds.
    reading_ms: Counts = |device| device.reading_ms.clone(), live "reading_ms";
    /// Number of writes that the device completed.
    writes: Counts = |device| device.writes.clone(), live "writes";
    /// Number of writes that the block layer merged into other writes before issuing them.
    writes_merged: Counts = |device| device.writes_merged.clone();
    /// Bytes that the completed writes transferred.
    written_bytes: Counts = |device| device.written_bytes.clone(), live "written_bytes";
    /// Sum of the durations of all writes, in milliseconds.
    writing_ms: Counts = |device| device.writing_ms.clone(), live "writing_ms";
    /// Number of discards that the device completed.
    discards: Counts = |device| device.discards.clone();
    /// Bytes in the ranges of the completed discards.
    discarded_bytes: Counts = |device| device.discarded_bytes.clone();
    /// Number of completed flushes of the device's cache.
    flushes: Counts = |device| device.flushes.clone(), live "flushes";
    /// Sum of the durations of all flushes, in milliseconds.
    flushing_ms: Counts = |device| device.flushing_ms.clone(), live "flushing_ms";
    /// Time in which at least one operation was in flight, in milliseconds.
    busy_ms: Counts = |device| device.busy_ms.clone(), live "busy_ms";
    /// Sum of the durations of all operations, in milliseconds.
    queued_ms: Counts = |device| device.queued_ms.clone();
    /// Number of operations that were issued to the device and are not completed.
    in_flight: States = |device| device.in_flight.clone(), live "in_flight";
}

impl ThreadOverTime {
    /// Whether the thread is a worker of the run.
    pub fn is_worker(&self) -> bool {
        let name = self.name.known();
        let number = name.and_then(|name| name.strip_prefix(WORKER_THREAD));
        number.is_some_and(|number| number.parse::<u32>().is_ok())
    }
}
