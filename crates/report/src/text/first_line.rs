//! The first line of the short report: what was measured, where, and under which conditions.

use document::units::{counted, grouped, latency};
use record::{
    Climb, Drive, Durability, EngineName, Policies, Record, RunSpec, Stop, Workers, Workload,
};
use verdict::Summary;

use super::heading::{size_of_pool, work};
use crate::environment;

pub(super) fn first_line(record: &Record, summary: &Summary) -> String {
    let spec = &record.spec;
    let mut words = vec![format!(
        "PostMark {}: {} on {}",
        record.tool.version,
        work(spec),
        environment::targets(record)
    )];
    words.extend(workers(spec));
    // In a sweep of workers or ranks, the size of the pool depends on the load level, so no size is
    // shown.
    let sweep = spec.drive.sweep.as_ref();
    let has_one_pool = sweep.is_none_or(|sweep| !sweep.climb.is_of_counts());
    if spec.engine.makes_files() && has_one_pool {
        words.extend(summary.pool.as_ref().map(size_of_pool));
    }
    if spec.engine != EngineName::of_work(&spec.workload.work) {
        words.push(format!("engine {}", spec.engine));
    }
    if spec.engine.makes_files() {
        words.push(synced(&spec.durability));
    }
    words.extend(other_settings(spec));
    if let Some(transactions) = summary.transactions.filter(|of| of.duration_ns > 0) {
        words.push(latency(transactions.duration_ns as f64));
    }
    words.join(", ")
}

/// The conditions of a run that is planned, without its workload and target: workers, files,
/// durability, and all other settings.
pub(crate) fn conditions(spec: &RunSpec) -> Vec<String> {
    let mut words = workers(spec).to_vec();
    words.extend(transactions(&spec.workload));
    if spec.engine.makes_files() {
        words.push(synced(&spec.durability));
    }
    let others = RunSpec {
        durability: Durability::None.into(),
        ..spec.clone()
    };
    words.extend(others.settings());
    words
}

/// The number of transactions of each worker; `None` if time ends the transactions.
fn transactions(workload: &Workload) -> Option<String> {
    let each = Some(workload.transactions()).filter(|each| *each != Workload::ENDLESS)?;
    let transactions = counted(each, "transaction");
    Some(match workload.workers.count() {
        1 => transactions,
        _ => format!("{transactions} each"),
    })
}

/// The number of workers, and the number of files of each worker or of all workers.
fn workers(spec: &RunSpec) -> [String; 2] {
    let workload = &spec.workload;
    let files = counted(workload.files(), "file");
    let climb = spec.drive.sweep.as_ref().map(|sweep| &sweep.climb);
    if let Some(Climb::Workers(counts)) = climb {
        let last = counts.last().copied().unwrap_or(1);
        let workers = counted(last.into(), "worker");
        return match counts.first() {
            Some(first) if *first != last => {
                [format!("{first} to {workers}"), format!("{files} each")]
            }
            _ => [workers, format!("{files} each")],
        };
    }
    match workload.workers {
        workers if workload.replay().is_some() => {
            [counted(workers.count().into(), "worker"), files]
        }
        Workers::ONE => ["1 worker".to_owned(), files],
        Workers::Private { workers } => {
            [counted(workers.into(), "worker"), format!("{files} each")]
        }
        Workers::Shared {
            writers,
            readers,
            pools,
        } => {
            let of_pool = format!(
                "{} and {}",
                counted(writers.into(), "writer"),
                counted(readers.into(), "reader")
            );
            match pools {
                1 => [of_pool, format!("{files} shared")],
                pools => [
                    format!("{} pools of {of_pool}", grouped(pools.into())),
                    format!("{files} in each pool"),
                ],
            }
        }
    }
}

/// The durability policies in words.
fn synced(durability: &Policies) -> String {
    if durability.all().count() > 1 {
        return format!("synced by {durability}");
    }
    match durability.rest {
        Durability::None => "no sync".to_owned(),
        Durability::Fdatasync => "fdatasync file".to_owned(),
        Durability::Fsync => "fsync file".to_owned(),
        Durability::FsyncDirectory => "fsync file and directory".to_owned(),
        Durability::ODsync => "O_DSYNC writes".to_owned(),
        Durability::OSync => "O_SYNC writes".to_owned(),
        Durability::Batch(changes) => {
            format!("syncfs after {}", counted(changes.into(), "change"))
        }
    }
}

/// The settings that the other words of the line do not state. A requested duration is left out,
/// because the line states the measured time.
fn other_settings(spec: &RunSpec) -> Vec<String> {
    let stop = match spec.drive.stop {
        Stop::After(_) if spec.drive.sweep.is_none() => Stop::Transactions,
        stop => stop,
    };
    let others = RunSpec {
        durability: Durability::None.into(),
        drive: Drive {
            stop,
            ..spec.drive.clone()
        },
        ..spec.clone()
    };
    others.settings()
}
