//! Which edition of the program made a published row.
//!
//! What a run reads and writes follows from its configuration and the edition's generator alone, so
//! the ratio of the two printed rates is the edition's mark. It is compared with the ratio that
//! `workload` plans, in both editions, with sums as each of them adds them up (1.0 in whole
//! numbers, 1.5 in 32-bit floats). A planned ratio fits where it lies in the interval that the
//! printing leaves open ([`Interval::of`]): half a unit of the last digit, of both numbers at their
//! worst, and nothing besides.

use std::collections::HashMap;

use serde::Serialize;
use workload::{Edition, Planner};

use crate::library::{Library, Row};
use crate::number::{Interval, KILOBYTE_BYTES, PrintedNumber, Unit};
use crate::shape::ConfigurationShape;
use crate::source::Figure;

/// What one process of a configuration reads and writes, in an edition.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Planned {
    /// The edition.
    pub edition: Edition,
    /// Bytes read, as the edition adds them up.
    pub bytes_read: f64,
    /// Bytes written, as the edition adds them up.
    pub bytes_written: f64,
    /// Read over written.
    pub ratio: f64,
    /// Whether a row's printed ratio leaves room for that.
    pub fits: bool,
}

/// Plans that were made already: each takes a walk through the whole stream.
#[derive(Clone, Debug, Default)]
pub struct Plans {
    made: HashMap<(Edition, ConfigurationShape), (f64, f64)>,
}

impl Plans {
    fn of(&mut self, edition: Edition, row: &Row<'_>) -> (f64, f64) {
        let one = ConfigurationShape {
            processes: 1,
            ..ConfigurationShape::of_configuration(row.configuration)
        };
        *self.made.entry((edition, one)).or_insert_with(|| {
            let plan = Planner::new(&one.workload(edition)).plan();
            let plan = plan.expect("a test plans every published configuration");
            (plan.classic_bytes_read, plan.classic_bytes_written)
        })
    }
}

/// Which edition made a row.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhichEdition {
    /// This one: the other does not fit.
    By(Edition),
    /// The printed digits leave room for both.
    Either,
    /// None fits.
    Neither {
        /// Why that may be.
        cause: String,
    },
}

impl WhichEdition {
    /// In a word or two.
    pub fn in_short(&self) -> String {
        match self {
            Self::By(edition) => edition.name().to_owned(),
            Self::Either => "1.0 or 1.5".to_owned(),
            Self::Neither { .. } => "neither".to_owned(),
        }
    }
}

/// What is shown of the edition that made a row; nothing: unknown.
pub(crate) fn in_short(made: Option<&WhichEdition>) -> String {
    made.map_or_else(|| "?".to_owned(), WhichEdition::in_short)
}

/// A rate that was converted from megabytes of 1,024 kilobytes, though the edition that printed
/// them has 1,000.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Converted {
    /// Which figure.
    pub figure: Figure,
    /// As it is printed.
    pub printed: String,
    /// What the edition meant, in kilobytes a second.
    pub meant: f64,
}

/// What was found for a row.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// The source's name.
    pub source: String,
    /// The table's name.
    pub table: String,
    /// The system's name.
    pub system: String,
    /// The system's column.
    pub column: String,
    /// The configuration's name.
    pub configuration: String,
    /// Read over written, as printed.
    pub printed_ratio: f64,
    /// What the printed digits leave open for it.
    pub ratio: Interval,
    /// The ratio in both editions.
    pub planned: Vec<Planned>,
    /// What follows.
    pub made: WhichEdition,
    /// Rates that somebody converted as if another edition had printed them.
    pub converted: Vec<Converted>,
}

impl Library {
    /// The finding for every row with both data read and data written, in the order of
    /// [`Library::rows`].
    pub fn findings(&self) -> Vec<Finding> {
        let mut plans = Plans::default();
        let rows = self.rows();
        rows.iter()
            .filter_map(|row| finding(row, &mut plans))
            .collect()
    }
}

/// The finding for a row; nothing where it lacks one of the two figures.
pub fn finding(row: &Row<'_>, plans: &mut Plans) -> Option<Finding> {
    let ratio = ratio(row)?;
    let planned = Edition::ALL.map(|edition| {
        let (bytes_read, bytes_written) = plans.of(edition, row);
        let of_both = bytes_read / bytes_written;
        Planned {
            edition,
            bytes_read,
            bytes_written,
            ratio: of_both,
            fits: ratio.contains(of_both),
        }
    });
    let made = made(row, &planned);
    Some(Finding {
        source: row.source.name.clone(),
        table: row.table.name.clone(),
        system: row.system.name.clone(),
        column: row.column(),
        configuration: row.configuration.name.clone(),
        printed_ratio: printed_ratio(row),
        ratio,
        converted: converted(row, Some(&made)),
        made,
        planned: planned.to_vec(),
    })
}

/// The edition that made a row, as its ratio says; where it has none, as its source does; nothing
/// where that does not, either.
pub(crate) fn made_by(row: &Row<'_>, plans: &mut Plans) -> Option<WhichEdition> {
    let stated = || row.configuration.edition.known().copied();
    let found = finding(row, plans).map(|finding| finding.made);
    found.or_else(|| stated().map(WhichEdition::By))
}

/// The rates of a row that edition 1.0 made and somebody converted with 1,024.
pub(crate) fn converted(row: &Row<'_>, made: Option<&WhichEdition>) -> Vec<Converted> {
    let rates = [Figure::DataReadRate, Figure::DataWrittenRate];
    let cells = rates
        .into_iter()
        .filter_map(|figure| Some((figure, row.figure(figure)?)));
    cells
        .filter(|(_, (number, unit))| conversion(number, *unit, made) < 1.0)
        .map(|(figure, (number, unit))| Converted {
            figure,
            printed: number.printed.clone(),
            meant: number.value * conversion(number, unit, made),
        })
        .collect()
}

/// What a printed number has to be multiplied with to be what its edition meant.
fn conversion(number: &PrintedNumber, unit: Unit, made: Option<&WhichEdition>) -> f64 {
    let is_wrong = made == Some(&WhichEdition::By(Edition::V1_0))
        && unit == Unit::KilobytesPerSecond
        && number.is_times_1024();
    if is_wrong { 1_000.0 / 1_024.0 } else { 1.0 }
}

fn made(row: &Row<'_>, planned: &[Planned]) -> WhichEdition {
    match (planned[0].fits, planned[1].fits) {
        (true, true) => WhichEdition::Either,
        (true, false) => WhichEdition::By(planned[0].edition),
        (false, true) => WhichEdition::By(planned[1].edition),
        (false, false) => {
            let cause = row
                .table
                .causes
                .iter()
                .find(|cause| cause.system == row.system.name);
            WhichEdition::Neither {
                cause: cause.map_or_else(
                    || "the cause is not available".to_owned(),
                    |cause| cause.why.clone(),
                ),
            }
        }
    }
}

/// By the rates, and by the sums where these were printed, too.
fn ratio(row: &Row<'_>) -> Option<Interval> {
    let rates = (Figure::DataReadRate, Figure::DataWrittenRate);
    let sums = (Figure::DataRead, Figure::DataWritten);
    let of =
        |(read, written): (Figure, Figure)| Some(row.interval(read)?.over(row.interval(written)?));
    match (of(rates), of(sums)) {
        (Some(rates), Some(sums)) => Some(rates.and(sums)),
        (rates, sums) => rates.or(sums),
    }
}

/// Of sums where there are any: they have more digits.
fn printed_ratio(row: &Row<'_>) -> f64 {
    let value = |figure| row.figure(figure).map(|(number, _)| number.value);
    let read = value(Figure::DataRead).or(value(Figure::DataReadRate));
    let written = value(Figure::DataWritten).or(value(Figure::DataWrittenRate));
    match (read, written) {
        (Some(read), Some(written)) => read / written,
        _ => f64::NAN,
    }
}

/// A figure as the edition that made it meant it: data in kilobytes (of 1,024 bytes) or kilobytes a
/// second, everything else as it is printed.
pub(crate) fn meant(number: &PrintedNumber, unit: Unit, made: Option<&WhichEdition>) -> f64 {
    let edition = match made {
        Some(WhichEdition::By(edition)) => *edition,
        _ => Edition::default(),
    };
    let kilobytes = unit
        .bytes(edition)
        .map_or(1.0, |bytes| bytes / KILOBYTE_BYTES);
    number.value * kilobytes * conversion(number, unit, made)
}

/// Says of which systems rates were converted, and what that means; nothing where there are none.
pub(crate) fn told_of_converted<'a>(columns: impl Iterator<Item = &'a String>) -> Option<String> {
    let columns: Vec<&str> = columns.map(String::as_str).collect();
    (!columns.is_empty()).then(|| {
        format!(
            "Converted: rates of {} were megabytes of 1,000 Kbytes, as edition 1.0 prints them, \
             but were multiplied by 1,024, so the published rates are 2.4 % too high. Tables show \
             the published rates; factors and times use what the program printed.",
            columns.join(", ")
        )
    })
}
