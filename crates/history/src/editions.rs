//! Which edition of the program made a published row.
//!
//! What a run reads and writes follows from its configuration and the edition's generator alone, so the ratio of the two
//! printed rates is the edition's mark. It is compared with the ratio that `workload` plans, in both editions, with sums as each
//! of them adds them up (1.0 in whole numbers, 1.5 in 32-bit floats). A planned ratio fits where it lies in the interval that the printing leaves open
//! ([`Interval::of`]): half a unit of the last digit, of both numbers at their worst, and nothing besides.

use std::collections::BTreeMap;

use record::Fact;
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

/// The edition that made a row, as its ratio says; where it has none, as its source does.
///
/// # Errors
/// Where its configuration cannot be planned.
pub(crate) fn edition_in_short(row: &Row<'_>, plans: &mut Plans) -> Result<String, HistoryError> {
    let stated = || {
        row.configuration
            .edition
            .known()
            .map(|edition| edition.name().to_owned())
    };
    let found = finding(row, plans)?.map(|finding| finding.made.in_short());
    Ok(found.or_else(stated).unwrap_or_else(|| "?".to_owned()))
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
        Some(
            Interval::of(number, unit)
                .times(unit.bytes(planned.edition)?)
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

/// The rate of a row in kilobytes (of 1,024 bytes) a second; as printed where the table says kilobytes.
pub fn kilobytes(number: &Number, unit: Unit, edition: &Fact<Edition>) -> Option<f64> {
    let edition = edition.known().copied().unwrap_or_default();
    Some(number.value * unit.bytes(edition)? / KILOBYTE_BYTES)
}
