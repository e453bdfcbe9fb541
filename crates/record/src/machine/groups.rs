//! The groups of columns: which there are, and what each takes of what was counted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use system::counters::{DeviceRole, SystemCountersDifference, ThreadTimes};
use system::{CountersDifference, DeviceCounters, Fact, ProcessTimes, SystemTimesSpent};

use super::columns::{Column, Counts, States};

/// What the names of threads that are workers begin with; the worker's number follows.
pub const WORKER_THREAD: &str = "worker ";

/// Is given the columns of a group, one after the other, each with what was counted for it.
pub(super) type Visit<'a> = dyn FnMut(&'static str, &mut dyn Column, Fact<u64>) + 'a;

/// A group with its columns. Each is stated once: what it is, its number in what was counted, and
/// its name in the lines of `--live` where it is in them; docs/specification.md has a table of all.
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
            /// Without slices.
            pub(super) fn new($($fixed: $fixed_type),*) -> Self {
                Self { $($fixed,)* $($column: $kind::default(),)* }
            }

            pub(super) fn each(&mut self, counted: &Fact<&$counted>, visit: &mut Visit<'_>) {
                $(visit(stringify!($column), &mut self.$column, of(counted, $number));)*
            }

            /// The numbers that lines of `--live` have, by their names there.
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
    /// This process: all threads, also those that have ended (getrusage(2)).
    #[derive(Default)]
    ProcessOverTime of CountersDifference {}
    /// Processor time in user mode, in nanoseconds.
    user_ns: Counts = |counted| own(counted, |own| own.user_ns), live "cpu_user_ns";
    /// Processor time in the kernel, in nanoseconds.
    system_ns: Counts = |counted| own(counted, |own| own.system_ns), live "cpu_system_ns";
    /// Times that a thread gave up its processor to wait.
    voluntary_context_switches: Counts = |counted| own(counted, |own|
        own.voluntary_context_switches),
        live "voluntary_context_switches";
    /// Times that a thread was taken off its processor.
    involuntary_context_switches: Counts = |counted| own(counted, |own|
        own.involuntary_context_switches),
        live "involuntary_context_switches";
    /// Page faults that needed no device.
    minor_faults: Counts = |counted| own(counted, |own| own.minor_faults), live "minor_faults";
    /// Page faults that waited for a device.
    major_faults: Counts = |counted| own(counted, |own| own.major_faults), live "major_faults";
    /// Resident memory, in bytes.
    resident_bytes: States = |counted| counted.resident_bytes.clone(), live "resident_bytes";
}

over_time! {
    /// One thread of this process.
    ThreadOverTime of ThreadTimes {
        /// The kernel's number of it.
        tid: u32,
        /// Its name.
        name: Fact<String>,
    }
    /// Processor time, in nanoseconds. What it used between the last reading and its own end is in
    /// the process's time only.
    cpu_ns: Counts = |thread| thread.cpu_ns.clone(), live "cpu_ns";
    /// Time that it could have run and waited for a processor, in nanoseconds.
    waiting_ns: Counts = |thread| thread.waiting_ns.clone(), live "waiting_ns";
}

over_time! {
    /// The machine: all processors together, everybody's work (proc_stat(5), proc_meminfo(5)).
    #[derive(Default)]
    SystemOverTime of SystemCountersDifference {}
    /// All columns of the kernel's line added up, in nanoseconds, as the next ones: about the time
    /// that passed, times the processors.
    total_ns: Counts = |system| time(system, |times| &times.total_ns), live "machine_total_ns";
    /// Used: all but idle, iowait and steal.
    busy_ns: Counts = |system| time(system, |times| &times.busy_ns), live "machine_busy_ns";
    /// User mode.
    user_ns: Counts = |system| time(system, |times| &times.user_ns);
    /// User mode with low priority.
    nice_ns: Counts = |system| time(system, |times| &times.nice_ns);
    /// The kernel.
    system_ns: Counts = |system| time(system, |times| &times.system_ns);
    /// Nothing to do while a task waits for a device. The kernel may count it backwards; that slice
    /// then has none.
    iowait_ns: Counts = |system| time(system, |times| &times.iowait_ns), live "machine_iowait_ns";
    /// Hardware interrupts.
    irq_ns: Counts = |system| time(system, |times| &times.irq_ns);
    /// Soft interrupts.
    softirq_ns: Counts = |system| time(system, |times| &times.softirq_ns);
    /// Taken away by the hypervisor.
    steal_ns: Counts = |system| time(system, |times| &times.steal_ns), live "machine_steal_ns";
    /// Times that a processor changed from one task to another.
    context_switches: Counts = |system| system.context_switches.clone(),
        live "machine_context_switches";
    /// Tasks that run or could run.
    running_tasks: States = |system| system.running_tasks.clone(), live "running_tasks";
    /// Tasks that wait for a device.
    blocked_tasks: States = |system| system.blocked_tasks.clone(), live "blocked_tasks";
    /// Memory that is to be written to a device, in bytes.
    dirty_bytes: States = |system| system.dirty_bytes.clone(), live "dirty_bytes";
    /// Memory that is being written to a device, in bytes.
    write_back_bytes: States = |system| system.write_back_bytes.clone(), live "write_back_bytes";
}

over_time! {
    /// One device under the targets, everybody's work (Documentation/block/stat.rst).
    DeviceOverTime of DeviceCounters {
        /// The kernel's name of it.
        name: String,
        /// Where it stands below the target.
        role: DeviceRole,
    }
    /// Reads completed.
    reads: Counts = |device| device.reads.clone(), live "reads";
    /// Reads that were merged into others before.
    reads_merged: Counts = |device| device.reads_merged.clone();
    /// Bytes read.
    read_bytes: Counts = |device| device.read_bytes.clone(), live "read_bytes";
    /// Time of all reads, summed, in milliseconds.
    reading_ms: Counts = |device| device.reading_ms.clone(), live "reading_ms";
    /// Writes completed.
    writes: Counts = |device| device.writes.clone(), live "writes";
    /// Writes that were merged into others before.
    writes_merged: Counts = |device| device.writes_merged.clone();
    /// Bytes written.
    written_bytes: Counts = |device| device.written_bytes.clone(), live "written_bytes";
    /// Time of all writes, summed, in milliseconds.
    writing_ms: Counts = |device| device.writing_ms.clone(), live "writing_ms";
    /// Discards completed.
    discards: Counts = |device| device.discards.clone();
    /// Bytes discarded.
    discarded_bytes: Counts = |device| device.discarded_bytes.clone();
    /// Flushes of the device's cache completed.
    flushes: Counts = |device| device.flushes.clone(), live "flushes";
    /// Time of all flushes, summed, in milliseconds.
    flushing_ms: Counts = |device| device.flushing_ms.clone(), live "flushing_ms";
    /// Time in which the device had at least one operation, in milliseconds.
    busy_ms: Counts = |device| device.busy_ms.clone(), live "busy_ms";
    /// Time of all operations, summed, in milliseconds.
    queued_ms: Counts = |device| device.queued_ms.clone();
    /// Operations that the device has.
    in_flight: States = |device| device.in_flight.clone(), live "in_flight";
}

impl ThreadOverTime {
    /// Whether it is a worker of the run.
    pub fn is_worker(&self) -> bool {
        let name = self.name.known();
        let number = name.and_then(|name| name.strip_prefix(WORKER_THREAD));
        number.is_some_and(|number| number.parse::<u32>().is_ok())
    }
}
