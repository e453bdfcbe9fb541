//! A run's numbers as CSV: one row for each kind of operation in each phase, and for each load
//! level of a sweep.

use document::units::utc;
use document::{Cell, Number, csv_rows};
use record::{Load, Record};
use verdict::summary::{LatencySummary, TransactionsSummary};
use verdict::{ListedRun, OperationSummary, Summary, SweepStepOperation, SweepStepSummary};

use crate::latencies;
use crate::steps::by_load;
use crate::text::kind;

/// The first line of [`csv`]. Times are in nanoseconds. A cell is empty if its value is not
/// available or does not apply. `step` and `load` are for sweeps: `load` is in transactions/s if
/// `step_by` is `rate`, and a number of workers or ranks if `step_by` is `workers` or `ranks`.
pub const CSV_HEADER: &str = "number,id,begun_utc,host,file_systems,preset,workload,engine,state,\
                              verdict,tags,step,step_by,load,workers,phase,role,operation,\
                              operations,operations_per_second,bytes,failed,mean_ns,p50_ns,p99_ns,\
                              p99_9_ns,max_ns\r\n";

/// The rows of a run, without the header (RFC 4180). The rows are for all transactions, for each
/// operation in each phase, and for each load level of a sweep, ordered by load, and each operation
/// of the level. In a row `transaction`, latencies and failures are those of the operations in the
/// transactions.
pub fn csv(entry: &ListedRun, record: &Record) -> String {
    let run = run(entry, record);
    let summary = Summary::of(record);
    let workers: Cell = Number::Ordinal(entry.headline.workers.into()).into();
    let no_step = [Cell::Empty, Cell::Empty, Cell::Empty, workers];
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    let all = summary.transactions.iter();
    rows.extend(all.map(|all| [&run[..], &no_step, &transactions(all)].concat()));
    for phase in &summary.phases {
        let of_kind =
            |of_kind| [&run[..], &no_step, &operation(phase.phase.name(), of_kind)].concat();
        rows.extend(phase.operations.iter().map(of_kind));
    }
    for (number, step) in by_load(&summary) {
        let load = load_cells(number, step);
        rows.push([&run[..], &load, &level(step)].concat());
        let of_kind = |of_kind| [&run[..], &load, &operation_of_level(step, of_kind)].concat();
        rows.extend(step.by_operation.iter().map(of_kind));
    }
    csv_rows(&rows, "\r\n")
}

fn run(entry: &ListedRun, record: &Record) -> Vec<Cell> {
    let headline = &entry.headline;
    vec![
        entry.number.map(Number::Ordinal).into(),
        Cell::ours(headline.id.to_string()),
        Cell::ours(utc(headline.begun_unix_ns)),
        headline.host.as_str().into(),
        headline.file_system().into(),
        headline.preset.as_deref().into(),
        Cell::ours(kind(&record.spec.workload)),
        headline.engine.as_str().into(),
        Cell::ours(headline.state.name()),
        Cell::ours(headline.verdict.name()),
        entry.tags.join(" ").into(),
    ]
}

/// Phase, role and operation of a row about all transactions.
const ALL: [&str; 3] = ["transactions", "all", "transaction"];

fn transactions(all: &TransactionsSummary) -> Vec<Cell> {
    let counts = [
        Cell::count(all.rate.count),
        Cell::rate(all.rate.per_second),
        Cell::count(all.read_bytes.count + all.written_bytes.count),
        Cell::count(all.failed),
    ];
    row(ALL, counts, &all.latency_ns)
}

fn operation(phase: &str, of: &OperationSummary) -> Vec<Cell> {
    let counts = [
        Cell::count(of.operations.count),
        Cell::rate(of.operations.per_second),
        Cell::count(of.bytes.count),
        Cell::count(of.failed),
    ];
    let kind = [phase, of.role.name(), of.action.name()];
    row(kind, counts, &of.latency_ns)
}

/// The cells of one kind of operation. `kind` contains phase, role and operation. `counts` contains
/// the number of operations, rate, bytes and failures. `times` contains latencies in nanoseconds;
/// their mean, percentiles and maximum are the last cells.
fn row(kind: [&str; 3], counts: [Cell; 4], times: &LatencySummary) -> Vec<Cell> {
    let columns = ["mean", "p50", "p99", "p99.9", "max"];
    let times = latencies::cells(times, columns, Number::Microseconds);
    [&kind.map(Cell::ours)[..], &counts, &times].concat()
}

/// The number of a load level, the unit and value of the load, and the workers. A closed loop has
/// no value of the load.
fn load_cells(number: usize, step: &SweepStepSummary) -> Vec<Cell> {
    let (by, load) = match step.load {
        Load::Closed => ("closed", Cell::Empty),
        Load::Rate(rate) => ("rate", Number::Rate(rate).into()),
        Load::Workers(workers) => ("workers", Number::Ordinal(workers.into()).into()),
        Load::Ranks(ranks) => ("ranks", Number::Ordinal(ranks.into()).into()),
        // The load of a phase is its name.
        Load::Phase(_) => (
            "phase",
            step.name.as_deref().map_or(Cell::Empty, Cell::from),
        ),
    };
    vec![
        Number::Ordinal(number as u64 + 1).into(),
        Cell::ours(by),
        load,
        Number::Ordinal(step.workers.into()).into(),
    ]
}

/// The transactions of a load level, of all roles and kinds.
fn level(step: &SweepStepSummary) -> Vec<Cell> {
    let counts = [
        Cell::count(step.transactions),
        Cell::rate(step.achieved_per_second),
        Cell::Empty,
        Cell::count(step.failed),
    ];
    row(ALL, counts, &latencies::of_step(step))
}

/// One kind of operation at a load level. Its rate follows from the rate of the transactions.
fn operation_of_level(step: &SweepStepSummary, of: &SweepStepOperation) -> Vec<Cell> {
    let of_transactions = of.operations as f64 / step.transactions.max(1) as f64;
    let counts = [
        Cell::count(of.operations),
        Cell::rate(step.achieved_per_second.map(|rate| rate * of_transactions)),
        Cell::Empty,
        Cell::count(of.failed),
    ];
    let times = LatencySummary {
        p50: of.p50_ns,
        p99: of.p99_ns,
        p99_9: of.p999_ns,
        max: of.max_ns,
        ..LatencySummary::default()
    };
    row(
        ["transactions", of.role.name(), of.action.name()],
        counts,
        &times,
    )
}
