//! The numbers of a run for spreadsheets: a line for each kind of operation in each phase, and for each step of a sweep.

use document::units::utc;
use document::{Cell, Number, csv_rows};
use record::summary::Percentile;
use record::{ListedRun, Load, OperationSummary, Record, Summary, SweepStepSummary};

/// The first line of [`csv`]. Times are in nanoseconds; what is not known, or has no sense, is empty.
pub const CSV_HEADER: &str = "number,id,begun_utc,host,file_systems,preset,storage,workers,state,verdict,phase,role,operation,\
    operations,operations_per_second,bytes,failed,mean_ns,p50_ns,p99_ns,p99_9_ns,max_ns\r\n";

/// A run's lines, without a header (RFC 4180).
pub fn csv(entry: &ListedRun, record: &Record) -> String {
    let run = run(entry);
    let summary = Summary::of(record);
    let mut rows = Vec::new();
    for phase in &summary.phases {
        let of_kind = |of_kind| [run.clone(), operation(phase.phase.name(), of_kind)].concat();
        rows.extend(phase.operations.iter().map(of_kind));
    }
    let sweep_steps = summary
        .sweep
        .iter()
        .flat_map(|sweep| sweep.sweep_steps.iter().enumerate());
    rows.extend(sweep_steps.map(|(number, sweep_step)| [run.clone(), self::sweep_step(number, sweep_step)].concat()));
    csv_rows(&rows, "\r\n")
}

fn run(entry: &ListedRun) -> Vec<Cell> {
    let headline = &entry.headline;
    vec![
        entry.number.map(Number::Ordinal).into(),
        Cell::ours(headline.id.to_string()),
        Cell::ours(utc(headline.begun_unix_ns)),
        headline.host.as_str().into(),
        headline.file_system().into(),
        headline.preset.as_deref().into(),
        headline.storage.as_str().into(),
        Number::Ordinal(headline.workers.into()).into(),
        Cell::ours(headline.state.name()),
        Cell::ours(headline.verdict.name()),
    ]
}

fn operation(phase: &str, of_kind: &OperationSummary) -> Vec<Cell> {
    let percentile = |percent: f64| {
        let same = |known: &&Percentile| (known.percent - percent).abs() < 1e-9;
        of_kind.percentiles.iter().find(same).map(|known| known.ns)
    };
    let mut cells = [phase, of_kind.role.name(), of_kind.action.name()]
        .map(Cell::ours)
        .to_vec();
    cells.extend([
        Number::Count(of_kind.operations.count).into(),
        of_kind.operations.per_second.map(Number::Rate).into(),
        Number::Count(of_kind.bytes.count).into(),
        Number::Count(of_kind.failed).into(),
    ]);
    cells.extend(times(
        of_kind.mean_ns,
        [50.0, 99.0, 99.9].map(percentile),
        of_kind.max_ns,
    ));
    cells
}

/// The transactions of a step, of all roles and kinds together.
fn sweep_step(number: usize, sweep_step: &SweepStepSummary) -> Vec<Cell> {
    let load = match sweep_step.load {
        Load::Closed => "closed".to_owned(),
        Load::Rate(rate) => format!("{rate}/s"),
        Load::Workers(workers) => format!("{workers} workers"),
    };
    let mut cells = vec![Cell::ours(format!("step {}: {load}", number + 1))];
    cells.extend(["all", "transaction"].map(Cell::ours));
    cells.extend([
        Number::Count(sweep_step.transactions).into(),
        sweep_step.achieved_per_second.map(Number::Rate).into(),
        Cell::Empty,
        Number::Count(sweep_step.failed).into(),
    ]);
    cells.extend(times(
        sweep_step.mean_ns,
        [sweep_step.p50_ns, sweep_step.p99_ns, sweep_step.p999_ns],
        sweep_step.max_ns,
    ));
    cells
}

/// Mean, percentiles, greatest; in nanoseconds.
fn times(mean_ns: Option<f64>, percentiles: [Option<u64>; 3], max_ns: Option<u64>) -> [Cell; 5] {
    let [p50, p99, p99_9] = percentiles.map(|ns| ns.map(Number::Seconds).into());
    let max = max_ns.map(Number::Seconds).into();
    [mean_ns.map(Number::Microseconds).into(), p50, p99, p99_9, max]
}
