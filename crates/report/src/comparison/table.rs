//! Tables of comparisons: means of the configurations, ratios, intervals and findings.

use document::{Cell, Number, Table};
use study::{Comparison, Comparisons, Drift, Method, Metric, SideSummary};

use super::sentence::{confidence, digits, finding};
use super::verdicts::are_doubtful;
use super::words::{metric_name, value};

/// Maximum number of characters in the header `candidate/baseline` of the ratio. With longer names,
/// the header is `ratio`.
const RATIO_HEADER_MAX: usize = 24;

/// The table of the comparisons: a row for each metric if there is one candidate, and otherwise a
/// row for each configuration in each metric.
pub(crate) fn table(found: &Comparisons) -> Table {
    match &found.sides[..] {
        [baseline, candidate] => of_pair(found, baseline, candidate),
        _ => linked_table(found, |side| side.name.as_str().into()),
    }
}

fn interval_header(found: &Comparisons) -> String {
    format!("{} interval", confidence(found.confidence))
}

fn of_pair(found: &Comparisons, baseline: &SideSummary, candidate: &SideSummary) -> Table {
    let (of, to) = (&candidate.name, &baseline.name);
    let ratio = match of.chars().count() + to.chars().count() < RATIO_HEADER_MAX {
        true => format!("{of}/{to}"),
        false => "ratio".to_owned(),
    };
    let mut table = Table::new(
        1,
        &["geometric mean", to, of, &ratio, &interval_header(found)],
    );
    table.column("", true);
    for row in &found.rows {
        let name = Cell::ours(metric_name(row.metric));
        let means = [baseline, candidate].map(|side| mean(side, row.metric));
        let finding = finding(row, Some(&candidate.name)) + caveat(found, row);
        let cells = [vec![name], means.to_vec(), estimate(row)].concat();
        table.row([cells, vec![finding.into()]].concat());
    }
    table
}

/// The reservation behind a finding, if the table names reasons to doubt it; otherwise empty.
fn caveat(found: &Comparisons, row: &Comparison) -> &'static str {
    let names = [&row.side, &row.baseline];
    let mut sides = names.into_iter().filter_map(|name| found.side(name));
    let is_drift = |(side, metric, drift): (&SideSummary, Metric, Drift)| {
        drift.is_seen && metric == row.metric && names.contains(&&side.label)
    };
    match row.estimate().is_some_and(|of| of.is_shown) {
        true if sides.any(are_doubtful) => " (doubtful runs)",
        true if found.is_doubtful => " (doubtful A/A control)",
        true if found.drifts().any(is_drift) => " (drift)",
        true if row.method == Method::BlocksApart => " (order not random)",
        true if row.method == Method::NotInterleaved => " (not interleaved)",
        _ => "",
    }
}

/// The table with a row for each configuration in each metric. `side` returns the cell with the
/// name of a configuration.
pub(crate) fn linked_table(found: &Comparisons, side: impl Fn(&SideSummary) -> Cell) -> Table {
    let interval = interval_header(found);
    let mut table = Table::new(
        2,
        &["", "configuration", "geometric mean", "ratio", &interval],
    );
    table.column("", true);
    for metric in metrics(found) {
        for (number, of) in found.sides.iter().enumerate() {
            let name = match number {
                0 => Cell::ours(metric_name(metric)),
                _ => Cell::Empty,
            };
            let mut rows = found.rows.iter();
            let row = rows.find(|row| row.metric == metric && row.side == of.label);
            let mut cells = vec![name, side(of), mean(of, metric)];
            match row {
                Some(row) => {
                    cells.extend(estimate(row));
                    cells.push(Cell::ours(finding(row, None) + caveat(found, row)));
                }
                None => cells.extend([Cell::Empty, Cell::Empty, Cell::ours("baseline")]),
            }
            table.row(cells);
        }
    }
    table
}

/// The metrics of a table, in the order of its rows. A table without candidates has no comparisons.
/// Its metrics are those with a mean of the baseline.
pub(super) fn metrics(found: &Comparisons) -> Vec<Metric> {
    if found.rows.is_empty() {
        let means = found.sides.iter().flat_map(|side| side.means.keys());
        return means.copied().collect();
    }
    let mut metrics = Vec::new();
    for row in &found.rows {
        if !metrics.contains(&row.metric) {
            metrics.push(row.metric);
        }
    }
    metrics
}

fn mean(side: &SideSummary, metric: Metric) -> Cell {
    let mean = side.means.get(&metric);
    mean.map(|mean| value(metric, *mean)).into()
}

/// The cells of the ratio and its interval.
fn estimate(row: &Comparison) -> Vec<Cell> {
    let digits = row.estimate().map_or(2, digits);
    let ratio = row.estimate().map(|of| Number::Decimal(of.ratio, digits));
    let interval = row.interval();
    let interval =
        interval.map(|of| Cell::ours(format!("{:.digits$}–{:.digits$}", of.low, of.high)));
    vec![ratio.into(), interval.into()]
}
