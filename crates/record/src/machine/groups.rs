//! The groups of columns: which there are, and what each takes of what was counted.

use observe::counters::{DeviceRole, SystemCountersDifference, Threads};
use observe::{CountersDifference, DeviceCounters, Fact, ProcessTimes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::columns::{Column, Counts, States};

/// What the names of threads that are workers begin with; the worker's number follows.
pub const WORKER_THREAD: &str = "worker ";

/// This process: all threads, also those that have ended (getrusage(2)).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProcessOverTime {
    /// Processor time in user mode, in nanoseconds.
    pub user_ns: Counts,
    /// Processor time in the kernel, in nanoseconds.
    pub system_ns: Counts,
    /// Times that a thread gave up its processor to wait.
    pub voluntary_context_switches: Counts,
    /// Times that a thread was taken off its processor.
    pub involuntary_context_switches: Counts,
    /// Page faults that needed no device.
    pub minor_faults: Counts,
    /// Page faults that waited for a device.
    pub major_faults: Counts,
    /// Resident memory, in bytes.
    pub resident_bytes: States,
}

/// One thread of this process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThreadOverTime {
    /// The kernel's number of it.
    pub tid: u32,
    /// Its name.
    pub name: Fact<String>,
    /// Processor time, in nanoseconds. What it used between the last reading and its own end is in the process's time only.
    pub cpu_ns: Counts,
    /// Time that it could have run and waited for a processor, in nanoseconds.
    pub waiting_ns: Counts,
}

impl ThreadOverTime {
    /// Whether it is a worker of the run.
    pub fn is_worker(&self) -> bool {
        let name = self.name.known();
        let number = name.and_then(|name| name.strip_prefix(WORKER_THREAD));
        number.is_some_and(|number| number.parse::<u32>().is_ok())
    }
}

/// The machine: all processors together, everybody's work (proc_stat(5), proc_meminfo(5)).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SystemOverTime {
    /// All columns of the kernel's line added up, in nanoseconds, as the next ones: about the time that passed, times the
    /// processors.
    pub total_ns: Counts,
    /// Used: all but idle, iowait and steal.
    pub busy_ns: Counts,
    /// User mode.
    pub user_ns: Counts,
    /// User mode with low priority.
    pub nice_ns: Counts,
    /// The kernel.
    pub system_ns: Counts,
    /// Nothing to do while a task waits for a device. The kernel may count it backwards; that slice then has none.
    pub iowait_ns: Counts,
    /// Hardware interrupts.
    pub irq_ns: Counts,
    /// Soft interrupts.
    pub softirq_ns: Counts,
    /// Taken away by the hypervisor.
    pub steal_ns: Counts,
    /// Times that a processor changed from one task to another.
    pub context_switches: Counts,
    /// Tasks that run or could run.
    pub running_tasks: States,
    /// Tasks that wait for a device.
    pub blocked_tasks: States,
    /// Memory that is to be written to a device, in bytes.
    pub dirty_bytes: States,
    /// Memory that is being written to a device, in bytes.
    pub write_back_bytes: States,
}

/// One device under the targets, everybody's work (Documentation/block/stat.rst).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeviceOverTime {
    /// The kernel's name of it.
    pub name: String,
    /// Where it stands below the target.
    pub role: DeviceRole,
    /// Reads completed.
    pub reads: Counts,
    /// Reads that were merged into others before.
    pub reads_merged: Counts,
    /// Bytes read.
    pub read_bytes: Counts,
    /// Time of all reads, summed, in milliseconds.
    pub reading_ms: Counts,
    /// Writes completed.
    pub writes: Counts,
    /// Writes that were merged into others before.
    pub writes_merged: Counts,
    /// Bytes written.
    pub written_bytes: Counts,
    /// Time of all writes, summed, in milliseconds.
    pub writing_ms: Counts,
    /// Discards completed.
    pub discards: Counts,
    /// Bytes discarded.
    pub discarded_bytes: Counts,
    /// Flushes of the device's cache completed.
    pub flushes: Counts,
    /// Time of all flushes, summed, in milliseconds.
    pub flushing_ms: Counts,
    /// Time in which the device had at least one operation, in milliseconds.
    pub busy_ms: Counts,
    /// Time of all operations, summed, in milliseconds.
    pub queued_ms: Counts,
    /// Operations that the device has.
    pub in_flight: States,
}

/// Is given the columns of a group, one after the other, each with what was counted for it.
pub(super) type Visit<'a> = dyn FnMut(&'static str, &mut dyn Column, Fact<u64>) + 'a;

/// What is not there is not applicable: nobody looks at it.
fn part<'a, T, U>(of: Option<&'a T>, part: impl FnOnce(&'a T) -> Fact<U>) -> Fact<U> {
    of.map_or(Fact::NotApplicable, part)
}

impl ProcessOverTime {
    pub(super) fn each(&mut self, counted: Option<&CountersDifference>, visit: &mut Visit<'_>) {
        let count = |value: fn(&ProcessTimes) -> u64| part(counted, |counted| counted.process.as_ref().map(value));
        visit("user_ns", &mut self.user_ns, count(|process| process.user_ns));
        visit("system_ns", &mut self.system_ns, count(|process| process.system_ns));
        visit(
            "voluntary_context_switches",
            &mut self.voluntary_context_switches,
            count(|process| process.voluntary_context_switches),
        );
        visit(
            "involuntary_context_switches",
            &mut self.involuntary_context_switches,
            count(|process| process.involuntary_context_switches),
        );
        visit(
            "minor_faults",
            &mut self.minor_faults,
            count(|process| process.minor_faults),
        );
        visit(
            "major_faults",
            &mut self.major_faults,
            count(|process| process.major_faults),
        );
        let resident_bytes = part(counted, |counted| counted.resident_bytes.clone());
        visit("resident_bytes", &mut self.resident_bytes, resident_bytes);
    }
}

impl ThreadOverTime {
    pub(super) fn each(&mut self, threads: Option<&Fact<Threads>>, visit: &mut Visit<'_>) {
        let tid = self.tid;
        let found = part(threads, |threads| {
            threads.as_ref().and_then(|threads| {
                let found = threads.each.binary_search_by_key(&tid, |thread| thread.tid);
                match found {
                    Ok(index) => Fact::Known(&threads.each[index]),
                    Err(_) => Fact::Unavailable("the thread had ended".to_owned()),
                }
            })
        });
        visit(
            "cpu_ns",
            &mut self.cpu_ns,
            found.as_ref().and_then(|thread| thread.cpu_ns.clone()),
        );
        visit(
            "waiting_ns",
            &mut self.waiting_ns,
            found.and_then(|thread| thread.waiting_ns.clone()),
        );
    }
}

impl SystemOverTime {
    pub(super) fn each(&mut self, counted: Option<&SystemCountersDifference>, visit: &mut Visit<'_>) {
        let time = |value: fn(&observe::SystemTimesSpent) -> &Fact<u64>| {
            part(counted, |system| {
                system.times.as_ref().and_then(|times| value(times).clone())
            })
        };
        let number = |value: fn(&SystemCountersDifference) -> &Fact<u64>| part(counted, |system| value(system).clone());
        visit("total_ns", &mut self.total_ns, time(|times| &times.total_ns));
        visit("busy_ns", &mut self.busy_ns, time(|times| &times.busy_ns));
        visit("user_ns", &mut self.user_ns, time(|times| &times.user_ns));
        visit("nice_ns", &mut self.nice_ns, time(|times| &times.nice_ns));
        visit("system_ns", &mut self.system_ns, time(|times| &times.system_ns));
        visit("iowait_ns", &mut self.iowait_ns, time(|times| &times.iowait_ns));
        visit("irq_ns", &mut self.irq_ns, time(|times| &times.irq_ns));
        visit("softirq_ns", &mut self.softirq_ns, time(|times| &times.softirq_ns));
        visit("steal_ns", &mut self.steal_ns, time(|times| &times.steal_ns));
        visit(
            "context_switches",
            &mut self.context_switches,
            number(|system| &system.context_switches),
        );
        visit(
            "running_tasks",
            &mut self.running_tasks,
            number(|system| &system.running_tasks),
        );
        visit(
            "blocked_tasks",
            &mut self.blocked_tasks,
            number(|system| &system.blocked_tasks),
        );
        visit(
            "dirty_bytes",
            &mut self.dirty_bytes,
            number(|system| &system.dirty_bytes),
        );
        visit(
            "write_back_bytes",
            &mut self.write_back_bytes,
            number(|system| &system.write_back_bytes),
        );
    }
}

impl DeviceOverTime {
    pub(super) fn new(name: &str, role: DeviceRole) -> Self {
        let none = Counts::default;
        Self {
            name: name.to_owned(),
            role,
            reads: none(),
            reads_merged: none(),
            read_bytes: none(),
            reading_ms: none(),
            writes: none(),
            writes_merged: none(),
            written_bytes: none(),
            writing_ms: none(),
            discards: none(),
            discarded_bytes: none(),
            flushes: none(),
            flushing_ms: none(),
            busy_ms: none(),
            queued_ms: none(),
            in_flight: States::default(),
        }
    }

    pub(super) fn each(&mut self, counted: Option<&CountersDifference>, visit: &mut Visit<'_>) {
        let name = &self.name;
        let counters = part(counted, |counted| {
            counted.devices.as_ref().and_then(|devices| {
                let found = devices.iter().find(|device| device.name == *name);
                found.map_or_else(
                    || Fact::Unavailable("the device was not read".to_owned()),
                    |device| device.counters.as_ref(),
                )
            })
        });
        let count =
            |value: fn(&DeviceCounters) -> &Fact<u64>| counters.clone().and_then(|counters| value(counters).clone());
        visit("reads", &mut self.reads, count(|counters| &counters.reads));
        visit(
            "reads_merged",
            &mut self.reads_merged,
            count(|counters| &counters.reads_merged),
        );
        visit(
            "read_bytes",
            &mut self.read_bytes,
            count(|counters| &counters.read_bytes),
        );
        visit(
            "reading_ms",
            &mut self.reading_ms,
            count(|counters| &counters.reading_ms),
        );
        visit("writes", &mut self.writes, count(|counters| &counters.writes));
        visit(
            "writes_merged",
            &mut self.writes_merged,
            count(|counters| &counters.writes_merged),
        );
        visit(
            "written_bytes",
            &mut self.written_bytes,
            count(|counters| &counters.written_bytes),
        );
        visit(
            "writing_ms",
            &mut self.writing_ms,
            count(|counters| &counters.writing_ms),
        );
        visit("discards", &mut self.discards, count(|counters| &counters.discards));
        visit(
            "discarded_bytes",
            &mut self.discarded_bytes,
            count(|counters| &counters.discarded_bytes),
        );
        visit("flushes", &mut self.flushes, count(|counters| &counters.flushes));
        visit(
            "flushing_ms",
            &mut self.flushing_ms,
            count(|counters| &counters.flushing_ms),
        );
        visit("busy_ms", &mut self.busy_ms, count(|counters| &counters.busy_ms));
        visit("queued_ms", &mut self.queued_ms, count(|counters| &counters.queued_ms));
        visit("in_flight", &mut self.in_flight, count(|counters| &counters.in_flight));
    }
}
