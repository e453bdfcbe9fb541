//! What the block layer counts of one device: its `stat` in sysfs
//! (Documentation/block/stat.rst).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::watched::{DeviceRole, FlushCount};
use super::{grown, or, pair};
use crate::device::SECTOR_BYTES;
use crate::fact::Fact;
use crate::sources::Sources;

/// Counters of one device, since it appeared or between two snapshots.
///
/// Operations are those that the device was given, after merging, and are
/// counted when they complete. Times are in milliseconds as the kernel tells
/// them, with 32 bits: a difference is right across one wrap.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceCounters {
    /// Reads completed.
    pub reads: Fact<u64>,
    /// Reads that were merged into others before.
    pub reads_merged: Fact<u64>,
    /// Bytes read.
    pub read_bytes: Fact<u64>,
    /// Time of all reads, from their beginning to their end, summed.
    pub reading_ms: Fact<u64>,
    /// Writes completed.
    pub writes: Fact<u64>,
    /// Writes that were merged into others before.
    pub writes_merged: Fact<u64>,
    /// Bytes written.
    pub written_bytes: Fact<u64>,
    /// Time of all writes, summed.
    pub writing_ms: Fact<u64>,
    /// Operations that the device has right now.
    pub in_flight: Fact<u64>,
    /// Time in which the device had at least one operation (`io_ticks`). Since
    /// Linux 5.0 about so: it counts the ticks in which one began or ended
    /// (Documentation/admin-guide/iostats.rst).
    pub busy_ms: Fact<u64>,
    /// Time of all operations, summed (`time_in_queue`).
    pub queued_ms: Fact<u64>,
    /// Discards completed. Unavailable before Linux 4.18, as the next three.
    pub discards: Fact<u64>,
    /// Discards that were merged into others before.
    pub discards_merged: Fact<u64>,
    /// Bytes discarded.
    pub discarded_bytes: Fact<u64>,
    /// Time of all discards, summed.
    pub discarding_ms: Fact<u64>,
    /// Flushes of the device's cache completed; the block layer makes one of
    /// several that wait. Unavailable before Linux 5.5, and where the kernel
    /// does not count them ([`FlushCount`]).
    pub flushes: Fact<u64>,
    /// Time of all flushes, summed.
    pub flushing_ms: Fact<u64>,
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
    pub(super) fn since(&self, earlier: &[DeviceReading]) -> DeviceReading {
        let before = earlier.iter().find(|before| before.name == self.name);
        let path = stat_path(&self.name);
        DeviceReading {
            name: self.name.clone(),
            role: self.role,
            counters: match before {
                Some(before) => pair(&self.counters, &before.counters, |later, earlier| {
                    Fact::Known(later.since(earlier, &path))
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
            DeviceCounters::parse(&text, &path, flushes).map_or_else(
                || sources.unavailable(&path, "does not begin with eleven numbers"),
                Fact::Known,
            )
        })
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
        let bytes = |sectors: u64| sectors.saturating_mul(SECTOR_BYTES);
        let discard = |index: usize| match length {
            15.. => Fact::Known(columns[index]),
            _ => Fact::Unavailable(format!("{path}: this kernel counts no discards")),
        };
        let flush = |index: usize| match flushes.why_not() {
            _ if length < 17 => Fact::Unavailable(format!("{path}: this kernel counts no flushes")),
            Some(why) => Fact::Unavailable(format!("{path}: {why}")),
            None => Fact::Known(columns[index]),
        };
        let known = |index: usize| Fact::Known(columns[index]);
        Some(DeviceCounters {
            reads: known(0),
            reads_merged: known(1),
            read_bytes: known(2).map(bytes),
            reading_ms: known(3),
            writes: known(4),
            writes_merged: known(5),
            written_bytes: known(6).map(bytes),
            writing_ms: known(7),
            in_flight: known(8),
            busy_ms: known(9),
            queued_ms: known(10),
            discards: discard(11),
            discards_merged: discard(12),
            discarded_bytes: discard(13).map(bytes),
            discarding_ms: discard(14),
            flushes: flush(15),
            flushing_ms: flush(16),
        })
    }

    fn since(&self, earlier: &DeviceCounters, path: &str) -> DeviceCounters {
        let count =
            |what: &str, later: &Fact<u64>, earlier: &Fact<u64>| grown(format_args!("{path}: {what}"), later, earlier);
        let reads = count("reads", &self.reads, &earlier.reads);
        let writes = count("writes", &self.writes, &earlier.writes);
        // Another device of this name would look like a wrap.
        let may_wrap = reads.is_known() && writes.is_known();
        let time = |what: &str, later: &Fact<u64>, earlier: &Fact<u64>| match wrapped_ms(later, earlier) {
            Some(grown_ms) if may_wrap => Fact::Known(grown_ms),
            _ => count(what, later, earlier),
        };
        DeviceCounters {
            reads_merged: count("merged reads", &self.reads_merged, &earlier.reads_merged),
            read_bytes: count("bytes read", &self.read_bytes, &earlier.read_bytes),
            reading_ms: time("time of reads", &self.reading_ms, &earlier.reading_ms),
            writes_merged: count("merged writes", &self.writes_merged, &earlier.writes_merged),
            written_bytes: count("bytes written", &self.written_bytes, &earlier.written_bytes),
            writing_ms: time("time of writes", &self.writing_ms, &earlier.writing_ms),
            in_flight: self.in_flight.clone(),
            busy_ms: time("busy time", &self.busy_ms, &earlier.busy_ms),
            queued_ms: time("time of all", &self.queued_ms, &earlier.queued_ms),
            discards: count("discards", &self.discards, &earlier.discards),
            discards_merged: count("merged discards", &self.discards_merged, &earlier.discards_merged),
            discarded_bytes: count("bytes discarded", &self.discarded_bytes, &earlier.discarded_bytes),
            discarding_ms: time("time of discards", &self.discarding_ms, &earlier.discarding_ms),
            flushes: count("flushes", &self.flushes, &earlier.flushes),
            flushing_ms: time("time of flushes", &self.flushing_ms, &earlier.flushing_ms),
            reads,
            writes,
        }
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
