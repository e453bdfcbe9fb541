//! The numbers of a run for spreadsheets: a line for each kind of operation in each phase, and for each rung of a ladder.

use record::harmless;
use record::summary::Percentile;
use record::units::utc;
use record::{Entry, Load, OperationSummary, Record, RungSummary, Summary};

/// The first line of [`csv`]. Times are in nanoseconds; what is not known, or has no sense, is empty.
pub const CSV_HEADER: &str = "number,id,begun_utc,host,file_systems,preset,storage,workers,state,verdict,phase,role,operation,\
    operations,operations_per_second,bytes,failed,mean_ns,p50_ns,p99_ns,p99_9_ns,max_ns\r\n";

/// A run's lines, without a header (RFC 4180).
pub fn csv(entry: &Entry, record: &Record) -> String {
    let run = run(entry);
    let summary = Summary::of(record);
    let mut text = String::new();
    for phase in &summary.phases {
        for of_kind in &phase.operations {
            text.push_str(&format!("{run},{},{}\r\n", phase.phase.name(), operation(of_kind)));
        }
    }
    for (number, rung) in summary.ladder.iter().flat_map(|ladder| ladder.rungs.iter().enumerate()) {
        text.push_str(&format!("{run},{}\r\n", self::rung(number, rung)));
    }
    text
}

fn run(entry: &Entry) -> String {
    let headline = &entry.headline;
    let word = |text: &str| harmless::csv(text).into_owned();
    [
        entry.number.map_or_else(String::new, |number| number.to_string()),
        headline.id.to_string(),
        utc(headline.begun_unix_ns),
        word(&headline.host),
        word(&headline.file_system().unwrap_or_default()),
        word(headline.preset.as_deref().unwrap_or_default()),
        word(&headline.storage),
        headline.workers.to_string(),
        headline.state.name().to_owned(),
        headline.verdict.name().to_owned(),
    ]
    .join(",")
}

fn operation(of_kind: &OperationSummary) -> String {
    let percentile = |percent: f64| {
        let same = |known: &&Percentile| (known.percent - percent).abs() < 1e-9;
        of_kind.percentiles.iter().find(same).map(|known| known.ns)
    };
    [
        of_kind.role.name().to_owned(),
        of_kind.action.name().to_owned(),
        of_kind.operations.count.to_string(),
        known(of_kind.operations.per_second),
        of_kind.bytes.count.to_string(),
        of_kind.failed.to_string(),
        known(of_kind.mean_ns),
        known(percentile(50.0)),
        known(percentile(99.0)),
        known(percentile(99.9)),
        known(of_kind.max_ns),
    ]
    .join(",")
}

/// The transactions of a rung, of all roles and kinds together.
fn rung(number: usize, rung: &RungSummary) -> String {
    let load = match rung.load {
        Load::Closed => "closed".to_owned(),
        Load::Rate(rate) => format!("{rate}/s"),
        Load::Workers(workers) => format!("{workers} workers"),
    };
    [
        format!("rung {}: {load}", number + 1),
        "all".to_owned(),
        "transaction".to_owned(),
        rung.transactions.to_string(),
        known(rung.achieved_per_second),
        String::new(),
        rung.failed.to_string(),
        known(rung.mean_ns),
        known(rung.p50_ns),
        known(rung.p99_ns),
        known(rung.p999_ns),
        known(rung.max_ns),
    ]
    .join(",")
}

fn known<T: ToString>(number: Option<T>) -> String {
    number.map_or_else(String::new, |number| number.to_string())
}
