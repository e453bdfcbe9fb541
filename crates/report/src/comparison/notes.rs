//! Notes below a table of comparisons: the A/A control, the smallest detectable difference, the
//! number of further blocks needed, differences in conditions, targets, kernels, and excluded runs.

use document::Document;
use document::units::{bound, counted, grouped};
use study::{Comparison, ComparisonOutcome, Comparisons, InvalidRun, Method, SideSummary};

use super::sentence::{confidence, percent_up, reservations, tenths_up};
use super::table::metrics;
use super::words::metric_name;

const INVALID_LISTED_MAX: usize = 12;

/// Explains the ratio of a table, which need not be that of the medians beside it. `None` if no
/// ratio is a mean: without estimates, or with one run of each configuration.
pub(crate) fn ratio_note(found: &Comparisons) -> Option<&'static str> {
    let is_mean = found.verdicts.all() as usize > found.sides.len();
    let mut estimates = found.rows.iter().filter_map(Comparison::estimate);
    (is_mean && estimates.next().is_some()).then(|| match found.is_in_blocks() {
        true => "Ratio: geometric mean over the blocks, not the quotient of the medians.",
        false => "Ratio: quotient of the geometric means of the runs, not of the medians.",
    })
}

pub(crate) fn add_notes(document: &mut Document, found: &Comparisons) {
    if let Some(text) = runs_of_each(found) {
        document.words(text);
    }
    let first = [Some(aa_control(found)), smallest_detectable(found)];
    let first: Vec<String> = first.into_iter().flatten().collect();
    document.words(bound(&first.join(" ")));
    for text in [joint_confidence(found), more_blocks(found)]
        .into_iter()
        .flatten()
    {
        document.words(bound(&text));
    }
    add_basis(document, found);
}

/// The runs of each configuration, which add up to those of the title. `None` if all configurations
/// have the same number of runs.
fn runs_of_each(found: &Comparisons) -> Option<String> {
    let (baseline, candidates) = found.sides.split_first()?;
    let runs = |side: &SideSummary| u64::from(side.verdicts.all());
    let again = match found.aa_controls.is_empty() {
        true => "",
        false => " (twice in each block, for the A/A control)",
    };
    let first = format!("{} {}{again}", baseline.name, grouped(runs(baseline)));
    let others = candidates
        .iter()
        .map(|side| format!("{} {}", side.name, grouped(runs(side))));
    let all: Vec<String> = std::iter::once(first).chain(others).collect();
    let is_same = candidates.iter().all(|side| runs(side) == runs(baseline));
    (!is_same || candidates.is_empty()).then(|| bound(&format!("Runs: {}.", all.join(", "))))
}

/// Adds the notes that the report of a gate has in common with that of a comparison.
pub(crate) fn add_gate_notes(document: &mut Document, found: &Comparisons) {
    document.words(bound(&aa_control(found)));
    add_basis(document, found);
}

/// Adds conditions in which configurations differ, the targets, the kernels and the excluded runs.
fn add_basis(document: &mut Document, found: &Comparisons) {
    if found.is_apart() {
        let baseline = found
            .sides
            .first()
            .map_or(&found.baseline, |side| &side.name);
        document.words(format!(
            "The baseline is {baseline}, the side that was measured first."
        ));
    }
    if !found.is_in_blocks() || found.is_apart() {
        document.words(
            "The runs were not interleaved: changes of the machine between the configurations are \
             part of the differences.",
        );
    }
    document.items(details(found).iter().map(|text| bound(text)));
    targets(document, found);
    kernels(document, found);
    if !found.invalid.is_empty() {
        let listed = found.invalid.iter().take(INVALID_LISTED_MAX);
        let mut runs: Vec<String> = listed.map(invalid).collect();
        let more = found.invalid.len().saturating_sub(INVALID_LISTED_MAX);
        if more > 0 {
            runs.push(format!("and {more} more"));
        }
        document.words(format!("INVALID, not counted: {}.", runs.join(", ")));
    }
}

/// Prefixes each text with the name of its metric, unless the table has only one metric.
fn by_metric(found: &Comparisons, values: Vec<(study::Metric, String)>) -> Vec<String> {
    let is_only = metrics(found).len() == 1;
    let words = |(metric, value)| match is_only {
        true => value,
        false => format!("{} {value}", metric_name(metric)),
    };
    values.into_iter().map(words).collect()
}

/// The result of the A/A control as a sentence.
fn aa_control(found: &Comparisons) -> String {
    let baseline = found
        .sides
        .first()
        .map_or(&found.baseline, |side| &side.name);
    if found.aa_controls.is_empty() {
        return match found.is_in_blocks() {
            true => "A/A control: none, because the baseline ran once in each block.".to_owned(),
            false => "A/A control: none, because the runs are not in blocks.".to_owned(),
        };
    }
    let within = aa_controls(found).join(", ");
    format!("A/A control ({baseline} against itself): {within}.")
}

/// The result of the A/A control in each metric: `transactions/s within ±1.2 %`.
pub(crate) fn aa_controls(found: &Comparisons) -> Vec<String> {
    /// Text for a control with fewer blocks than an interval needs.
    const NO_INTERVAL: &str = "no interval (needs 5 blocks)";
    let controls = || found.aa_controls.iter();
    if controls().next().is_some() && controls().all(|control| control.interval.is_none()) {
        return vec![NO_INTERVAL.to_owned()];
    }
    let within = controls().map(|control| {
        let within = control.within();
        let within = within.map(|within| format!("within ±{}", tenths_up(within)));
        (
            control.metric,
            within.unwrap_or_else(|| NO_INTERVAL.to_owned()),
        )
    });
    by_metric(found, within.collect())
}

/// The smallest detectable difference of each metric: the largest value of all candidates. `None`
/// if no comparison has such a value.
fn smallest_detectable(found: &Comparisons) -> Option<String> {
    let known = |row: &Comparison| row.estimate()?.smallest_detectable;
    let of_metric = |metric| {
        let rows = found.rows.iter().filter(|row| row.metric == metric);
        rows.filter_map(known).reduce(f64::max)
    };
    let values: Vec<_> = metrics(found)
        .into_iter()
        .filter_map(|metric| Some((metric, percent_up(of_metric(metric)?))))
        .collect();
    let rows = || found.rows.iter().filter(|row| known(row).is_some());
    let count = rows().map(|row| row.count).max()?;
    let size = match found.is_in_blocks() {
        true => counted(count.into(), "block"),
        false => {
            let others = rows().map(|row| row.baseline_count).max()?;
            format!("{count} and {}", counted(others.into(), "run"))
        }
    };
    let values = by_metric(found, values).join(", ");
    Some(format!(
        "Smallest detectable difference with {size}: {values}."
    ))
}

/// The joint confidence of several intervals; `None` for a single interval.
pub(super) fn joint_confidence(found: &Comparisons) -> Option<String> {
    let rows = found.rows.iter();
    let intervals = rows.filter(|row| row.interval().is_some()).count() as u64;
    (intervals > 1).then(|| {
        format!(
            "The {} intervals together have {} confidence (Bonferroni correction).",
            grouped(intervals),
            confidence(found.confidence)
        )
    })
}

/// A sentence with the number of additional blocks that would decide the undecided comparisons.
/// `None` if all comparisons are decided, or if the number is not available.
pub(super) fn more_blocks(found: &Comparisons) -> Option<String> {
    let done = found.rows.iter().map(|row| row.count).max()?;
    let more = found.blocks_needed()?.checked_sub(done);
    let more = more.filter(|more| *more > 0 && found.is_in_blocks())?;
    Some(format!(
        "{} would decide what is undecided, if the ratios seen are the true ones (probability 80 \
         %).",
        counted(more.into(), "more block")
    ))
}

/// Lists the conditions in which configurations differ, and the reasons why configurations were not
/// compared, without duplicates.
fn details(found: &Comparisons) -> Vec<String> {
    let mut details: Vec<String> = Vec::new();
    for row in &found.rows {
        let side = found.side(&row.side).map_or(&row.side, |side| &side.name);
        let baseline = found
            .side(&row.baseline)
            .map_or(&row.baseline, |side| &side.name);
        let reserved = reservations(&row.unlike, &row.incomplete, side, baseline);
        let reserved = reserved.trim_start_matches("; ").to_owned();
        let reserved = (!reserved.is_empty()).then_some(reserved);
        let blocks = fewer_blocks(found, row, side);
        let of_row = [reserved, excluded(row, side), blocks];
        for detail in of_row.into_iter().flatten() {
            if !details.contains(&detail) {
                details.push(detail);
            }
        }
    }
    details
}

/// The number of blocks of a comparison; `None` if it has all blocks of the table.
fn fewer_blocks(found: &Comparisons, row: &Comparison, side: &str) -> Option<String> {
    let is_fewer = found.is_in_blocks() && row.count < found.blocks;
    row.estimate().filter(|_| is_fewer)?;
    Some(format!(
        "{side}: compared in {} of {} blocks",
        row.count, found.blocks
    ))
}

/// Why a candidate was not compared in a metric; `None` if it was compared.
fn excluded(row: &Comparison, side: &str) -> Option<String> {
    match row.outcome {
        ComparisonOutcome::Estimated(_) => None,
        ComparisonOutcome::TooManyInvalid => {
            let all = row.count + row.without + row.invalid;
            let all = match row.method {
                Method::Blocks | Method::BlocksApart => counted(all.into(), "block"),
                Method::NotInterleaved => counted((all + row.baseline_count).into(), "run"),
            };
            Some(format!(
                "{side}: not compared, because {} of {all} are INVALID (threshold 20 %)",
                row.invalid
            ))
        }
        ComparisonOutcome::UnlikeShares => Some(format!(
            "{side}: not compared (add --unlike to compare configurations that skip or fail \
             different shares of their operations)"
        )),
        ComparisonOutcome::NotMeasured => {
            let metric = metric_name(row.metric);
            let why = match row.metric {
                study::Metric::Latency(..) => {
                    " (a percentile needs ten samples beyond it: run longer)"
                }
                _ => "",
            };
            Some(format!(
                "{metric}: not in the runs of both {side} and the baseline{why}"
            ))
        }
        ComparisonOutcome::NoRuns => Some(format!(
            "{side}: no complete block in common with the baseline"
        )),
    }
}

/// Adds the file systems and devices of the configurations: one line for all, or one for each.
fn targets(document: &mut Document, found: &Comparisons) {
    let words = |side: &SideSummary| match side.targets.split_first() {
        None => "not available".to_owned(),
        Some((first, [])) => first.clone(),
        Some((first, others)) => format!("{first}, and {} more", others.len()),
    };
    let Some((first, others)) = found.sides.split_first() else {
        return;
    };
    if found.sides.iter().all(|side| side.targets.is_empty()) {
        return;
    }
    if others.iter().all(|side| side.targets == first.targets) {
        document.words(format!("Target of all: {}", words(first)));
        return;
    }
    let of_side = |side: &SideSummary| format!("{}: {}", side.name, words(side));
    document.items(found.sides.iter().map(of_side));
}

/// Adds the kernels of the configurations: one line for all, or one for each.
fn kernels(document: &mut Document, found: &Comparisons) {
    let words = |side: &SideSummary| match side.kernels.is_empty() {
        true => "not available".to_owned(),
        false => side.kernels.join(" and "),
    };
    let Some((first, others)) = found.sides.split_first() else {
        return;
    };
    if found.sides.iter().all(|side| side.kernels.is_empty()) {
        return;
    }
    if others.iter().all(|side| side.kernels == first.kernels) {
        document.words(format!("Kernel of all: {}", words(first)));
        return;
    }
    let of_side = |side: &SideSummary| format!("{}: kernel {}", side.name, words(side));
    document.items(found.sides.iter().map(of_side));
}

fn invalid(run: &InvalidRun) -> String {
    let name = run
        .run
        .map_or("a run".to_owned(), |run| format!("run {run}"));
    let block = run.block.as_ref().map_or_else(String::new, |of| {
        format!(", block {}, attempt {}", of.number, of.attempt)
    });
    format!("{name} ({}{block})", run.side)
}
