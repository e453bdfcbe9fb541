//! Checks whether the numbers of a record can be those of a run: moments in order, numbers in their
//! range, and sums that do not overflow. Values that are checked on parsing (histograms, slices,
//! columns of the machine) are not checked a second time.

mod numbers;
mod phase;

use spec::{Climb, Drive, LOCATIONS_MAX, PhaseLoad, WorkingSet};
use system::{Fact, Host};

pub(super) use self::numbers::Wrong;
use self::numbers::{
    RANKS_MAX, Totals, Valid, Within, at_most, distinct, each, from_to, moment, not_negative, rate,
    wrong,
};
use self::phase::phases;
use crate::classic::ClassicFigures;
use crate::ranks::{ClusterRecord, RankClockOffset, RankRecord};
use crate::run::{Actual, Load, LocationRecord, Record, SweepStep};
use crate::sizing::Sizing;

/// Maximum number of load levels in a record, far above the needs of a sweep. A sweep has at most
/// 64 requested levels, and a few more levels from bisections.
const SWEEP_STEPS_MAX: usize = 4096;
/// Maximum length of a host name, in bytes: 64 on Linux, 255 in the DNS.
const HOSTNAME_BYTES_MAX: usize = 255;

/// Checks whether a run can have written the record.
pub(super) fn check(record: &Record) -> Valid {
    if let Err(problem) = record.spec.workload.validate() {
        return wrong("spec.workload", problem.to_string());
    }
    at_most("spec.targets", record.spec.targets.len(), LOCATIONS_MAX)?;
    at_most("locations", record.locations.len(), LOCATIONS_MAX)?;
    each("locations", &record.locations, location)?;
    drive(&record.spec.drive).within(|| "spec.drive".to_owned())?;
    if let Some(sizing) = &record.sizing {
        self::sizing(sizing).within(|| "sizing".to_owned())?;
    }
    if let Some(cluster) = &record.cluster {
        self::cluster(cluster).within(|| "cluster".to_owned())?;
    }
    actual(&record.actual).within(|| "actual".to_owned())
}

/// Checks that ranks are in order, that the host of each rank exists, and that no worker belongs to
/// two ranks.
fn cluster(cluster: &ClusterRecord) -> Valid {
    let launched = cluster.launched as usize;
    at_most("ranks", launched, RANKS_MAX)?;
    at_most(
        "ranks",
        cluster.ranks.len() + cluster.missing.len(),
        launched,
    )?;
    at_most("hosts", cluster.hosts.len(), cluster.ranks.len())?;
    each("hosts", &cluster.hosts, |host| hostname(&host.host))?;
    at_most("observers", cluster.observers.len(), RANKS_MAX)?;
    each("observers", &cluster.observers, |observer| {
        hostname(&observer.host)?;
        clock(&observer.clock_begin)?;
        clock(&observer.clock_end)?;
        moment("whole_ns", observer.whole_ns)?;
        each("phases", &observer.phases, |phase| moment("ns", phase.ns))
    })?;
    let missing = cluster.missing.iter().map(|missing| missing.rank);
    let ranks = cluster.ranks.iter().map(|rank| rank.rank);
    distinct("missing", missing.chain(ranks))?;
    each("missing", &cluster.missing, |missing| {
        below("rank", missing.rank, cluster.launched)
    })?;
    let mut next = (0, 0);
    each("ranks", &cluster.ranks, |rank| {
        self::rank(cluster, rank, &mut next)
    })
}

fn hostname(host: &Host) -> Valid {
    at_most("host.hostname", host.hostname.len(), HOSTNAME_BYTES_MAX)
}

fn clock(clock: &RankClockOffset) -> Valid {
    moment("clock.error_ns", clock.error_ns)?;
    moment("clock.offset_ns", clock.offset_ns.unsigned_abs())
}

/// Checks a rank. `next` contains the smallest allowed numbers of the rank and of its first worker.
fn rank(cluster: &ClusterRecord, rank: &RankRecord, next: &mut (u64, u64)) -> Valid {
    below("rank", rank.rank, cluster.launched)?;
    let found = u64::from(rank.rank);
    if std::mem::replace(&mut next.0, found + 1) > found {
        return wrong("rank", "it comes after a higher one");
    }
    if rank.host as usize >= cluster.hosts.len() {
        return wrong("host", format!("there are {} hosts", cluster.hosts.len()));
    }
    let first = u64::from(rank.first_worker);
    if std::mem::replace(&mut next.1, first + u64::from(rank.workers)) > first {
        return wrong("first_worker", "a rank before it has that worker, too");
    }
    let hashes = rank.worker_hashes.len();
    if hashes > rank.workers as usize {
        let why = format!("{hashes} of {} workers", rank.workers);
        return wrong("worker_hashes", why);
    }
    for clock in [&rank.clock.begin, &rank.clock.end] {
        clock.known().map_or(Ok(()), self::clock)?;
    }
    let offset_ns = rank.clock.wall_offset_ns.unsigned_abs();
    moment("clock.wall_offset_ns", offset_ns)
}

fn below(field: &'static str, found: u32, count: u32) -> Valid {
    if found >= count {
        return wrong(field, format!("{found}, and {count} ranks were launched"));
    }
    Ok(())
}

fn location(location: &LocationRecord) -> Valid {
    let Fact::Known(target) = &location.target else {
        return Ok(());
    };
    match target.fill_fraction {
        Fact::Known(fraction) => from_to("target.fill_fraction", fraction, (0.0, 1.0)),
        _ => Ok(()),
    }
}

fn drive(drive: &Drive) -> Valid {
    if let Some(per_second) = drive.rate() {
        rate("pace.per_second", per_second)?;
    }
    let Some(sweep) = &drive.sweep else {
        return Ok(());
    };
    match &sweep.climb {
        Climb::Rates(rates) | Climb::OfClosedLoop(rates) => rates
            .iter()
            .try_for_each(|number| rate("sweep.climb", *number)),
        Climb::Phases(loads) => loads
            .iter()
            .filter_map(PhaseLoad::rate)
            .try_for_each(|number| rate("sweep.climb", number)),
        Climb::Workers(_) | Climb::Ranks(_) => Ok(()),
    }
}

fn sizing(sizing: &Sizing) -> Valid {
    if let WorkingSet::OfCache(factor) = sizing.working_set {
        not_negative("working_set", factor)?;
    }
    not_negative("mean_file_bytes", sizing.mean_file_bytes)?;
    let Some(calibration) = &sizing.calibration else {
        return Ok(());
    };
    let created = calibration.created_per_second;
    not_negative("calibration.created_per_second", created)?;
    let transactions = calibration.transactions_per_second.unwrap_or(0.0);
    not_negative("calibration.transactions_per_second", transactions)
}

fn actual(actual: &Actual) -> Valid {
    let mut totals = Totals::default();
    phases(&actual.phases, &mut totals)?;
    at_most("sweep_steps", actual.sweep_steps.len(), SWEEP_STEPS_MAX)?;
    each("sweep_steps", &actual.sweep_steps, |sweep_step| {
        self::sweep_step(sweep_step, &mut totals)
    })?;
    each("errors", &actual.errors, |error| {
        totals.add("all errors", "count", &[error.count])
    })?;
    if let Some(figures) = &actual.classic {
        classic(figures).within(|| "classic".to_owned())?;
    }
    if let Fact::Known(own) = &actual.overhead {
        not_negative("overhead.ns_per_operation", own.ns_per_operation)?;
    }
    Ok(())
}

fn sweep_step(sweep_step: &SweepStep, totals: &mut Totals) -> Valid {
    if let Load::Rate(number) = sweep_step.load {
        rate("load", number)?;
    }
    phases(&sweep_step.phases, totals)
}

/// Checks the numbers of the original PostMark's report. PostMark 1.5 prints sums of bytes as
/// 32-bit floats, so sums beyond the range of such floats are rejected.
fn classic(figures: &ClassicFigures) -> Valid {
    for (field, bytes) in [
        ("bytes_read", figures.bytes_read),
        ("bytes_written", figures.bytes_written),
    ] {
        from_to(field, bytes, (0.0, f32::MAX.into()))?;
    }
    let created = [figures.created_alone, figures.created_mixed];
    Totals::default().add("the files", "created_mixed", &created)?;
    let deleted = [figures.deleted_alone, figures.deleted_mixed];
    Totals::default().add("the files", "deleted_mixed", &deleted)
}
