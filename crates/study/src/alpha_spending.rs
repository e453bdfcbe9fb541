//! Alpha spending: the error of each interim analysis (look) of a study that continues until its
//! intervals are narrow enough.
//!
//! The total error, alpha, is spent by the Pocock-type function of Lan and DeMets (Biometrika 70
//! (1983), 659-663): alpha × ln(1 + (e - 1) t). Here t is the number of blocks, as a share of the
//! maximum. Each look spends the growth of this function since the previous look, so the errors of
//! all looks add up to alpha. By Boole's inequality, the intervals of all looks therefore contain
//! the true ratios with a probability of at least 1 - alpha. This is independent of the correlation
//! between looks, of normal theory, and of the look at which the study ends. The wider intervals
//! cost little, because there are few looks: each has about 1.4 times the blocks of the previous
//! one.

use serde::{Deserialize, Serialize};

/// Number of blocks at the first look (interim analysis) of a study.
pub const FIRST_LOOK_BLOCKS: u32 = 10;

/// The interim analyses (looks) of a study, which are planned before it begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Looks {
    blocks: Vec<u32>,
}

impl Looks {
    /// Plans the interim analyses of a study. The last one is at `max_blocks` blocks, or at
    /// [`FIRST_LOOK_BLOCKS`] if that is more.
    pub fn new(max_blocks: u32) -> Self {
        let max_blocks = max_blocks.max(FIRST_LOOK_BLOCKS);
        let mut blocks = Vec::new();
        let mut next = FIRST_LOOK_BLOCKS;
        // An analysis shortly before the last one is not worth the error that it spends.
        while next < max_blocks - max_blocks / 6 {
            blocks.push(next);
            // 99/70 approximates the square root of 2.
            next = next.saturating_mul(99) / 70;
        }
        blocks.push(max_blocks);
        Self { blocks }
    }

    /// The numbers of blocks at which interim analyses are planned, in ascending order. The last
    /// number is the maximum number of blocks.
    pub fn blocks(&self) -> &[u32] {
        &self.blocks
    }

    pub fn max_blocks(&self) -> u32 {
        self.blocks.last().copied().unwrap_or(FIRST_LOOK_BLOCKS)
    }

    /// The error of the interim analysis at `blocks` blocks, out of a total error of `alpha`.
    /// `None` if no analysis is planned at this number of blocks.
    pub fn alpha(&self, blocks: u32, alpha: f64) -> Option<f64> {
        let place = self.blocks.iter().position(|look| *look == blocks)?;
        let before = place
            .checked_sub(1)
            .map_or(0.0, |before| self.spent(self.blocks[before]));
        Some(alpha * (self.spent(blocks) - before))
    }

    /// The error of a study that ended between two interim analyses, after `blocks` blocks: the
    /// part of `alpha` that earlier analyses have not spent.
    ///
    /// A study that ends by its time limit has not examined its results since the last analysis, so
    /// this error is still available.
    pub fn alpha_at_end(&self, blocks: u32, alpha: f64) -> f64 {
        let before = self.blocks.iter().rev().find(|look| **look < blocks);
        alpha * (1.0 - before.map_or(0.0, |look| self.spent(*look)))
    }

    /// Share of the error that is spent after `blocks` blocks, from 0 to 1.
    fn spent(&self, blocks: u32) -> f64 {
        let share = f64::from(blocks) / f64::from(self.max_blocks());
        (1.0 + (std::f64::consts::E - 1.0) * share.min(1.0)).ln()
    }
}
