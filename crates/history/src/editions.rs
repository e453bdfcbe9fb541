//! Which edition of the program made a published row.
//!
//! What a run reads and writes follows from its configuration and the edition's generator alone, so the ratio of the two
//! printed rates is the edition's mark. It is compared with the ratio that `workload` plans, in both editions, with sums as each
//! of them adds them up (1.0 in whole numbers, 1.5 in 32-bit floats). A planned ratio fits where it lies in the interval that the printing leaves open
//! ([`Interval::of`]): half a unit of the last digit, of both numbers at their worst, and nothing besides.

use std::collections::BTreeMap;

use serde::Serialize;
use workload::{Classic, Edition, Planner, Workload};

use crate::library::{HistoryError, Library, Row};
use crate::number::{Interval, KILOBYTE_BYTES, Number, Unit};
use crate::source::Figure;

/// What one process of a configuration reads and writes, in an edition.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Planned {
    /// The edition.
    pub edition: Edition,
    /// Into how many subdirectories it puts its files.
    pub subdirectories: u32,
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
    made: BTreeMap<(&'static str, u64, u64, u32), (f64, f64)>,
}

impl Plans {
    fn of(&mut self, edition: Edition, row: &Row<'_>, subdirectories: u32) -> Result<(f64, f64), HistoryError> {
        let (files, transactions) = (row.configuration.files, row.configuration.transactions);
        let key = (edition.name(), files, transactions, subdirectories);
        if let Some(sums) = self.made.get(&key) {
            return Ok(*sums);
        }
        let workload = Workload::from(Classic {
            edition,
            files,
            transactions,
            subdirectories,
            ..Classic::default()
        });
        let plan = Planner::new(&workload).plan().map_err(|problem| HistoryError::Plan {
            configuration: row.configuration.name.clone(),
            problem,
        })?;
        let sums = (plan.classic_bytes_read, plan.classic_bytes_written);
        self.made.insert(key, sums);
        Ok(sums)
    }
}

/// Which edition made a row.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Made {
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

impl Made {
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
pub(crate) fn in_short(made: Option<&Made>) -> String {
    made.map_or_else(|| "?".to_owned(), Made::in_short)
}

/// A rate that was converted from megabytes of 1,024 kilobytes, though the edition that printed them has 1,000.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Converted {
    /// Which figure.
    pub figure: Figure,
    /// As it is printed.
    pub printed: String,
    /// What the edition meant, in kilobytes a second.
    pub meant: f64,
}

/// A printed number with one digit changed, so that the row would fit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Misprint {
    /// Which figure.
    pub figure: Figure,
    /// As it is printed.
    pub printed: String,
    /// As it would fit.
    pub instead: String,
    /// The edition that it would fit.
    pub edition: Edition,
}

/// How long a row's run must have taken, if this edition made it: in seconds, by each of its figures.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Asked {
    /// The edition.
    pub edition: Edition,
    /// The whole run, by the data read.
    pub by_data_read: Interval,
    /// The whole run, by the data written.
    pub by_data_written: Interval,
    /// The transactions alone, which are a part of it.
    pub transactions: Option<Interval>,
}

impl Asked {
    /// Whether the whole run would have taken less time than its transactions, which cannot be.
    pub fn is_impossible(&self) -> bool {
        let whole = self.by_data_read.high.min(self.by_data_written.high);
        self.transactions.is_some_and(|transactions| whole < transactions.low)
    }
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
    /// The ratio in both editions, and what subdirectories matter.
    pub planned: Vec<Planned>,
    /// What follows.
    pub made: Made,
    /// Rates that somebody converted as if another edition had printed them.
    pub converted: Vec<Converted>,
    /// Where no edition fits: digits that may be misprinted.
    pub misprints: Vec<Misprint>,
    /// The times that the figures ask for: in the editions that fit, or in all where none does.
    pub asked: Vec<Asked>,
}

impl Library {
    /// The finding for every row with both data read and data written, in the order of [`Library::rows`].
    ///
    /// # Errors
    /// Where a published configuration cannot be planned, which a test excludes.
    pub fn findings(&self) -> Result<Vec<Finding>, HistoryError> {
        let mut plans = Plans::default();
        let rows = self.rows();
        let findings = rows.iter().map(|row| finding(row, &mut plans));
        findings.filter_map(Result::transpose).collect()
    }
}

/// The finding for a row; nothing where it lacks one of the two figures.
///
/// # Errors
/// Where its configuration cannot be planned.
pub fn finding(row: &Row<'_>, plans: &mut Plans) -> Result<Option<Finding>, HistoryError> {
    let Some(ratio) = ratio(row) else {
        return Ok(None);
    };
    let subdirectories = row.configuration.subdirectories;
    let mut asked_for = Edition::ALL.map(|edition| (edition, subdirectories)).to_vec();
    if subdirectories > 1 {
        // Only edition 1.5 draws the subdirectory, so only there they leave a trace.
        asked_for.push((Edition::V1_5, 1));
    }
    let mut planned = Vec::new();
    for (edition, subdirectories) in asked_for {
        let (bytes_read, bytes_written) = plans.of(edition, row, subdirectories)?;
        let of_both = bytes_read / bytes_written;
        planned.push(Planned {
            edition,
            subdirectories,
            bytes_read,
            bytes_written,
            ratio: of_both,
            fits: ratio.contains(of_both),
        });
    }
    let made = made(row, &planned);
    let is_neither = matches!(made, Made::Neither { .. });
    let of_editions: Vec<Planned> = planned.iter().take(Edition::ALL.len()).copied().collect();
    Ok(Some(Finding {
        source: row.source.name.clone(),
        table: row.table.name.clone(),
        system: row.system.name.clone(),
        column: row.column(),
        configuration: row.configuration.name.clone(),
        printed_ratio: printed_ratio(row),
        ratio,
        converted: converted(row, Some(&made)),
        made,
        misprints: if is_neither {
            misprints(row, &of_editions)
        } else {
            Vec::new()
        },
        asked: of_editions
            .iter()
            .filter(|planned| is_neither || planned.fits)
            .filter_map(|planned| asked(row, planned))
            .collect(),
        planned,
    }))
}

/// The edition that made a row, as its ratio says; where it has none, as its source does; nothing where that does not, either.
///
/// # Errors
/// Where its configuration cannot be planned.
pub(crate) fn made_by(row: &Row<'_>, plans: &mut Plans) -> Result<Option<Made>, HistoryError> {
    let stated = || row.configuration.edition.known().copied().map(Made::By);
    let found = finding(row, plans)?.map(|finding| finding.made);
    Ok(found.or_else(stated))
}

/// The rates of a row that edition 1.0 made and somebody converted with 1,024.
pub(crate) fn converted(row: &Row<'_>, made: Option<&Made>) -> Vec<Converted> {
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
fn conversion(number: &Number, unit: Unit, made: Option<&Made>) -> f64 {
    let is_wrong = made == Some(&Made::By(Edition::V1_0)) && unit == Unit::KilobytesPerSecond && number.is_times_1024();
    if is_wrong { 1_000.0 / 1_024.0 } else { 1.0 }
}

fn made(row: &Row<'_>, planned: &[Planned]) -> Made {
    match (planned[0].fits, planned[1].fits) {
        (true, true) => Made::Either,
        (true, false) => Made::By(planned[0].edition),
        (false, true) => Made::By(planned[1].edition),
        (false, false) => {
            let cause = row.table.causes.iter().find(|cause| cause.system == row.system.name);
            Made::Neither {
                cause: cause.map_or_else(|| "no cause is known".to_owned(), |cause| cause.why.clone()),
            }
        }
    }
}

/// By the rates, and by the sums where these were printed, too.
fn ratio(row: &Row<'_>) -> Option<Interval> {
    let rates = (Figure::DataReadRate, Figure::DataWrittenRate);
    let sums = (Figure::DataRead, Figure::DataWritten);
    let of = |(read, written): (Figure, Figure)| Some(row.interval(read)?.over(row.interval(written)?));
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

fn misprints(row: &Row<'_>, planned: &[Planned]) -> Vec<Misprint> {
    let mut found = Vec::new();
    for (figure, other) in [
        (Figure::DataReadRate, Figure::DataWrittenRate),
        (Figure::DataWrittenRate, Figure::DataReadRate),
    ] {
        let (Some((number, unit)), Some(other)) = (row.figure(figure), row.interval(other)) else {
            continue;
        };
        for instead in with_one_digit_changed(&number.printed) {
            let Ok(changed) = instead.parse::<Number>() else {
                continue;
            };
            let changed = Interval::of(&changed, unit);
            let ratio = if figure == Figure::DataReadRate {
                changed.over(other)
            } else {
                other.over(changed)
            };
            found.extend(
                planned
                    .iter()
                    .filter(|planned| ratio.contains(planned.ratio))
                    .map(|planned| Misprint {
                        figure,
                        printed: number.printed.clone(),
                        instead: instead.clone(),
                        edition: planned.edition,
                    }),
            );
        }
    }
    found
}

fn with_one_digit_changed(printed: &str) -> impl Iterator<Item = String> {
    let digits = printed.char_indices().filter(|(_, letter)| letter.is_ascii_digit());
    digits.flat_map(move |(at, letter)| {
        ('0'..='9').filter(move |digit| *digit != letter).map(move |digit| {
            let mut changed = printed.to_owned();
            changed.replace_range(at..=at, digit.encode_utf8(&mut [0; 4]));
            changed
        })
    })
}

fn asked(row: &Row<'_>, planned: &Planned) -> Option<Asked> {
    let seconds = |figure, bytes: f64| -> Option<Interval> {
        let (number, unit) = row.figure(figure)?;
        let conversion = conversion(number, unit, Some(&Made::By(planned.edition)));
        Some(
            Interval::of(number, unit)
                .times(unit.bytes(planned.edition)? * conversion)
                .divide(bytes),
        )
    };
    let transactions = row.configuration.transactions as f64;
    let rate = row.interval(Figure::TransactionsRate);
    Some(Asked {
        edition: planned.edition,
        by_data_read: seconds(Figure::DataReadRate, planned.bytes_read)?,
        by_data_written: seconds(Figure::DataWrittenRate, planned.bytes_written)?,
        transactions: rate.map(|rate| rate.divide(transactions)),
    })
}

/// A figure as the edition that made it meant it: data in kilobytes (of 1,024 bytes) or kilobytes a second, everything else as it
/// is printed.
pub(crate) fn meant(number: &Number, unit: Unit, made: Option<&Made>) -> f64 {
    let edition = match made {
        Some(Made::By(edition)) => *edition,
        _ => Edition::default(),
    };
    let kilobytes = unit.bytes(edition).map_or(1.0, |bytes| bytes / KILOBYTE_BYTES);
    number.value * kilobytes * conversion(number, unit, made)
}

/// Says of which systems rates were converted, and what that means; nothing where there are none.
pub(crate) fn told_of_converted(columns: &[&str]) -> Option<String> {
    (!columns.is_empty()).then(|| {
        format!(
            "Converted: rates of {} were megabytes of 1,000 Kbytes, as edition 1.0 prints them, and were multiplied by 1,024: \
             as published they are 2.4 % too high. Tables show them so; factors and times are computed with what the program \
             printed.",
            columns.join(", ")
        )
    })
}
