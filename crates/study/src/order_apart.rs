//! The order of runs in blocks whose sides were measured apart, such as two kernels: it is not
//! random, so a change within the blocks may look like a difference between the sides.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::observed::{Baseline, ComparedSide};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderApart {
    /// Whether each block ended before the next one began, so that changes from block to block
    /// affect all sides alike.
    pub is_alternating: bool,
    /// Number of blocks with a run of the baseline and of another side.
    pub blocks: u32,
    /// Number of these blocks in which the baseline ran first.
    pub baseline_first: u32,
}

/// The times of a block, in nanoseconds since the epoch.
#[derive(Default)]
struct BlockTimes {
    baseline: Vec<u64>,
    others: Vec<u64>,
}

impl OrderApart {
    pub(crate) fn of(baseline: &Baseline, sides: &[ComparedSide]) -> Self {
        let mut blocks: BTreeMap<(&str, u32), BlockTimes> = BTreeMap::new();
        let of_baseline = baseline.sides().flat_map(|side| side.runs.iter());
        let of_others = sides.iter().flat_map(|side| side.runs.iter());
        let all = of_baseline
            .map(|run| (run, true))
            .chain(of_others.map(|run| (run, false)));
        for (run, is_baseline) in all {
            let Some(block) = &run.block else { continue };
            let times = blocks
                .entry((block.study.as_str(), block.number))
                .or_default();
            match is_baseline {
                true => times.baseline.push(run.begun_unix_ns),
                false => times.others.push(run.begun_unix_ns),
            }
        }
        blocks.retain(|_, times| !times.baseline.is_empty() && !times.others.is_empty());
        let first = |times: &BlockTimes| {
            (
                times.baseline.iter().min().copied(),
                times.others.iter().min().copied(),
            )
        };
        let baseline_first = blocks
            .values()
            .map(first)
            .filter(|(one, other)| one < other);
        let mut ranges: Vec<(u64, u64)> = blocks
            .values()
            .map(|times| {
                let all = || times.baseline.iter().chain(&times.others).copied();
                (all().min().unwrap_or(0), all().max().unwrap_or(0))
            })
            .collect();
        ranges.sort_unstable();
        Self {
            is_alternating: ranges.windows(2).all(|pair| pair[0].1 < pair[1].0),
            blocks: blocks.len() as u32,
            baseline_first: baseline_first.count() as u32,
        }
    }
}
