//! Estimates how long a run takes, from its calibration or from an earlier run in the archive.

use std::path::{Path, PathBuf};
use std::time::Duration;

use archive::{Archive, Filter};
use record::{Calibration, LocationRecord, Outcome, Record, TimeEstimate, TimeSource};
use runner::{Pace, RunSpec, Stop};
use spec::{Climb, Drive, Sweep};
use system::{Host, Sources, Target};
use verdict::{ListedRun, State};
use workload::Workload;

use crate::archive::ArchivePlace;
use crate::loads::left_max;
use crate::rates::Rates;
use crate::target_key::TargetKey;
use crate::user::User;

/// Maximum number of records that are read to find an earlier run of the workload.
const RECORDS_MAX: usize = 12;
/// Maximum time of the search. The archive's file system may hang.
const SEARCH_MAX: Duration = Duration::from_secs(5);

/// Estimates the durations of runs. Uses the newest archived runs with the same workload on the
/// same file systems, preferably with the same number of files.
pub fn from_archive(
    specs: &[RunSpec],
    place: Option<&ArchivePlace>,
    user: User,
) -> Vec<TimeEstimate> {
    let unknown = |why: String| {
        let of_spec = |spec| estimate(spec, None, TimeSource::Nothing(why.clone()));
        specs.iter().map(of_spec).collect()
    };
    search(specs, place, user).unwrap_or_else(unknown)
}

fn search(
    specs: &[RunSpec],
    place: Option<&ArchivePlace>,
    user: User,
) -> Result<Vec<TimeEstimate>, String> {
    let place = place
        .ok_or("there is no archive with earlier runs")?
        .clone();
    let specs = specs.to_vec();
    let found = runner::within(SEARCH_MAX, move || {
        if !place.path().exists() {
            return Err("no run is in the archive yet".to_owned());
        }
        let archive = place.open(false, user).map_err(|why| why.to_string())?;
        let search = Search::new(archive)?;
        Ok(specs.iter().map(|spec| search.estimate(spec)).collect())
    });
    found.map_err(|why| format!("the archive does not respond: {why}"))?
}

/// Estimates the duration of a run from its calibration. A calibration does not measure the
/// deletion of files, so the time of the deletion is not available.
pub fn from_calibration(spec: &RunSpec, calibration: &Calibration) -> TimeEstimate {
    let rates = Rates {
        created: calibration.created_per_second,
        created_until_durable: calibration.created_per_second,
        deleted: 0.0,
        transactions: calibration.transactions_per_second,
    };
    estimate(spec, Some(&rates), TimeSource::Calibration)
}

/// The runs of an archive that this host completed, the newest first.
struct Search {
    archive: Archive,
    runs: Vec<ListedRun>,
}

impl Search {
    fn new(archive: Archive) -> Result<Self, String> {
        let filter = Filter {
            host: Some(Host::read(&Sources::default()).hostname),
            ..Filter::default()
        };
        let mut runs = archive.list(&filter).map_err(|why| why.to_string())?;
        runs.retain(|run| run.headline.state == State::Complete);
        runs.reverse();
        Ok(Self { archive, runs })
    }

    fn estimate(&self, spec: &RunSpec) -> TimeEstimate {
        let targets = targets(spec);
        let is_alike = |run: &&ListedRun| {
            let (row, workers) = (&run.headline, spec.workload.workers.count());
            row.engine == spec.engine.name() && row.workers == workers && row.preset == spec.preset
        };
        let runs = self.runs.iter().filter(is_alike).take(RECORDS_MAX);
        let mut similar = None;
        for number in runs.filter_map(|run| run.number) {
            let Ok(record) = self.archive.record(number) else {
                continue;
            };
            let is_same = is_same_work(spec, &record.spec)
                && record.actual.outcome == Outcome::Complete
                && TargetKey::are_same(&targets, &targets_of(&record));
            if !is_same {
                continue;
            }
            if record.spec.workload.files() == spec.workload.files() {
                return from_run(spec, number, &record);
            }
            similar.get_or_insert((number, record));
        }
        match similar {
            Some((number, record)) => from_run(spec, number, &record),
            None => {
                let why = "no run of this workload on this file system is in the archive";
                estimate(spec, None, TimeSource::Nothing(why.to_owned()))
            }
        }
    }
}

fn from_run(spec: &RunSpec, number: u64, record: &Record) -> TimeEstimate {
    let files = files(&record.spec.workload);
    let source = TimeSource::Run {
        number,
        files: (files != self::files(&spec.workload)).then_some(files),
    };
    let mut rates = Rates::of(record);
    // The rate of an open-loop run is the offered rate, so it does not predict the rate of another
    // run.
    if record.spec.drive.rate().is_some() {
        rates.transactions = None;
    }
    estimate(spec, Some(&rates), source)
}

/// Whether two runs have the same work except for their numbers of files and transactions. The load
/// and the duration may differ, because they do not change the rate of creating files.
fn is_same_work(one: &RunSpec, other: &RunSpec) -> bool {
    let work = |spec: &RunSpec| spec.workload.with_files(1).with_transactions(1);
    let settings = |spec: &RunSpec| {
        let durability = spec.durability.to_string();
        (durability, spec.direct, spec.depth, spec.ranks)
    };
    one.engine == other.engine && settings(one) == settings(other) && work(one) == work(other)
}

/// The targets of a run that makes files. URLs are compared as text, because a server is known only
/// after it was called.
fn targets(spec: &RunSpec) -> Vec<Option<TargetKey>> {
    let of_target = |target: &PathBuf| {
        of_url(target).or_else(|| {
            let directory = spec::directory(target);
            TargetKey::of_directory(&Target::read(&Sources::default(), directory))
        })
    };
    match spec.engine.makes_files() {
        true => spec.targets.iter().map(of_target).collect(),
        false => Vec::new(),
    }
}

fn targets_of(record: &Record) -> Vec<Option<TargetKey>> {
    let of_location = |(location, target): (&LocationRecord, &PathBuf)| {
        of_url(target).or_else(|| TargetKey::of_location(location))
    };
    match record.spec.engine.makes_files() {
        true => {
            let locations = record.locations.iter().zip(&record.spec.targets);
            locations.map(of_location).collect()
        }
        false => Vec::new(),
    }
}

fn of_url(target: &Path) -> Option<TargetKey> {
    spec::is_url(target).then(|| TargetKey::Server(target.display().to_string()))
}

/// Number of files in all pools.
fn files(workload: &Workload) -> u64 {
    workload.files().saturating_mul(workload.streams().into())
}

/// Estimates the duration of a run from the rates of another run of the same workload.
fn estimate(spec: &RunSpec, rates: Option<&Rates>, source: TimeSource) -> TimeEstimate {
    let (drive, keeping) = (&spec.drive, spec.keeping);
    let created = created(spec) as f64;
    let at = |per_second: Option<f64>| {
        let per_second = per_second.filter(|rate| *rate > 0.0)?;
        Some(created / per_second)
    };
    let levels = drive.sweep.as_ref().map(|asked| left_max(asked, &[]));
    let transactions = transactions(spec, rates.and_then(|rates| rates.transactions));
    TimeEstimate {
        prepare_s: match keeping.reuse {
            true => Some(0.0),
            false => at(rates.map(|rates| rates.created_until_durable)),
        },
        transactions_s: match spec.phase_loads() {
            [] => transactions.map(|seconds| seconds * levels.unwrap_or(1) as f64),
            _ => spec.phases_length().map(|length| length.as_secs_f64()),
        },
        transactions_may_end_earlier: matches!(drive.stop, Stop::Steady(_))
            || drive.sweep.as_ref().is_some_and(may_end_earlier),
        load_levels: levels.map(|levels| levels as u64),
        delete_s: match keeping.keep {
            true => Some(0.0),
            false => at(rates.map(|rates| rates.deleted)),
        },
        transactions_per_second: rates.and_then(|rates| rates.transactions),
        source,
    }
}

/// Number of files that the run creates for its pools. A sweep may create a pool for each level.
fn created(spec: &RunSpec) -> u64 {
    let Some(asked) = &spec.drive.sweep else {
        return files(&spec.workload);
    };
    match &asked.climb {
        Climb::Workers(counts) => {
            let each = counts.iter().map(|count| spec.of_workers(*count));
            each.map(|spec| files(&spec.workload)).sum()
        }
        Climb::Ranks(counts) => {
            let each = counts.iter().map(|count| spec.of_ranks(*count));
            each.map(|spec| files(&spec.workload)).sum()
        }
        Climb::Rates(_) | Climb::OfClosedLoop(_) if asked.fresh => {
            files(&spec.workload).saturating_mul(left_max(asked, &[]) as u64)
        }
        Climb::Rates(_) | Climb::OfClosedLoop(_) | Climb::Phases(_) => files(&spec.workload),
    }
}

/// Whether a sweep may end before its maximum number of load levels.
fn may_end_earlier(asked: &Sweep) -> bool {
    !asked.climb.is_of_counts() && !asked.climb.is_of_phases()
}

/// Duration of warm-up and transactions at one load level. `None` if a number of transactions ends
/// the run and the rate is not known.
fn transactions(spec: &RunSpec, per_second: Option<f64>) -> Option<f64> {
    let Drive {
        warm_up,
        stop,
        pace,
        ..
    } = &spec.drive;
    let timed = match stop {
        Stop::Transactions => None,
        Stop::After(length) => Some(length.as_secs_f64()),
        Stop::Steady(asked) => Some(asked.round_ns as f64 / 1e9 * f64::from(asked.rounds_max)),
    };
    let rate = match pace {
        Pace::Closed => per_second,
        Pace::Open {
            per_second: offered,
            ..
        } => Some(per_second.map_or(*offered, |fastest| offered.min(fastest))),
    };
    let each = spec.workload.transactions();
    let all = each as f64 * f64::from(spec.workload.workers.count());
    let counted = rate
        .filter(|rate| each < Workload::ENDLESS && *rate > 0.0)
        .map(|rate| all / rate);
    let length = match (timed, counted) {
        (Some(timed), Some(counted)) => timed.min(counted),
        (timed, counted) => timed.or(counted)?,
    };
    Some(warm_up.as_secs_f64() + length)
}

#[cfg(test)]
mod tests {
    use runner::{Keeping, Place};
    use workload::arrivals::ArrivalProcess;
    use workload::{Classic, Workers};

    use super::*;

    const RATES: Rates = Rates {
        created: 400.0,
        created_until_durable: 100.0,
        deleted: 200.0,
        transactions: Some(50.0),
    };

    /// A run of two workers with 1,000 files and 500 transactions each.
    fn spec(drive: Drive) -> RunSpec {
        let classic = Classic {
            files: 1_000,
            transactions: 500,
            ..Classic::default()
        };
        let workload = Workload {
            workers: Workers::Private { workers: 2 },
            ..classic.into()
        };
        RunSpec {
            drive,
            ..RunSpec::classic(workload, vec![PathBuf::new()], Place::OwnDirectory)
        }
    }

    /// Durations of prepare, transactions and delete.
    fn durations(spec: &RunSpec) -> [Option<f64>; 3] {
        let time = estimate(spec, Some(&RATES), TimeSource::Calibration);
        [time.prepare_s, time.transactions_s, time.delete_s]
    }

    fn after(seconds: u64) -> Drive {
        Drive {
            warm_up: Duration::from_secs(2),
            stop: Stop::After(Duration::from_secs(seconds)),
            ..Drive::default()
        }
    }

    fn sweep(climb: Climb, fresh: bool) -> RunSpec {
        spec(Drive {
            sweep: Some(Sweep {
                climb,
                arrivals: ArrivalProcess::Poisson,
                fresh,
                slo_operation: None,
                slo_p99_ns: None,
            }),
            ..after(10)
        })
    }

    #[test]
    fn durations_follow_from_counts_and_rates_or_from_the_time() {
        let counted = spec(Drive::default());
        assert_eq!(durations(&counted), [Some(20.0), Some(20.0), Some(10.0)]);
        assert_eq!(
            durations(&spec(after(10)))[1],
            Some(12.0),
            "with the warm-up"
        );
        assert_eq!(
            durations(&spec(after(60)))[1],
            Some(22.0),
            "the number ends it"
        );
        let offered = spec(Drive {
            pace: Pace::Open {
                per_second: 10.0,
                arrivals: ArrivalProcess::Poisson,
            },
            ..Drive::default()
        });
        assert_eq!(durations(&offered)[1], Some(100.0));
        let kept = RunSpec {
            keeping: Keeping {
                keep: true,
                reuse: true,
            },
            ..counted
        };
        assert_eq!(durations(&kept), [Some(0.0), Some(20.0), Some(0.0)]);
    }

    #[test]
    fn sweep_takes_all_load_levels_that_can_occur() {
        let rates = || Climb::Rates(vec![10.0, 20.0, 30.0]);
        // Three listed rates and six bisections of 12 s each take 108 s.
        let one_pool = sweep(rates(), false);
        assert_eq!(durations(&one_pool), [Some(20.0), Some(108.0), Some(10.0)]);
        let time = estimate(&one_pool, None, TimeSource::Calibration);
        assert!(time.transactions_may_end_earlier && time.load_levels == Some(9));
        assert_eq!(durations(&sweep(rates(), true))[0], Some(9.0 * 20.0));
        let workers = sweep(Climb::Workers(vec![1, 3]), true);
        assert_eq!(durations(&workers), [Some(40.0), Some(24.0), Some(20.0)]);
        let time = estimate(&workers, None, TimeSource::Calibration);
        assert!(!time.transactions_may_end_earlier && time.prepare_s.is_none());
    }

    #[test]
    fn similar_work_differs_only_in_its_numbers() {
        let one = spec(Drive::default());
        let larger = RunSpec {
            workload: one.workload.with_files(9).with_transactions(7),
            ..spec(after(10))
        };
        assert!(is_same_work(&one, &larger));
        let durable = RunSpec {
            durability: spec::Durability::Fsync.into(),
            ..one.clone()
        };
        assert!(!is_same_work(&one, &durable));
    }
}
