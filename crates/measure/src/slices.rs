//! Time series: the meters of each key in time slices of equal width.
//!
//! A slice is one second wide at first. Whenever a series has more than [`SLICES_MAX`] slices,
//! pairs of neighbours are merged, which doubles the width. So a long run has wider slices, and no
//! data is lost. The width depends only on the time of the last slice. Workers may therefore
//! deliver their slices late and in any order.
//!
//! Latencies take a hundred times the space of counts. A recorded series ([`Slices::recorded`])
//! therefore has coarser buckets, and merges the latencies of neighbours. At most
//! [`LATENCY_SLICES_MAX`] histograms of each key and [`LATENCIES_MAX`] of all keys remain. A chart
//! cannot show more.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::histogram::SparseHistogram;

/// Workers deliver slices of this width: one second. A long series has wider slices.
pub const SLICE_NS: u64 = 1_000_000_000;
/// The largest number of slices in a series: about one per pixel of a chart. With slices of one
/// second, the series lasts half an hour.
pub const SLICES_MAX: usize = 1_800;
/// The largest number of latency histograms for each key in a recorded series: the columns of a
/// heat map.
pub const LATENCY_SLICES_MAX: usize = 120;
/// The largest number of latency histograms for all keys in a recorded series. With more than eight
/// keys, each key has fewer histograms than [`LATENCY_SLICES_MAX`].
pub const LATENCIES_MAX: usize = 960;
/// Recorded latencies have 2³ = 8 histogram buckets per power of two.
pub const LATENCY_PRECISION_BITS: u32 = 3;

/// The counts and latencies of one kind of operation in a slice.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SliceMeter {
    /// Operations that completed without an error in the slice.
    pub operations: u64,
    /// Bytes that these operations read or wrote.
    pub bytes: u64,
    /// Operations that failed in the slice. No other field includes them.
    pub failed: u64,
    /// Latencies of the operations. In a record, they have 8 buckets per power of two. If several
    /// slices share latencies, the first slice with operations of this kind contains all of them.
    /// The histograms of the other slices are then empty.
    pub latency: SparseHistogram,
}

impl SliceMeter {
    /// Adds the counts and latencies of another meter. Merging is associative and commutative.
    pub fn merge(&mut self, other: &Self) {
        self.operations += other.operations;
        self.bytes += other.bytes;
        self.failed += other.failed;
        self.latency.merge(&other.latency);
    }
}

/// One time slice, with a meter for each key (such as a kind of operation) that occurs in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Slice_of_{M}_by_{K}")]
pub struct Slice<K, M = SliceMeter> {
    /// The slice's number, from 0 at the start of the series. Slices from workers are [`SLICE_NS`]
    /// wide.
    pub index: u64,
    /// The meters by key. Each key occurs once; keys without operations are absent.
    pub meters: Vec<(K, M)>,
}

/// A time series: for each slice of time, a meter for each key, such as a kind of operation.
/// Merging is associative and commutative.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slices<K> {
    /// How often the width of slices was doubled, from one second.
    doublings: u32,
    /// How often the width of the interval of one latency histogram was doubled, from one second.
    /// Larger than `doublings` if several slices share a histogram.
    latency_doublings: u32,
    /// The slices from the start to the last one that is not empty.
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
    /// Adds a meter to the slice that contains a given second. `index` is the number of that
    /// second, from 0 at the start of the series.
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

    /// Adds the meters of a worker's slice of one second.
    pub fn take(&mut self, slice: Slice<K>) {
        for (key, meter) in slice.meters {
            self.add(slice.index, key, meter);
        }
    }

    /// Adds another series with the same start.
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

    pub fn width_ns(&self) -> u64 {
        wide(self.doublings)
    }

    /// Returns the number of consecutive slices that share their latencies, or 1 if slices do not
    /// share latencies. The latencies are in the first of these slices that has the key.
    pub fn sharing(&self) -> usize {
        let more = self.latency_doublings.saturating_sub(self.doublings);
        1_usize.checked_shl(more).unwrap_or(usize::MAX)
    }

    /// Returns all slices, including empty ones, from the start to the last slice that is not
    /// empty. The run may end before the end of its last slice.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &BTreeMap<K, SliceMeter>> {
        self.slices.iter()
    }

    pub fn len(&self) -> usize {
        self.slices.len()
    }

    pub fn is_empty(&self) -> bool {
        self.slices.is_empty()
    }

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

    /// Merges pairs of neighbouring slices.
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
    /// Converts the series to the recorded form: latencies have coarser buckets, and neighbours
    /// share them if there are too many slices. All counts remain exact, and so do minimum, maximum
    /// and sum of the latencies.
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

/// For each key, moves the latencies of all slices of the group to the first slice that has the
/// key.
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

/// Returns the width of a slice after a number of doublings, in nanoseconds.
fn wide(doublings: u32) -> u64 {
    SLICE_NS.saturating_mul(1_u64.checked_shl(doublings).unwrap_or(u64::MAX))
}

/// Returns how often one second must be doubled to reach the width, or an error if no number of
/// doublings does.
fn doublings(width_ns: u64) -> Result<u32, String> {
    let doubled = width_ns / SLICE_NS;
    match width_ns.is_multiple_of(SLICE_NS) && doubled.is_power_of_two() {
        true => Ok(doubled.trailing_zeros()),
        false => Err(format!(
            "slices of {width_ns} ns: a slice is 1, 2, 4, 8, ... seconds wide"
        )),
    }
}

/// The JSON form of a time series.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WrittenSlices<T> {
    /// The width of a slice in nanoseconds: 1, 2, 4, 8, ... seconds.
    #[schemars(extend("multipleOf" = SLICE_NS))]
    width_ns: u64,
    /// The total width in nanoseconds of the 2, 4, 8, ... consecutive slices that share one set of
    /// latencies. The first of these slices that has a meter for a key contains all latencies of
    /// this key. Absent or null if slices do not share latencies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("multipleOf" = SLICE_NS))]
    latency_width_ns: Option<u64>,
    /// The slices that are not empty, in ascending order. The slice with the index n starts n times
    /// `width_ns` after the start of the series.
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
