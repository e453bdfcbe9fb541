//! Names and values of metrics, and short results of comparisons.

use document::{Cell, Number};
use study::{Better, Comparison, ComparisonOutcome, Estimate, Metric, MetricUnit, Statistic};

/// The name of a metric in a sentence.
pub(crate) fn noun(metric: Metric) -> String {
    match metric {
        Metric::Transactions => "transactions/s".to_owned(),
        Metric::Read => "read throughput".to_owned(),
        Metric::Written => "write throughput".to_owned(),
        Metric::Operations(action) => format!("{} operations/s", action.name()),
        Metric::Latency(action, Statistic::Mean) => format!("mean {} latency", action.name()),
        Metric::Latency(action, Statistic::Max) => format!("maximum {} latency", action.name()),
        Metric::Latency(action, statistic) => {
            format!("{} {} latency", action.name(), statistic.name())
        }
        Metric::Cpu => "processor time per transaction".to_owned(),
        Metric::Messages => "messages per transaction".to_owned(),
    }
}

/// The name of a metric in a table: `transactions/s`, `create p99`.
pub(crate) fn metric_name(metric: Metric) -> String {
    match metric {
        Metric::Latency(action, statistic) => format!("{} {}", action.name(), statistic.name()),
        metric => noun(metric),
    }
}

pub(crate) fn value(metric: Metric, value: f64) -> Cell {
    match metric.unit() {
        MetricUnit::PerSecond => Number::Rate(value).into(),
        MetricUnit::BytesPerSecond => Cell::Number(Number::Bytes(value), "/s"),
        MetricUnit::Nanoseconds => Number::Latency(value).into(),
        MetricUnit::PerTransaction => Number::Decimal(value, 3).into(),
    }
}

/// Whether the candidate is shown to be worse than the baseline.
pub(crate) fn is_worse(row: &Comparison) -> bool {
    let shown = row.estimate().filter(|estimate| estimate.is_shown);
    shown.is_some_and(|estimate| match row.metric.better() {
        Better::Higher => estimate.ratio < 1.0,
        Better::Lower => estimate.ratio > 1.0,
    })
}

pub(crate) fn result(row: &Comparison) -> &'static str {
    match &row.outcome {
        ComparisonOutcome::Estimated(Estimate { interval: None, .. }) => "no interval",
        ComparisonOutcome::Estimated(estimate) if !estimate.is_shown => "no difference shown",
        ComparisonOutcome::Estimated(_) if is_worse(row) => "worse",
        ComparisonOutcome::Estimated(_) => "better",
        ComparisonOutcome::TooManyInvalid => "too many INVALID",
        ComparisonOutcome::UnlikeShares => "not comparable",
        ComparisonOutcome::NotMeasured => "not measured",
        ComparisonOutcome::NoRuns => "no runs in common",
    }
}
