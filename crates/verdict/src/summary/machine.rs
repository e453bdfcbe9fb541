//! Activity of the machine in a phase: the columns of a [`MachineOverTime`], each summarized over
//! the measured time.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use system::counters::DeviceRole;

use super::rate::Rate;
use record::machine::{Counts, DeviceOverTime, MachineOverTime, ThreadOverTime};

/// Activity of the machine in a phase. Processor time is stated as a number of processors: 1 means
/// one processor for the whole time. A number is null if it is not known; the record contains the
/// reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MachineSummary {
    /// Total duration of the intervals that the numbers include, in nanoseconds. These are all
    /// intervals of which more than half was measured.
    pub ns: u64,
    /// Processor time of this program in user mode.
    pub user: Option<f64>,
    /// Processor time of this program in the kernel.
    pub system: Option<f64>,
    /// Processor time of the workers; null if this time is not known.
    pub workers: Option<WorkersCpu>,
    /// Processor time of the program's other threads, including threads that have ended.
    pub other_threads: Option<f64>,
    /// Processor time of everything else: the busy time of all processors minus this program's
    /// time. It includes all kernel threads, even those that work for this program.
    pub others: Option<f64>,
    /// Processor time that the hypervisor took (CPU steal).
    pub steal: Option<f64>,
    /// Processor time that the machine offered: the number of its processors.
    pub processors: Option<f64>,
    /// Voluntary context switches a second: a thread of this program gave up its processor to wait.
    pub voluntary_context_switches_per_second: Option<f64>,
    /// Involuntary context switches a second: a thread of this program was taken off its processor.
    pub involuntary_context_switches_per_second: Option<f64>,
    /// Context switches of the whole machine, per second.
    pub context_switches_per_second: Option<f64>,
    /// Page faults of this program that needed no device, per second.
    pub minor_faults_per_second: Option<f64>,
    /// Page faults of this program that waited for a device, per second.
    pub major_faults_per_second: Option<f64>,
    /// Maximum, over all readings, of this program's resident memory, in bytes.
    pub resident_max_bytes: Option<u64>,
    /// Maximum, over all readings, of the machine's memory that waited for write-back, in bytes.
    pub dirty_max_bytes: Option<u64>,
    /// Maximum, over all readings, of the machine's memory that was under write-back, in bytes.
    pub write_back_max_bytes: Option<u64>,
    /// The devices below the targets; empty if these devices are not known.
    pub devices: Vec<DeviceSummary>,
}

/// Processor time of the workers, as a number of processors: 1 means one processor for the whole
/// time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkersCpu {
    /// Number of workers whose time is known.
    pub count: u64,
    /// Sum of the processor time of these workers.
    pub sum: f64,
    /// Lowest processor time of a worker; 1 means that this worker ran all the time.
    pub min: f64,
    /// Highest processor time of a worker; 1 means that this worker ran all the time.
    pub max: f64,
    /// Sum of the time for which these workers were ready to run and waited for a processor; absent
    /// if this time is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<f64>,
    /// Maximum share of the time for which a worker was ready to run and waited for a processor;
    /// null if this time is not known.
    pub waiting_max: Option<f64>,
}

/// Activity of one device in a phase, including work for other programs. A number is null if the
/// kernel does not count it. A mean is also null without operations. A number for each transaction
/// or file is also null if no transaction or file was completed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceSummary {
    /// The kernel's name of the device, such as `sda`.
    pub name: String,
    /// Relation of the device to the target, such as the device of its file system or of its
    /// journal.
    pub role: DeviceRole,
    /// Completed reads, and their number a second.
    pub reads: Option<Rate>,
    /// Bytes that the device read, and their number a second.
    pub read_bytes: Option<Rate>,
    /// Completed writes, and their number a second.
    pub writes: Option<Rate>,
    /// Bytes that the device wrote, and their number a second.
    pub written_bytes: Option<Rate>,
    /// Completed flushes of the device's cache, and their number a second.
    pub flushes: Option<Rate>,
    /// Share of the time in which the device had at least one operation in flight, from 0 to 1.
    pub busy_fraction: Option<f64>,
    /// Mean time from a read request to its completion, in milliseconds. It includes the wait in
    /// the kernel's queue.
    pub mean_read_ms: Option<f64>,
    /// Mean time from a write request to its completion, in milliseconds. It includes the wait in
    /// the kernel's queue.
    pub mean_write_ms: Option<f64>,
    /// Mean time of a flush, in milliseconds; null before Linux 5.5.
    pub mean_flush_ms: Option<f64>,
    /// Maximum number of operations in flight at a reading.
    pub in_flight_max: Option<u64>,
    /// Reads for each transaction, or for each file in `prepare` and `delete`.
    pub reads_per_done: Option<f64>,
    /// Writes for each transaction or file.
    pub writes_per_done: Option<f64>,
    /// Bytes written for each transaction or file.
    pub written_bytes_per_done: Option<f64>,
    /// Flushes for each transaction or file.
    pub flushes_per_done: Option<f64>,
}

/// Summarizes the activity in the measured time, in which `done` transactions or files were
/// completed. `None` if no interval is in the measured time.
pub(super) fn summary(
    machine: &MachineOverTime,
    measured: Range<u64>,
    done: u64,
) -> Option<MachineSummary> {
    let slices = machine.slices_of(&measured);
    let ns = machine.ns_of(&slices);
    if ns == 0 {
        return None;
    }
    let of = Of {
        slices,
        ns,
        // The counters are sums over whole intervals. The measured time may end within an interval.
        // So numbers for each transaction are computed from rates, not from counts.
        done_per_ns: done as f64 / (measured.end - measured.start).max(1) as f64,
    };
    let (process, system) = (&machine.process, &machine.system);
    let (user, system_mode) = (of.share(&process.user_ns), of.share(&process.system_ns));
    let own = user.zip(system_mode).map(|(user, system)| user + system);
    let busy = of.share(&system.busy_ns);
    let workers = machine
        .threads
        .known()
        .and_then(|threads| of.workers(threads));
    let devices = machine.devices.known().into_iter().flatten();
    Some(MachineSummary {
        ns,
        user,
        system: system_mode,
        workers,
        // Processor times are read one after the other, and those of the machine are in ticks, so
        // the differences may be slightly negative.
        other_threads: own
            .zip(workers)
            .map(|(own, workers)| (own - workers.sum).max(0.0)),
        others: busy.zip(own).map(|(busy, own)| (busy - own).max(0.0)),
        steal: of.share(&system.steal_ns),
        processors: of.share(&system.total_ns),
        voluntary_context_switches_per_second: of.per_second(&process.voluntary_context_switches),
        involuntary_context_switches_per_second: of
            .per_second(&process.involuntary_context_switches),
        context_switches_per_second: of.per_second(&system.context_switches),
        minor_faults_per_second: of.per_second(&process.minor_faults),
        major_faults_per_second: of.per_second(&process.major_faults),
        resident_max_bytes: process.resident_bytes.greatest(&of.slices),
        dirty_max_bytes: system.dirty_bytes.greatest(&of.slices),
        write_back_max_bytes: system.write_back_bytes.greatest(&of.slices),
        devices: devices.map(|device| of.device(device)).collect(),
    })
}

/// The intervals that the numbers include, their total duration, and the rate of completed work.
struct Of {
    slices: Range<usize>,
    ns: u64,
    done_per_ns: f64,
}

impl Of {
    /// Returns the sum of a column in nanoseconds, divided by the total duration of the intervals.
    fn share(&self, ns: &Counts) -> Option<f64> {
        ns.sum(&self.slices).map(|sum| sum as f64 / self.ns as f64)
    }

    fn rate(&self, counts: &Counts) -> Option<Rate> {
        counts.sum(&self.slices).map(|sum| Rate::over(sum, self.ns))
    }

    fn per_second(&self, counts: &Counts) -> Option<f64> {
        self.rate(counts).and_then(|rate| rate.per_second)
    }

    fn per_done(&self, counts: &Counts) -> Option<f64> {
        let sum = counts.sum(&self.slices)?;
        (self.done_per_ns > 0.0).then(|| sum as f64 / self.ns as f64 / self.done_per_ns)
    }

    fn mean(&self, ms: &Counts, of: &Counts) -> Option<f64> {
        let (ms, of) = (ms.sum(&self.slices)?, of.sum(&self.slices)?);
        (of > 0).then(|| ms as f64 / of as f64)
    }

    fn workers(&self, threads: &[ThreadOverTime]) -> Option<WorkersCpu> {
        let workers = || threads.iter().filter(|thread| thread.is_worker());
        let used: Vec<f64> = workers()
            .filter_map(|thread| self.share(&thread.cpu_ns))
            .collect();
        let least = used.iter().copied().reduce(f64::min)?;
        let waiting: Vec<f64> = workers()
            .filter_map(|thread| self.share(&thread.waiting_ns))
            .collect();
        Some(WorkersCpu {
            count: used.len() as u64,
            sum: used.iter().sum(),
            min: least,
            max: used.iter().copied().fold(least, f64::max),
            waiting: (waiting.len() == used.len()).then(|| waiting.iter().sum()),
            waiting_max: waiting.iter().copied().reduce(f64::max),
        })
    }

    fn device(&self, device: &DeviceOverTime) -> DeviceSummary {
        DeviceSummary {
            name: device.name.clone(),
            role: device.role,
            reads: self.rate(&device.reads),
            read_bytes: self.rate(&device.read_bytes),
            writes: self.rate(&device.writes),
            written_bytes: self.rate(&device.written_bytes),
            flushes: self.rate(&device.flushes),
            // The kernel's busy time is an approximation in whole milliseconds, so the share may
            // exceed 1.
            busy_fraction: self
                .share(&device.busy_ms)
                .map(|share| (share * 1e6).min(1.0)),
            mean_read_ms: self.mean(&device.reading_ms, &device.reads),
            mean_write_ms: self.mean(&device.writing_ms, &device.writes),
            mean_flush_ms: self.mean(&device.flushing_ms, &device.flushes),
            in_flight_max: device.in_flight.greatest(&self.slices),
            reads_per_done: self.per_done(&device.reads),
            writes_per_done: self.per_done(&device.writes),
            written_bytes_per_done: self.per_done(&device.written_bytes),
            flushes_per_done: self.per_done(&device.flushes),
        }
    }
}
