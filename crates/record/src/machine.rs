//! Kernel counters over the time of a phase, slice by slice. The counters are those of this process
//! and its threads, of the machine, and of the devices below the targets.
//!
//! The module reads no counters, computes no rate and judges nothing; `verdict::MachineSummary`
//! contains derived values.
//!
//! How it works: counters are read at the beginning of the phase, at the end of each second, and at
//! the end of the phase. The growth between two readings is a slice. Names are stored once, and
//! numbers are columns with one number per slice. If there would be more than [`SLICES_MAX`]
//! slices, the width doubles, as for [`measure::Slices`], and pairs of slices are merged. Counters
//! of both slices are added; for a state (a value such as memory in use), the maximum and the last
//! value are kept. A long phase therefore has wider slices, and no count is lost.
//!
//! An unknown number is null, never 0, and `unknown` contains the reason, once per column. If a
//! counter could not be read at the end of a slice, its growth is included in the next slice whose
//! reading succeeded.

use std::fmt;
use std::ops::Range;

use measure::{SLICE_NS, SLICES_MAX};
use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use system::counters::{DeviceReading, Threads};
use system::{Counters, CountersDifference, Fact};

mod columns;
mod groups;

use columns::Column;
pub use columns::{Counts, States};
use groups::Visit;
pub use groups::{DeviceOverTime, ProcessOverTime, SystemOverTime, ThreadOverTime, WORKER_THREAD};

/// Growth of the kernel's counters between two readings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineSlice {
    /// Number of the slice, from 0. The later reading of slice n was made n + 1 seconds after the
    /// phase began. The last slice ends with the phase instead. If a reading is late, the slice is
    /// longer than a second, and numbers are skipped.
    pub index: u64,
    /// Moment of the earlier reading, in nanoseconds since the run's `origin`.
    pub began_ns: u64,
    /// Moment of the later reading, in nanoseconds since the run's `origin`.
    pub ended_ns: u64,
    /// Growth of the counters between the two readings. A state, such as memory in use, has the
    /// value of the later reading.
    pub counted: CountersDifference,
}

/// Kernel counters over the time of a phase, slice by slice. The counters are those of this process
/// and its threads, of the machine, and of the devices below the targets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct MachineOverTime {
    /// Nominal width of a slice, in nanoseconds. The actual duration of a slice is the time between
    /// the readings at its beginning and end.
    pub width_ns: u64,
    /// Moment of the first reading, in nanoseconds since the run's `origin`.
    pub began_ns: u64,
    /// For each slice, its number: the position from the beginning of the phase, in units of
    /// `width_ns`, from 0.
    pub index: Vec<u64>,
    /// For each slice, the moment of the reading at its end, in nanoseconds since the run's
    /// `origin`. The slice begins at the end of the previous slice, the first one at `began_ns`.
    pub ended_ns: Vec<u64>,
    /// Counters of this process, summed over all threads, including ended threads.
    pub process: ProcessOverTime,
    /// Counters of the threads that existed at the beginning and at the end of the first slice, by
    /// ascending thread number. Workers are included. The time of threads that are not listed is
    /// included in `process`.
    pub threads: Fact<Vec<ThreadOverTime>>,
    /// Counters of the machine, including work of other programs.
    pub system: SystemOverTime,
    /// Counters of the devices below the targets. Not applicable without devices.
    pub devices: Fact<Vec<DeviceOverTime>>,
    /// Reasons why numbers are missing; empty if no number is missing.
    pub unknown: Vec<Unknown>,
}

/// Reason why numbers are missing, and the columns concerned. For each column, only the first
/// reason is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Unknown {
    /// The source that was read, and the error.
    pub why: String,
    /// The columns with this reason, such as `system.steal_ns` or `devices.loop0.flushes`; threads
    /// are named by number.
    pub columns: Vec<String>,
}

/// Path of a column in a record, such as `devices.loop0.flushes`.
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

/// A function that receives each column with its path and with its value for the next slice.
type VisitAll<'a> = dyn FnMut(Place<'_>, &mut dyn Column, Fact<u64>) + 'a;

impl MachineOverTime {
    /// Creates a series without slices that begins with the reading `first`. Its threads and
    /// devices are those of this reading.
    pub fn new(began_ns: u64, first: &Counters) -> Self {
        Self {
            width_ns: SLICE_NS,
            began_ns,
            index: Vec::new(),
            ended_ns: Vec::new(),
            process: ProcessOverTime::new(),
            threads: first.threads.as_ref().map(|threads| {
                let threads = threads.each.iter();
                threads
                    .map(|thread| ThreadOverTime::new(thread.tid, thread.name.clone()))
                    .collect()
            }),
            system: SystemOverTime::new(),
            devices: first.devices.as_ref().map(|devices| {
                let devices = devices.iter();
                devices
                    .map(|device| DeviceOverTime::new(device.name.clone(), device.role))
                    .collect()
            }),
            unknown: Vec::new(),
        }
    }

    /// Adds the next slice. Slices must be in order. If the number of `slice` is not higher than
    /// that of the last slice, the two are merged.
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
                Fact::NotApplicable => {
                    note(&mut unknown, place, "it does not exist on this machine")
                }
                Fact::Unavailable(why) => note(&mut unknown, place, &why),
            }
        });
        self.unknown = unknown;
    }

    /// Removes threads that ended during the first slice, because they did not work for the phase.
    fn forget_the_gone(&mut self, now: &Fact<Threads>) {
        if let (Fact::Known(threads), Fact::Known(now)) = (&mut self.threads, now) {
            threads.retain(|thread| now.each.iter().any(|now| now.tid == thread.tid));
        }
    }

    /// Returns the number of slices, which decreases if slices are merged.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// True until [`add`](Self::add) adds the first slice.
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// Iterates over the beginning and the end of each slice, in nanoseconds since the run's
    /// `origin`.
    pub fn spans(&self) -> impl Iterator<Item = Range<u64>> {
        let began = std::iter::once(&self.began_ns).chain(&self.ended_ns);
        began
            .zip(&self.ended_ns)
            .map(|(began, ended)| *began..*ended)
    }

    /// Returns copies of the columns that contain states, such as memory in use.
    pub fn states(&self) -> Vec<States> {
        let mut states = Vec::new();
        self.clone().each(None, &mut |_, column, _| {
            states.extend(column.states().cloned());
        });
        states
    }

    /// Returns the total duration of a range of slices, in nanoseconds.
    pub fn ns_of(&self, slices: &Range<usize>) -> u64 {
        let spans = self.spans().skip(slices.start).take(slices.len());
        spans.map(|span| span.end - span.start).sum()
    }

    /// Returns the slices of which more than half is inside the period `time`, in nanoseconds since
    /// the run's `origin`. If there are none, returns the slices of which any part is inside the
    /// period.
    pub fn slices_of(&self, time: &Range<u64>) -> Range<usize> {
        let inside = |span: &Range<u64>| {
            span.end
                .min(time.end)
                .saturating_sub(span.start.max(time.start))
        };
        let more_than_half =
            |span: &Range<u64>| inside(span) > (span.end - span.start.min(span.end)) / 2;
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

    /// Doubles the width of slices, and merges slices that fall into the same wider slice.
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

    /// Calls `visit` with each column, always in the same order, and with the column's value in
    /// `counted`.
    fn each(&mut self, counted: Option<&CountersDifference>, visit: &mut VisitAll<'_>) {
        let mut group =
            |group, of: Option<&dyn fmt::Display>, each: &mut dyn FnMut(&mut Visit<'_>)| {
                each(&mut |column, into, value| visit(Place { group, of, column }, into, value));
            };
        // Without `counted`, every value is `NotApplicable`, and the caller ignores the values.
        let counted = counted.map_or(Fact::NotApplicable, Fact::Known);
        group("process", None, &mut |visit| {
            self.process.each(&counted, visit)
        });
        let system = counted.clone().map(|counted| &counted.system);
        group("system", None, &mut |visit| {
            self.system.each(&system, visit)
        });
        if let Fact::Known(threads) = &mut self.threads {
            for thread in threads {
                let tid = thread.tid;
                let found = counted.clone().and_then(|counted| {
                    counted.threads.as_ref().and_then(|threads| {
                        let found = threads.each.binary_search_by_key(&tid, |thread| thread.tid);
                        found
                            .map_err(|_| "the thread had ended")
                            .map(|index| &threads.each[index])
                            .into()
                    })
                });
                group("threads", Some(&tid), &mut |visit| {
                    thread.each(&found, visit)
                });
            }
        }
        if let Fact::Known(devices) = &mut self.devices {
            for device in devices {
                let name = device.name.clone();
                let found = counted.clone().and_then(|counted| {
                    counted.devices.as_ref().and_then(|devices| {
                        let found = devices.iter().find(|device| device.name == name);
                        let found: Fact<&DeviceReading> =
                            found.ok_or("the device was not read").into();
                        found.and_then(|device| device.counters.as_ref())
                    })
                });
                group("devices", Some(&name), &mut |visit| {
                    device.each(&found, visit)
                });
            }
        }
    }
}

/// Adds the reason why a number of a column is missing, unless the column already has a reason.
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
        // `remote = "Self"` derives `serialize` as an inherent function, which this line calls.
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
