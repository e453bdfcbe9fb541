//! What was done over time: meters in slices of equal width, one after the other from a start, by
//! whatever key.
//!
//! A slice is a second wide. Where there would be more than [`SLICES_MAX`] of them, neighbours are
//! merged two by two, so that all are twice as wide, as often as it takes: a long run has wider
//! slices, and nothing is lost. The width depends on the last moment alone, so slices may come from
//! several workers, in any order and late.
//!
//! Latencies take a hundred times the room of counts. So where a series is recorded
//! ([`Slices::recorded`]) those of neighbours are put together until [`LATENCY_SLICES_MAX`] of each
//! key and [`LATENCIES_MAX`] of all are left, in coarser buckets: a picture shows no more of them.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::histogram::SparseHistogram;

/// The width of a slice as it is handed over, in nanoseconds: a second.
pub const SLICE_NS: u64 = 1_000_000_000;
/// No series has more: a point for every pixel or so of a chart, half an hour of seconds.
pub const SLICES_MAX: usize = 1_800;
/// No recorded series has more latencies of a key: a column of a heat map each.
pub const LATENCY_SLICES_MAX: usize = 120;
/// And of all keys together: with more than eight of them each has fewer columns.
pub const LATENCIES_MAX: usize = 960;
/// Recorded latencies have 2 to the power of this many buckets to a power of two.
pub const LATENCY_PRECISION_BITS: u32 = 3;

/// What operations of one kind did in a slice.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SliceMeter {
    /// Operations that were completed without an error in the slice.
    pub operations: u64,
    /// Bytes that those read or wrote.
    pub bytes: u64,
    /// Operations that failed in it; they count in no other number here.
    pub failed: u64,
    /// Latency of the operations. In a record in buckets that are 8 to a power of two, and where
    /// several slices share their latencies, in the first of them that has the key; empty in
    /// the others.
    pub latency: SparseHistogram,
}

impl SliceMeter {
    /// Takes all of another one in: associatively and commutatively.
    pub fn merge(&mut self, other: &Self) {
        self.operations += other.operations;
        self.bytes += other.bytes;
        self.failed += other.failed;
        self.latency.merge(&other.latency);
    }
}

/// What was done in one slice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Slice_of_{M}_by_{K}")]
pub struct Slice<K, M = SliceMeter> {
    /// Its number, from 0: how often the width lies between the start and its own. What a worker
    /// hands over is [`SLICE_NS`] wide.
    pub index: u64,
    /// A meter by key, each key once, those that have something.
    pub meters: Vec<(K, M)>,
}

/// See the module's text. Series merge, associatively and commutatively.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slices<K> {
    /// How often the width was doubled.
    doublings: u32,
    /// How often that of latencies was: as often, or more often where slices share them.
    latency_doublings: u32,
    /// From the start to the last one that has something.
    slices: Vec<BTreeMap<K, SliceMeter>>,
}

impl<K> Default for Slices<K> {
    fn default() -> Self {
        Self {
            doublings: 0,
            latency_doublings: 0,
            slices: Vec::new(),
        }
    }
}

impl<K: Ord> Slices<K> {
    /// Takes what was done in a second, by the number of that second from the start, from 0.
    pub fn add(&mut self, index: u64, key: K, meter: SliceMeter) {
        while index >> self.doublings >= SLICES_MAX as u64 {
            self.double();
        }
        let slot = (index >> self.doublings) as usize;
        if slot >= self.slices.len() {
            self.slices.resize_with(slot + 1, BTreeMap::new);
        }
        put(&mut self.slices[slot], key, meter);
    }

    /// Takes a second that a worker hands over.
    pub fn take(&mut self, slice: Slice<K>) {
        for (key, meter) in slice.meters {
            self.add(slice.index, key, meter);
        }
    }

    /// Takes all of another series in that has the same start.
    pub fn merge(&mut self, other: Self) {
        while self.doublings < other.doublings {
            self.double();
        }
        self.latency_doublings = self.latency_doublings.max(other.latency_doublings);
        for (index, slice) in (0_u64..).zip(other.slices) {
            for (key, meter) in slice {
                self.add(index << other.doublings, key, meter);
            }
        }
    }

    /// How wide each slice is, in nanoseconds.
    pub fn width_ns(&self) -> u64 {
        wide(self.doublings)
    }

    /// How many slices share their latencies, which the first of them that has the key holds: 1
    /// where none do.
    pub fn sharing(&self) -> usize {
        let more = self.latency_doublings.saturating_sub(self.doublings);
        1_usize.checked_shl(more).unwrap_or(usize::MAX)
    }

    /// The slices from the start on, with those in which nothing was done, up to the last in which
    /// something was. The last one of a run may have been cut short by its end.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &BTreeMap<K, SliceMeter>> {
        self.slices.iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.slices.len()
    }

    /// Whether nothing was done.
    pub fn is_empty(&self) -> bool {
        self.slices.is_empty()
    }

    /// All slices together.
    pub fn totals(&self) -> BTreeMap<K, SliceMeter>
    where
        K: Clone,
    {
        let mut totals = BTreeMap::new();
        for (key, meter) in self.slices.iter().flatten() {
            put(&mut totals, key.clone(), meter.clone());
        }
        totals
    }

    /// Merges neighbours.
    fn double(&mut self) {
        let mut halved = Vec::with_capacity(self.slices.len().div_ceil(2));
        let mut slices = std::mem::take(&mut self.slices).into_iter();
        while let Some(mut slice) = slices.next() {
            for (key, meter) in slices.next().into_iter().flatten() {
                put(&mut slice, key, meter);
            }
            halved.push(slice);
        }
        self.slices = halved;
        self.doublings += 1;
        self.latency_doublings = self.latency_doublings.max(self.doublings);
    }
}

impl<K: Ord + Clone> Slices<K> {
    /// As it is recorded: with coarser latencies, and with those of neighbours together where there
    /// are too many slices. All counts are as they were, and so are the extremes and the sum of
    /// the latencies.
    pub fn recorded(mut self) -> Self {
        let keys: BTreeSet<&K> = self.slices.iter().flat_map(BTreeMap::keys).collect();
        let most = (LATENCIES_MAX / keys.len().max(1)).clamp(1, LATENCY_SLICES_MAX);
        while self.slices.len().div_ceil(self.sharing()) > most {
            self.latency_doublings += 1;
        }
        let sharing = self.sharing();
        for group in self.slices.chunks_mut(sharing) {
            share(group);
            for meter in group.iter_mut().flat_map(|slice| slice.values_mut()) {
                meter.latency = meter.latency.coarse(LATENCY_PRECISION_BITS);
            }
        }
        self
    }
}

/// Gives all latencies of a key to the first slice that has the key.
fn share<K: Ord + Clone>(group: &mut [BTreeMap<K, SliceMeter>]) {
    let mut sums: BTreeMap<K, SparseHistogram> = BTreeMap::new();
    for (key, meter) in group.iter_mut().flatten() {
        let latency = std::mem::take(&mut meter.latency);
        sums.entry(key.clone()).or_default().merge(&latency);
    }
    for (key, meter) in group.iter_mut().flatten() {
        meter.latency = sums.remove(key).unwrap_or_default();
    }
}

fn put<K: Ord>(slice: &mut BTreeMap<K, SliceMeter>, key: K, meter: SliceMeter) {
    match slice.get_mut(&key) {
        Some(sum) => sum.merge(&meter),
        None => {
            slice.insert(key, meter);
        }
    }
}

/// A second that was doubled so often, in nanoseconds.
fn wide(doublings: u32) -> u64 {
    SLICE_NS.saturating_mul(1_u64.checked_shl(doublings).unwrap_or(u64::MAX))
}

/// How often a second was doubled, if it was.
fn doublings(width_ns: u64) -> Result<u32, String> {
    let doubled = width_ns / SLICE_NS;
    match width_ns % SLICE_NS == 0 && doubled.is_power_of_two() {
        true => Ok(doubled.trailing_zeros()),
        false => Err(format!(
            "slices of {width_ns} ns: a slice is 1, 2, 4, 8, ... seconds wide"
        )),
    }
}

/// What was done over time, as it is written.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WrittenSlices<T> {
    /// How wide a slice is, in nanoseconds: 1, 2, 4, 8, ... seconds.
    #[schemars(extend("multipleOf" = SLICE_NS))]
    width_ns: u64,
    /// Where slices share their latencies, how wide all are together that do, in nanoseconds: as
    /// many widths as 2, 4, 8, ... slices have, from the start on. Their latencies are in the
    /// first of them that has the key. Absent or nothing where each slice has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("multipleOf" = SLICE_NS))]
    latency_width_ns: Option<u64>,
    /// Those in which something was done, in their order. Their numbers count slices of this
    /// width.
    #[schemars(extend("maxItems" = SLICES_MAX))]
    slices: Vec<T>,
}

impl<K: Ord + Serialize> Serialize for Slices<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        WrittenSlices {
            width_ns: self.width_ns(),
            latency_width_ns: (self.sharing() > 1).then(|| wide(self.latency_doublings)),
            slices: (0..)
                .zip(&self.slices)
                .filter(|(_, slice)| !slice.is_empty())
                .map(|(index, slice)| Slice {
                    index,
                    meters: slice.iter().collect(),
                })
                .collect(),
        }
        .serialize(serializer)
    }
}

impl<'de, K: Ord + Deserialize<'de>> Deserialize<'de> for Slices<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let WrittenSlices {
            width_ns,
            latency_width_ns,
            slices,
        } = WrittenSlices::<Slice<K>>::deserialize(deserializer)?;
        let doublings = doublings(width_ns).map_err(D::Error::custom)?;
        let latency_doublings =
            self::doublings(latency_width_ns.unwrap_or(width_ns)).map_err(D::Error::custom)?;
        if latency_doublings < doublings
            || (latency_width_ns.is_some() && latency_doublings == doublings)
        {
            return Err(D::Error::custom(
                "latencies are shared by 2, 4, 8, ... slices",
            ));
        }
        let mut read = Self {
            doublings,
            latency_doublings,
            slices: Vec::new(),
        };
        for slice in slices {
            let index = usize::try_from(slice.index).unwrap_or(usize::MAX);
            if index >= SLICES_MAX || index < read.slices.len() {
                return Err(D::Error::custom(format!(
                    "slice {}: slices are numbered in their order, below {SLICES_MAX}",
                    slice.index
                )));
            }
            if slice.meters.is_empty() {
                return Err(D::Error::custom(format!(
                    "slice {index} has nothing: those that have are written"
                )));
            }
            read.slices.resize_with(index + 1, BTreeMap::new);
            for (key, meter) in slice.meters {
                if read.slices[index].insert(key, meter).is_some() {
                    return Err(D::Error::custom(format!("slice {index} has a key twice")));
                }
            }
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests;
