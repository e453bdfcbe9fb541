//! The comparisons of a study: each cell with its baseline, in one table for each baseline.

use record::StudyPart;

use crate::alpha_spending::Looks;
use crate::cells::StudyCell;
use crate::comparison::Comparisons;
use crate::design::Design;
use crate::metric::Metric;
use crate::observed::{Baseline, ComparedSide, Observed, SideGroup};
use crate::statistics::ALPHA;

#[derive(Clone, Debug)]
pub struct StudyRun {
    /// The cell, the block and the attempt of the run.
    pub part: StudyPart,
    pub observed: Observed,
}

/// Compares the runs of a study, with an error of `alpha` for each table.
pub fn tables(
    cells: &[StudyCell],
    runs: &[StudyRun],
    metrics: &[Metric],
    alpha: f64,
) -> Vec<Comparisons> {
    Comparisons::of_groups(&groups(cells, runs), metrics, alpha)
}

/// The comparisons of a study that has ended.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyComparisons {
    /// A table for each baseline.
    pub tables: Vec<Comparisons>,
    /// Error of each table. Without interim analyses (looks), it is [`ALPHA`]. If the study ended
    /// at a planned look, it is the error of that look. Otherwise it is the part of [`ALPHA`] that
    /// earlier looks have not spent.
    pub alpha: f64,
}

impl StudyComparisons {
    /// Compares the runs of a study that has ended, with 95 % confidence for each table.
    pub fn of(design: &Design, cells: &[StudyCell], runs: &[StudyRun], metrics: &[Metric]) -> Self {
        let alpha = error_left(design, runs);
        let mut tables = tables(cells, runs, metrics, alpha);
        for table in &mut tables {
            // With this confidence, the intervals of all interim analyses contain the true ratios.
            table.confidence = 1.0 - ALPHA;
            let has_other_limits = design.until.is_some() || design.time_limit.is_some();
            table.blocks_planned = (!has_other_limits).then_some(design.blocks);
        }
        Self { tables, alpha }
    }

    /// Whether a baseline seems to differ from itself.
    pub fn is_doubtful(&self) -> bool {
        self.tables.iter().any(|table| table.is_doubtful)
    }
}

/// The error of the intervals of a study that has ended. Without interim analyses (looks), it is
/// [`ALPHA`]. If the study ended at a planned look, it is the error of that look. Otherwise it is
/// the part of [`ALPHA`] that earlier looks have not spent.
pub(crate) fn error_left(design: &Design, runs: &[StudyRun]) -> f64 {
    if design.until.is_none() {
        return ALPHA;
    }
    let blocks = runs.iter().map(|run| run.part.block).max().unwrap_or(0);
    let looks = Looks::new(design.blocks);
    looks
        .alpha(blocks, ALPHA)
        .unwrap_or_else(|| looks.alpha_at_end(blocks, ALPHA))
}

/// Groups the runs of a study by baseline. Cells are compared with the baseline that the design
/// specifies. If configurations were measured separately, the first one is the baseline.
pub fn groups(cells: &[StudyCell], runs: &[StudyRun]) -> Vec<SideGroup> {
    let mut sides: Vec<&str> = Vec::new();
    for side in runs.iter().filter_map(|run| run.part.side.as_deref()) {
        if !sides.contains(&side) {
            sides.push(side);
        }
    }
    let group = |baseline: &str, labels: &mut dyn Iterator<Item = String>| {
        let twin = of(runs, baseline, true);
        let baseline = Baseline {
            side: of(runs, baseline, false),
            twin: (!twin.runs.is_empty()).then_some(twin),
        };
        let sides = labels.map(|label| of(runs, &label, false)).collect();
        SideGroup { baseline, sides }
    };
    if let Some((first, others)) = sides.split_first() {
        let of_cell = |cell: &StudyCell| {
            let mut others = others.iter().map(|side| cell.label_of_side(side));
            group(&cell.label_of_side(first), &mut others)
        };
        return cells.iter().map(of_cell).collect();
    }
    let of_baseline = |index: usize| {
        let compared = cells.iter().enumerate();
        let compared = compared.filter(|(other, cell)| cell.baseline == index && *other != index);
        let mut labels = compared.map(|(_, cell)| cell.label.clone());
        group(&cells[index].label, &mut labels)
    };
    let baselines = (0..cells.len()).filter(|index| cells[*index].baseline == *index);
    baselines.map(of_baseline).collect()
}

impl StudyCell {
    /// Label of the cell for a configuration that is measured separately.
    pub fn label_of_side(&self, side: &str) -> String {
        match self.coordinates.is_empty() {
            true => side.to_owned(),
            false => format!("{} {side}", self.label),
        }
    }
}

fn of(runs: &[StudyRun], label: &str, is_twin: bool) -> ComparedSide {
    let runs = runs
        .iter()
        .filter(|run| run.part.cell == label && run.part.is_twin == is_twin);
    ComparedSide {
        label: label.to_owned(),
        runs: runs.map(|run| run.observed.clone()).collect(),
    }
}
