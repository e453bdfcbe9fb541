//! What workers did together: their reports merged into the phases of a record.

use std::collections::BTreeMap;

use engine::Step;
use record::{
    Actual, Check, ClaimWaits, ClassicFigures, CleanUp, End, ErrorRecord, FirstDone,
    OperationRecord, Outcome, PhaseRecord, Segment, SegmentKind, Stale, Stalled, WorkerPhase,
    merge,
};
use rustix::io::Errno;
use spec::{Drive, RunSpec};
use system::Fact;
use workload::{Action, Edition, Phase, Skipped, StreamHash};

use crate::failures::Failed;
use crate::supervisor::{PhaseObservations, RunObservations};
use crate::timed_call::Waiter;
use crate::worker::{PhaseReport, Report, SegmentReport};
use rundir::advice;
use rundir::manifest::Position;
use rundir::worker_status::PartlyWritten;

/// What came of a run's work, before it is cleaned up.
#[derive(Debug)]
pub(crate) struct Performed {
    pub outcome: Outcome,
    /// Files have running numbers up to this.
    pub numbers_made: u64,
    /// Whether there are files whose state is not known.
    pub any_spoiled: bool,
    /// Files that were written, and not to the end.
    pub partly_written: PartlyWritten,
    /// A call did not come back: the file system is not to be asked for anything.
    pub abandoned: bool,
    /// How far each worker's stream was performed; nothing where that is not known.
    pub positions: Option<Vec<Position>>,
    /// Whether a pool that was taken from an earlier run has been changed.
    pub in_use: bool,
    /// Files, links and directories of the pool when the transactions had ended.
    pub names: u64,
    /// How many of them this process has.
    workers: usize,
    reports: Vec<(u32, Report)>,
    /// By worker.
    phases: Vec<Vec<PhaseReport>>,
    pub watched: RunObservations,
}

impl Performed {
    pub(crate) fn new(
        request: &RunSpec,
        mut watched: RunObservations,
        waiter: &Waiter<'_>,
    ) -> Self {
        let control = &waiter.control;
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
        let failed = reports
            .iter()
            .find_map(|(_, report)| report.failed.as_ref());
        if why.is_none() {
            why = failed.map(Failed::describe);
        }
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
        // Where the place is gone, that is what the error comes from.
        let advice = failed.map_or("", |failed| advice::for_errno(failed.errno));
        let is_stopped = reports.iter().any(|(_, report)| report.is_stopped) || watched.abandoned;
        let outcome = match (gone, why, control.signal_caught()) {
            (Some(gone), None, _) => Outcome::PlaceGone { why: gone },
            (Some(gone), Some(why), _) => Outcome::PlaceGone {
                why: format!("{gone} ({why})"),
            },
            (None, Some(why), _) => Outcome::Failed {
                why: format!("{why}{advice}"),
            },
            (None, None, Some(signal)) if is_stopped => Outcome::Interrupted { signal },
            // A share of errors is judged at the end, too.
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
        };
        let phases = std::mem::take(&mut watched.phases);
        let all_came_back = reports.len() == all;
        Self {
            outcome,
            numbers_made: match (&reports[..], all_came_back, request.workload.classic()) {
                ([(_, report)], true, Some(_)) if !request.keeping.reuse && request.ranks == 1 => {
                    numbers_made(report.failed.as_ref(), &phases[0], &watched.loads)
                        + report.creations_left
                }
                _ => u64::MAX,
            },
            partly_written: reports
                .iter()
                .flat_map(|(worker, report)| {
                    // In its own pool, or in the one that it went on with.
                    let pools = [*worker, request.neighbour_of(*worker)];
                    let names = report.partly_written.iter();
                    names.flat_map(move |name| pools.map(|pool| (*name, pool)))
                })
                .collect(),
            any_spoiled: reports.iter().any(|(_, report)| report.any_spoiled),
            abandoned: watched.abandoned,
            positions: positions(all, &reports),
            in_use: watched.in_use,
            names: reports.iter().map(|(_, report)| report.names).sum(),
            workers: all,
            reports,
            phases,
            watched,
        }
    }

    /// By worker, the hash of its whole stream; none where not all have performed theirs.
    pub(crate) fn worker_hashes(&self) -> Vec<StreamHash> {
        let hashes = worker_hashes(&self.reports);
        if hashes.len() == self.workers {
            hashes
        } else {
            Vec::new()
        }
    }

    /// The part of the record that says what was performed.
    pub(crate) fn into_actual(self, request: &RunSpec, clean_up: Option<CleanUp>) -> Actual {
        let Self {
            outcome,
            workers,
            mut reports,
            phases,
            mut watched,
            ..
        } = self;
        let mut loads = std::mem::take(&mut watched.loads);
        let mut by_phase = by_phase(phases, watched.first_worker);
        let mut record_of = |phase| {
            let workers = by_phase.remove(&phase)?;
            Some(phase_record(
                phase,
                workers,
                &request.drive,
                watched.take_beside(phase),
            ))
        };
        // The last load may have been left before its end.
        loads.extend(record_of(Phase::Transactions));
        let has_one_load = loads.len() <= 1;
        let phases: Vec<PhaseRecord> = record_of(Phase::Prepare)
            .into_iter()
            .chain(loads)
            .chain(record_of(Phase::Delete))
            .collect();
        let classic = request
            .workload
            .classic()
            .filter(|_| has_one_load)
            .and_then(|_| classic_figures(request, &reports, &phases));
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
}

/// How far the workers came, where all of them have the whole pool and know it.
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

/// Why the transactions ended; a worker of which there is no report did not come to their end.
fn end(workers: usize, reports: &[(u32, Report)]) -> Fact<End> {
    let lost = workers.saturating_sub(reports.len());
    merge::ends(
        reports
            .iter()
            .map(|(_, report)| report.end)
            .chain(std::iter::repeat_n(None, lost)),
    )
}

/// Of those workers that have performed their whole stream.
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

/// What the workers did, phase by phase.
type ByPhase = BTreeMap<Phase, Vec<(u32, PhaseReport)>>;

fn by_phase(workers: Vec<Vec<PhaseReport>>, first_worker: u32) -> ByPhase {
    let mut by_phase = ByPhase::new();
    for (worker, phases) in (first_worker..).zip(workers) {
        for report in phases {
            by_phase
                .entry(report.phase)
                .or_default()
                .push((worker, report));
        }
    }
    by_phase
}

/// Of all segments.
fn records(phases: &[PhaseRecord], phase: Phase) -> impl Iterator<Item = &OperationRecord> {
    phases
        .iter()
        .filter(move |record| record.phase == phase)
        .flat_map(|record| &record.segments)
        .flat_map(|segment| &segment.operations)
}

/// The workers' reports of a phase, taken out of what they did.
pub(crate) fn take_phase(
    phases: &mut [Vec<PhaseReport>],
    phase: Phase,
    first_worker: u32,
) -> Vec<(u32, PhaseReport)> {
    let mut taken = Vec::new();
    for (worker, reports) in (first_worker..).zip(phases) {
        let (of_phase, others): (Vec<_>, Vec<_>) = std::mem::take(reports)
            .into_iter()
            .partition(|report| report.phase == phase);
        *reports = others;
        taken.extend(of_phase.into_iter().map(|report| (worker, report)));
    }
    taken
}

/// What a stretch of a phase is, by its number: with a rule of steady state the window that it
/// found begins at one.
fn segment_kind(phase: Phase, number: u32, drive: &Drive, measured_from: u32) -> SegmentKind {
    if phase != Phase::Transactions || number >= drive.first_round().max(measured_from) {
        SegmentKind::Measured
    } else if number < drive.first_round() {
        SegmentKind::WarmUp
    } else {
        SegmentKind::Approach
    }
}

/// What the workers did in a phase, and what was seen beside.
pub(crate) fn phase_record(
    phase: Phase,
    workers: Vec<(u32, PhaseReport)>,
    drive: &Drive,
    beside: PhaseObservations,
) -> PhaseRecord {
    let (steady, measured_from) = beside
        .steady
        .map_or((None, 0), |(found, from)| (Some(found), from));
    let kind = |number| segment_kind(phase, number, drive, measured_from);
    let mut segments: BTreeMap<u32, Segment> = BTreeMap::new();
    let mut merged = PhaseRecord {
        phase,
        complete: workers.iter().all(|(_, report)| report.complete),
        segments: Vec::new(),
        workers: Vec::new(),
        first_done: workers
            .iter()
            .filter(|(_, report)| report.complete)
            .min_by_key(|(_, report)| report.ended_ns)
            .map(|(worker, report)| FirstDone {
                worker: *worker,
                at_ns: report.ended_ns,
                done: report.done_by_all,
            }),
        waiting: workers
            .iter()
            .filter_map(|(_, report)| report.waiting)
            .reduce(|a, b| a + b),
        caught_up_ns: merge::caught_up(workers.iter().map(|(_, report)| report.caught_up_ns)),
        claim_waits: Vec::new(),
        slices: beside.slices.recorded(),
        slowest: Vec::new(),
        machine: beside.machine,
        pauses: beside.pauses,
        steady,
        sync: beside.sync,
        evidence: beside.evidence,
        hosts: Vec::new(),
    };
    for (worker, report) in workers {
        let role = report.role;
        merged.workers.push(worker_phase(worker, &report, kind));
        for slowest in report.slowest {
            merge::slowest(&mut merged.slowest, slowest);
        }
        for segment in report.segments {
            let number = segment.number;
            let known = segments
                .entry(number)
                .or_insert_with(|| empty(kind(number), &segment));
            take(known, segment);
        }
        if let Some(wait) = report.waits {
            merge::claim_waits(&mut merged.claim_waits, ClaimWaits { role, wait });
        }
    }
    // What was done before the measured segments does not count.
    let before: u64 = segments
        .values()
        .filter(|segment| segment.kind != SegmentKind::Measured)
        .map(|segment| segment.transactions)
        .sum();
    if let Some(first) = &mut merged.first_done {
        first.done = first.done.saturating_sub(before);
    }
    merged.claim_waits.sort_by_key(|waits| waits.role);
    merged.segments = segments.into_values().collect();
    merged
}

/// A segment that begins and ends as this report of it, with nothing done.
fn empty(kind: SegmentKind, of: &SegmentReport) -> Segment {
    Segment {
        kind,
        began_ns: of.began_ns,
        ended_ns: of.ended_ns,
        issued: 0,
        transactions: 0,
        skipped: Skipped::default(),
        operations: Vec::new(),
    }
}

fn take(segment: &mut Segment, report: SegmentReport) {
    segment.began_ns = segment.began_ns.min(report.began_ns);
    segment.ended_ns = segment.ended_ns.max(report.ended_ns);
    segment.issued += report.issued;
    segment.transactions += report.transactions;
    segment.skipped.merge(&report.skipped);
    for record in report.records {
        merge::operation(&mut segment.operations, record);
    }
    segment
        .operations
        .sort_by_key(|operation| (operation.role, operation.action));
}

/// What a worker did in the measured segments. One without operations has done its part all the
/// same.
fn worker_phase(
    worker: u32,
    report: &PhaseReport,
    kind: impl Fn(u32) -> SegmentKind,
) -> WorkerPhase {
    let measured = || {
        let all = report.segments.iter();
        all.filter(|segment| kind(segment.number) == SegmentKind::Measured)
    };
    let sum = |part: fn(&SegmentReport) -> u64| measured().map(part).sum();
    WorkerPhase {
        worker,
        role: report.role,
        began_ns: measured()
            .map(|segment| segment.began_ns)
            .min()
            .unwrap_or(report.ended_ns),
        ended_ns: measured()
            .map(|segment| segment.ended_ns)
            .max()
            .unwrap_or(report.ended_ns),
        issued: sum(|segment| segment.issued),
        transactions: sum(|segment| segment.transactions),
        operations: sum(|segment| segment.operations),
        bytes: sum(|segment| segment.bytes),
    }
}

/// The figures of the original's report. With several workers: sums of counts and bytes, the first
/// one's seconds. Nothing where it did not begin.
fn classic_figures(
    request: &RunSpec,
    reports: &[(u32, Report)],
    phases: &[PhaseRecord],
) -> Option<ClassicFigures> {
    let count = |phase, action| {
        records(phases, phase)
            .filter(|record| record.action == action)
            .map(|record| record.meter.operations)
            .sum()
    };
    let borders = &reports.first()?.1.borders_s;
    let (first, last) = (*borders.first()?, *borders.last()?);
    let border = |index: usize| borders.get(index).copied().unwrap_or(last);
    let end = reports.iter().filter_map(|(_, report)| report.end);
    let edition = request
        .workload
        .classic()
        .map_or_else(Edition::default, |classic| classic.edition);
    let bytes = |moves: fn(Action) -> bool, in_floats: fn(&Report) -> f32| -> f64 {
        if !edition.rules().whole_sums {
            return reports
                .iter()
                .map(|(_, report)| in_floats(report))
                .sum::<f32>()
                .into();
        }
        let all = Phase::ALL
            .into_iter()
            .flat_map(|phase| records(phases, phase));
        let moving = all.filter(|record| moves(record.action));
        moving.map(|record| record.meter.bytes).sum::<u64>() as f64
    };
    Some(ClassicFigures {
        edition,
        end: end
            .clone()
            .find(|end| *end != End::Complete)
            .unwrap_or(End::Complete),
        began_s: first,
        transactions_began_s: border(1),
        transactions_ended_s: border(2),
        ended_s: border(3),
        transactions: request.workload.transactions() * u64::from(request.workload.workers.count()),
        created_alone: count(Phase::Prepare, Action::Create),
        created_mixed: count(Phase::Transactions, Action::Create),
        read: count(Phase::Transactions, Action::Read),
        appended: count(Phase::Transactions, Action::Append),
        deleted_alone: count(Phase::Delete, Action::Delete),
        deleted_mixed: count(Phase::Transactions, Action::Delete),
        bytes_read: bytes(Action::moves_bytes_in, |report| report.classic_bytes_read),
        bytes_written: bytes(Action::moves_bytes_out, |report| {
            report.classic_bytes_written
        }),
    })
}

/// The highest running number that a file of a classic run's may have: there is one for every
/// creation, in order. A creation that failed may have made its file, unless it found one there.
fn numbers_made(failed: Option<&Failed>, phases: &[PhaseReport], loads: &[PhaseRecord]) -> u64 {
    let reported = phases.iter().flat_map(|report| &report.segments);
    let reported = reported.flat_map(|segment| &segment.records);
    let of_loads = records(loads, Phase::Transactions);
    let creations = reported
        .chain(of_loads)
        .filter(|record| record.action == Action::Create)
        .map(|record| record.meter.operations + record.meter.failed)
        .sum::<u64>();
    let was_there = failed.is_some_and(|failed| {
        failed.operation == Action::Create.name()
            && failed.step == Step::Open.name()
            && failed.errno == Some(Errno::EXIST.raw_os_error())
    });
    creations - u64::from(was_there)
}
