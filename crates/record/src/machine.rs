//! What the kernel counted over the time of a phase, slice by slice: of this process and its threads, of the machine, and
//! of the devices under the targets.
//!
//! It reads nothing, computes no rate and judges nothing; [`crate::summary::MachineSummary`] has what follows from it.
//!
//! How it works: counters are read at the phase's beginning, at the end of each second, and at its end. What was counted
//! between two readings is a slice. Names are written once, numbers as columns with a number for each slice. Where there
//! would be more than [`SLICES_MAX`] slices, the width doubles as that of [`measure::Slices`] does, and what then lies in
//! one slice is merged: counters are added, states keep their greatest value and their last one. So a long phase has wider
//! slices, and nothing is lost.
//!
//! What is not known is nothing, never 0, with the reason in `unknown`, once for each column. A count that could not be read
//! at the end of a slice is in the next slice that has one.

use std::fmt;
use std::ops::Range;

use measure::{SLICE_NS, SLICES_MAX};
use observe::counters::{DeviceRole, SystemCountersDifference, Threads};
use observe::{Counters, CountersDifference, DeviceCounters, Fact, ProcessTimes};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

mod columns;

use columns::Column;
pub use columns::{Counts, States};

/// What the names of threads that are workers begin with; the worker's number follows.
pub const WORKER_THREAD: &str = "worker ";

/// What was counted between two readings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineSlice {
    /// Its number: the second of the phase, from 0, at whose end (or, the last one, in which) the later reading was. A
    /// reading that was late leaves numbers out, and its slice is longer.
    pub index: u64,
    /// The earlier reading, in nanoseconds since the origin.
    pub began_ns: u64,
    /// The later one.
    pub ended_ns: u64,
    /// The difference of the two.
    pub counted: CountersDifference,
}

/// See the module's text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct MachineOverTime {
    /// How wide a slice is meant to be, in nanoseconds. How long it was is between the readings' moments.
    pub width_ns: u64,
    /// The first reading, in nanoseconds since the origin.
    pub began_ns: u64,
    /// By slice, its number: how often the width lies between the phase's beginning and it.
    pub index: Vec<u64>,
    /// By slice, the reading at its end, in nanoseconds since the origin; the one at its beginning is that before.
    pub ended_ns: Vec<u64>,
    /// This process.
    pub process: ProcessOverTime,
    /// Those of its threads that there were at the beginning and at the end of the first slice, by ascending number: the
    /// workers are among them. What others used is in the process's time.
    pub threads: Fact<Vec<ThreadOverTime>>,
    /// The machine.
    pub system: SystemOverTime,
    /// The devices under the targets. Not applicable where there are none.
    pub devices: Fact<Vec<DeviceOverTime>>,
    /// Why numbers are missing.
    pub unknown: Vec<Unknown>,
}

/// This process: all threads, also those that have ended (getrusage(2)).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

/// Why numbers are missing: for each column the first reason that there was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unknown {
    /// What was read, and what was wrong.
    pub why: String,
    /// The columns, such as `system.steal_ns` or `devices.loop0.flushes`; threads by their number.
    pub columns: Vec<String>,
}

/// A column's place in a record.
#[derive(Clone, Copy)]
struct Place<'a> {
    group: &'static str,
    of: Option<&'a dyn fmt::Display>,
    column: &'static str,
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.of {
            Some(of) => write!(f, "{}.{of}.{}", self.group, self.column),
            None => write!(f, "{}.{}", self.group, self.column),
        }
    }
}

/// Is given the columns of a group, one after the other, each with what was counted for it.
type Visit<'a> = dyn FnMut(&'static str, &mut dyn Column, Fact<u64>) + 'a;

impl MachineOverTime {
    /// Nothing yet, from a first reading on: its threads and devices are those that are told apart.
    pub fn new(began_ns: u64, first: &Counters) -> Self {
        Self {
            width_ns: SLICE_NS,
            began_ns,
            index: Vec::new(),
            ended_ns: Vec::new(),
            process: ProcessOverTime::default(),
            threads: first.threads.as_ref().map(|threads| {
                let thread = |thread: &observe::counters::ThreadTimes| ThreadOverTime {
                    tid: thread.tid,
                    name: thread.name.clone(),
                    cpu_ns: Counts::default(),
                    waiting_ns: Counts::default(),
                };
                threads.each.iter().map(thread).collect()
            }),
            system: SystemOverTime::default(),
            devices: first.devices.as_ref().map(|devices| {
                let devices = devices.iter();
                devices
                    .map(|device| DeviceOverTime::new(&device.name, device.role))
                    .collect()
            }),
            unknown: Vec::new(),
        }
    }

    /// Takes what was counted next. Slices come in order; one whose number is not above the last one's goes in with that.
    pub fn add(&mut self, slice: &MachineSlice) {
        if self.is_empty() {
            self.forget_the_gone(&slice.counted.threads);
        }
        let second = slice.index.min(u64::MAX / SLICE_NS);
        while second / self.seconds_wide() >= SLICES_MAX as u64 {
            self.double();
        }
        let index = second / self.seconds_wide();
        let is_new = self.index.last().is_none_or(|last| *last < index);
        if is_new {
            self.index.push(index);
            self.ended_ns.push(slice.ended_ns);
        } else if let Some(ended_ns) = self.ended_ns.last_mut() {
            *ended_ns = slice.ended_ns;
        }
        let mut unknown = std::mem::take(&mut self.unknown);
        self.each(Some(&slice.counted), &mut |place, column, value| {
            column.put(is_new, value.known().copied());
            match value {
                Fact::Known(_) => {}
                Fact::NotApplicable => note(&mut unknown, place, "there is no such thing here"),
                Fact::Unavailable(why) => note(&mut unknown, place, &why),
            }
        });
        self.unknown = unknown;
    }

    /// Threads that were about to end at the first reading are none of the phase's.
    fn forget_the_gone(&mut self, now: &Fact<Threads>) {
        if let (Fact::Known(threads), Fact::Known(now)) = (&mut self.threads, now) {
            threads.retain(|thread| now.each.iter().any(|now| now.tid == thread.tid));
        }
    }

    /// How many slices there are.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// From which moment to which each slice was, in nanoseconds since the origin.
    pub fn spans(&self) -> impl Iterator<Item = Range<u64>> {
        let began = std::iter::once(&self.began_ns).chain(&self.ended_ns);
        began.zip(&self.ended_ns).map(|(began, ended)| *began..*ended)
    }

    /// The slices of a stretch of time, in nanoseconds since the origin: those of which more than half lies in it; where there
    /// is no such one, those of which anything does.
    pub fn slices_of(&self, time: &Range<u64>) -> Range<usize> {
        let inside = |span: &Range<u64>| span.end.min(time.end).saturating_sub(span.start.max(time.start));
        let more_than_half = |span: &Range<u64>| inside(span) > (span.end - span.start.min(span.end)) / 2;
        let chosen = self.chosen(more_than_half);
        if chosen.is_empty() {
            self.chosen(|span| inside(span) > 0)
        } else {
            chosen
        }
    }

    fn chosen(&self, is_chosen: impl Fn(&Range<u64>) -> bool) -> Range<usize> {
        let spans: Vec<bool> = self.spans().map(|span| is_chosen(&span)).collect();
        let first = spans.iter().position(|chosen| *chosen);
        let last = spans.iter().rposition(|chosen| *chosen);
        match (first, last) {
            (Some(first), Some(last)) => first..last + 1,
            _ => 0..0,
        }
    }

    fn seconds_wide(&self) -> u64 {
        (self.width_ns / SLICE_NS).max(1)
    }

    /// Merges what lies in one slice of twice the width.
    fn double(&mut self) {
        let wider = |index: &u64| index / 2;
        let mut before = None;
        let begins: Vec<bool> = self
            .index
            .iter()
            .map(|index| before.replace(wider(index)) != Some(wider(index)))
            .collect();
        let last_of_each = begins.iter().skip(1).chain([&true]);
        let ended_ns = self.ended_ns.iter().zip(last_of_each);
        self.ended_ns = ended_ns
            .filter(|(_, is_last)| **is_last)
            .map(|(ended_ns, _)| *ended_ns)
            .collect();
        self.index = self.index.iter().map(wider).collect();
        self.index.dedup();
        self.each(None, &mut |_, column, _| column.merge(&begins));
        self.width_ns = self.width_ns.saturating_mul(2);
    }

    /// Gives every column, always in the same order, with what was counted for it.
    fn each(
        &mut self,
        counted: Option<&CountersDifference>,
        visit: &mut dyn FnMut(Place<'_>, &mut dyn Column, Fact<u64>),
    ) {
        let mut group = |group, of: Option<&dyn fmt::Display>, each: &mut dyn FnMut(&mut Visit<'_>)| {
            each(&mut |column, into, value| visit(Place { group, of, column }, into, value));
        };
        group("process", None, &mut |visit| self.process.each(counted, visit));
        group("system", None, &mut |visit| {
            self.system.each(counted.map(|counted| &counted.system), visit);
        });
        if let Fact::Known(threads) = &mut self.threads {
            for thread in threads {
                let tid = thread.tid;
                group("threads", Some(&tid), &mut |visit| {
                    thread.each(counted.map(|counted| &counted.threads), visit);
                });
            }
        }
        if let Fact::Known(devices) = &mut self.devices {
            for device in devices {
                let name = device.name.clone();
                group("devices", Some(&name), &mut |visit| device.each(counted, visit));
            }
        }
    }
}

/// What is not there is not applicable: nobody looks at it.
fn part<'a, T, U>(of: Option<&'a T>, part: impl FnOnce(&'a T) -> Fact<U>) -> Fact<U> {
    of.map_or(Fact::NotApplicable, part)
}

impl ProcessOverTime {
    fn each(&mut self, counted: Option<&CountersDifference>, visit: &mut Visit<'_>) {
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
    fn each(&mut self, threads: Option<&Fact<Threads>>, visit: &mut Visit<'_>) {
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
    fn each(&mut self, counted: Option<&SystemCountersDifference>, visit: &mut Visit<'_>) {
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
    fn new(name: &str, role: DeviceRole) -> Self {
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

    fn each(&mut self, counted: Option<&CountersDifference>, visit: &mut Visit<'_>) {
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

/// Keeps the first reason of a column.
fn note(unknown: &mut Vec<Unknown>, place: Place<'_>, why: &str) {
    let column = place.to_string();
    if unknown.iter().any(|known| known.columns.contains(&column)) {
        return;
    }
    match unknown.iter_mut().find(|known| known.why == why) {
        Some(known) => known.columns.push(column),
        None => unknown.push(Unknown {
            why: why.to_owned(),
            columns: vec![column],
        }),
    }
}

impl Serialize for MachineOverTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // The derived one, which stands beside the trait's.
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for MachineOverTime {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut read = Self::deserialize(deserializer)?;
        let wide = read.width_ns / SLICE_NS;
        if read.width_ns % SLICE_NS != 0 || !wide.is_power_of_two() {
            return Err(D::Error::custom(format!(
                "slices of {} ns: a slice is 1, 2, 4, 8, ... seconds wide",
                read.width_ns
            )));
        }
        let ascend = |numbers: &[u64]| numbers.windows(2).all(|pair| pair[0] < pair[1]);
        let last = read.index.last().copied().unwrap_or(0);
        if !ascend(&read.index) || last >= SLICES_MAX as u64 {
            return Err(D::Error::custom(format!(
                "the machine's slices: they are numbered in their order, below {SLICES_MAX}"
            )));
        }
        let moments = std::iter::once(&read.began_ns).chain(&read.ended_ns);
        if !moments.is_sorted() {
            return Err(D::Error::custom(
                "the machine's slices: a reading was before the one before it",
            ));
        }
        let slices = read.index.len();
        let mut wrong = (read.ended_ns.len() != slices).then(|| "ended_ns".to_owned());
        read.each(None, &mut |place, column, _| {
            if !column.has(slices) && wrong.is_none() {
                wrong = Some(place.to_string());
            }
        });
        match wrong {
            Some(column) => Err(D::Error::custom(format!(
                "the machine's slices: {column} has not a number for each of {slices}"
            ))),
            None => Ok(read),
        }
    }
}

#[cfg(test)]
mod tests;
