//! Doubts about sides that were measured separately, such as two kernels.

use std::collections::BTreeSet;

use document::units::counted;
use study::{Comparisons, OrderApart, SideSummary};

/// Doubts about the systems and the boots of separately measured sides. Empty for interleaved runs.
pub(super) fn doubts(found: &Comparisons) -> Vec<String> {
    if !found.is_apart() {
        return Vec::new();
    }
    let all = |of: fn(&SideSummary) -> &Vec<String>| -> BTreeSet<&String> {
        found.sides.iter().flat_map(of).collect()
    };
    let mut doubts: Vec<String> = found
        .order_apart
        .map(|of| order(found, of))
        .into_iter()
        .collect();
    let (systems, boots) = (all(|side| &side.systems), all(|side| &side.boots));
    if systems.len() == 1 {
        let boots = match boots.len() {
            1 => ", in one boot",
            _ => "",
        };
        doubts.push(format!(
            "All sides ran on the same host, kernel and mount{boots}. If a side is another kernel \
             or another mount option, its runs were not made on it."
        ));
    }
    let few = |side: &&SideSummary| (side.boots.len() as u64) < u64::from(found.blocks);
    let few: Vec<String> = found.sides.iter().filter(few).map(of_boots).collect();
    if boots.len() > 1 && !few.is_empty() {
        doubts.push(format!(
            "{}, but {}: what differs from boot to boot looks like a difference between the \
             sides, and the interval does not include it. Boot the system of a side before each \
             of its blocks.",
            counted(found.blocks.into(), "block"),
            few.join(" and ")
        ));
    }
    doubts
}

/// What the order of the runs in the blocks leaves open. The order is the user's, and not random.
fn order(found: &Comparisons, order: OrderApart) -> String {
    let baseline = found.sides.first();
    let baseline = baseline.map_or(&found.baseline, |side| &side.name);
    let OrderApart {
        is_alternating,
        blocks,
        baseline_first,
    } = order;
    if !is_alternating {
        return "Order not random, and the blocks of the sides do not alternate: a drift of the \
                machine would look the same as a difference between the sides (measure block 1 of \
                each side, then block 2)."
            .to_owned();
    }
    let cancels = match blocks {
        0 | 1 => "",
        _ => " Changes from block to block affect all sides alike.",
    };
    match baseline_first {
        first if first == blocks || first == 0 => {
            let when = if first == 0 { "last" } else { "first" };
            format!(
                "Order not random: {baseline} ran {when} in {}, so a change within the blocks \
                 looks the same as a difference between the sides (start every second block with \
                 another side).{cancels}",
                match blocks {
                    1 => "the only block".to_owned(),
                    _ => format!("each of the {blocks} blocks"),
                }
            )
        }
        first => format!(
            "Order not random: {baseline} ran first in {first} of {blocks} blocks. Changes within \
             the blocks cancel if that is half of them.{cancels}"
        ),
    }
}

fn of_boots(side: &SideSummary) -> String {
    format!(
        "{} of {}",
        counted(side.boots.len() as u64, "boot"),
        side.name
    )
}
