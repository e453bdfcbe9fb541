//! The ratio plot: every comparison as a point with its interval on a logarithmic axis, and the A/A
//! noise behind.

use document::{Document, Number, Table};
use study::{Better, Comparison, Comparisons};

use super::sides::number;
use crate::comparison::{add_sentences, confidence, noun, result};
use crate::pictures::chart::Axis;
use crate::pictures::rows::{Mark, Row, Rows};
use crate::pictures::scale::Scale;

/// A picture has no more rows.
const ROWS_MAX: usize = 120;
/// What a point stands for, in the order of its kinds.
const KINDS: [&str; 4] = ["no difference shown", "better", "worse", "no interval"];

/// The plot.
pub(super) fn plot(document: &mut Document, tables: &[Comparisons]) {
    let all: Vec<(&Comparisons, &Comparison)> = tables
        .iter()
        .flat_map(|table| table.rows.iter().map(move |row| (table, row)))
        .collect();
    if all.iter().all(|(_, row)| row.estimate().is_none()) {
        document.note("Ratio plot: not available (no comparison has a ratio).");
        return;
    }
    let noise = |table: &Comparisons, row: &Comparison| {
        let noise = table.noise.iter().find(|noise| noise.metric == row.metric);
        noise.and_then(|noise| noise.interval)
    };
    let mut rows = Vec::new();
    let mut ends = Vec::new();
    let mut data = Table::new(
        3,
        &[
            "side",
            "baseline",
            "metric",
            "ratio",
            "from",
            "to",
            "twin from",
            "twin to",
        ],
    );
    let mut before = None;
    for (table, row) in all.iter().take(ROWS_MAX) {
        let group = (&table.baseline, row.metric);
        let is_alone = tables.len() == 1 && all.iter().all(|(_, other)| other.metric == row.metric);
        if before.replace(group) != Some(group) && !is_alone {
            rows.push(Row::heading(format!(
                "{}, {} = 1",
                noun(row.metric),
                table.baseline
            )));
        }
        let estimate = row.estimate();
        let interval = estimate.and_then(|estimate| estimate.interval);
        let band = noise(table, row);
        ends.extend(estimate.map(|estimate| estimate.ratio));
        ends.extend(
            interval
                .into_iter()
                .chain(band)
                .flat_map(|interval| [interval.low, interval.high]),
        );
        rows.push(Row {
            name: match row.unlike.is_empty() {
                true => row.side.clone(),
                false => format!("{} ≠", row.side),
            },
            band: band.map(|band| (band.low, band.high)),
            marks: estimate
                .map(|estimate| Mark {
                    series: match result(row) {
                        "better" => 1,
                        "worse" => 2,
                        "no interval" => 3,
                        _ => 0,
                    },
                    at: estimate.ratio,
                    range: interval.map(|interval| (interval.low, interval.high)),
                })
                .into_iter()
                .collect(),
            why: estimate.is_none().then(|| result(row).to_owned()),
        });
        let cell = |value: Option<f64>| value.map(|value| Number::Decimal(value, 3)).into();
        data.row(vec![
            row.side.as_str().into(),
            row.baseline.as_str().into(),
            document::Cell::ours(row.metric.to_string()),
            cell(estimate.map(|estimate| estimate.ratio)),
            cell(interval.map(|interval| interval.low)),
            cell(interval.map(|interval| interval.high)),
            cell(band.map(|band| band.low)),
            cell(band.map(|band| band.high)),
        ]);
    }
    let plot = Rows {
        title: "Ratios to the baseline".to_owned(),
        caption: caption(
            tables,
            all.len(),
            all.iter().any(|(table, row)| noise(table, row).is_some()),
        ),
        x: Axis::new(axis(tables), Scale::ratios(ends.into_iter()), number),
        rule: Some(1.0),
        series: KINDS.map(str::to_owned).to_vec(),
        rows,
    };
    document.figure(plot.picture(data));
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
        "Each side over its baseline, with the {level} interval where there are five blocks or \
         runs of each. {}",
        match has_band {
            true =>
                "Shaded: the A/A noise, the 95 % interval of the baseline's twin over the \
                 baseline, which are the same system: a ratio within it may be noise.",
            false => "No A/A noise is shaded: no baseline has a twin with five blocks.",
        }
    );
    let rows = || tables.iter().flat_map(|table| &table.rows);
    let has_lower = rows().any(|row| row.metric.better() == Better::Lower);
    if has_lower {
        caption += " Of latencies, processor time and messages less is better.";
    }
    if rows().any(|row| !row.unlike.is_empty()) {
        caption += " ≠: the sides differ in more than what is compared; the sentence says in what.";
    }
    if tables.iter().any(|table| table.is_doubtful) {
        caption += " DOUBTFUL: a twin differs from its baseline.";
    }
    if all > ROWS_MAX {
        caption += &format!(" The first {ROWS_MAX} of {all} comparisons are drawn.");
    }
    caption
}

/// What stands beside the plot.
pub(super) fn sentences(document: &mut Document, tables: &[Comparisons]) {
    for table in tables {
        add_sentences(document, table);
    }
}
