//! The results of the workers and the supervisor, and the part of the record that describes them.

use record::{
    Actual, Check, CleanUp, End, ErrorRecord, Outcome, PhaseRecord, Stale, Stalled, merge,
};
use rundir::advice;
use rundir::manifest::Position;
use rundir::worker_status::PartlyWritten;
use spec::{Drive, RunSpec};
use system::Fact;
use workload::{Phase, StreamHash};

use super::{aggregate, classic};
use crate::failures::Failed;
use crate::processes::EndState;
use crate::supervisor::RunObservations;
use crate::timed_call::Waiter;
use crate::worker::{PhaseReport, Report};

/// The results of a run before the clean-up.
#[derive(Debug)]
pub(crate) struct Performed {
    pub outcome: Outcome,
    /// The highest number of a file that the run may have created; `u64::MAX` if that is unknown.
    pub numbers_made: u64,
    /// The state that determines the clean-up. `set_back_ns` and `latest_ns` are 0 here. The
    /// teardown reads both values from the heartbeat.
    pub end: EndState,
    /// Number of workers of this process.
    workers: usize,
    reports: Vec<(u32, Report)>,
    /// The phases that each worker has reported, by worker.
    phases: Vec<Vec<PhaseReport>>,
    pub watched: RunObservations,
}

impl Performed {
    pub(crate) fn new(
        request: &RunSpec,
        mut watched: RunObservations,
        waiter: &Waiter<'_>,
    ) -> Self {
        let mut reports = Vec::new();
        let mut why = watched.failed.clone();
        let all = watched.reports.len();
        for (worker, report) in (watched.first_worker..).zip(std::mem::take(&mut watched.reports)) {
            match report {
                Some(Ok(report)) => reports.push((worker, report)),
                Some(Err(error)) => why = why.or(Some(error)),
                None => {}
            }
        }
        let phases = std::mem::take(&mut watched.phases);
        let all_came_back = reports.len() == all;
        let outcome = outcome(request, &mut watched, waiter, &reports, why);
        let end = EndState {
            complete: outcome == Outcome::Complete,
            abandoned: watched.abandoned,
            any_spoiled: reports.iter().any(|(_, report)| report.any_spoiled),
            partly_written: partly_written(request, &reports),
            is_whole: matches!(outcome, Outcome::Complete | Outcome::Interrupted { .. }),
            positions: positions(all, &reports),
            names: reports.iter().map(|(_, report)| report.names).sum(),
            in_use: watched.in_use,
            ..EndState::default()
        };
        Self {
            outcome,
            numbers_made: match (&reports[..], all_came_back, request.workload.classic()) {
                ([(_, report)], true, Some(_)) if !request.keeping.reuse && request.ranks == 1 => {
                    classic::numbers_made(report.failed.as_ref(), &phases[0], &watched.loads)
                        + report.creations_left
                }
                _ => u64::MAX,
            },
            end,
            workers: all,
            reports,
            phases,
            watched,
        }
    }

    /// Hash of each worker's stream; empty if any worker did not perform its whole stream.
    pub(crate) fn worker_hashes(&self) -> Vec<StreamHash> {
        let hashes = worker_hashes(&self.reports);
        if hashes.len() == self.workers {
            hashes
        } else {
            Vec::new()
        }
    }

    /// Converts the results into the part of the record that describes the performed work.
    pub(crate) fn into_actual(mut self, request: &RunSpec, clean_up: Option<CleanUp>) -> Actual {
        let phases = self.take_phases(&request.drive);
        let Self {
            outcome,
            workers,
            mut reports,
            ..
        } = self;
        let loads = phases.iter();
        let loads = loads.filter(|record| record.phase == Phase::Transactions);
        let classic = request
            .workload
            .classic()
            .filter(|_| loads.count() <= 1)
            .and_then(|_| classic::figures(request, &reports, &phases));
        let end = end(workers, &reports);
        let mut errors: Vec<ErrorRecord> = Vec::new();
        for (_, report) in &mut reports {
            merge::errors(&mut errors, std::mem::take(&mut report.errors));
        }
        let stream_hash = stream_hash(request, workers, &reports);
        let check = check(request, workers, &reports);
        let stale = reports
            .iter_mut()
            .filter_map(|(_, report)| report.stale.take());
        let stale = stale.reduce(Stale::and);
        let taken = add_checks(reports.iter().filter_map(|(_, report)| report.taken));
        let check_across = add_checks(reports.iter().filter_map(|(_, report)| report.check_across));
        Actual {
            outcome,
            end,
            stream_hash,
            phases,
            errors,
            check,
            check_across,
            taken,
            stale,
            classic,
            clean_up,
            overhead: Fact::NotApplicable,
            ..Actual::unfinished(false, false)
        }
    }

    /// Removes and returns all phases, in order.
    fn take_phases(&mut self, drive: &Drive) -> Vec<PhaseRecord> {
        let (phases, watched) = (&mut self.phases, &mut self.watched);
        let mut loads = std::mem::take(&mut watched.loads);
        let mut record_of = |phase| {
            let workers = aggregate::take_phase(phases, phase, watched.first_worker);
            let is_begun = !workers.is_empty();
            is_begun
                .then(|| aggregate::phase_record(phase, workers, drive, watched.take_beside(phase)))
        };
        // A load that ended early is not in `watched.loads` yet.
        loads.extend(record_of(Phase::Transactions));
        record_of(Phase::Prepare)
            .into_iter()
            .chain(loads)
            .chain(record_of(Phase::Delete))
            .collect()
    }
}

/// Lists partly written files. Each file is listed for the worker's own pool and for the pool of
/// the worker's transactions, because it may be in either pool.
fn partly_written(request: &RunSpec, reports: &[(u32, Report)]) -> PartlyWritten {
    let of_worker = |(worker, report): &(u32, Report)| {
        let pools = [*worker, request.neighbour_of(*worker)];
        let names = report.partly_written.iter();
        names
            .flat_map(|name| pools.map(|pool| (*name, pool)))
            .collect::<Vec<_>>()
    };
    reports.iter().flat_map(of_worker).collect()
}

/// Determines the outcome of the run. `why` is a reason for failure that does not come from the
/// workers' results.
fn outcome(
    request: &RunSpec,
    watched: &mut RunObservations,
    waiter: &Waiter<'_>,
    reports: &[(u32, Report)],
    why: Option<String>,
) -> Outcome {
    let control = &waiter.control;
    let failed = reports
        .iter()
        .find_map(|(_, report)| report.failed.as_ref());
    let mut why = why.or_else(|| failed.map(Failed::describe));
    if watched.abandoned {
        let stalled = waiter
            .stalled
            .iter()
            .rfind(|stalled| !stalled.came_back)
            .map(describe_stalled);
        let stalled =
            stalled.unwrap_or_else(|| "a worker did not return from an operation".to_owned());
        why = Some(why.map_or(stalled.clone(), |why| format!("{why}; {stalled}")));
    }
    let gone = watched.gone.take();
    // Advice about the failed operation. The advice is used only if the run's directories still
    // exist.
    let advice = failed.map_or("", |failed| advice::for_errno(failed.errno));
    let is_stopped = reports.iter().any(|(_, report)| report.is_stopped) || watched.abandoned;
    match (gone, why, control.signal_caught()) {
        (Some(gone), None, _) => Outcome::PlaceGone { why: gone },
        (Some(gone), Some(why), _) => Outcome::PlaceGone {
            why: format!("{gone} ({why})"),
        },
        (None, Some(why), _) => Outcome::Failed {
            why: format!("{why}{advice}"),
        },
        (None, None, Some(signal)) if is_stopped => Outcome::Interrupted { signal },
        // The limit on the share of failed operations is checked once more at the end, when all
        // operations are counted.
        (None, None, _)
            if request
                .on_error
                .is_exceeded(control.errors(), control.operations()) =>
        {
            Outcome::Failed {
                why: format!(
                    "{} errors in {} operations exceed --on-error {}",
                    control.errors(),
                    control.operations(),
                    request.on_error
                ),
            }
        }
        (None, None, _) => Outcome::Complete,
    }
}

/// Returns, for each worker, the position in its operation stream at which a later run can
/// continue. Returns `None` if a worker failed, or if its pool is incomplete or has unknown state.
fn positions(workers: usize, reports: &[(u32, Report)]) -> Option<Vec<Position>> {
    let well = |(_, report): &(u32, Report)| {
        report.failed.is_none() && !report.any_spoiled && report.has_pool
    };
    let all = reports.len() == workers && reports.iter().all(well);
    all.then(|| reports.iter().map(|(_, report)| report.position).collect())
}

fn describe_stalled(stalled: &Stalled) -> String {
    let who = match stalled.worker {
        Some(worker) => format!("worker {worker}"),
        None => "the run".to_owned(),
    };
    format!(
        "{who} has been stalled for {} s in '{}' on {}",
        stalled.ns / 1_000_000_000,
        stalled.operation,
        stalled.path
    )
}

/// Determines the reason why the transactions ended. The transactions of a worker without results
/// count as not completed.
fn end(workers: usize, reports: &[(u32, Report)]) -> Fact<End> {
    let lost = workers.saturating_sub(reports.len());
    merge::ends(
        reports
            .iter()
            .map(|(_, report)| report.end)
            .chain(std::iter::repeat_n(None, lost)),
    )
}

/// Hashes of the workers that performed their whole stream.
fn worker_hashes(reports: &[(u32, Report)]) -> Vec<StreamHash> {
    let hashes = reports
        .iter()
        .filter_map(|(_, report)| report.stream_hash.clone());
    hashes.collect()
}

fn stream_hash(request: &RunSpec, workers: usize, reports: &[(u32, Report)]) -> Fact<StreamHash> {
    if request.workload.workers.is_shared() {
        return Fact::NotApplicable;
    }
    let hashes = worker_hashes(reports);
    if hashes.len() == workers {
        Fact::Known(StreamHash::of_all(hashes))
    } else {
        Fact::Unavailable("the run ended before the last operation".to_owned())
    }
}

fn check(request: &RunSpec, workers: usize, reports: &[(u32, Report)]) -> Fact<Check> {
    if !request.check {
        return Fact::NotApplicable;
    }
    let checks: Vec<Check> = reports
        .iter()
        .filter_map(|(_, report)| report.check)
        .collect();
    if checks.len() != workers {
        return Fact::Unavailable("the run did not reach it".to_owned());
    }
    add_checks(checks.into_iter()).map_or(Fact::NotApplicable, Fact::Known)
}

fn add_checks(checks: impl Iterator<Item = Check>) -> Option<Check> {
    checks.reduce(Check::beside)
}
