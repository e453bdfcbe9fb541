//! Computes the numbers of the original PostMark's report.

use engine::Step;
use record::{ClassicFigures, End, OperationRecord, PhaseRecord};
use rustix::io::Errno;
use spec::RunSpec;
use workload::{Action, Edition, Phase};

use crate::failures::Failed;
use crate::worker::{PhaseReport, Report};

/// Operations of a phase in all of its segments.
fn records(phases: &[PhaseRecord], phase: Phase) -> impl Iterator<Item = &OperationRecord> {
    phases
        .iter()
        .filter(move |record| record.phase == phase)
        .flat_map(|record| &record.segments)
        .flat_map(|segment| &segment.operations)
}

/// Returns the numbers of the original PostMark's report; `None` if the first worker did not start.
/// Counts and bytes are sums over all workers, and times are those of the first worker.
pub(super) fn figures(
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
        transactions: request.workload.transactions_of_all(),
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

/// Returns the highest file number that a classic run may have used. Every creation takes the next
/// number. Failed creations are included, because their files may exist. A creation that failed
/// because the name existed is excluded.
pub(super) fn numbers_made(
    failed: Option<&Failed>,
    phases: &[PhaseReport],
    loads: &[PhaseRecord],
) -> u64 {
    let reported = phases.iter().flat_map(|report| &report.segments);
    let reported = reported.flat_map(|segment| &segment.done.operations);
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
