//! What comparisons are based on: differences in conditions, targets, scratch images, kernels,
//! excluded runs, and the limits of the workloads.

use std::collections::BTreeSet;

use document::units::{bound, counted};
use document::{Block, Document};
use study::{Comparison, ComparisonOutcome, Comparisons, InvalidRun, Method, SideSummary};
use workload::presets;

use super::sentence::{reservations, why_missing, why_missing_at};
use super::words::metric_name;

const INVALID_LISTED_MAX: usize = 12;

/// Adds conditions in which configurations differ, the targets, the kernels and the excluded runs.
pub(super) fn add_basis(document: &mut Document, found: &Comparisons) {
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
    settings(document, found);
    targets(document, found);
    images(document, found);
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
        let of_row = [reserved, excluded(found, row, side), blocks];
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
fn excluded(found: &Comparisons, row: &Comparison, side: &str) -> Option<String> {
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
            let sides = [&row.side, &row.baseline].into_iter();
            let sides = sides.filter_map(|label| found.side(label)?.needed_s.get(&row.metric));
            let needed_s = sides.copied().reduce(f64::max);
            let metric = metric_name(row.metric);
            let why = why_missing_at(row.metric, needed_s);
            Some(format!(
                "{metric}: not in the runs of both {side} and the baseline{why}"
            ))
        }
        ComparisonOutcome::NoRuns => Some(format!(
            "{side}: no complete block in common with the baseline"
        )),
    }
}

/// Adds a warning about scratch images that are read and written through a page cache.
fn images(document: &mut Document, found: &Comparisons) {
    let cached = found.sides.iter().filter(|side| side.has_caching_loop);
    let names: Vec<&str> = cached.map(|side| side.name.as_str()).collect();
    if names.is_empty() {
        return;
    }
    document.push(Block::Warning(bound(&format!(
        "{}: a loop device reads and writes its file through the page cache of the file system \
         below, so memory answers what a disk would answer (to measure the disk, make a target \
         with direct, like 'make:ext4?direct': 'postmark help scratch').",
        names.join(" and ")
    ))));
}

/// Adds what the results of presets do not predict.
pub(crate) fn add_limits(document: &mut Document, tables: &[Comparisons]) {
    let sides = tables.iter().flat_map(|found| &found.sides);
    let names: BTreeSet<&String> = sides.flat_map(|side| &side.workloads).collect();
    for preset in names.into_iter().filter_map(|name| presets::find(name)) {
        document.words(format!(
            "The result does not predict {} ({}).",
            preset.not_predicted,
            preset.full_name()
        ));
    }
}

/// Lists the settings in which runs that were not planned together differ. The configurations of a
/// study are named by theirs.
fn settings(document: &mut Document, found: &Comparisons) {
    if found.is_in_blocks() {
        return;
    }
    let is_common = |setting: &&String| {
        let mut sides = found.sides.iter();
        sides.all(|side| side.settings.contains(setting))
    };
    let of_side = |side: &SideSummary| -> Vec<String> {
        let differing = side.settings.iter().filter(|one| !is_common(one));
        differing.cloned().collect()
    };
    if found.sides.iter().all(|side| of_side(side).is_empty()) {
        return;
    }
    document.items(found.sides.iter().map(|side| match of_side(side) {
        differing if differing.is_empty() => format!("{}: without these settings", side.name),
        differing => format!("{}: {}", side.name, differing.join(", ")),
    }));
}

/// Adds the file systems and devices of the configurations.
fn targets(document: &mut Document, found: &Comparisons) {
    let words = |targets: &[String]| match targets.split_first() {
        None => "not available".to_owned(),
        Some((first, [])) => first.clone(),
        Some((first, others)) => format!("{first}, and {} more", others.len()),
    };
    of_sides(document, found, ["Target", ""], |side| &side.targets, words);
}

/// Adds the kernels of the configurations.
fn kernels(document: &mut Document, found: &Comparisons) {
    let words = |kernels: &[String]| match kernels.is_empty() {
        true => "not available".to_owned(),
        false => kernels.join(" and "),
    };
    let heads = ["Kernel", "kernel "];
    of_sides(document, found, heads, |side| &side.kernels, words);
}

/// Adds a value of the configurations, if any has it: one line for all, or one for each. `heads`
/// are the words before a value of all, and before that of one.
fn of_sides(
    document: &mut Document,
    found: &Comparisons,
    heads: [&str; 2],
    values: fn(&SideSummary) -> &[String],
    words: impl Fn(&[String]) -> String,
) {
    let Some((first, others)) = found.sides.split_first() else {
        return;
    };
    if found.sides.iter().all(|side| values(side).is_empty()) {
        return;
    }
    let [of_all, of_one] = heads;
    if others.iter().all(|side| values(side) == values(first)) {
        document.words(format!("{of_all} of all: {}", words(values(first))));
        return;
    }
    let of_side = |side: &SideSummary| format!("{}: {of_one}{}", side.name, words(values(side)));
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
