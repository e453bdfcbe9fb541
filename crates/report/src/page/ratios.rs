//! The ratio plot: every comparison as a point with its interval on a logarithmic axis, and the
//! interval of the A/A control in the background.

use document::{Cell, Column, Document, Table};
use study::{Better, Comparison, Comparisons, Estimate, RatioInterval};

use super::sides::number;
use crate::comparison::{add_sentences, confidence, noun, result};
use crate::pictures::chart::Axis;
use crate::pictures::rows::{Mark, Row, Rows};
use crate::pictures::scale::Scale;

const ROWS_MAX: usize = 120;
/// The legend of the points. `Mark::series` is an index into this list.
const KINDS: [&str; 4] = ["no difference shown", "better", "worse", "no interval"];

fn decimal<T>(of: Option<T>, value: fn(T) -> f64) -> Cell {
    Cell::decimal(of.map(value), 3)
}

/// Adds the ratio plot of all comparisons, or a note if no comparison has a ratio.
pub(super) fn plot(document: &mut Document, tables: &[Comparisons]) {
    let all: Vec<(&Comparisons, &Comparison)> = tables
        .iter()
        .flat_map(|table| table.rows.iter().map(move |row| (table, row)))
        .collect();
    if all.iter().all(|(_, row)| row.estimate().is_none()) {
        document.note("Ratio plot: not available (no comparison has a ratio).");
        return;
    }
    let drawn = &all[..all.len().min(ROWS_MAX)];
    let ends = drawn.iter().flat_map(|(table, row)| {
        let ratio = row.estimate().map(|estimate| estimate.ratio);
        let intervals = row.interval().into_iter().chain(control(table, row));
        let ends = intervals.flat_map(|interval| [interval.low, interval.high]);
        ratio.into_iter().chain(ends)
    });
    let is_alone = tables.len() == 1 && all.iter().all(|(_, row)| row.metric == all[0].1.metric);
    let mut rows = Vec::new();
    let mut before = None;
    for (table, row) in drawn {
        let group = (&table.baseline, row.metric);
        if before.replace(group) != Some(group) && !is_alone {
            let heading = format!("{}, {} = 1", noun(row.metric), table.baseline);
            rows.push(Row::heading(heading));
        }
        rows.push(point(table, row));
    }
    let columns: [Column<&(&Comparisons, &Comparison)>; 8] = [
        ("side", |(_, row)| row.side.as_str().into()),
        ("baseline", |(_, row)| row.baseline.as_str().into()),
        ("metric", |(_, row)| Cell::ours(row.metric.to_string())),
        ("ratio", |(_, row)| decimal(row.estimate(), |of| of.ratio)),
        ("from", |(_, row)| decimal(row.interval(), |of| of.low)),
        ("to", |(_, row)| decimal(row.interval(), |of| of.high)),
        ("A/A from", |of| decimal(control(of.0, of.1), |of| of.low)),
        ("A/A to", |of| decimal(control(of.0, of.1), |of| of.high)),
    ];
    let data = Table::of(3, &columns, drawn);
    let plot = Rows {
        title: "Ratios to the baseline".to_owned(),
        caption: caption(
            tables,
            all.len(),
            all.iter().any(|(table, row)| control(table, row).is_some()),
        ),
        x: Axis::new(axis(tables), Scale::ratios(ends), number),
        rule: Some(1.0),
        series: KINDS.map(str::to_owned).to_vec(),
        rows,
    };
    document.figure(plot.picture(data));
}

/// The confidence interval of the A/A control, in the metric of a row.
fn control(table: &Comparisons, row: &Comparison) -> Option<RatioInterval> {
    let mut controls = table.aa_controls.iter();
    let control = controls.find(|control| control.metric == row.metric);
    control.and_then(|control| control.interval)
}

/// The row of a comparison: a point at the ratio, with its confidence interval.
fn point(table: &Comparisons, row: &Comparison) -> Row {
    let estimate = row.estimate();
    let mark = |estimate: &Estimate| Mark {
        series: match result(row) {
            "better" => 1,
            "worse" => 2,
            "no interval" => 3,
            _ => 0,
        },
        at: estimate.ratio,
        range: row.interval().map(|of| (of.low, of.high)),
    };
    Row {
        name: match row.unlike.is_empty() {
            true => row.side.clone(),
            false => format!("{} ≠", row.side),
        },
        band: control(table, row).map(|band| (band.low, band.high)),
        marks: estimate.map(mark).into_iter().collect(),
        why: estimate.is_none().then(|| result(row).to_owned()),
    }
}

fn axis(tables: &[Comparisons]) -> String {
    match tables {
        [only] => format!("ratio to {} (logarithmic)", only.baseline),
        _ => "ratio to the baseline (logarithmic)".to_owned(),
    }
}

fn caption(tables: &[Comparisons], all: usize, has_band: bool) -> String {
    let level = tables
        .first()
        .map_or_else(String::new, |table| confidence(table.confidence));
    let mut caption = format!(
        "Each configuration over its baseline, with the {level} interval where there are five \
         blocks or runs of each. {}",
        match has_band {
            true =>
                "Shaded: the A/A control, the 95 % interval of the baseline's control runs over \
                 its other runs: a ratio within it may be chance.",
            false => "No A/A control is shaded: no baseline has one with five blocks.",
        }
    );
    let rows = || tables.iter().flat_map(|table| &table.rows);
    let has_lower = rows().any(|row| row.metric.better() == Better::Lower);
    if has_lower {
        caption += " Of latencies, processor time and messages less is better.";
    }
    if rows().any(|row| !row.unlike.is_empty()) {
        caption += " ≠: the configurations differ in more than what is compared; the sentence \
                    names the conditions.";
    }
    if tables.iter().any(|table| table.is_doubtful) {
        caption += " DOUBTFUL: a baseline differs from itself in its A/A control.";
    }
    if all > ROWS_MAX {
        caption += &format!(" The first {ROWS_MAX} of {all} comparisons are drawn.");
    }
    caption
}

pub(super) fn sentences(document: &mut Document, tables: &[Comparisons]) {
    for table in tables {
        add_sentences(document, table);
    }
}
