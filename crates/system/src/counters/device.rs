//! Counters of the block layer for one device: its `stat` in sysfs (Documentation/block/stat.rst).

use crate::fact::{Fact, added, both, grown, or, part_way};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::role::{DeviceRole, FlushCount};
use crate::device::SECTOR_BYTES;
use crate::sources::Sources;

/// Type of the number in a column of `stat`.
#[derive(Clone, Copy)]
enum Kind {
    Count,
    /// A number of sectors, which is converted to bytes.
    Sectors,
    /// Milliseconds in 32 bits, which may wrap.
    Time,
    /// A current value, not a counter.
    State,
}

/// Defines all counters. Each row contains the counter's name, its column of `stat`, its kind, and
/// its description for the message about a counter that went backwards.
macro_rules! counters {
    ($($(#[$doc:meta])* $counter:ident: $column:literal, $kind:expr, $what:literal;)*) => {
        /// Counters of one device, since it appeared or between two snapshots.
        ///
        /// Operations are counted on completion, after merging. Times are in milliseconds. The
        /// kernel reports them in 32 bits, so the numbers wrap; a difference is correct across one
        /// wrap.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        pub struct DeviceCounters {
            $($(#[$doc])* pub $counter: Fact<u64>,)*
        }

        impl DeviceCounters {
            fn of(column: impl Fn(usize, Kind) -> Fact<u64>) -> DeviceCounters {
                DeviceCounters { $($counter: column($column, $kind),)* }
            }

            fn since_with(
                &self,
                earlier: &DeviceCounters,
                grown: impl Fn(&str, Kind, &Fact<u64>, &Fact<u64>) -> Fact<u64>,
            ) -> DeviceCounters {
                DeviceCounters { $($counter: grown($what, $kind, &self.$counter,
                    &earlier.$counter),)* }
            }

            /// Adds the counters of two devices. A count that is unknown for one device is unknown
            /// in the sum.
            #[must_use]
            pub fn and(&self, other: &DeviceCounters) -> DeviceCounters {
                DeviceCounters { $($counter: added(&self.$counter, &other.$counter),)* }
            }
        }
    };
}

counters! {
    /// Reads that the device completed. Reads that were merged into one count as one.
    reads: 0, Kind::Count, "reads";
    /// Reads that the block layer merged into other reads before issuing them.
    reads_merged: 1, Kind::Count, "merged reads";
    /// Bytes that the completed reads transferred.
    read_bytes: 2, Kind::Sectors, "bytes read";
    /// Sum of the durations of all reads.
    reading_ms: 3, Kind::Time, "time of reads";
    /// Writes that the device completed. Writes that were merged into one count as one.
    writes: 4, Kind::Count, "writes";
    /// Writes that the block layer merged into other writes before issuing them.
    writes_merged: 5, Kind::Count, "merged writes";
    /// Bytes that the completed writes transferred.
    written_bytes: 6, Kind::Sectors, "bytes written";
    /// Sum of the durations of all writes.
    writing_ms: 7, Kind::Time, "time of writes";
    /// Operations in flight at the moment of the reading.
    in_flight: 8, Kind::State, "operations in flight";
    /// Time in which at least one operation was in flight (`io_ticks`). This time is approximate
    /// since Linux 5.0, which counts the ticks in which an operation began or ended
    /// (Documentation/admin-guide/iostats.rst).
    busy_ms: 9, Kind::Time, "busy time";
    /// Sum of the durations of all operations (`time_in_queue`).
    queued_ms: 10, Kind::Time, "time of all";
    /// Discards completed. Unavailable before Linux 4.18, as are all other counters of discards.
    discards: 11, Kind::Count, "discards";
    /// Discards that the block layer merged into other discards before issuing them.
    discards_merged: 12, Kind::Count, "merged discards";
    /// Bytes that the completed discards covered.
    discarded_bytes: 13, Kind::Sectors, "bytes discarded";
    /// Sum of the durations of all discards.
    discarding_ms: 14, Kind::Time, "time of discards";
    /// Flushes of the device's cache completed; the block layer combines waiting flushes into one.
    /// Unavailable before Linux 5.5, and for devices whose flushes the kernel does not count
    /// ([`FlushCount`]).
    flushes: 15, Kind::Count, "flushes";
    /// Sum of the durations of all flushes.
    flushing_ms: 16, Kind::Time, "time of flushes";
}

/// Counters of one device on which a target depends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceReading {
    /// Kernel name of the device (`vda1`).
    pub name: String,
    /// Position of the device below the target.
    pub role: DeviceRole,
    /// Counters of the block layer (`/sys/class/block/NAME/stat`).
    pub counters: Fact<DeviceCounters>,
}

impl DeviceReading {
    pub(crate) fn since(&self, earlier: &[DeviceReading]) -> DeviceReading {
        let before = earlier.iter().find(|before| before.name == self.name);
        let path = stat_path(&self.name);
        DeviceReading {
            name: self.name.clone(),
            role: self.role,
            counters: match before {
                Some(before) => both(&self.counters, &before.counters, |later, earlier| {
                    later.since(earlier, &path)
                }),
                None => Fact::Unavailable(format!("{path}: was not read before")),
            },
        }
    }

    pub(super) fn or_earlier(self, earlier: &[DeviceReading]) -> DeviceReading {
        let before = earlier.iter().find(|before| before.name == self.name);
        DeviceReading {
            counters: match before {
                Some(before) => or(self.counters, &before.counters),
                None => self.counters,
            },
            ..self
        }
    }
}

fn stat_path(name: &str) -> String {
    format!("/sys/class/block/{name}/stat")
}

impl DeviceCounters {
    pub fn read(sources: &Sources, name: &str, flushes: FlushCount) -> Fact<DeviceCounters> {
        let path = stat_path(name);
        sources.text(&path).and_then(|text| {
            let counters = DeviceCounters::parse(&text, &path, flushes);
            sources.found(&path, counters, || "does not begin with eleven numbers")
        })
    }

    /// Interpolates the counters: `fraction` of the way from this reading to a later one.
    pub(crate) fn between(&self, later: &DeviceCounters, fraction: f64) -> DeviceCounters {
        later.since_with(self, |_, kind, later, earlier| match kind {
            Kind::State => later.clone(),
            _ => part_way(earlier, later, fraction),
        })
    }

    /// Returns the growth since an earlier reading of the device with this name.
    pub(crate) fn since_reading(&self, earlier: &DeviceCounters, name: &str) -> DeviceCounters {
        self.since(earlier, &stat_path(name))
    }

    /// Whether the device completed operations. Also true if the number of reads or writes is
    /// unknown.
    pub(crate) fn did_something(&self) -> bool {
        let is_none = |count: &Fact<u64>| matches!(count, Fact::Known(0) | Fact::NotApplicable);
        // An unknown number of discards or flushes counts as 0, because not every kernel and driver
        // counts them.
        let is_more = |count: &Fact<u64>| count.known().is_some_and(|count| *count > 0);
        !is_none(&self.reads)
            || !is_none(&self.writes)
            || is_more(&self.discards)
            || is_more(&self.flushes)
    }

    /// Parses `stat`, which contains 11 numbers, 15 with discards (since Linux 4.18), or 17 with
    /// flushes (since 5.5). Further numbers are ignored.
    fn parse(text: &str, path: &str, flushes: FlushCount) -> Option<DeviceCounters> {
        let mut columns = [0u64; 17];
        let mut length = 0;
        for (column, word) in columns.iter_mut().zip(text.split_ascii_whitespace()) {
            *column = word.parse().ok()?;
            length += 1;
        }
        if length < 11 {
            return None;
        }
        Some(DeviceCounters::of(|index, kind| {
            match (index, flushes.why_not()) {
                (11..15, _) if length < 15 => {
                    Fact::Unavailable(format!("{path}: this kernel does not count discards"))
                }
                (15.., _) if length < 17 => {
                    Fact::Unavailable(format!("{path}: this kernel does not count flushes"))
                }
                (15.., Some(why)) => Fact::Unavailable(format!("{path}: {why}")),
                _ => Fact::Known(match kind {
                    Kind::Sectors => columns[index].saturating_mul(SECTOR_BYTES),
                    Kind::Count | Kind::Time | Kind::State => columns[index],
                }),
            }
        }))
    }

    fn since(&self, earlier: &DeviceCounters, path: &str) -> DeviceCounters {
        let count = |what: &str, later: &Fact<u64>, earlier: &Fact<u64>| {
            grown(format_args!("{path}: {what}"), later, earlier)
        };
        // If reads or writes went backwards, the device was replaced by another with the same name.
        // A smaller time is then not a wrap.
        let may_wrap = [
            (&self.reads, &earlier.reads),
            (&self.writes, &earlier.writes),
        ]
        .iter()
        .all(|(later, earlier)| count("", later, earlier).is_known());
        self.since_with(earlier, |what, kind, later, earlier| {
            match (kind, wrapped_ms(later, earlier)) {
                (Kind::State, _) => later.clone(),
                (Kind::Time, Some(grown_ms)) if may_wrap => Fact::Known(grown_ms),
                _ => count(what, later, earlier),
            }
        })
    }
}

/// Returns the growth of a 32-bit time that wrapped, or `None` if it did not wrap. A time that fell
/// by less than half of the range went backwards; a larger fall is a wrap. Times wrap at 2^32 ms:
/// after 49 days with one operation in flight, or half a day with a hundred.
fn wrapped_ms(later: &Fact<u64>, earlier: &Fact<u64>) -> Option<u64> {
    let later = u32::try_from(*later.known()?).ok()?;
    let earlier = u32::try_from(*earlier.known()?).ok()?;
    let grown_ms = later.wrapping_sub(earlier);
    (later < earlier && grown_ms <= u32::MAX / 2).then_some(u64::from(grown_ms))
}

#[cfg(test)]
mod tests;
