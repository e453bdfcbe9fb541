//! Compares printed ratios of two numbers with the ratios that a study measured.

use document::units::grouped;
use document::{Cell, Number, Table};
use study::PaperLayout;

use super::blocks::PairedRatio;
use super::results::{LayoutResults, StudiedValue};
use crate::cells::distinct;
use crate::compare_tables::amount;
use crate::number::Interval;
use crate::source::Figure;

/// A ratio of two numbers in the paper, with the positions of the two corresponding values in the
/// study.
struct Difference {
    /// The compared systems of the paper, such as `VxFS/UFS`, or the two compared workloads.
    between: String,
    /// The workload with which two systems are compared, or the system on which two workloads are
    /// compared.
    of: String,
    /// The ratio in the paper.
    there: f64,
    /// The interval of ratios that the printed digits allow.
    there_open: Interval,
    /// Indices of the workload and the system of the numerator, in the study.
    over: (usize, usize),
    /// Indices of the workload and the system of the denominator, in the study.
    under: (usize, usize),
    figure: Figure,
}

/// Whether the study confirms a difference that the paper reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    /// The confidence interval is on the same side of 1 as the paper's ratio.
    Holds,
    /// The confidence interval and the paper's ratio are on different sides of 1.
    Opposite,
    /// The confidence interval includes 1.
    NotShown,
    /// The paper's ratio may be 1, within the precision of its digits. So the paper shows no
    /// difference.
    NoneThere,
    /// There are too few blocks for an interval. The study's ratio is on the same side of 1 as the
    /// paper's ratio.
    Same,
    /// There are too few blocks for an interval. The study's and the paper's ratio are on different
    /// sides of 1.
    Other,
}

impl Found {
    /// All results, each with its words in the summary sentence, such as `3 holding today`.
    const COUNTED: [(Self, &str); 6] = [
        (Self::Holds, "holding today"),
        (Self::Opposite, "not holding"),
        (Self::NotShown, "not shown by these blocks"),
        (Self::NoneThere, "none within the printed digits"),
        (
            Self::Same,
            "with the same direction, but too few blocks for an interval",
        ),
        (
            Self::Other,
            "with the other direction, but too few blocks for an interval",
        ),
    ];

    /// Returns whether the result is based on a confidence interval.
    const fn is_of_interval(self) -> bool {
        matches!(self, Self::Holds | Self::Opposite | Self::NotShown)
    }
}

/// Returns the figures whose printed ratios are compared with those of the study.
pub(super) fn compared(results: &LayoutResults) -> Vec<Figure> {
    match results.layout {
        PaperLayout::Completion => vec![Figure::Elapsed, Figure::Messages],
        _ => vec![Figure::TransactionsRate],
    }
}

/// Returns a suffix with the figure (unless it is the transaction rate) and the build of the
/// operating system (if there are several).
fn in_short(figure: Figure, variant: Option<&str>) -> String {
    let figure = match figure {
        Figure::Elapsed => ", time",
        Figure::Messages => ", messages",
        _ => "",
    };
    match variant {
        Some(variant) => format!("{figure} ({variant})"),
        None => figure.to_owned(),
    }
}

/// Returns the differences of each system to each earlier one, for each workload.
fn between_systems(results: &LayoutResults, figure: Figure) -> Vec<Difference> {
    let mut differences = Vec::new();
    for variant in results.variants() {
        let works = 0..results.works.len();
        let pairs = |work| results.counterparts(work, figure, variant.as_deref());
        let mut all = distinct(works.flat_map(pairs));
        all.sort_by_key(|(_, theirs)| *theirs);
        let short = in_short(figure, variant.as_deref());
        for (at, one) in all.iter().enumerate() {
            for other in all[..at].iter().filter(|other| other.1 != one.1) {
                // If the paper prints the improvement of a system over another, the ratio compares
                // the systems in the same order.
                let is_printed =
                    |value: &StudiedValue| (value.system, value.over) == (other.1, Some(one.1));
                let (one, other) = match results.values.iter().any(is_printed) {
                    true => (*other, *one),
                    false => (*one, *other),
                };
                differences.extend(between_two(results, figure, one, other, &short));
            }
        }
    }
    differences
}

/// Returns the differences between two systems for each workload. `one` and `other` each consist of
/// a system of the study and its counterpart in the paper.
fn between_two(
    results: &LayoutResults,
    figure: Figure,
    one: (usize, usize),
    other: (usize, usize),
    short: &str,
) -> Vec<Difference> {
    let name = |system: usize| results.systems[system].name.as_str();
    let theirs = format!("{}/{}", name(one.1), name(other.1));
    // If several systems of the study have the same counterpart, the label of the ratio contains
    // the names of the study's systems.
    let stand_for = |theirs: usize| {
        let is_for =
            |ours: &usize| results.systems[*ours].counterpart.as_deref() == Some(name(theirs));
        results.own().filter(is_for).count()
    };
    let ours = match stand_for(one.1) + stand_for(other.1) {
        0..=2 => String::new(),
        _ => format!(" ({}/{})", name(one.0), name(other.0)),
    };
    let at_work = |work: usize| {
        let of_one = results.printed(work, one.1, figure)?;
        let of_other = results.printed(work, other.1, figure)?;
        Some(Difference {
            between: format!("{theirs}{short}"),
            of: format!("{}{ours}", results.works[work].name),
            there: of_one.0 / of_other.0,
            there_open: of_one.1.over(of_other.1),
            over: (work, one.0),
            under: (work, other.0),
            figure,
        })
    };
    (0..results.works.len()).filter_map(at_work).collect()
}

/// Returns the differences of each workload to the previous one, for each system. The differences
/// show the effect of more files or transactions.
fn between_works(results: &LayoutResults, figure: Figure) -> Vec<Difference> {
    let mut differences = Vec::new();
    for work in 1..results.works.len() {
        let (before, now) = (&results.works[work - 1], &results.works[work]);
        // If two workloads are scaled down by different factors, their ratio does not correspond to
        // a ratio in the paper.
        if !(before.is_as_published() && now.is_as_published()) {
            continue;
        }
        let processes = [before, now].map(|of| of.published.map(|shape| shape.processes));
        if processes[0] != processes[1] {
            continue;
        }
        for variant in results.variants() {
            let short = in_short(figure, variant.as_deref());
            let pairs = results.counterparts(work, figure, variant.as_deref());
            differences.extend(pairs.into_iter().filter_map(|(ours, theirs)| {
                let one = results.printed(work, theirs, figure)?;
                let other = results.printed(work - 1, theirs, figure)?;
                let systems = [theirs, ours].map(|system| &results.systems[system].name);
                Some(Difference {
                    between: format!("{} to {}{short}", before.name, now.name),
                    of: format!("{} ({})", systems[0], systems[1]),
                    there: one.0 / other.0,
                    there_open: one.1.over(other.1),
                    over: (work, ours),
                    under: (work - 1, ours),
                    figure,
                })
            }));
        }
    }
    differences
}

/// Returns the differences in the paper for which the study has measured both values. Each is
/// returned with the study's ratio and the result of the comparison. The confidence level of 95 %
/// applies to all intervals together.
fn judged(results: &LayoutResults) -> Vec<(Difference, PairedRatio, Found)> {
    let mut differences = Vec::new();
    for figure in compared(results) {
        differences.extend(between_systems(results, figure));
        differences.extend(between_works(results, figure));
    }
    let alpha = results.alpha / differences.len().max(1) as f64;
    let judged = differences.into_iter().filter_map(|difference| {
        let here = results.ratio(difference.figure, difference.over, difference.under, alpha)?;
        let found = judge(&difference, &here);
        Some((difference, here, found))
    });
    judged.collect()
}

/// Returns a table of the ratios in the paper and in the study, or `None` if no ratio can be
/// judged.
pub fn ratios(results: &LayoutResults) -> Option<Table> {
    let mut table = Table::new(
        2,
        &["ratio", "of", "printed", "here", "from", "to", "blocks"],
    )
    .folding();
    table.column("result", true);
    let mut last = String::new();
    for (difference, here, found) in judged(results) {
        let lead = match difference.between == last {
            true => Cell::Empty,
            false => Cell::ours(&difference.between),
        };
        last.clone_from(&difference.between);
        let end = |end: fn(&Interval) -> f64| {
            let end = here.interval.as_ref().map(end);
            end.map_or(Cell::Empty, |end| Cell::ours(factor(end)))
        };
        table.row(vec![
            lead,
            Cell::ours(&difference.of),
            Cell::ours(factor(difference.there)),
            Cell::ours(factor(here.ratio)),
            end(|interval| interval.low),
            end(|interval| interval.high),
            Number::Count(here.blocks.into()).into(),
            Cell::ours(outcome(found, difference.there, &here)),
        ]);
    }
    (!table.is_empty()).then_some(table)
}

fn judge(difference: &Difference, here: &PairedRatio) -> Found {
    if difference.there_open.contains(1.0) {
        return Found::NoneThere;
    }
    let is_up = difference.there > 1.0;
    match here.interval {
        Some(interval) if interval.contains(1.0) => Found::NotShown,
        Some(interval) if (interval.low > 1.0) == is_up => Found::Holds,
        Some(_) => Found::Opposite,
        None if (here.ratio > 1.0) == is_up => Found::Same,
        None => Found::Other,
    }
}

fn outcome(found: Found, there: f64, here: &PairedRatio) -> String {
    let size = match here.interval {
        Some(interval) if interval.contains(there) => ", with the same factor",
        _ if here.ratio.ln().abs() > there.ln().abs() => ", by more",
        _ => ", by less",
    };
    match found {
        Found::Holds => format!("holds{size}"),
        Found::Opposite => "does not hold".to_owned(),
        Found::NotShown => "not shown".to_owned(),
        Found::NoneThere => "no difference within the printed digits".to_owned(),
        Found::Same => format!("the same direction{size}"),
        Found::Other => "the other direction".to_owned(),
    }
}

/// Returns a sentence with the number of differences for each result (confirmed, contradicted and
/// so on), or `None` if no difference can be judged.
pub fn summary(results: &LayoutResults) -> Option<String> {
    let found: Vec<Found> = judged(results).iter().map(|(_, _, found)| *found).collect();
    if found.is_empty() {
        return None;
    }
    let parts: Vec<String> = Found::COUNTED
        .iter()
        .filter_map(|(of, what)| {
            let number = found.iter().filter(|found| *found == of).count();
            (number > 0).then(|| format!("{} {what}", grouped(number as u64)))
        })
        .collect();
    let intervals = match found.iter().any(|found| found.is_of_interval()) {
        true => " All intervals hold together at 95 %.",
        false => "",
    };
    Some(format!(
        "Printed differences that this study can judge: {}; {}.{intervals}",
        found.len(),
        parts.join(", ")
    ))
}

/// Formats a factor with about three significant digits, or with four decimals if it is below 0.1.
fn factor(number: f64) -> String {
    if number < 0.1 {
        format!("{number:.4}")
    } else {
        amount(number)
    }
}
