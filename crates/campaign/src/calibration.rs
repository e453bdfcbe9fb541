//! Estimates how long the creation of a pool and its transactions will take. Performs short runs of
//! the same work on the same target, and removes and syncs their files before the main run begins.

use std::path::Path;
use std::time::{Duration, Instant};

use document::sanitize;
use record::{Calibration, Outcome, Record, Sizing};
use runner::{Cache, Drive, Keeping, Pace, Refused, RunSpec, Stop};
use system::{Class, Fact, Sources, Target};

use crate::Error;
use crate::perform::exit_status;
use crate::rates::Rates;
use crate::run_spec::Specified;

/// Number of files in the first calibration pool. The rates of this pool determine the size of the
/// second pool.
const PROBE_FILES: u64 = 64;
/// Maximum size of the first pool in bytes, for large files. Each pool contains at least one file.
const PROBE_BYTES: u64 = 16 << 20;
/// Maximum time for creating the second pool, and for deleting it, as estimated from the rates of
/// the first pool.
const PACED: Duration = Duration::from_millis(500);
/// Maximum size of the second pool, so that its data is written back quickly.
const POOL_FILES_MAX: u64 = 20_000;
const POOL_BYTES_MAX: u64 = 256 << 20;
/// The second pool is at most this fraction (1/`CACHE_PART`) of the page cache.
const CACHE_PART: u64 = 4;
/// Duration of the transactions on the second pool.
const TRANSACTIONS: Duration = Duration::from_secs(1);
/// Maximum number of transactions of all workers: more than any target performs in
/// [`TRANSACTIONS`]. The check of free space simulates all transactions, so a finite number keeps
/// it short.
const TRANSACTIONS_MAX: u64 = 1_000_000;

pub type Perform<'p> = dyn FnMut(&RunSpec) -> Result<Record, Refused> + 'p;

enum Uncalibrated {
    /// A short run was refused.
    Refused(Refused),
    /// A short run did not complete; contains a description of its end and of the files that it
    /// left, and its record.
    Ended(String, Box<Record>),
}

/// Refuses targets in memory, because their files are always in the page cache. Changes nothing on
/// the target.
///
/// # Errors
/// Returns an error if a target is in memory.
pub fn refuse_memory(specified: &Specified) -> Result<(), Error> {
    let Some(sizing) = &specified.sizing else {
        return Ok(());
    };
    let targets = specified.spec.targets.iter();
    let mut directories = targets
        .filter(|target| !spec::is_url(target))
        .map(|target| spec::directory(target));
    match directories.find(|directory| lies_in_memory(directory)) {
        Some(directory) => Err(Error::refused(format_args!(
            "cannot use --working-set {}: the target {} lies in memory, so its files are always \
             in the cache (use a --target on a disk, or --files)",
            sizing.working_set,
            sanitize::path(directory)
        ))),
        None => Ok(()),
    }
}

/// Whether the file system of a directory stores its files in memory.
pub(crate) fn lies_in_memory(directory: &Path) -> bool {
    Target::read(&Sources::default(), directory).class == Fact::Known(Class::Memory)
}

/// Whether the files of a directory are stored in RAM: in a file system such as tmpfs, or on a RAM
/// disk.
pub(crate) fn stores_in_memory(directory: &Path) -> bool {
    let target = Target::read(&Sources::default(), directory);
    target.class == Fact::Known(Class::Memory)
        || target.device.known().is_some_and(|of| of.is_memory())
}

/// Performs short runs on the target to estimate how long the pool's creation and the transactions
/// will take, and removes the runs' files. Returns a sentence about the number of files and the
/// estimate; `None` if the number of files was given.
///
/// # Errors
/// Returns an error if the run would be refused, or a short run does not complete.
pub fn calibrate(
    specified: &mut Specified,
    perform: &mut Perform<'_>,
) -> Result<Option<String>, Error> {
    let Some(mut sizing) = specified.sizing.clone() else {
        return Ok(None);
    };
    refuse_memory(specified)?;
    let spec = &specified.spec;
    // Checks the free space for the chosen pool only, before any file is made. The check does not
    // simulate transactions, so the space for files that they create is not included.
    let pool = RunSpec {
        workload: spec.workload.with_transactions(0),
        ..spec.clone()
    };
    let judged = runner::dispatch::judge(spec).and_then(|()| runner::dispatch::judge_room(&pool));
    judged.map_err(|refused| specified.explain(refused))?;
    let calibration = measure(spec, &sizing, perform).map_err(|why| match why {
        Uncalibrated::Refused(refused) => specified.explain(refused),
        Uncalibrated::Ended(why, record) => Error::with_code(
            exit_status(&record),
            format_args!("the calibration for --working-set {why}"),
        ),
    })?;
    sizing.transactions = expected(&calibration, &spec.drive);
    sizing.calibration = Some(calibration);
    let told = report::sizing::sentence(&sizing, &spec.workload, &spec.drive);
    specified.sizing = Some(sizing);
    Ok(Some(told))
}

/// Performs the short runs. With several ranks, only this process performs them, because the other
/// ranks get their run spec after the calibration. The work is that of one rank.
///
/// # Errors
/// Returns an error if a short run is refused or does not complete.
fn measure(
    spec: &RunSpec,
    sizing: &Sizing,
    perform: &mut Perform<'_>,
) -> Result<Calibration, Uncalibrated> {
    let began = Instant::now();
    // Only one rank is calibrated. The main run shows how much faster several ranks are.
    let spec = &spec.of_one_rank();
    let pools = u64::from(spec.workload.streams());
    let of_bytes = |bytes: u64| (bytes as f64 / sizing.mean_file_bytes) as u64;
    let each = |files: u64| files.div_ceil(pools).clamp(1, spec.workload.files());
    let probe = each(PROBE_FILES.min(of_bytes(PROBE_BYTES)));
    // The first run is not synced at its end: its remaining data is synced together with that of
    // the second run.
    let first = Rates::of(&perform_short(spec, (probe, 0), (false, &mut *perform))?);
    let at_its_pace = (first.created.min(first.deleted) * PACED.as_secs_f64()) as u64;
    let room = of_bytes(POOL_BYTES_MAX.min(sizing.cache_bytes / CACHE_PART));
    let files = each(at_its_pace.min(room).min(POOL_FILES_MAX)).max(probe);
    let workers = u64::from(spec.workload.workers.count());
    let transactions = (TRANSACTIONS_MAX / workers).min(spec.workload.transactions());
    let second = Rates::of(&perform_short(
        spec,
        (files, transactions),
        (true, perform),
    )?);
    Ok(Calibration {
        duration_ns: u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX),
        files: files * pools,
        created_per_second: second.created_until_durable,
        transactions_per_second: second.transactions,
    })
}

/// Performs the run's work with the given numbers of files in each pool and of transactions of each
/// worker, and removes the files. With `sync_phases`, the deletions are also synced, so that the
/// measured run does not begin with unwritten data of the short run.
fn perform_short(
    spec: &RunSpec,
    (files, transactions): (u64, u64),
    (sync_phases, perform): (bool, &mut Perform<'_>),
) -> Result<Record, Uncalibrated> {
    let short = RunSpec {
        command_line: Vec::new(),
        workload: spec
            .workload
            .with_files(files)
            .with_transactions(transactions),
        series: false,
        drive: Drive {
            stop: Stop::After(TRANSACTIONS),
            ..Drive::default()
        },
        cache: Cache::AsIs,
        sync_phases,
        check: false,
        keeping: Keeping::default(),
        ack_log: None,
        overhead: false,
        ..spec.clone()
    };
    let record = perform(&short).map_err(Uncalibrated::Refused)?;
    let mut why = match &record.actual.outcome {
        Outcome::Complete => return Ok(record),
        Outcome::Interrupted { signal } => {
            format!("was interrupted by signal {signal}; nothing was measured")
        }
        Outcome::Failed { why } | Outcome::PlaceGone { why } => format!("failed: {why}"),
        Outcome::Unfinished => "did not complete".to_owned(),
    };
    for left in record
        .actual
        .clean_up
        .iter()
        .flat_map(|clean_up| &clean_up.left)
    {
        why.push_str(&format!("; not removed: {}: {}", left.path, left.why));
    }
    Err(Uncalibrated::Ended(why, Box::new(record)))
}

/// Returns the expected number of transactions of a run that is limited by time. Returns `None` for
/// other runs, or if the rate is not available.
fn expected(calibration: &Calibration, drive: &Drive) -> Option<u64> {
    let Stop::After(time) = drive.stop else {
        return None;
    };
    let per_second = match drive.pace {
        Pace::Closed => calibration.transactions_per_second?,
        Pace::Open { per_second, .. } => calibration
            .transactions_per_second
            .map_or(per_second, |fastest| per_second.min(fastest)),
    };
    Some((per_second * time.as_secs_f64()) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calibration(created: f64, transactions: Option<f64>) -> Calibration {
        Calibration {
            duration_ns: 1_800_000_000,
            files: 5_000,
            created_per_second: created,
            transactions_per_second: transactions,
        }
    }

    #[test]
    fn transactions_are_estimated_for_a_run_limited_by_time() {
        let closed = calibration(1_000.0, Some(12_500.0));
        let drive = |stop, pace| Drive {
            stop,
            pace,
            ..Drive::default()
        };
        let open = |per_second| Pace::Open {
            per_second,
            arrivals: workload::arrivals::ArrivalProcess::Poisson,
        };
        let after = Stop::After(Duration::from_secs(120));
        for (stop, pace, count) in [
            (Stop::Transactions, Pace::Closed, None),
            (after, Pace::Closed, Some(1_500_000)),
            (after, open(100.0), Some(12_000)),
            (after, open(1e6), Some(1_500_000)),
        ] {
            assert_eq!(expected(&closed, &drive(stop, pace)), count);
        }
        let idle = calibration(1_000.0, None);
        assert_eq!(expected(&idle, &drive(after, Pace::Closed)), None);
    }
}
