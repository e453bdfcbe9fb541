//! Recomputes the improvements of one system over another from the rates in a source, and compares
//! the results with the improvements that the source printed.

use record::Fact;
use serde::Serialize;

use crate::library::Library;
use crate::number::{Interval, PrintedNumber};
use crate::source::{Figure, PrintedCell, PublishedTable, Source};

/// How a printed improvement agrees with the recomputed one.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Agreement {
    /// The printed improvement equals the recomputed one to the last digit.
    Exact,
    /// The printed improvement differs from the recomputed one, but is possible with rates that
    /// round to the printed rates.
    WithinRounding,
    /// The printed improvement differs by more than rounding can explain.
    Differs {
        /// Printed minus recomputed improvement, in percentage points. For a range, this is the
        /// difference at the end that differs more.
        by: f64,
    },
    /// The improvement or a rate of one of its systems is missing in the source.
    Unknown { why: String },
}

/// A printed improvement, and the improvement that follows from the printed rates, in percent.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Recomputed {
    pub table: String,
    /// The compared systems, the build of the operating system, and the configurations, as text.
    pub what: String,
    pub printed: Fact<String>,
    /// The recomputed improvement; for a range, the smallest and the largest. Empty if no rates are
    /// available.
    pub recomputed: Vec<f64>,
    pub agreement: Agreement,
}

/// An improvement in percent, computed from printed rates, and the interval that the rounding of
/// these rates allows.
type Computed = (f64, Interval);

impl Library {
    /// Returns all printed improvements, in the order of the tables.
    pub fn improvements(&self) -> Vec<Recomputed> {
        let mut all = Vec::new();
        for (source, table) in self.tables() {
            let is_improvement =
                |place: &PrintedCell<'_>| place.of.figure == Some(Figure::Improvement);
            let cells = table.places().filter(is_improvement);
            all.extend(cells.map(|place| recompute(source, table, &place)));
        }
        all
    }
}

fn recompute(source: &Source, table: &PublishedTable, place: &PrintedCell<'_>) -> Recomputed {
    let of = &place.of;
    let mut lost = Vec::new();
    let mut known: Vec<Computed> = Vec::new();
    for configuration in &of.configurations {
        let variant = of.variant.as_deref();
        let rate =
            |system: &Option<String>| rate(source, system.as_deref()?, variant, configuration);
        match (rate(&of.system), rate(&of.over)) {
            (Some(one), Some(other)) => known.push(computed(&one, &other)),
            _ => lost.push(configuration.as_str()),
        }
    }
    let ends = ends(&known);
    Recomputed {
        table: table.name.clone(),
        what: words(source, place),
        printed: place.cell.0.clone().map(|number| number.printed),
        agreement: match place.number() {
            None => Agreement::Unknown {
                why: place.cell.0.why().unwrap_or_default().to_owned(),
            },
            Some(number) => agreement(number, ends.as_ref(), &lost),
        },
        recomputed: match ends {
            Some(((low, _), _)) if !place.is_range() => vec![*low],
            Some(((low, _), (high, _))) => vec![*low, *high],
            None => Vec::new(),
        },
    }
}

fn words(source: &Source, place: &PrintedCell<'_>) -> String {
    let column = |name: &Option<String>| {
        let system = name.as_deref().and_then(|name| source.system(name));
        system.map_or("?", |system| system.column.as_str())
    };
    let of = &place.of;
    let mut words = vec![format!("{} over {}", column(&of.system), column(&of.over))];
    words.extend(of.variant.clone());
    words.push(of.configurations.join(" "));
    words.join(", ")
}

/// Returns the printed rate of transactions from any table of the source.
fn rate(
    source: &Source,
    system: &str,
    variant: Option<&str>,
    configuration: &str,
) -> Option<PrintedNumber> {
    let places = source.tables.iter().flat_map(PublishedTable::places);
    let mut rates = places.filter(|place| place.of.figure == Some(Figure::TransactionsRate));
    let place = rates.find(|place| {
        place.of.system.as_deref() == Some(system)
            && place.of.variant.as_deref() == variant
            && place.of.configurations == [configuration]
    })?;
    place.number().cloned()
}

fn computed(one: &PrintedNumber, other: &PrintedNumber) -> Computed {
    // The printed rates are averages, rounded (not truncated) to two decimals. So the true rate is
    // within half a unit of the last digit.
    let around = |number: &PrintedNumber| Interval::around(number.value, number.half_unit());
    let percent = |ratio: f64| (ratio - 1.0) * 100.0;
    let ratio = around(one).over(around(other));
    let interval = Interval {
        low: percent(ratio.low),
        high: percent(ratio.high),
    };
    (percent(one.value / other.value), interval)
}

/// Returns the improvements with the smallest and the largest percentage.
fn ends(known: &[Computed]) -> Option<(&Computed, &Computed)> {
    let by_percent = |a: &&Computed, b: &&Computed| a.0.total_cmp(&b.0);
    Some((
        known.iter().min_by(by_percent)?,
        known.iter().max_by(by_percent)?,
    ))
}

fn agreement(
    printed: &PrintedNumber,
    ends: Option<&(&Computed, &Computed)>,
    lost: &[&str],
) -> Agreement {
    let of_lost = || Agreement::Unknown {
        why: format!("rates of {} are missing in the copy", lost.join(", ")),
    };
    let Some((low, high)) = ends else {
        return of_lost();
    };
    let half = printed.half_unit() + 1e-9;
    let pairs = [
        (printed.value, low),
        (printed.to.unwrap_or(printed.value), high),
    ];
    if pairs
        .iter()
        .all(|(printed, (percent, _))| (printed - percent).abs() <= half)
    {
        return Agreement::Exact;
    }
    // The result is `Unknown` and not `Differs`, because the printed range may include an
    // improvement whose rate is missing in our copy of the source.
    if !lost.is_empty() {
        return of_lost();
    }
    if pairs
        .iter()
        .all(|(printed, (_, interval))| Interval::around(*printed, half).meets(*interval))
    {
        return Agreement::WithinRounding;
    }
    let differences = pairs
        .iter()
        .map(|(printed, (percent, _))| printed - percent);
    let worst = differences.max_by(|a, b| a.abs().total_cmp(&b.abs()));
    Agreement::Differs {
        by: worst.unwrap_or(f64::NAN),
    }
}
