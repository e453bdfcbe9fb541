//! Notes below a table of comparisons: the A/A control, the smallest detectable difference, and the
//! number of further blocks needed.

use document::Document;
use document::units::{bound, counted, grouped, percent};
use study::statistics::{BLOCKS_MAX, BLOCKS_MIN};
use study::{
    AaControl, Comparison, ComparisonOutcome, Comparisons, Method, RatioInterval, SideSummary,
};

use super::basis::add_basis;
use super::sentence::{confidence, detectable, tenths_up, why_missing};
use super::table::metrics;
use super::words::metric_name;
use crate::study::length;

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
    let first = [
        Some(aa_control(found)),
        smallest_detectable(found),
        standard_deviation(found),
    ];
    let first: Vec<String> = first.into_iter().flatten().collect();
    document.words(bound(&first.join(" ")));
    for text in [
        joint_confidence(found),
        more_blocks(found),
        unfinished(found),
    ]
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

/// Distance from 1 at which a control does not check what usual requirements of a gate allow. Such
/// an interval may also be far from symmetric, so both of its ends are shown.
const WIDE: f64 = 0.1;

/// The result of the A/A control as a sentence.
fn aa_control(found: &Comparisons) -> String {
    let mut text = format!("A/A control: {}.", aa_control_in_words(found));
    let mut within = found.aa_controls.iter().filter_map(AaControl::within);
    if within.any(|within| within > WIDE) {
        text += " The control is too wide to exclude that the machine alone makes a difference of \
                 that size.";
    }
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

/// The interval of an A/A control as a percentage: the distance of its farther end from 1. If the
/// interval is wide, both of its ends are shown as ratios.
fn of_control(found: &Comparisons, control: &AaControl) -> String {
    match (control.interval, control.within()) {
        (Some(RatioInterval { low, high }), Some(within)) if within > WIDE => {
            format!("{low:.2} to {high:.2} times itself")
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

/// The standard deviation of each metric: the largest value of all candidates. `None` if no
/// comparison has an interval.
fn standard_deviation(found: &Comparisons) -> Option<String> {
    let known = |row: &&Comparison| row.interval().is_some();
    let first = found.rows.iter().find(known)?;
    let of_metric = |metric| {
        let rows = found.rows.iter().filter(known);
        let rows = rows.filter(|row| row.metric == metric);
        rows.filter_map(|row| row.estimate()?.standard_deviation)
            .reduce(f64::max)
    };
    let values: Vec<_> = metrics(found)
        .into_iter()
        .filter_map(|metric| Some((metric, percent(of_metric(metric)?))))
        .collect();
    Some(format!(
        "Standard deviation ({}): {}.",
        deviates(first.method),
        by_metric(found, values).join(", ")
    ))
}

/// The ratios that the standard deviation of a comparison or of a gate describes.
pub(crate) const fn deviates(method: Method) -> &'static str {
    match method {
        Method::Blocks | Method::BlocksApart => "of a block's ratio",
        Method::NotInterleaved => {
            "of the logarithm of the ratio of two runs, one of each configuration: about 1.4 times \
             that of one run"
        }
    }
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
    let undecided = |row: &&Comparison| {
        let estimate = row.estimate();
        estimate.is_some_and(|of| of.interval.is_some() && !of.is_shown)
    };
    let undecided = found.rows.iter().filter(undecided);
    let row = undecided.max_by_key(|row| row.estimate().and_then(|of| of.blocks_needed_to_show));
    let row = row.filter(|_| found.is_in_blocks())?;
    let condition = forecast_condition(row);
    let Some(needed) = found.blocks_needed_to_show() else {
        return Some(format!(
            "More than {} blocks would be needed to show a difference where none is shown, \
             {condition}: use longer runs, or stop other programs.",
            grouped(BLOCKS_MAX.into())
        ));
    };
    let more = needed.checked_sub(done).filter(|more| *more > 0)?;
    Some(format!(
        "{} ({}) would show a difference where none is shown, {condition} (probability 80 %).{}",
        counted(more.into(), "more block"),
        effort(std::slice::from_ref(found), more, "more run"),
        adding(found, more)
    ))
}

/// Where the deviation of a forecast comes from, if it is not that of the blocks' ratios.
pub(crate) fn forecast_source(
    forecast_deviation: Option<f64>,
    standard_deviation: Option<f64>,
) -> &'static str {
    match forecast_deviation > standard_deviation {
        true => ", as the A/A control implies",
        false => "",
    }
}

/// The assumptions of a number of blocks that would show a difference.
fn forecast_condition(row: &Comparison) -> String {
    let estimate = row.estimate();
    let deviation = estimate.and_then(|of| of.forecast_deviation);
    let source = estimate.map_or("", |of| {
        forecast_source(of.forecast_deviation, of.standard_deviation)
    });
    let deviation = deviation.map_or_else(String::new, |deviation| {
        format!(" at a standard deviation of {}{source}", percent(deviation))
    });
    format!("if the ratios seen are the true ones{deviation}")
}

/// That a study has not ended, and the command that continues it; `None` for other runs. Sides that
/// were measured apart have no such command.
fn unfinished(found: &Comparisons) -> Option<String> {
    let study = found.study.as_ref();
    let is_apart = found.is_apart() || found.rows.is_empty();
    let study = study.filter(|_| found.is_unfinished() && !is_apart)?;
    Some(format!(
        "The study has not ended: 'postmark study --resume {study}' continues it."
    ))
}

/// The command that adds blocks to a study, as a sentence; empty for runs of no study or of several
/// studies.
fn adding(found: &Comparisons, more: u32) -> String {
    let (first, last) = (found.blocks + 1, found.blocks + more);
    match &found.study {
        None => String::new(),
        Some(_) if found.is_apart() => format!(
            " To add them, repeat the command of each side with --blocks {last}, for --block \
             {first} to --block {last}."
        ),
        Some(study) => format!(" 'postmark study --resume {study} --blocks {last}' adds them."),
    }
}

/// The number of runs in `blocks` blocks of all tables of a study, and the duration of these runs:
/// `135 runs in all, about 9 min`, or `51 more runs, about 27 s` if `what` is `more run`.
pub(crate) fn effort(tables: &[Comparisons], blocks: u32, what: &str) -> String {
    let runs = tables.iter().map(|table| table.runs_in(blocks)).sum();
    let runs = match what {
        "run" => format!("{} in all", counted(runs, what)),
        _ => counted(runs, what),
    };
    let time = tables
        .iter()
        .map(|table| Some(table.run_s? * table.runs_in(blocks) as f64))
        .sum::<Option<f64>>();
    let boots = match tables.iter().any(Comparisons::is_apart) {
        true => " and the boots",
        false => "",
    };
    match time.filter(|seconds| *seconds > 0.0) {
        Some(seconds) => format!("{runs}, about {}{boots}", length(seconds)),
        None => format!("{runs}{boots}"),
    }
}
