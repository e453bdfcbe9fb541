//! A repeated run as a document and as CSV: means with their intervals, the verdicts of the runs,
//! and whether the rate drifts.

use document::units::{bound, counted, grouped, percent, rate};
use document::{Block, Cell, Document, Number, Table, csv};
use study::drift::{pairs, pairs_needed};
use study::repeats::RUNS_MIN_UNTIL;
use study::statistics::BLOCKS_MIN;
use study::{Drift, MetricUnit, RateGroups, RepeatedMetric, Repeats, StudyPlan, VerdictCounts};
use verdict::Level;
use verdict::summary::LatencySummary;

use crate::comparison::{
    all_reasons, confidence, drift_seen, drift_test, invalid_runs, noun, remedies, verdicts,
};
use crate::page::in_words;
use crate::study::{common_conditions, length};

pub fn document(found: &Repeats) -> Document {
    let mut document = Document::default();
    let runs = counted(found.runs.len() as u64, "run");
    let of = match (found.runs.len() as u64) < u64::from(found.planned) {
        true if found.until.is_some() => format!(" of at most {}", grouped(found.planned.into())),
        true => format!(" of {}", grouped(found.planned.into())),
        false => String::new(),
    };
    document.title(format!("{} on {}, {runs}{of}", found.name, found.target));
    document.sentence("Verdicts", verdicts(&found.verdicts));
    remedies(&mut document, std::iter::once(&found.advice), false);
    document.gap();
    let measured = || found.metrics.iter().filter(|of| of.mean.is_some());
    if found.has_too_many_invalid {
        document.warning(format!(
            "No means: {} of {runs} are INVALID (threshold 20 %).",
            found.verdicts.invalid
        ));
    } else if measured().next().is_some() {
        document.table(table(measured(), found.confidence));
    }
    document.gap();
    if let Some(drift) = found.drift.as_ref().filter(|drift| drift.is_seen) {
        document.words(bound(&drift_seen("the mean rate", drift)));
    }
    document.words(rates(found));
    if let Some(groups) = &found.groups {
        document.push(Block::Warning(bound(&grouped_rates(groups))));
    }
    for text in notes(found) {
        document.words(bound(&text));
    }
    document
}

/// Maximum number of rates that are listed.
const RATES_MAX: usize = 20;

/// The rates in the order of the runs, or the last of them.
fn rates(found: &Repeats) -> String {
    let runs = found.runs.iter().filter(|run| run.level != Level::Invalid);
    let rates: Vec<f64> = runs.filter_map(|run| run.rate).collect();
    let shown = &rates[rates.len().saturating_sub(RATES_MAX)..];
    let words: Vec<String> = shown.iter().map(|of| rate(Some(*of))).collect();
    let which = match shown.len() < rates.len() {
        true => format!(" (the last {RATES_MAX} of {})", rates.len()),
        false => String::new(),
    };
    format!(
        "Transactions/s in the order of the runs{which}: {}.",
        words.join("; ")
    )
}

/// Reports two groups of rates.
fn grouped_rates(groups: &RateGroups) -> String {
    let range = |(low, high): (f64, f64)| format!("{} to {}", rate(Some(low)), rate(Some(high)));
    format!(
        "The rates form two groups, {} with {} and {} with {}. The mean is between them and \
         describes neither; the interval assumes one group.",
        counted(groups.counts.0.into(), "run"),
        range(groups.low),
        counted(groups.counts.1.into(), "run"),
        range(groups.high)
    )
}

fn table<'a>(of: impl Iterator<Item = &'a RepeatedMetric>, level: f64) -> Table {
    let mut table = Table::new(1, &["", "mean", "standard deviation"]).folding();
    table.column(format!("{} interval", confidence(level)), false);
    table.column("half-width", false);
    for of in of {
        let shown = |value: Option<f64>| value.map(|value| in_words(of.metric, value));
        let deviation = shown(of.standard_deviation).map(|deviation| {
            let share = of.standard_deviation.zip(of.mean);
            let share = share.map(|(deviation, mean)| percent(deviation / mean));
            format!("{deviation} ({})", share.unwrap_or_default())
        });
        // Metrics are never negative, but the lower end of Student's interval may be, if the
        // deviation is large. Such an interval is shown without a lower end. A lower end of 0 would
        // contradict the half-width.
        let ends = |low: f64, high: f64| {
            let high = shown(Some(high))?;
            Some(match shown(Some(low).filter(|low| *low > 0.0)) {
                Some(low) => format!("{low} to {high}"),
                None => format!("up to {high}"),
            })
        };
        let interval = of.interval.and_then(|of| ends(of.low, of.high));
        let half = of.interval.map(|of| percent(of.half_width));
        let mut cells = vec![Cell::ours(noun(of.metric))];
        let texts = [shown(of.mean), deviation, interval, half];
        cells.extend(texts.map(|text| Cell::from(text.map(Cell::ours))));
        table.row(cells);
    }
    table
}

/// Sentences below the table.
fn notes(found: &Repeats) -> Vec<String> {
    let mut notes = Vec::new();
    let rate = found.metrics.first();
    let width = rate.and_then(|rate| rate.interval).map(|of| of.half_width);
    notes.extend(found.until.zip(width).map(|(until, width)| {
        let reached = match width <= until {
            true => "has the requested",
            false => "does not have the requested",
        };
        let needed = found.needed.map_or_else(String::new, |needed| {
            format!(
                " About {} with this standard deviation would have it.",
                counted(needed, "run")
            )
        });
        format!(
            "The interval of the rate {reached} half-width of {}.{needed}",
            percent(until)
        )
    }));
    if width.is_none() && !found.has_too_many_invalid {
        notes.push(format!(
            "No interval: that needs {BLOCKS_MIN} runs that are not INVALID."
        ));
    }
    notes.extend(without(found));
    let unseen = found.drift.as_ref().filter(|drift| !drift.is_seen);
    notes.extend(
        unseen
            .zip(rate)
            .map(|(drift, rate)| no_drift(drift, rate.count)),
    );
    notes.extend((!found.has_too_many_invalid).then(|| {
        match found.fingerprints.len() {
            0 | 1 => {
                "All runs issue the same operations, each on new files. The deviation is that of \
                  the system and of the machine."
                    .to_owned()
            }
            _ => {
                "The runs issue different operations: their workloads differ, so the deviation is \
              not that of the system."
                    .to_owned()
            }
        }
    }));
    notes
}

/// Reports the runs that do not contain a metric. Metrics that equally many runs contain are
/// reported together.
fn without(found: &Repeats) -> Vec<String> {
    let mut counts: Vec<(u32, u32, Vec<String>)> = Vec::new();
    let lacking = found.metrics.iter().filter(|of| of.without > 0);
    for of in lacking.filter(|_| !found.has_too_many_invalid) {
        let (count, all, name) = (of.count, of.count + of.without, noun(of.metric).to_string());
        let same = counts
            .iter_mut()
            .find(|(known, of_all, _)| (*known, *of_all) == (count, all));
        match same {
            Some((_, _, names)) => names.push(name),
            None => counts.push((count, all, vec![name])),
        }
    }
    let words = counts.into_iter().map(|(count, all, names)| {
        let verb = if names.len() == 1 { "is" } else { "are" };
        format!(
            "{} {verb} in {count} of {}: a p99 needs {} operations of its kind in a run (use a \
             longer --for; 'postmark show' has the numbers).",
            names.join(", "),
            counted(all.into(), "run"),
            grouped(LatencySummary::P99_MIN)
        )
    });
    words.collect()
}

/// Reports that no drift is shown, and which drift so few runs would show.
fn no_drift(drift: &Drift, runs: u32) -> String {
    let (needed, all) = (pairs_needed(runs as usize), pairs(runs as usize));
    let in_order = match needed == all {
        true => format!("all {} are", counted(all, "pair")),
        false => format!("{} of {} are", grouped(needed), counted(all, "pair")),
    };
    format!(
        "A drift of the rate is not shown ({}). {} show one only if {in_order} in the same order, \
         so a smaller drift is possible.",
        drift_test(drift),
        counted(runs.into(), "run"),
    )
}

type Value = fn(&RepeatedMetric, &Repeats) -> Cell;

/// The columns of the CSV: the name, and a function that returns the cell of a metric.
const COLUMNS: [(&str, Value); 17] = [
    ("metric", |of, _| Cell::ours(of.metric.to_string())),
    ("unit", |of, _| Cell::ours(unit(of.metric.unit()))),
    ("runs", |of, _| count(of.count)),
    ("without", |of, _| count(of.without)),
    ("mean", |of, _| Cell::decimal(of.mean, 6)),
    ("standard_deviation", |of, _| {
        Cell::decimal(of.standard_deviation, 6)
    }),
    ("low", |of, _| {
        Cell::decimal(of.interval.map(|of| of.low), 6)
    }),
    ("high", |of, _| {
        Cell::decimal(of.interval.map(|of| of.high), 6)
    }),
    ("half_width", |of, _| {
        Cell::decimal(of.interval.map(|of| of.half_width), 6)
    }),
    ("confidence", |_, found| {
        Cell::decimal(Some(found.confidence), 6)
    }),
    ("drift_change", |of, found| {
        of_rate(of, found, |drift| Cell::decimal(Some(drift.change), 6))
    }),
    ("drift_p", |of, found| {
        of_rate(of, found, |drift| Cell::decimal(Some(drift.p), 6))
    }),
    ("is_drift_seen", |of, found| {
        of_rate(of, found, |drift| {
            Cell::ours(if drift.is_seen { "true" } else { "false" })
        })
    }),
    ("runs_valid", |_, found| count(found.verdicts.valid)),
    ("runs_doubtful", |_, found| count(found.verdicts.doubtful)),
    ("runs_invalid", |_, found| count(found.verdicts.invalid)),
    ("reasons", |_, found| {
        Cell::ours(all_reasons(&found.verdicts))
    }),
];

fn count(number: u32) -> Cell {
    Number::Ordinal(number.into()).into()
}

/// A cell about the drift, which is tested only for the first metric.
fn of_rate(of: &RepeatedMetric, found: &Repeats, cell: fn(&Drift) -> Cell) -> Cell {
    let is_rate = found.metrics.first() == Some(of);
    let drift = found.drift.as_ref().filter(|_| is_rate);
    drift.map_or(Cell::Empty, cell)
}

fn unit(unit: MetricUnit) -> &'static str {
    match unit {
        MetricUnit::PerSecond => "1/s",
        MetricUnit::BytesPerSecond => "bytes/s",
        MetricUnit::Nanoseconds => "ns",
        MetricUnit::PerTransaction => "1/transaction",
    }
}

/// A row for each metric, as CSV (RFC 4180).
pub fn as_csv(found: &Repeats) -> String {
    let mut table = Table::new(2, &COLUMNS.map(|(name, _)| name));
    for of in &found.metrics {
        table.row(COLUMNS.map(|(_, cell)| cell(of, found)).to_vec());
    }
    csv(&table, "\r\n")
}

/// Why a repetition ended before its interval was narrow enough: too many runs are INVALID.
pub fn too_many_invalid(counts: &VerdictCounts) -> String {
    format!(
        "the repetition stopped because {}, and an interval allows at most 20 %",
        invalid_runs(counts)
    )
}

/// The plan of a repeated run. With `is_head`, the plan is the first part of the results in a file.
/// The duration of the runs is left out with `is_head`, and if no run remains.
pub fn plan(plan: &StudyPlan, is_head: bool) -> Document {
    let mut document = Document::default();
    let target = plan.cells.first().map_or("", |cell| &*cell.label);
    let runs = match plan.until {
        Some(until) => format!(
            "until the half-width of the rate's interval is at most {}, from {RUNS_MIN_UNTIL} to \
             {} runs",
            percent(until),
            plan.blocks.max(RUNS_MIN_UNTIL)
        ),
        None => counted(plan.blocks.into(), "run"),
    };
    document.head(format!("{} on {target}: {runs}", plan.name));
    if let Some(study) = &plan.study {
        document.pair(0, "Identity", study);
    }
    document.list("Each run", "", &common_conditions(plan));
    if !is_head && plan.blocks_left > 0 {
        document.sentence("Time", time(plan));
    }
    if plan.done > 0 {
        let done = counted(plan.done.into(), "run");
        let rest = match plan.blocks_left {
            0 => ", and no run remains",
            _ => "",
        };
        let words = format!("{done} are in the archive already{rest}");
        document.sentence("There", words);
    }
    if let Some(text) = no_interval(plan).filter(|_| !is_head) {
        document.push(Block::Warning(bound(&text)));
    }
    document.gap();
    document
}

/// A warning before the first run of a repetition that has too few runs for a confidence interval;
/// `None` for other repetitions.
pub fn no_interval(plan: &StudyPlan) -> Option<String> {
    // A plan with an identity belongs to `study --resume`, which continues a repetition and has no
    // option `--repeat`.
    let option = match plan.study {
        Some(_) => "--blocks",
        None => "--repeat",
    };
    plan.is_without_interval().then(|| {
        format!(
            "warning: this repetition gives no interval: it needs {BLOCKS_MIN} runs, and {} are \
             planned (use {option} {BLOCKS_MIN} or more)",
            plan.blocks
        )
    })
}

fn time(plan: &StudyPlan) -> String {
    let quiet = match plan.quiet_s > 0.0 {
        true => format!(
            ", and up to {} for a quiet machine before it",
            length(plan.quiet_s)
        ),
        false => String::new(),
    };
    match plan.measured_s {
        Some(seconds) => format!(
            "each run measures for {}; its pool comes on top{quiet}",
            length(seconds)
        ),
        None => {
            format!("known after the first run: the number of transactions ends a run{quiet}")
        }
    }
}
