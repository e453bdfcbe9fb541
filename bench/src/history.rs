//! How well `postmark history` finds changes, by simulation: false alarms in a hundred runs, the
//! share of injected changes that are found, after how many runs, and at which distance. Apache
//! Otava, if it is installed, analyses the same histories at its defaults.
//!
//! A found change counts if it is at most [`NEAR`] runs from the injected one; any other is a false
//! alarm. For the number of runs that a change needs to be found, the history is analysed with 1,
//! 2, 3, … runs after the change, as if the command was called after each run.

mod gate;
mod otava;
mod page;
mod series;

use std::num::NonZero;
use std::path::PathBuf;
use std::time::Instant;

use study::{Levels, Shape};

use self::otava::Otava;
use self::series::{DELAYS, Disturbance, Findings, LOSSES, NEAR, NOISE, RUNS, Setting, Simulated};
use crate::limit::{Limit, Share};
use crate::result::Result;

/// Seed of the simulated histories.
const SEED: u64 = 1;
/// Maximum share of histories without a change, with independent noise, in which one is found.
const FALSE_ALARMS: Limit = Limit::AtMost(0.01);
/// Minimum share of changes of at least three standard deviations that are found.
const FOUND: Limit = Limit::AtLeast(0.95);

#[derive(Debug, clap::Args)]
pub struct HistoryOptions {
    /// Number of histories of each setting; with --check 100.
    #[arg(long)]
    series: Option<u32>,
    /// Number of histories of each setting that Apache Otava analyses; 0 for none.
    #[arg(long, default_value_t = 100)]
    otava_series: u32,
    /// The Python interpreter that has the package apache-otava.
    #[arg(long, default_value = "target/otava/bin/python")]
    python: PathBuf,
    /// Replace the tables in this page (docs/reference/history.md) by the measured ones.
    #[arg(long)]
    page: Option<PathBuf>,
    /// Exit with status 1 if false alarms or found changes exceed their limits.
    #[arg(long)]
    pub check: bool,
}

/// Sums over the histories of a setting.
#[derive(Clone, Debug, Default)]
struct Totals {
    series: u32,
    false_alarms: u32,
    /// Number of histories with a false alarm.
    alarmed: u32,
    found: u32,
    /// Sum of the distances of found changes, in runs.
    distance: usize,
    /// For each history its delay; `None` if the change was never found.
    delays: Vec<Option<usize>>,
}

impl Totals {
    fn add(&mut self, simulated: &Simulated, findings: &Findings) {
        let distance = |place: usize| simulated.change.map(|at| at.abs_diff(place));
        let near = findings.changes.iter().filter_map(|place| distance(*place));
        let near = near.filter(|distance| *distance <= NEAR).min();
        self.series += 1;
        let alarms = findings.changes.len() as u32 - u32::from(near.is_some());
        self.false_alarms += alarms;
        self.alarmed += u32::from(alarms > 0);
        self.found += u32::from(near.is_some());
        self.distance += near.unwrap_or_default();
        self.delays.push(findings.delay);
    }

    fn merge(&mut self, other: Self) {
        self.series += other.series;
        self.false_alarms += other.false_alarms;
        self.alarmed += other.alarmed;
        self.found += other.found;
        self.distance += other.distance;
        self.delays.extend(other.delays);
    }

    /// False alarms in a hundred runs.
    fn false_alarms(&self) -> f64 {
        f64::from(self.false_alarms) / f64::from(self.series.max(1)) * 100.0 / RUNS as f64
    }

    fn found(&self) -> f64 {
        f64::from(self.found) / f64::from(self.series.max(1))
    }

    /// The number of runs after which a share of all changes is found.
    fn delay(&self, share: f64) -> String {
        let mut delays: Vec<usize> = self
            .delays
            .iter()
            .map(|delay| delay.unwrap_or(usize::MAX))
            .collect();
        delays.sort_unstable();
        let index = (share * delays.len() as f64).ceil() as usize;
        let delay = delays.get(index.saturating_sub(1)).copied();
        let known = delay.filter(|delay| *delay < usize::MAX);
        known.map_or_else(|| "-".to_owned(), |delay| delay.to_string())
    }

    fn columns(&self, has_change: bool) -> String {
        let alarms = format!("{:5.2}", self.false_alarms());
        if !has_change {
            return format!("{alarms}{:27}", "");
        }
        let distance = match self.found {
            0 => "-".to_owned(),
            found => format!("{:.1}", self.distance as f64 / f64::from(found)),
        };
        format!(
            "{alarms} {:5.1}%{:>6}{:>6}{distance:>8}",
            100.0 * self.found(),
            self.delay(0.5),
            self.delay(0.9)
        )
    }
}

/// The positions of the steps that our method finds. A drift does not count as a false alarm,
/// because the report calls it a drift.
fn steps(values: &[f64]) -> Vec<usize> {
    let changes = Levels::of(values).changes.into_iter();
    let steps = changes.filter(|change| change.shape == Shape::Step);
    steps.map(|change| change.at).collect()
}

fn ours(simulated: &Simulated) -> Findings {
    let Simulated { values, change } = simulated;
    let delay = change.and_then(|at| {
        let is_found = |after: &&usize| {
            let found = steps(&values[..at + **after]);
            found.iter().any(|place| place.abs_diff(at) <= NEAR)
        };
        DELAYS.iter().find(is_found).copied()
    });
    Findings {
        changes: steps(values),
        delay,
    }
}

/// Analyses the histories of a setting on all processors.
fn totals(setting: Setting, series: u32, seed: u64) -> Totals {
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get) as u32;
    let part = |first: u32| {
        let mut totals = Totals::default();
        for number in (first..series).step_by(threads as usize) {
            let simulated = setting.simulate(seed, number);
            totals.add(&simulated, &ours(&simulated));
        }
        totals
    };
    let mut all = Totals::default();
    std::thread::scope(|scope| {
        let parts: Vec<_> = (0..threads)
            .map(|first| scope.spawn(move || part(first)))
            .collect();
        for part in parts {
            all.merge(part.join().unwrap_or_default());
        }
    });
    all
}

fn settings() -> impl Iterator<Item = Setting> {
    let all = Disturbance::ALL.into_iter();
    all.flat_map(|disturbance| {
        NOISE.into_iter().flat_map(move |noise| {
            LOSSES.into_iter().map(move |loss| Setting {
                disturbance,
                noise,
                loss,
            })
        })
    })
}

/// Whether the promises hold in a setting.
fn holds(setting: Setting, totals: &Totals) -> bool {
    let is_independent = matches!(
        setting.disturbance,
        Disturbance::Nothing | Disturbance::Outliers
    );
    let share = |count: u32| Share {
        count: count as usize,
        all: totals.series as usize,
    };
    if !is_independent {
        true
    } else if setting.loss == 0.0 {
        share(totals.alarmed).agrees(FALSE_ALARMS)
    } else {
        setting.loss < 3.0 * setting.noise || share(totals.found).agrees(FOUND)
    }
}

/// Runs all simulations and prints the results. Returns whether the limits are kept.
///
/// # Errors
/// Returns an error if Apache Otava is installed but fails.
pub fn perform(options: &HistoryOptions) -> Result<bool> {
    let series = options
        .series
        .unwrap_or(if options.check { 100 } else { 1_000 });
    let mut otava = match options.otava_series {
        0 => None,
        _ => Otava::start(&options.python)?,
    };
    let others = otava
        .as_ref()
        .map_or(0, |_| options.otava_series.min(series));
    let mut tables = page::Tables::begin(series, others);
    let (mut all_hold, began) = (true, Instant::now());
    for setting in settings() {
        let has_change = setting.loss > 0.0;
        // Otava is a process of its own, so both analyse at the same time.
        let (totals, columns) = std::thread::scope(|scope| -> Result<(Totals, String)> {
            let totals = scope.spawn(|| totals(setting, series, SEED));
            let columns = match &mut otava {
                Some(otava) => of_otava(otava, setting, others)?.columns(has_change),
                None => String::new(),
            };
            Ok((totals.join().unwrap_or_default(), columns))
        })?;
        let is_kept = holds(setting, &totals);
        all_hold &= is_kept;
        tables.line(&format!(
            "    {:12} {:2.0} %  {:2.0} %  {}  {columns}",
            setting.disturbance.name(),
            100.0 * setting.noise,
            100.0 * setting.loss,
            totals.columns(has_change),
        ));
        if !is_kept {
            println!("The row above is beyond its limit.");
        }
    }
    all_hold &= gate::perform(&mut tables, series, SEED);
    println!("{:.0} s", began.elapsed().as_secs_f64());
    if let Some(page) = &options.page {
        tables.replace_in(page)?;
    }
    Ok(all_hold)
}

/// Analyses the first histories of a setting with Apache Otava.
fn of_otava(otava: &mut Otava, setting: Setting, count: u32) -> Result<Totals> {
    let mut totals = Totals::default();
    for number in 0..count {
        let simulated = setting.simulate(SEED, number);
        totals.add(&simulated, &otava.analyse(&simulated)?);
    }
    Ok(totals)
}
