//! Determines which edition of the original PostMark produced a published row.
//!
//! The bytes that a run reads and writes depend only on its configuration and on the random
//! generator of the edition. So the ratio of bytes read to bytes written identifies the edition.
//! The ratio of the printed numbers is compared with the ratios that `workload` plans for both
//! editions. Plans use the arithmetic of the edition: integers in 1.0, 32-bit floats in 1.5. A
//! planned ratio fits if it is within the interval that the rounding of the printed numbers allows
//! ([`Interval::of`]).

use std::collections::HashMap;

use serde::Serialize;
use workload::{Edition, Planner};

use crate::library::{Library, Row};
use crate::number::{Interval, KILOBYTE_BYTES, PrintedNumber, Unit};
use crate::shape::ConfigurationShape;
use crate::source::Figure;

/// The bytes that one process of a configuration reads and writes, as planned for one PostMark
/// edition.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Planned {
    pub edition: Edition,
    /// Bytes read, added as the edition adds them: as integers in 1.0, as 32-bit floats in 1.5.
    pub bytes_read: f64,
    /// Bytes written, added in the same way as `bytes_read`.
    pub bytes_written: f64,
    /// Bytes read divided by bytes written.
    pub ratio: f64,
    /// Whether the ratio is within the interval of the row's printed ratio.
    pub fits: bool,
}

/// A cache of plans. Computing a plan takes long, because it draws a complete stream of operations.
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

/// The PostMark edition that produced a row. An edition fits if its planned ratio of bytes read to
/// bytes written agrees with the row's printed ratio.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhichEdition {
    /// The only edition that fits, or the one that the source names.
    By(Edition),
    /// Both editions fit within the precision of the printed digits.
    Either,
    /// Neither edition fits.
    Neither {
        /// The likely cause why no edition fits.
        cause: String,
    },
}

impl WhichEdition {
    /// Returns the text for a table, for example `1.5` or `neither`.
    pub fn in_short(&self) -> String {
        match self {
            Self::By(edition) => edition.name().to_owned(),
            Self::Either => "1.0 or 1.5".to_owned(),
            Self::Neither { .. } => "neither".to_owned(),
        }
    }
}

/// Returns the name of the PostMark edition for tables; a question mark if it is unknown.
pub(crate) fn in_short(made: Option<&WhichEdition>) -> String {
    made.map_or_else(|| "?".to_owned(), WhichEdition::in_short)
}

/// A rate that the source wrongly converted from megabytes to kilobytes with the factor 1,024.
/// PostMark 1.0, which printed the rate, uses 1,000 kilobytes per megabyte.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Converted {
    pub figure: Figure,
    pub printed: String,
    /// The rate in kilobytes per second, converted with the correct factor of 1,000.
    pub meant: f64,
}

/// The PostMark edition that produced a row, with the numbers from which it is determined.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    pub source: String,
    pub table: String,
    pub system: String,
    /// The header of the system's column.
    pub column: String,
    pub configuration: String,
    /// Data read divided by data written, as printed.
    pub printed_ratio: f64,
    /// The interval of ratios that the printed digits allow.
    pub ratio: Interval,
    /// The planned bytes and their ratio, for PostMark 1.0 and for 1.5.
    pub planned: Vec<Planned>,
    pub made: WhichEdition,
    /// Rates that PostMark 1.0 printed in megabytes of 1,000 kilobytes, and that the source
    /// converted to kilobytes with the factor 1,024.
    pub converted: Vec<Converted>,
}

impl Library {
    /// Returns the findings for all rows with both data read and data written, in the order of
    /// [`Library::rows`].
    pub fn findings(&self) -> Vec<Finding> {
        let mut plans = Plans::default();
        let rows = self.rows();
        rows.iter()
            .filter_map(|row| finding(row, &mut plans))
            .collect()
    }
}

/// Returns the finding for a row, or `None` if data read or data written is missing.
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

/// Returns the PostMark edition that produced a row, according to the row's ratio of data read to
/// data written. Without this ratio, returns the edition that the source names. Returns `None` if
/// neither is available.
pub(crate) fn made_by(row: &Row<'_>, plans: &mut Plans) -> Option<WhichEdition> {
    let stated = || row.configuration.edition.known().copied();
    let found = finding(row, plans).map(|finding| finding.made);
    found.or_else(|| stated().map(WhichEdition::By))
}

/// Returns the rates that a source converted from megabytes to kilobytes with the wrong factor of
/// 1,024. The factor is wrong if PostMark 1.0 produced the row, because its megabyte has 1,000
/// kilobytes.
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

/// Returns the factor that corrects a rate in kilobytes per second: 1,000 / 1,024 if the source
/// converted the rate with the wrong factor, or else 1.
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

/// Returns the interval of data read divided by data written, from the printed rates. If the table
/// also has amounts of data, they narrow the interval.
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

/// Returns data read divided by data written. Printed amounts of data have more digits than rates,
/// so rates are used only if the amounts are missing.
fn printed_ratio(row: &Row<'_>) -> f64 {
    let value = |figure| row.figure(figure).map(|(number, _)| number.value);
    let read = value(Figure::DataRead).or(value(Figure::DataReadRate));
    let written = value(Figure::DataWritten).or(value(Figure::DataWrittenRate));
    match (read, written) {
        (Some(read), Some(written)) => read / written,
        _ => f64::NAN,
    }
}

/// Converts a printed figure by the rules of the PostMark edition that printed it. Data is
/// converted to kilobytes (of 1,024 bytes) or kilobytes per second; other figures are unchanged.
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

/// Returns a sentence about the systems whose rates were converted wrongly, or `None` if there are
/// no such systems.
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
