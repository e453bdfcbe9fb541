//! Repeated looks at a study that goes on until an interval is narrow enough: which error each may
//! spend.
//!
//! The error of the whole, alpha, is spent by the Pocock-type function of Lan and DeMets
//! (Biometrika 70 (1983), 659-663): alpha × ln(1 + (e - 1) t), where t is the share of the greatest
//! number of blocks. A look has what is spent since the look before. The looks' errors add up to
//! alpha, so that by Boole's inequality all of their intervals together hold with 1 - alpha,
//! whatever the correlation between them and whichever look is the last. That needs no normal
//! theory, and costs little where looks are few: each has about 1.4 times the blocks of the one
//! before.

use serde::{Deserialize, Serialize};

/// The first look is at so many blocks.
pub const FIRST_LOOK_BLOCKS: u32 = 10;

/// The looks at a study, fixed before it begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Looks {
    blocks: Vec<u32>,
}

impl Looks {
    /// Looks at a study of so many blocks at most; a study of fewer than [`FIRST_LOOK_BLOCKS`] has
    /// those.
    pub fn new(max_blocks: u32) -> Self {
        let max_blocks = max_blocks.max(FIRST_LOOK_BLOCKS);
        let mut blocks = Vec::new();
        let mut next = FIRST_LOOK_BLOCKS;
        // A look shortly before the last one is not worth its error.
        while next < max_blocks - max_blocks / 6 {
            blocks.push(next);
            // Times the root of 2.
            next = next.saturating_mul(99) / 70;
        }
        blocks.push(max_blocks);
        Self { blocks }
    }

    /// After which blocks there is one, the last one included.
    pub fn blocks(&self) -> &[u32] {
        &self.blocks
    }

    /// The greatest number of blocks.
    pub fn max_blocks(&self) -> u32 {
        self.blocks.last().copied().unwrap_or(FIRST_LOOK_BLOCKS)
    }

    /// The error of the look at so many blocks, of the whole's `alpha`; nothing where there is no
    /// look.
    pub fn alpha(&self, blocks: u32, alpha: f64) -> Option<f64> {
        let place = self.blocks.iter().position(|look| *look == blocks)?;
        let before = place
            .checked_sub(1)
            .map_or(0.0, |before| self.spent(self.blocks[before]));
        Some(alpha * (self.spent(blocks) - before))
    }

    /// The error of a study that ended between looks, after so many blocks: what has not been spent
    /// by looks before.
    ///
    /// Whoever ends a study by its time has not looked at its numbers, so that the rest is free.
    pub fn alpha_at_end(&self, blocks: u32, alpha: f64) -> f64 {
        let before = self.blocks.iter().rev().find(|look| **look < blocks);
        alpha * (1.0 - before.map_or(0.0, |look| self.spent(*look)))
    }

    /// The share of the error that is spent by so many blocks, from 0 to 1.
    fn spent(&self, blocks: u32) -> f64 {
        let share = f64::from(blocks) / f64::from(self.max_blocks());
        (1.0 + (std::f64::consts::E - 1.0) * share.min(1.0)).ln()
    }
}
