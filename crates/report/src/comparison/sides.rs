//! Doubts about sides that were measured separately, such as two kernels.

use std::collections::BTreeSet;

use document::units::counted;
use study::{Comparisons, SideSummary};

/// Doubts about the systems and the boots of separately measured sides. Empty for interleaved runs.
pub(super) fn doubts(found: &Comparisons) -> Vec<String> {
    if !found.is_apart() {
        return Vec::new();
    }
    let all = |of: fn(&SideSummary) -> &Vec<String>| -> BTreeSet<&String> {
        found.sides.iter().flat_map(of).collect()
    };
    let (systems, boots) = (all(|side| &side.systems), all(|side| &side.boots));
    let mut doubts = Vec::new();
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

fn of_boots(side: &SideSummary) -> String {
    format!(
        "{} of {}",
        counted(side.boots.len() as u64, "boot"),
        side.name
    )
}
