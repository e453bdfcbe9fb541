//! What the block layer counts of one device: its `stat` in sysfs
//! (Documentation/block/stat.rst).

use crate::fact::{Fact, added, both, grown, or, part_way};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::role::{DeviceRole, FlushCount};
use crate::device::SECTOR_BYTES;
use crate::sources::Sources;

/// What a column is.
#[derive(Clone, Copy)]
enum Kind {
    Count,
    /// A count of them, told in bytes.
    Sectors,
    /// Milliseconds, of 32 bits.
    Time,
    /// No counter: what it is right now.
    State,
}

/// Each counter with its column of `stat`, its kind, and what it is called where it went backwards.
macro_rules! counters {
    ($($(#[$doc:meta])* $counter:ident: $column:literal, $kind:expr, $what:literal;)*) => {
        /// Counters of one device, since it appeared or between two snapshots.
        ///
        /// Operations are those that the device was given, after merging, and are
        /// counted when they complete. Times are in milliseconds as the kernel tells
        /// them, with 32 bits: a difference is right across one wrap.
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

            /// What two devices counted, added up. A count that is not known of one is not known.
            #[must_use]
            pub fn and(&self, other: &DeviceCounters) -> DeviceCounters {
                DeviceCounters { $($counter: added(&self.$counter, &other.$counter),)* }
            }
        }
    };
}

counters! {
    /// Reads completed.
    reads: 0, Kind::Count, "reads";
    /// Reads that were merged into others before.
    reads_merged: 1, Kind::Count, "merged reads";
    /// Bytes read.
    read_bytes: 2, Kind::Sectors, "bytes read";
    /// Time of all reads, from their beginning to their end, summed.
    reading_ms: 3, Kind::Time, "time of reads";
    /// Writes completed.
    writes: 4, Kind::Count, "writes";
    /// Writes that were merged into others before.
    writes_merged: 5, Kind::Count, "merged writes";
    /// Bytes written.
    written_bytes: 6, Kind::Sectors, "bytes written";
    /// Time of all writes, summed.
    writing_ms: 7, Kind::Time, "time of writes";
    /// Operations that the device has right now.
    in_flight: 8, Kind::State, "operations in flight";
    /// Time in which the device had at least one operation (`io_ticks`). Since
    /// Linux 5.0 about so: it counts the ticks in which one began or ended
    /// (Documentation/admin-guide/iostats.rst).
    busy_ms: 9, Kind::Time, "busy time";
    /// Time of all operations, summed (`time_in_queue`).
    queued_ms: 10, Kind::Time, "time of all";
    /// Discards completed. Unavailable before Linux 4.18, as the next three.
    discards: 11, Kind::Count, "discards";
    /// Discards that were merged into others before.
    discards_merged: 12, Kind::Count, "merged discards";
    /// Bytes discarded.
    discarded_bytes: 13, Kind::Sectors, "bytes discarded";
    /// Time of all discards, summed.
    discarding_ms: 14, Kind::Time, "time of discards";
    /// Flushes of the device's cache completed; the block layer makes one of
    /// several that wait. Unavailable before Linux 5.5, and where the kernel
    /// does not count them ([`FlushCount`]).
    flushes: 15, Kind::Count, "flushes";
    /// Time of all flushes, summed.
    flushing_ms: 16, Kind::Time, "time of flushes";
}

/// One watched device with its counters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceReading {
    /// The kernel's name of it (`vda1`).
    pub name: String,
    /// Where it stands below the target.
    pub role: DeviceRole,
    /// Its counters.
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
    /// Reads the counters of a device by its name.
    pub fn read(sources: &Sources, name: &str, flushes: FlushCount) -> Fact<DeviceCounters> {
        let path = stat_path(name);
        sources.text(&path).and_then(|text| {
            let counters = DeviceCounters::parse(&text, &path, flushes);
            sources.found(&path, counters, || "does not begin with eleven numbers")
        })
    }

    /// The counters at a moment between this reading and a later one, so far on the way.
    pub(crate) fn between(&self, later: &DeviceCounters, fraction: f64) -> DeviceCounters {
        later.since_with(self, |_, kind, later, earlier| match kind {
            Kind::State => later.clone(),
            _ => part_way(earlier, later, fraction),
        })
    }

    /// What the device of this name counted between an earlier reading and this.
    pub(crate) fn since_reading(&self, earlier: &DeviceCounters, name: &str) -> DeviceCounters {
        self.since(earlier, &stat_path(name))
    }

    /// Whether anything was completed, or that is not known.
    pub(crate) fn did_something(&self) -> bool {
        let is_none = |count: &Fact<u64>| matches!(count, Fact::Known(0) | Fact::NotApplicable);
        // Discards and flushes are not counted by all.
        let is_more = |count: &Fact<u64>| count.known().is_some_and(|count| *count > 0);
        !is_none(&self.reads)
            || !is_none(&self.writes)
            || is_more(&self.discards)
            || is_more(&self.flushes)
    }

    /// The counters in a text of 11 numbers, 15 (since Linux 4.18, with
    /// discards) or 17 (since 5.5, with flushes); more are not looked at.
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
        // Another device of this name would look like a wrap.
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

/// How far a time of 32 bits has come that went over its end (2^32 ms are 49
/// days of one operation, or less than a day of a hundred at once). A step of
/// more than half the way round is one backwards.
fn wrapped_ms(later: &Fact<u64>, earlier: &Fact<u64>) -> Option<u64> {
    let later = u32::try_from(*later.known()?).ok()?;
    let earlier = u32::try_from(*earlier.known()?).ok()?;
    let grown_ms = later.wrapping_sub(earlier);
    (later < earlier && grown_ms <= u32::MAX / 2).then_some(u64::from(grown_ms))
}

#[cfg(test)]
mod tests;
