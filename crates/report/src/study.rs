//! The plan of a study, in words.

pub mod sides;

use document::sanitize::sanitize;
use document::units::{bound, bytes, counted, grouped};
use document::{Block, Document};
use record::{RunSpec, StudyPart};
use study::statistics::BLOCKS_MIN;
use study::{PlannedCell, StudyPlan};

use crate::text::first_line;

/// Maximum number of configurations, and of runs of a block, that the plan lists.
const NAMED: usize = 12;

/// The plan of a study as a document: configurations, order of the runs, duration, and space. With
/// `is_head`, the plan is the first part of the results in a file. The order and duration of the
/// runs are left out with `is_head`, and if no block remains.
pub fn plan(plan: &StudyPlan, is_head: bool) -> Document {
    let mut document = Document::default();
    let count = plan.order.len() as u64;
    document.head(format!(
        "Study {}: {}, {}",
        plan.name,
        counted(plan.cells.len() as u64, "cell"),
        match (&plan.side, plan.time_limit_s, plan.until) {
            (Some(side), ..) => format!("block {} of side {side}", plan.next_block),
            (None, Some(_), _) | (None, _, Some(_)) =>
                format!("blocks of {}", counted(count, "run")),
            (None, None, None) => format!(
                "{} of {}",
                counted(plan.blocks.into(), "block"),
                counted(count, "run")
            ),
        }
    ));
    if let Some(study) = &plan.study {
        document.pair(0, "Identity", study);
    }
    let cell = |cell: &PlannedCell| match (&plan.side, &cell.baseline) {
        (Some(_), _) => cell.label.clone(),
        (None, Some(baseline)) => format!("{} (compared with {baseline})", cell.label),
        (None, None) => format!("{} (baseline)", cell.label),
    };
    let mut cells: Vec<String> = plan.cells.iter().take(NAMED).map(cell).collect();
    more(&mut cells, plan.cells.len());
    document.list("Cells", "", &cells);
    conditions_of_runs(&mut document, plan);
    if let (Some(side), Some(baseline)) = (&plan.side, &plan.baseline_side) {
        let words = match side == baseline {
            true => format!("{side}, measured first and therefore the baseline of the other sides"),
            false => format!("{side}, compared with {baseline}, the side that was measured first"),
        };
        document.sentence("Side", words);
    }
    if !is_head && plan.blocks_left > 0 {
        document.sentence("Order", order(plan));
        document.sentence("Time", time(plan));
    }
    for (directory, size) in &plan.room {
        document.sentence("Room", format!("{} in {directory}", bytes(*size as f64)));
    }
    document.list("Root", "needed for ", &plan.root);
    if plan.done > 0 {
        let done = counted(plan.done.into(), "run");
        let rest = match plan.blocks_left {
            0 => ", and no block remains",
            _ => "",
        };
        let words = format!("{done} of this study are in the archive already{rest}");
        document.sentence("There", words);
    }
    if let Some(text) = no_interval(plan).filter(|_| !is_head) {
        document.push(Block::Warning(bound(&text)));
    }
    document.gap();
    document
}

/// A warning before the first run of a study that has too few blocks for a confidence interval.
/// `None` for other studies, and for studies that compare nothing.
pub fn no_interval(plan: &StudyPlan) -> Option<String> {
    let is_compared = plan.cells.iter().any(|cell| cell.baseline.is_some());
    (is_compared && plan.is_without_interval()).then(|| {
        format!(
            "warning: this study gives no intervals: they need {BLOCKS_MIN} blocks, and it has {} \
             (use --blocks {BLOCKS_MIN} or more)",
            plan.blocks
        )
    })
}

/// Adds the conditions that all runs have in common, and the other conditions of each cell
/// (compared configuration).
fn conditions_of_runs(document: &mut Document, plan: &StudyPlan) {
    let common = common_conditions(plan);
    document.list("Each run", "", &common);
    for cell in plan.cells.iter().take(NAMED) {
        let own = cell.conditions.iter().filter(|of| !common.contains(of));
        let own: Vec<String> = own.cloned().collect();
        if !own.is_empty() {
            document.list("", &format!("{}: ", cell.label), &own);
        }
    }
}

/// The conditions that the runs of all cells have in common.
pub(crate) fn common_conditions(plan: &StudyPlan) -> Vec<String> {
    let is_common = |of: &&String| plan.cells.iter().all(|cell| cell.conditions.contains(of));
    let first = plan.cells.iter().take(1).flat_map(|cell| &cell.conditions);
    first.filter(is_common).cloned().collect()
}

/// The conditions of a run spec, for the plan of a study: workers, files, durability, and all other
/// settings.
pub fn conditions(spec: &RunSpec) -> Vec<String> {
    first_line::conditions(spec)
}

fn more(named: &mut Vec<String>, all: usize) {
    if all > NAMED {
        named.push(format!("and {} more", grouped((all - NAMED) as u64)));
    }
}

fn order(plan: &StudyPlan) -> String {
    let run = |(label, is_twin): &(String, bool)| match is_twin {
        true => format!("{label} again"),
        false => label.clone(),
    };
    let mut order: Vec<String> = plan.order.iter().take(NAMED).map(run).collect();
    more(&mut order, plan.order.len());
    format!(
        "drawn for each block from seed {}; block {}: {}",
        plan.seed,
        plan.next_block,
        order.join(", ")
    )
}

fn time(plan: &StudyPlan) -> String {
    let runs_left = f64::from(plan.blocks_left) * plan.order.len() as f64;
    let quiet = match plan.quiet_s > 0.0 {
        true => format!(
            ", and up to {} for a quiet machine before each run (at most {} for all)",
            length(plan.quiet_s),
            length(plan.quiet_s * runs_left)
        ),
        false => String::new(),
    };
    let images = match plan.room.is_empty() {
        true => "",
        false => ", and that for its file systems,",
    };
    let block = match (plan.block_s, plan.measured_s) {
        (Some(seconds), _) => format!(
            "a block takes about {}, by the rates of {} in the archive{quiet}",
            length(seconds),
            runs(&plan.estimated_from)
        ),
        (None, Some(seconds)) => format!(
            "a block measures for {}; the time for its pools{images} is known after the first \
             block{quiet}",
            length(seconds)
        ),
        (None, None) => {
            format!("known after the first block: the number of transactions ends a run{quiet}")
        }
    };
    let seconds = plan.block_s.or(plan.measured_s);
    let all = |seconds| match plan.block_s {
        Some(_) => length(seconds),
        None => length_at_least(seconds),
    };
    let about = match plan.block_s {
        Some(_) => "about",
        None => "at least",
    };
    match (plan.time_limit_s, plan.until, seconds, &plan.side) {
        (.., Some(seconds), Some(_)) => format!(
            "{block}. All {} of a side take {about} {}, and the time of the boots",
            counted(plan.blocks.into(), "block"),
            all(seconds * f64::from(plan.blocks))
        ),
        (Some(limit), ..) => format!(
            "no block begins that would end after {}; {block}",
            length(limit)
        ),
        (None, Some(until), ..) => format!(
            "until all intervals are within {} %; {block}",
            until * 100.0
        ),
        (None, None, Some(seconds), None) => format!(
            "{about} {}: {block}",
            all(seconds * f64::from(plan.blocks_left))
        ),
        _ => block,
    }
}

/// Names runs of the archive by their numbers.
fn runs(all: &[u64]) -> String {
    let shown: Vec<String> = all.iter().take(NAMED).map(u64::to_string).collect();
    let more = if all.len() > NAMED { ", …" } else { "" };
    let name = if all.len() == 1 { "run" } else { "runs" };
    format!("{name} {}{more}", shown.join(", "))
}

/// Where a run is in its study, such as `Study: kernels (3c540a4a321c), side old, block 3, run 2 of
/// the block`, or `repetition 3` if the study has one configuration.
pub fn place_of_run(part: &StudyPart) -> String {
    let mut words = vec![format!("Study: {} ({})", part.name, part.study)];
    match &part.side {
        None if part.coordinates.is_empty() => words.push(format!("repetition {}", part.block)),
        side => {
            words.push(match side {
                Some(side) => format!("side {side}"),
                None => format!("cell {}", part.cell),
            });
            words.push(format!("block {}", part.block));
            words.push(format!("run {} of the block", part.position));
        }
    }
    if part.attempt > 1 {
        words.push(format!("attempt {}", part.attempt));
    }
    if part.is_twin {
        words.push("second run of the baseline (A/A control)".to_owned());
    }
    sanitize(&words.join(", ")).into_owned()
}

/// Like [`length`], but rounded down, so that the text is a lower bound.
fn length_at_least(seconds: f64) -> String {
    let unit = match seconds {
        seconds if seconds < 120.0 => 1.0,
        seconds if seconds < 7200.0 => 60.0,
        _ => 360.0,
    };
    length((seconds / unit).floor() * unit)
}

/// Formats a duration in seconds, minutes or hours.
pub fn length(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match whole {
        0 => format!("{seconds:.1} s"),
        1..120 => format!("{whole} s"),
        120..7200 => format!("{} min", whole.div_ceil(60)),
        _ => format!("{:.1} h", seconds / 3600.0),
    }
}
