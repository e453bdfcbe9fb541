//! Small charts of block characters for terminals: the rate over time, and the latency percentiles
//! of the transactions.

use document::Document;
use document::units::rate;
use measure::Histogram;
use record::Record;

use crate::page::labels::short_latency;
use crate::page::over_time::{phases, stretches};
use crate::page::percentiles::{operations, points, share};
use crate::pictures::scale::Scale;

/// Block characters from empty to full, in steps of an eighth.
const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Height of a chart, in lines.
const HEIGHT: usize = 4;
/// Width of the labels to the left of a chart, in characters.
const LABEL: usize = 11;
/// Minimum and maximum width of a chart, in characters. On a narrower terminal there is no chart.
const WIDTHS: (usize, usize) = (20, 68);

/// The charts of a run for a terminal of `width` characters. A chart without data is left out.
pub fn charts(record: &Record, width: usize) -> Document {
    let mut document = Document::default();
    let width = width.saturating_sub(LABEL + 1).min(WIDTHS.1);
    if width >= WIDTHS.0 {
        rates(&mut document, record, width);
        latencies(&mut document, record, width);
    }
    document
}

/// A line with one block character for each value. The highest value is a full block.
pub fn line(values: impl Iterator<Item = f64> + Clone) -> String {
    let high = values.clone().fold(0.0, f64::max);
    values
        .map(|value| block(if high > 0.0 { value / high } else { 0.0 }))
        .collect()
}

/// The character for a fraction from 0 to 1. Every fraction above 0 is visible.
fn block(part: f64) -> char {
    let eighths = (part * 8.0).ceil().clamp(0.0, 8.0);
    BLOCKS[eighths as usize]
}

/// Adds a chart of the rate of all operations over time.
fn rates(document: &mut Document, record: &Record, width: usize) {
    let stretches = stretches(&phases(record), width);
    let (Some(first), Some(last)) = (stretches.first(), stretches.last()) else {
        return;
    };
    let (began, ended) = (first.began_ns as f64 / 1e9, last.ended_ns as f64 / 1e9);
    let per_second = |column: usize| {
        // `at` is the time in the middle of the column. Columns between phases are empty.
        let at = began + (column as f64 + 0.5) / width as f64 * (ended - began);
        let stretch = stretches.iter().find(|stretch| {
            (stretch.began_ns as f64 / 1e9..stretch.ended_ns as f64 / 1e9).contains(&at)
        })?;
        stretch.per_second(|done| done.operations)
    };
    let values: Vec<Option<f64>> = (0..width).map(per_second).collect();
    let high = values.iter().flatten().copied().fold(0.0, f64::max);
    if stretches.len() < 2 || high <= 0.0 {
        return;
    }
    let heights: Vec<f64> = values
        .iter()
        .map(|value| value.unwrap_or(0.0) / high)
        .collect();
    let ends = (format!("{began:.0} s"), format!("{ended:.0} s"));
    let title = "Rate over time, all operations/s:";
    let labels = [(0, ends.0), (width, ends.1)];
    chart(document, title, &heights, (&rate(Some(high)), "0"), &labels);
}

/// Adds a chart of the latencies of all transactions, with the same axes as the charts of pages.
fn latencies(document: &mut Document, record: &Record, width: usize) {
    let mut all = Histogram::default();
    for operation in operations(record) {
        all.merge(&operation.meter.latency);
    }
    let points = points(&all);
    let levels = Scale::decades(points.iter().map(|(_, ns)| *ns));
    let (Some((most, _)), Scale::Log { low, high }) = (points.last().copied(), levels) else {
        return;
    };
    let column = |parts: f64| parts.log10() / most.log10() * width as f64;
    let height = |place: usize| {
        let at = |(parts, _): &&(f64, f64)| column(*parts) >= place as f64 + 0.5;
        let (_, ns) = points.iter().find(at).or(points.last())?;
        levels.place(*ns)
    };
    let heights: Vec<f64> = (0..width)
        .map(|place| height(place).unwrap_or(0.0))
        .collect();
    let nines = (0..)
        .map(|nines| 10_f64.powi(nines))
        .take_while(|parts| *parts <= most);
    let labels: Vec<(usize, String)> = nines
        .map(|parts| (column(parts).round() as usize, share(parts)))
        .collect();
    let title = "Percentiles of latency, all transactions' operations:";
    let ends = (&*short_latency(high), &*short_latency(low));
    chart(document, title, &heights, ends, &labels);
}

/// A chart of columns with heights from 0 to 1. `ends` are the labels at the top and bottom. The
/// `labels` are below the chart. A label that would extend beyond the chart is moved, and a label
/// that would overlap another is left out.
fn chart(
    document: &mut Document,
    title: &str,
    heights: &[f64],
    ends: (&str, &str),
    labels: &[(usize, String)],
) {
    document.gap();
    document.words(title);
    for row in 0..HEIGHT {
        let label = match row {
            0 => ends.0,
            row if row == HEIGHT - 1 => ends.1,
            _ => "",
        };
        let below = (HEIGHT - 1 - row) as f64;
        let blocks: String = heights
            .iter()
            .map(|height| block(height * HEIGHT as f64 - below))
            .collect();
        document.line(format!("{label:>LABEL$} {blocks}").trim_end());
    }
    let mut below = String::new();
    for (at, label) in labels {
        let long = label.chars().count();
        let begin = LABEL + 1 + (*at).min(heights.len().saturating_sub(long));
        let used = below.chars().count();
        if used == 0 || begin > used {
            below.extend(std::iter::repeat_n(' ', begin - used));
            below.push_str(label);
        }
    }
    document.line(below);
}
