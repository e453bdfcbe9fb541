//! The A/A controls in the blocks of a history's runs.

use std::collections::{BTreeMap, BTreeSet};

use archive::{Archive, Filter};
use record::Record;
use study::{BlockAttempt, Metric, Observed};

use super::select::Found;
use crate::error::Error;
use crate::study::found;

/// Values of the first and second runs of a baseline in a block.
#[derive(Default)]
struct Pair {
    first: Option<f64>,
    second: Option<f64>,
}

/// Returns the mean of both baseline runs of each block with an A/A control. A block whose baseline
/// is a run of the history itself has no control, because it would be compared with itself.
pub(super) fn of(
    archive: &Archive,
    history: &Found,
    metric: Metric,
) -> Result<BTreeMap<BlockAttempt, f64>, Error> {
    let blocks = history
        .members
        .iter()
        .filter_map(|member| member.block.as_ref());
    let studies: BTreeSet<&str> = blocks.map(|block| &*block.study).collect();
    let own: BTreeSet<u64> = history
        .members
        .iter()
        .map(|member| member.point.run)
        .collect();
    let mut pairs: BTreeMap<(BlockAttempt, String), Pair> = BTreeMap::new();
    for study in studies {
        let Some(tag) = found::tag(study) else {
            continue;
        };
        let filter = Filter {
            tags: vec![tag.to_string()],
            ..Filter::default()
        };
        for run in archive.list(&filter)? {
            let number = run.number.unwrap_or_default();
            if !own.contains(&number) {
                add(&mut pairs, &archive.record(number)?, metric);
            }
        }
    }
    let controls = pairs.into_iter().filter_map(|((block, _), pair)| {
        let (first, second) = (pair.first?, pair.second?);
        Some((block, (first * second).sqrt()))
    });
    Ok(controls.collect())
}

fn add(pairs: &mut BTreeMap<(BlockAttempt, String), Pair>, record: &Record, metric: Metric) {
    let Some(part) = &record.study else {
        return;
    };
    let observed = Observed::of(record, None, &[metric]);
    let value = observed
        .values
        .get(&metric)
        .filter(|_| observed.is_counted());
    if let (Some(block), Some(value)) = (observed.block, value) {
        let pair = pairs.entry((block, part.cell.clone())).or_default();
        match part.is_twin {
            true => pair.second = Some(*value),
            false => pair.first = Some(*value),
        }
    }
}
