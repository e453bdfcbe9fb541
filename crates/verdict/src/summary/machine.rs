//! What the machine did in a phase: the columns of a [`MachineOverTime`] over the time that was
//! measured.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use system::counters::DeviceRole;

use super::rate::Rate;
use record::machine::{Counts, DeviceOverTime, MachineOverTime, ThreadOverTime};

/// The machine in a phase. Processor time is in processors: 1 is one of them all the time. Nothing
/// stands where a number is not known; the record says why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MachineSummary {
    /// The time that it is of, in nanoseconds: the slices of which more than half was measured.
    pub ns: u64,
    /// This program in user mode.
    pub user: Option<f64>,
    /// This program in the kernel.
    pub system: Option<f64>,
    /// Its workers; nothing where their time is not known.
    pub workers: Option<WorkersCpu>,
    /// Its other threads, those that have ended too.
    pub other_threads: Option<f64>,
    /// Everybody else: what all processors were busy with, without this program. Threads of the
    /// kernel are among them, also where they work for this program.
    pub others: Option<f64>,
    /// Taken away by the hypervisor.
    pub steal: Option<f64>,
    /// All that there was: the processors.
    pub processors: Option<f64>,
    /// Times a second that a thread of this program gave up its processor to wait.
    pub voluntary_context_switches_per_second: Option<f64>,
    /// Times a second that one was taken off its processor.
    pub involuntary_context_switches_per_second: Option<f64>,
    /// Times a second that a processor of the machine changed from one task to another.
    pub context_switches_per_second: Option<f64>,
    /// This program's page faults a second that needed no device.
    pub minor_faults_per_second: Option<f64>,
    /// Those that waited for one.
    pub major_faults_per_second: Option<f64>,
    /// The most memory of this program that was resident at a reading, in bytes.
    pub resident_max_bytes: Option<u64>,
    /// The most memory of the machine that was to be written at a reading, in bytes.
    pub dirty_max_bytes: Option<u64>,
    /// The most that was being written at a reading, in bytes.
    pub write_back_max_bytes: Option<u64>,
    /// The devices under the targets; nothing where they are not known.
    pub devices: Vec<DeviceSummary>,
}

/// Processor time of the workers, in processors.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkersCpu {
    /// Workers whose time is known.
    pub count: u64,
    /// All of them together.
    pub sum: f64,
    /// The one with the least.
    pub min: f64,
    /// The one with the most.
    pub max: f64,
    /// The most that one of them could have run and waited for a processor; nothing where that is
    /// not known.
    pub waiting_max: Option<f64>,
}

/// One device in a phase. What it did for others is in it, too. Nothing stands where the kernel
/// does not count something, a mean is one of no operations, or nothing was done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceSummary {
    /// The kernel's name of it.
    pub name: String,
    /// Where it stands below the target.
    pub role: DeviceRole,
    /// Reads completed.
    pub reads: Option<Rate>,
    /// Bytes read.
    pub read_bytes: Option<Rate>,
    /// Writes completed.
    pub writes: Option<Rate>,
    /// Bytes written.
    pub written_bytes: Option<Rate>,
    /// Flushes of its cache completed.
    pub flushes: Option<Rate>,
    /// The share of the time in which it had at least one operation, from 0 to 1.
    pub busy_fraction: Option<f64>,
    /// Mean time of a read, in milliseconds; nothing where there was none.
    pub mean_read_ms: Option<f64>,
    /// Mean time of a write, in milliseconds.
    pub mean_write_ms: Option<f64>,
    /// Mean time of a flush, in milliseconds.
    pub mean_flush_ms: Option<f64>,
    /// The most operations that it had at a reading.
    pub in_flight_max: Option<u64>,
    /// Reads for each thing done: a transaction, or a file in `prepare` and `delete`. Nothing
    /// where nothing was done.
    pub reads_per_done: Option<f64>,
    /// Writes for each thing done.
    pub writes_per_done: Option<f64>,
    /// Bytes written for each thing done.
    pub written_bytes_per_done: Option<f64>,
    /// Flushes for each thing done.
    pub flushes_per_done: Option<f64>,
}

/// Over the time that was measured, in which so much was done. Nothing where nothing was counted in
/// it.
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
        // Slices do not end where the measured time does: rates are held against one another.
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
        // The times are read one after the other, and the machine's in ticks: less than nothing is
        // none.
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

/// What numbers are of.
struct Of {
    slices: Range<usize>,
    ns: u64,
    done_per_ns: f64,
}

impl Of {
    /// Nanoseconds, a nanosecond.
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

    /// Milliseconds, for each of these.
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
        Some(WorkersCpu {
            count: used.len() as u64,
            sum: used.iter().sum(),
            min: least,
            max: used.iter().copied().fold(least, f64::max),
            waiting_max: workers()
                .filter_map(|thread| self.share(&thread.waiting_ns))
                .reduce(f64::max),
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
            // About so, and whole milliseconds.
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
