//! The blocks of sides that are measured separately.

use std::collections::BTreeSet;

use crate::tables::StudyRun;

/// The blocks in which a side has a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SideBlocks {
    pub side: String,
    pub blocks: BTreeSet<u32>,
}

impl SideBlocks {
    /// Returns the sides in the order of their first runs: the baseline is the first one. Empty if
    /// the configurations are interleaved.
    pub fn of(runs: &[StudyRun]) -> Vec<Self> {
        let mut sides: Vec<Self> = Vec::new();
        for run in runs {
            let (Some(side), block) = (&run.part.side, run.part.block) else {
                continue;
            };
            match sides.iter_mut().find(|known| known.side == *side) {
                Some(known) => drop(known.blocks.insert(block)),
                None => sides.push(Self {
                    side: side.clone(),
                    blocks: [block].into(),
                }),
            }
        }
        sides
    }
}
