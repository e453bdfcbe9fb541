//! Notes below a table of comparisons: the A/A control, the smallest detectable difference, the
//! number of further blocks needed, differences in conditions, targets, kernels, and excluded runs.

use document::Document;
use document::units::{bound, counted, grouped};
use study::statistics::BLOCKS_MIN;
use study::{
    AaControl, Comparison, ComparisonOutcome, Comparisons, InvalidRun, Method, RatioInterval,
    SideSummary,
};

use super::sentence::{confidence, detectable, reservations, tenths_up, why_missing};
use super::table::metrics;
use super::words::metric_name;
use crate::study::length;

const INVALID_LISTED_MAX: usize = 12;

/// Explains why a ratio in a table differs from the quotient of the means in the same row. `None`
/// if each ratio is that quotient.
pub(crate) fn ratio_note(found: &Comparisons) -> Option<&'static str> {
    let mean = |row: &Comparison, name: &str| found.side(name)?.means.get(&row.metric).copied();
    let is_quotient = |row: &Comparison| {
        let quotient = mean(row, &row.side).zip(mean(row, &row.baseline));
        let quotient = quotient.map(|(side, baseline)| side / baseline);
        let estimate = row.estimate().zip(quotient);
        estimate.is_none_or(|(estimate, quotient)| (estimate.ratio / quotient - 1.0).abs() < 1e-6)
    };
    (!found.rows.iter().all(is_quotient)).then_some(
        "Ratio: geometric mean over the blocks in which both ran; the means of the configurations \
         include other runs.",
    )
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

/// The number of runs of each configuration. These numbers add up to the number of runs in the
/// title. `None` if all configurations have the same number of runs.
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

/// The result of the A/A control, in the words of every screen: `ext4 against itself, 95 %
/// interval: within ±1.2 %`.
pub(crate) fn aa_control_in_words(found: &Comparisons) -> String {
    if found.aa_controls.is_empty() {
        let mut rows = found.rows.iter();
        let lacks = |row: &&Comparison| matches!(row.outcome, ComparisonOutcome::NotMeasured);
        if let Some(row) = rows.find(lacks) {
            return format!("none, because the runs lack {}", metric_name(row.metric));
        }
        return match found.is_in_blocks() {
            true => "none, because the baseline ran once in each block".to_owned(),
            false => "none, because the runs are not in blocks".to_owned(),
        };
    }
    let baseline = found
        .sides
        .first()
        .map_or(&found.baseline, |side| &side.name);
    let within = aa_controls(found).join(", ");
    format!("{baseline} against itself, 95 % interval: {within}")
}

/// The result of the A/A control as a sentence.
fn aa_control(found: &Comparisons) -> String {
    let mut text = format!("A/A control: {}.", aa_control_in_words(found));
    if found
        .aa_controls
        .iter()
        .any(|control| is_as_wide(found, control))
    {
        text += " That is as far from 1 as a difference found, so the control does not show that \
                 the machine alone makes no such difference.";
    }
    text
}

/// Whether the interval of an A/A control extends at least as far from 1 as a shown difference in
/// the same metric.
fn is_as_wide(found: &Comparisons, control: &AaControl) -> bool {
    let Some(interval) = control.interval else {
        return false;
    };
    let reach = interval.high.ln().max(-interval.low.ln());
    let rows = found.rows.iter().filter(|row| row.metric == control.metric);
    let mut shown = rows.filter_map(|row| row.estimate().filter(|of| of.is_shown));
    shown.any(|of| of.ratio.ln().abs() <= reach)
}

/// The result of the A/A control in each metric: `transactions/s within ±1.2 %`.
fn aa_controls(found: &Comparisons) -> Vec<String> {
    let controls = || found.aa_controls.iter();
    let has_too_few = |control: &AaControl| found.blocks < BLOCKS_MIN && control.interval.is_none();
    if controls().next().is_some() && controls().all(has_too_few) {
        return vec![format!("no interval (needs {BLOCKS_MIN} blocks)")];
    }
    let words = controls().map(|control| (control.metric, of_control(found, control)));
    by_metric(found, words.collect())
}

/// The interval of an A/A control as a percentage. If the upper end is above 2 (twice the
/// baseline), both ends are shown as ratios, because the interval is too wide to check anything.
fn of_control(found: &Comparisons, control: &AaControl) -> String {
    match (control.interval, control.within()) {
        (Some(RatioInterval { low, high }), Some(within)) if within > 1.0 => {
            format!("{low:.2} to {high:.2} times itself, too wide to check anything")
        }
        (_, Some(within)) => format!("within ±{}", tenths_up(within)),
        _ if found.blocks < BLOCKS_MIN => format!("no interval (needs {BLOCKS_MIN} blocks)"),
        _ => format!(
            "no interval (only {} of {} contain both runs of the baseline{})",
            control.count,
            counted(found.blocks.into(), "block"),
            why_missing(control.metric)
                .replace(" (", "; ")
                .replace(')', "")
        ),
    }
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
        .filter_map(|metric| Some((metric, detectable(of_metric(metric)?))))
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
    let is_smaller = rows().any(is_below_detectable);
    let found_smaller = match is_smaller {
        true => " A difference found is smaller: another study of this size may not show it again.",
        false => "",
    };
    Some(format!(
        "Smallest detectable difference with {size} (probability 80 %): {values}.{found_smaller}"
    ))
}

/// Whether a shown difference is smaller than the smallest detectable difference. Logarithms are
/// compared, so that a ratio and its inverse are equally large differences.
fn is_below_detectable(row: &Comparison) -> bool {
    let estimate = row.estimate().filter(|estimate| estimate.is_shown);
    estimate.is_some_and(|estimate| {
        let smallest = estimate.smallest_detectable.unwrap_or(0.0).ln_1p();
        estimate.ratio.ln().abs() < smallest
    })
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
    let command = found.study.as_ref().filter(|_| !found.is_apart());
    let command = command.map_or_else(String::new, |study| {
        let blocks = found.blocks + more;
        format!(" 'postmark study --resume {study} --blocks {blocks}' adds them.")
    });
    Some(format!(
        "{} ({}) would show a difference where none is shown, if the ratios seen are the true ones \
         (probability 80 %).{command}",
        counted(more.into(), "more block"),
        effort(std::slice::from_ref(found), more)
    ))
}

/// The number of runs in `blocks` blocks of all tables of a study, and the duration of these runs:
/// `135 runs in all, about 9 min`.
pub(crate) fn effort(tables: &[Comparisons], blocks: u32) -> String {
    let runs = counted(
        tables.iter().map(|table| table.runs_in(blocks)).sum(),
        "run",
    );
    let time = tables
        .iter()
        .map(|table| Some(table.run_s? * table.runs_in(blocks) as f64))
        .sum::<Option<f64>>();
    match time.filter(|seconds| *seconds > 0.0) {
        Some(seconds) => format!("{runs} in all, about {}", length(seconds)),
        None => format!("{runs} in all"),
    }
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
    let metric = match row.without {
        0 => String::new(),
        without => format!(
            "; {} without {}{}",
            counted(without.into(), "block"),
            metric_name(row.metric),
            why_missing(row.metric)
        ),
    };
    Some(format!(
        "{side}: compared in {} of {}{metric}",
        row.count,
        counted(found.blocks.into(), "block")
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
            let (metric, why) = (metric_name(row.metric), why_missing(row.metric));
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
