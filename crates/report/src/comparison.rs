//! Comparisons as a table, a sentence for each, and what makes them worth less.

use document::units::{counted, grouped, percent};
use document::{Cell, Document, Number, Table, csv};
use record::Level;
use study::{
    Better, BlockAttempt, Comparison, ComparisonOutcome, Comparisons, Estimate, Incomplete,
    IncompleteDifference, InvalidRun, Method, Metric, RatioInterval, Statistic, TwinNoise, Unlike,
    UnlikeWhat, VerdictCounts,
};

/// The whole document.
pub fn document(found: &Comparisons) -> Document {
    let mut document = Document::default();
    document.title(format!("Comparison with {}", found.baseline));
    for doubt in doubts(found) {
        document.warning(doubt);
    }
    document.table(table(found, |side| side.into()));
    document.gap();
    add_sentences(&mut document, found);
    add_basis(&mut document, found);
    document
}

/// Adds a sentence for each comparison, and how sure all of them are.
pub(crate) fn add_sentences(document: &mut Document, found: &Comparisons) {
    for row in &found.rows {
        document.item(sentence(row, found.confidence));
    }
    document.gap();
    let intervals = found
        .rows
        .iter()
        .filter(|row| interval(row).is_some())
        .count();
    if intervals > 1 {
        let confidence = confidence(found.confidence);
        document.words(document::units::bound(&format!(
            "The {intervals} intervals hold together with {confidence} confidence (Bonferroni \
             correction)."
        )));
    }
    if let Some(text) = more_blocks(found) {
        document.words(document::units::bound(&text));
    }
}

/// How many more blocks would decide what is not decided; nothing where all is, or nobody knows.
fn more_blocks(found: &Comparisons) -> Option<String> {
    let done = found.rows.iter().map(|row| row.count).max()?;
    let is_paired = found
        .rows
        .iter()
        .all(|row| row.method != Method::NotInterleaved);
    let more = found
        .blocks_needed()?
        .checked_sub(done)
        .filter(|more| *more > 0 && is_paired)?;
    Some(format!(
        "{} would decide what is undecided, if the ratios seen are the true ones (probability 80 \
         %).",
        counted(more.into(), "more block")
    ))
}

/// Why all of it is to be doubted; empty where it is not.
pub(crate) fn doubts(found: &Comparisons) -> Vec<String> {
    let doubtful = found.noise.iter().filter(|noise| noise.is_doubtful);
    let doubts: Vec<String> = doubtful
        .map(|noise| doubt(noise, &found.baseline))
        .collect();
    match found.is_doubtful && doubts.is_empty() {
        true => vec![
            "DOUBTFUL: another baseline of this study and its twin, the same system, differ."
                .to_owned(),
        ],
        false => doubts,
    }
}

/// Adds the A/A noise, the verdicts of the runs, and the runs that are not counted.
pub(crate) fn add_basis(document: &mut Document, found: &Comparisons) {
    for noise in &found.noise {
        document.words(noise_sentence(noise, &found.baseline));
    }
    document.words(document::units::bound(&format!(
        "Verdicts of the runs: {}.",
        verdicts(&found.verdicts)
    )));
    if !found.invalid.is_empty() {
        let runs: Vec<String> = found.invalid.iter().map(invalid).collect();
        document.words(format!("INVALID, not counted: {}.", runs.join(", ")));
    }
}

/// How many runs have which verdict.
pub(crate) fn levels(counts: &VerdictCounts) -> Vec<(Level, String)> {
    let levels = [Level::Valid, Level::Doubtful, Level::Invalid];
    let words = |level: Level| {
        (
            level,
            format!("{} {}", grouped(counts.runs(level).into()), level.name()),
        )
    };
    let levels = levels.into_iter().filter(|level| counts.runs(*level) > 0);
    levels.map(words).collect()
}

/// The same in words, with the rules that the verdicts name and how many runs each has, the most
/// frequent first.
pub(crate) fn verdicts(counts: &VerdictCounts) -> String {
    let levels: Vec<String> = levels(counts).into_iter().map(|(_, words)| words).collect();
    if levels.is_empty() {
        return "not available (there are no runs)".to_owned();
    }
    let mut text = levels.join(", ");
    if counts.invalid > 0 {
        text += " (not counted)";
    }
    if !counts.reasons.is_empty() {
        text += &format!("; reasons: {}", reasons(counts));
    }
    text
}

fn reasons(counts: &VerdictCounts) -> String {
    let mut reasons: Vec<(&String, u32)> = counts
        .reasons
        .iter()
        .map(|(name, count)| (name, *count))
        .collect();
    // Those with the same count stay in the order of their names.
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let words = reasons
        .into_iter()
        .map(|(name, count)| format!("{name} {}", grouped(count.into())));
    words.collect::<Vec<_>>().join(", ")
}

/// What two sides did not complete, in words.
pub fn incomplete_words(found: &[IncompleteDifference], side: &str, baseline: &str) -> String {
    let words = |difference: &IncompleteDifference| {
        let verb = match difference.why {
            Incomplete::Skipped => "skipped",
            Incomplete::Failed => "failed",
        };
        format!(
            "{side} {verb} {} of its operations and {baseline} {}",
            percent(difference.side),
            percent(difference.baseline)
        )
    };
    found.iter().map(words).collect::<Vec<_>>().join("; ")
}

/// The table alone; `side` makes the cell of a side's name.
pub(crate) fn table(found: &Comparisons, side: impl Fn(&str) -> Cell) -> Table {
    let mut table = Table::new(2, &["", "metric", "ratio", "from", "to"]);
    let has_blocks = found
        .rows
        .iter()
        .all(|row| row.method != Method::NotInterleaved);
    table.column(if has_blocks { "blocks" } else { "runs" }, false);
    table.column("result", true);
    for row in &found.rows {
        let estimate = row.estimate();
        let digits = estimate.map_or(2, digits);
        let number =
            |value: Option<f64>| Cell::from(value.map(|value| Number::Decimal(value, digits)));
        let interval = estimate.and_then(|estimate| estimate.interval);
        table.row(vec![
            side(&row.side),
            Cell::ours(row.metric.to_string()),
            number(estimate.map(|estimate| estimate.ratio)),
            number(interval.map(|interval| interval.low)),
            number(interval.map(|interval| interval.high)),
            match row.method {
                Method::Blocks | Method::BlocksApart => Number::Count(row.count.into()).into(),
                Method::NotInterleaved => {
                    Cell::ours(format!("{}+{}", row.count, row.baseline_count))
                }
            },
            Cell::ours(result(row)),
        ]);
    }
    table
}

/// A comparison in a few words.
pub(crate) fn result(row: &Comparison) -> &'static str {
    match &row.outcome {
        ComparisonOutcome::Estimated(Estimate { interval: None, .. }) => "no interval",
        ComparisonOutcome::Estimated(estimate) if !estimate.is_shown => "no difference shown",
        ComparisonOutcome::Estimated(estimate) => match (row.metric.better(), estimate.ratio > 1.0)
        {
            (Better::Higher, true) | (Better::Lower, false) => "better",
            (Better::Higher, false) | (Better::Lower, true) => "worse",
        },
        ComparisonOutcome::TooManyInvalid => "too many INVALID",
        ComparisonOutcome::UnlikeShares => "not comparable",
        ComparisonOutcome::NotMeasured => "not measured",
        ComparisonOutcome::NoRuns => "no runs in common",
    }
}

/// A comparison in one sentence.
pub fn sentence(row: &Comparison, level: f64) -> String {
    let (side, baseline) = (&row.side, &row.baseline);
    let what = noun(row.metric);
    let mut text = match &row.outcome {
        ComparisonOutcome::Estimated(estimate) => match estimate.interval {
            Some(interval) if estimate.is_shown => format!(
                "{} ({})",
                ratio(row, estimate),
                basis(row, Some((interval, level)), digits(estimate))
            ),
            Some(interval) => undecided(
                row,
                estimate,
                basis(row, Some((interval, level)), digits(estimate)),
            ),
            None => format!("{} ({})", ratio(row, estimate), basis(row, None, 0)),
        },
        ComparisonOutcome::TooManyInvalid => format!(
            "no comparison of {side} with {baseline} in {what}: {} of {} are INVALID (threshold \
             20 %)",
            row.invalid,
            match row.method {
                Method::Blocks | Method::BlocksApart =>
                    counted(u64::from(row.count + row.without + row.invalid), "block"),
                Method::NotInterleaved => counted(
                    u64::from(row.count + row.baseline_count + row.without + row.invalid),
                    "run"
                ),
            }
        ),
        ComparisonOutcome::UnlikeShares => {
            format!(
                "no comparison of {side} with {baseline} in {what} (add --unlike to compare them)"
            )
        }
        ComparisonOutcome::NotMeasured => format!(
            "no comparison of {side} with {baseline} in {what}: not in the runs of both{}",
            match row.metric {
                Metric::Latency(..) => " (a percentile needs ten samples beyond it: run longer)",
                _ => "",
            }
        ),
        ComparisonOutcome::NoRuns => {
            format!(
                "no comparison of {side} with {baseline} in {what}: no complete block in common"
            )
        }
    };
    if !row.unlike.is_empty() {
        let unlike: Vec<String> = row.unlike.iter().map(unlike_words).collect();
        text += &format!("; the sides differ in {}", unlike.join(", and in "));
    }
    if !row.incomplete.is_empty() {
        text += &format!("; {}", incomplete_words(&row.incomplete, side, baseline));
    }
    document::units::bound(&text)
}

/// The ratio in words: who makes how much of what.
fn ratio(row: &Comparison, estimate: &Estimate) -> String {
    let verb = match row.metric {
        Metric::Transactions | Metric::Read | Metric::Written | Metric::Operations(_) => "makes",
        Metric::Latency(..) | Metric::Cpu => "takes",
        Metric::Messages => "sends",
    };
    format!(
        "{} {verb} {} {} {}",
        row.side,
        ratio_of(estimate.ratio, digits(estimate)),
        of_whom(&row.baseline),
        noun(row.metric)
    )
}

/// `ext4's`, `1,000 files'`.
fn of_whom(name: &str) -> String {
    let end = if name.ends_with('s') { "'" } else { "'s" };
    format!("{name}{end}")
}

/// `0.71 of`, `1.40 times`.
fn ratio_of(ratio: f64, digits: usize) -> String {
    let word = if ratio < 1.0 { "of" } else { "times" };
    format!("{ratio:.digits$} {word}")
}

/// A difference that is not shown, with what would have been.
fn undecided(row: &Comparison, estimate: &Estimate, basis: String) -> String {
    let digits = digits(estimate);
    let mut text = format!(
        "{} and {}: no difference shown in {} (ratio {:.digits$}, {basis})",
        row.side,
        row.baseline,
        noun(row.metric),
        estimate.ratio
    );
    if let Some(smallest) = estimate.smallest_shown {
        text += &format!("; one above {} would have been", percent_up(smallest));
    }
    if let Some(needed) = estimate
        .blocks_needed
        .filter(|_| row.method != Method::NotInterleaved)
    {
        text += &format!(
            "; {} would show it, if {:.digits$} is the true ratio",
            counted(needed.into(), "block"),
            estimate.ratio
        );
    }
    text
}

/// What a ratio is based on: interval, blocks or runs.
fn basis(row: &Comparison, interval: Option<(RatioInterval, f64)>, digits: usize) -> String {
    let runs = match row.method {
        Method::Blocks => counted(row.count.into(), "block"),
        Method::BlocksApart => format!("{}, not interleaved", counted(row.count.into(), "block")),
        Method::NotInterleaved if row.count == 1 && row.baseline_count == 1 => {
            "one run each".to_owned()
        }
        Method::NotInterleaved => format!(
            "{} and {}, not interleaved",
            row.count,
            counted(row.baseline_count.into(), "run")
        ),
    };
    match interval {
        Some((RatioInterval { low, high }, level)) => {
            format!(
                "{} interval {low:.digits$} to {high:.digits$}, {runs}",
                confidence(level)
            )
        }
        None => match row.method {
            Method::Blocks | Method::BlocksApart => {
                format!("{runs}; no interval: that needs 5 blocks")
            }
            Method::NotInterleaved => format!("{runs}; no interval: that needs 5 runs of each"),
        },
    }
}

/// What a metric is called in a sentence.
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

/// In what sides differ, in words.
pub fn unlike_words(unlike: &Unlike) -> String {
    let what = match unlike.what {
        // Their names are long, and tell nobody anything.
        UnlikeWhat::Fingerprint => return "workload (fingerprint)".to_owned(),
        UnlikeWhat::DurabilityTier => "durability tier",
        UnlikeWhat::CacheState => "cache state",
        UnlikeWhat::Host => "host",
    };
    let values = |values: &[String]| values.join(" and ");
    format!(
        "{what} ({}, {})",
        values(&unlike.side),
        values(&unlike.baseline)
    )
}

/// What a twin shows.
fn noise_sentence(noise: &TwinNoise, baseline: &str) -> String {
    let blocks = counted(noise.count.into(), "block");
    let spread = match noise.spread {
        Some(spread) => percent(spread),
        None => "not known".to_owned(),
    };
    document::units::bound(&format!(
        "A/A noise of {}: {spread} (standard deviation of the log ratio of {baseline} to its \
         twin, the same system, {blocks}).",
        noun(noise.metric)
    ))
}

/// What a twin that differs means.
fn doubt(noise: &TwinNoise, baseline: &str) -> String {
    let interval = noise
        .interval
        .map_or_else(String::new, |RatioInterval { low, high }| {
            format!("95 % interval {low:.3} to {high:.3}, ")
        });
    let p = noise.p.unwrap_or_default();
    document::units::bound(&format!(
        "DOUBTFUL: {baseline} and its twin are the same system, but the twin has {} the {} \
         ({interval}p {}): something other than the systems changes the results.",
        ratio_of(noise.ratio, 3),
        noun(noise.metric),
        probability(p)
    ))
}

/// `= 0.0021`, `< 0.0001`.
pub(crate) fn probability(p: f64) -> String {
    if p < 0.000_1 {
        "< 0.0001".to_owned()
    } else {
        format!("= {p:.4}")
    }
}

fn invalid(run: &InvalidRun) -> String {
    let name = run
        .run
        .map_or_else(|| "a run".to_owned(), |run| format!("run {run}"));
    match &run.block {
        Some(BlockAttempt {
            number, attempt, ..
        }) => {
            format!("{name} ({}, block {number}, attempt {attempt})", run.side)
        }
        None => format!("{name} ({})", run.side),
    }
}

fn interval(row: &Comparison) -> Option<RatioInterval> {
    row.estimate()?.interval
}

/// `95 %`.
pub(crate) fn confidence(level: f64) -> String {
    let percent = level * 100.0;
    // What looks have spent leaves more digits.
    let digits = if (percent - percent.round()).abs() < 1e-6 {
        0
    } else {
        1
    };
    format!("{percent:.digits$} %")
}

/// Rounded up: what is promised of it holds.
fn percent_up(fraction: f64) -> String {
    let percent = fraction * 100.0;
    if percent < 1.0 {
        // A whole number of tenths is one, whatever its last bit.
        format!("{:.1} %", ((percent * 10.0 - 1e-9).ceil() / 10.0).max(0.1))
    } else {
        format!("{:.0} %", (percent - 1e-9).ceil())
    }
}

/// Digits behind the point, for a ratio and the ends of its interval: so many that the ends are not
/// the same.
fn digits(estimate: &Estimate) -> usize {
    let width = estimate
        .interval
        .map_or(1.0, |interval| interval.high - interval.low);
    let ends = estimate
        .interval
        .map_or([0.0; 2], |interval| [interval.low, interval.high]);
    // An end that would be shown as 1.00 is on one side of 1.
    let is_near_one = ends.into_iter().any(|end| (end - 1.0).abs() < 0.005);
    let by_size: usize = match estimate.ratio {
        ratio if ratio >= 100.0 => 0,
        ratio if ratio >= 10.0 => 1,
        ratio if ratio >= 0.1 => 2,
        _ => 4,
    };
    if width < 0.015 || is_near_one {
        by_size.max(3)
    } else {
        by_size
    }
}

fn truth(is_so: bool) -> Cell {
    Cell::ours(if is_so { "true" } else { "false" })
}

/// A row for each comparison, for spreadsheets (RFC 4180).
pub fn as_csv(tables: &[Comparisons]) -> String {
    let mut table = Table::new(
        4,
        &[
            "side",
            "baseline",
            "metric",
            "method",
            "count",
            "baseline_count",
            "invalid",
            "without",
            "ratio",
            "low",
            "high",
            "confidence",
            "spread",
            "is_shown",
            "is_doubtful",
            "smallest_shown",
            "blocks_needed",
            "result",
            "unlike",
            "incomplete",
            "runs_valid",
            "runs_doubtful",
            "runs_invalid",
            "reasons",
        ],
    );
    let rows = tables
        .iter()
        .flat_map(|table| table.rows.iter().map(move |row| (row, table)));
    for (row, of) in rows {
        let estimate = row.estimate();
        let number = |value: Option<f64>| Cell::from(value.map(|value| Number::Decimal(value, 6)));
        let count = |value: u32| Cell::from(Number::Ordinal(value.into()));
        let interval = interval(row);
        let unlike: Vec<String> = row.unlike.iter().map(unlike_words).collect();
        table.row(vec![
            row.side.as_str().into(),
            row.baseline.as_str().into(),
            Cell::ours(row.metric.to_string()),
            Cell::ours(match row.method {
                Method::Blocks => "blocks",
                Method::BlocksApart => "blocks-apart",
                Method::NotInterleaved => "not-interleaved",
            }),
            count(row.count),
            count(row.baseline_count),
            count(row.invalid),
            count(row.without),
            number(estimate.map(|estimate| estimate.ratio)),
            number(interval.map(|interval| interval.low)),
            number(interval.map(|interval| interval.high)),
            number(Some(of.confidence)),
            number(estimate.and_then(|estimate| estimate.spread)),
            estimate.map_or(Cell::Empty, |estimate| truth(estimate.is_shown)),
            truth(of.is_doubtful),
            number(estimate.and_then(|estimate| estimate.smallest_shown)),
            estimate
                .and_then(|estimate| estimate.blocks_needed)
                .map(|blocks| Number::Ordinal(blocks.into()))
                .into(),
            Cell::ours(result(row)),
            unlike.join(", ").into(),
            incomplete_words(&row.incomplete, &row.side, &row.baseline).into(),
            count(row.verdicts.valid),
            count(row.verdicts.doubtful),
            count(row.verdicts.invalid),
            Cell::ours(reasons(&row.verdicts)),
        ]);
    }
    csv(&table, "\r\n")
}
