//! What the kernel counted over the time of a phase, slice by slice: of this process and its
//! threads, of the machine, and of the devices under the targets.
//!
//! It reads nothing, computes no rate and judges nothing; `verdict::MachineSummary` has what
//! follows from it.
//!
//! How it works: counters are read at the phase's beginning, at the end of each second, and at its
//! end. What was counted between two readings is a slice. Names are written once, numbers as
//! columns with a number for each slice. Where there would be more than [`SLICES_MAX`] slices, the
//! width doubles as that of [`measure::Slices`] does, and what then lies in one slice is merged:
//! counters are added, states keep their greatest value and their last one. So a long phase has
//! wider slices, and nothing is lost.
//!
//! What is not known is nothing, never 0, with the reason in `unknown`, once for each column. A
//! count that could not be read at the end of a slice is in the next slice that has one.

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

/// What was counted between two readings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineSlice {
    /// Its number: the second of the phase, from 0, at whose end (or, the last one, in which) the
    /// later reading was. A reading that was late leaves numbers out, and its slice is longer.
    pub index: u64,
    /// The earlier reading, in nanoseconds since the origin.
    pub began_ns: u64,
    /// The later one.
    pub ended_ns: u64,
    /// The difference of the two.
    pub counted: CountersDifference,
}

/// What the kernel counted over the time of a phase, slice by slice: of this process and its
/// threads, of the machine, and of the devices under the targets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct MachineOverTime {
    /// How wide a slice is meant to be, in nanoseconds. How long it was is between the readings'
    /// moments.
    pub width_ns: u64,
    /// The first reading, in nanoseconds since the origin.
    pub began_ns: u64,
    /// By slice, its number: how often the width lies between the phase's beginning and it.
    pub index: Vec<u64>,
    /// By slice, the reading at its end, in nanoseconds since the origin; the one at its beginning
    /// is that before.
    pub ended_ns: Vec<u64>,
    /// This process.
    pub process: ProcessOverTime,
    /// Those of its threads that there were at the beginning and at the end of the first slice, by
    /// ascending number: the workers are among them. What others used is in the process's
    /// time.
    pub threads: Fact<Vec<ThreadOverTime>>,
    /// The machine.
    pub system: SystemOverTime,
    /// The devices under the targets. Not applicable where there are none.
    pub devices: Fact<Vec<DeviceOverTime>>,
    /// Why numbers are missing.
    pub unknown: Vec<Unknown>,
}

/// Why numbers are missing: for each column the first reason that there was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

/// Is given all columns.
type VisitAll<'a> = dyn FnMut(Place<'_>, &mut dyn Column, Fact<u64>) + 'a;

impl MachineOverTime {
    /// Nothing yet, from a first reading on: its threads and devices are those that are told apart.
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

    /// Takes what was counted next. Slices come in order; one whose number is not above the last
    /// one's goes in with that.
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
        began
            .zip(&self.ended_ns)
            .map(|(began, ended)| *began..*ended)
    }

    /// The columns whose numbers are states.
    pub fn states(&self) -> Vec<States> {
        let mut states = Vec::new();
        self.clone().each(None, &mut |_, column, _| {
            states.extend(column.states().cloned());
        });
        states
    }

    /// How long these slices are together, in nanoseconds.
    pub fn ns_of(&self, slices: &Range<usize>) -> u64 {
        let spans = self.spans().skip(slices.start).take(slices.len());
        spans.map(|span| span.end - span.start).sum()
    }

    /// The slices of a stretch of time, in nanoseconds since the origin: those of which more than
    /// half lies in it; where there is no such one, those of which anything does.
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
    fn each(&mut self, counted: Option<&CountersDifference>, visit: &mut VisitAll<'_>) {
        let mut group =
            |group, of: Option<&dyn fmt::Display>, each: &mut dyn FnMut(&mut Visit<'_>)| {
                each(&mut |column, into, value| visit(Place { group, of, column }, into, value));
            };
        // What is not there is not applicable: nobody looks at it.
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
