//! The performed runs of a study: which blocks are complete, and which block is next.

use study::statistics::ALPHA;
use study::{BlockRun, Comparisons, Looks, Repeats, StudyRun, VerdictCounts, tables};
use verdict::Level;

use super::ground::Course;

/// Maximum number of attempts for a block that contains an INVALID run.
pub const ATTEMPTS: u32 = 3;

/// Minimum number of runs after which a repetition with `until` ends because all are INVALID.
const ALL_INVALID_MIN: u32 = 5;
/// Minimum number of runs after which a repetition with `until` ends because more than half of them
/// are INVALID.
const MOST_INVALID_MIN: u32 = 10;

/// A study with the runs that exist already.
#[derive(Clone, Copy)]
pub(super) struct PerformedRuns<'a> {
    pub course: Course<'a>,
    pub runs: &'a [StudyRun],
}

impl PerformedRuns<'_> {
    /// Maximum number of attempts for a block. A repetition counts INVALID runs with their verdicts
    /// and does not repeat them. A comparison repeats a block with an INVALID run, because it
    /// compares the runs within each block.
    pub fn attempts_max(&self) -> u32 {
        match self.course.is_repetition() {
            true => 1,
            false => ATTEMPTS,
        }
    }

    /// Returns the number of the block's last attempt; 1 for a new block.
    pub fn attempt_of(&self, block: u32) -> u32 {
        let of_block = self.of_side().filter(|run| run.part.block == block);
        of_block.map(|run| run.part.attempt).max().unwrap_or(1)
    }

    fn of_side(&self) -> impl Iterator<Item = &StudyRun> {
        let side = self.course.side.map(|(side, _)| side);
        let runs = self.runs.iter();
        runs.filter(move |run| run.part.side.as_deref() == side)
    }

    /// Returns the baseline of sides that are measured separately (`--side`): the side that was
    /// measured first, or the side of this course if none was measured. `None` if the cells are
    /// interleaved.
    pub fn baseline_side(&self) -> Option<&str> {
        let (side, _) = self.course.side?;
        let mut runs = self.runs.iter();
        Some(
            runs.find_map(|run| run.part.side.as_deref())
                .unwrap_or(side),
        )
    }

    /// Returns the runs of a block in order. Of sides that are measured separately, only the
    /// baseline runs twice, for the A/A control.
    pub fn order(&self, block: u32, attempt: u32) -> Vec<BlockRun> {
        let Course { design, cells, .. } = self.course;
        let mut order = design.block(cells, block, attempt);
        if self.course.side.map(|(side, _)| side) != self.baseline_side() {
            order.retain(|run| !run.is_twin);
        }
        order
    }

    pub fn contains(&self, (block, attempt, position): (u32, u32, u32)) -> bool {
        self.of_side().any(|run| {
            (run.part.block, run.part.attempt, run.part.position) == (block, attempt, position)
        })
    }

    pub fn is_invalid(&self, block: u32, attempt: u32) -> bool {
        let mut runs = self
            .of_side()
            .filter(|run| (run.part.block, run.part.attempt) == (block, attempt));
        runs.any(|run| run.observed.level == Level::Invalid)
    }

    /// Whether the block has no run left to perform.
    fn is_complete(&self, block: u32) -> bool {
        let attempt = self.attempt_of(block);
        if attempt < self.attempts_max() && self.is_invalid(block, attempt) {
            return false;
        }
        let mut positions = (1..).zip(self.order(block, attempt));
        positions.all(|(position, _)| self.contains((block, attempt, position)))
    }

    /// Whether the study ends after this block because all confidence intervals are as narrow as
    /// its design requests.
    pub fn is_narrow_after(&self, block: u32) -> bool {
        let Course { design, cells, .. } = self.course;
        let Some(until) = design.until else {
            return false;
        };
        let Some(alpha) = Looks::new(design.blocks).alpha(block, ALPHA) else {
            return false;
        };
        if self.course.is_repetition() {
            return Repeats::is_narrow(design, self.runs, alpha, until);
        }
        let tables = tables(cells, self.runs, &design.metrics, alpha);
        let is_narrow =
            |table: &Comparisons| table.half_width_max().is_some_and(|half| half <= until);
        !tables.is_empty() && tables.iter().all(is_narrow)
    }

    /// Returns the verdicts of a repetition with `until` that ends after this block because too
    /// many runs are INVALID. Also returns the archive number of the last INVALID run. The
    /// confidence interval would probably not become narrow enough, because INVALID runs are
    /// excluded from the interval.
    pub fn too_many_invalid_after(&self, block: u32) -> Option<(VerdictCounts, Option<u64>)> {
        if self.course.design.until.is_none() || !self.course.is_repetition() {
            return None;
        }
        let runs = || {
            let runs = self.runs.iter();
            runs.filter(move |run| run.part.block <= block)
        };
        let verdicts = VerdictCounts::of(runs().map(|run| &run.observed));
        let (all, invalid) = (verdicts.all(), verdicts.invalid);
        let are_too_many = (all >= ALL_INVALID_MIN && invalid == all)
            || (all >= MOST_INVALID_MIN && invalid > all / 2);
        let last = runs().rfind(|run| run.observed.level == Level::Invalid);
        are_too_many.then(|| (verdicts, last.and_then(|run| run.observed.run)))
    }

    /// Returns the number of the next block that has a run to perform; `None` if the study is
    /// complete or has ended early.
    pub fn next_block(&self) -> Option<u32> {
        let is_incomplete = |block: &u32| !self.is_complete(*block);
        if let Some((_, block)) = self.course.side {
            return Some(block).filter(is_incomplete);
        }
        for block in 1..=self.course.design.blocks {
            if is_incomplete(&block) {
                return Some(block);
            }
            if self.is_narrow_after(block) || self.too_many_invalid_after(block).is_some() {
                return None;
            }
        }
        None
    }
}
