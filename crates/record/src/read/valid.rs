//! Whether the numbers of a record can be those of a run: moments in their order, numbers in their
//! range, sums that can be made. What was checked where it was read (histograms, slices, columns of
//! the machine) is not checked again.

use std::collections::BTreeSet;

use measure::{Drift, Histogram, Meter, SLOWEST_KEPT, Steady};
use spec::{Climb, Drive, LOCATIONS_MAX, WorkingSet};
use system::{Fact, Target};
use workload::Workload;

use crate::classic::ClassicFigures;
use crate::ranks::ClusterRecord;
use crate::run::{
    Actual, LocationRecord, OperationRecord, PhaseRecord, Record, Segment, SlowestRecord,
    WorkerPhase,
};
use crate::run::{Load, SweepStep};
use crate::sizing::{Sizing, SteadyFound};

/// No moment is further from the origin, and nothing lasts longer: 2^62 ns, 146 years.
const MOMENT_MAX_NS: u64 = 1 << 62;
/// The most steps: a sweep has 64 and some between them.
const SWEEP_STEPS_MAX: usize = 4096;
/// The most ranks: a hundred times those of the largest run that the program is made for.
const RANKS_MAX: usize = 1_000_000;
/// The longest name of a host, in bytes: Linux has 64, and names of the DNS have 255.
const HOSTNAME_BYTES_MAX: usize = 255;
/// The most segments of a phase; a run has a warm-up, rounds that were merged into one, and a
/// window of rounds.
const SEGMENTS_MAX: usize = 4096;
/// The most kinds of steps in a phase, which are looked for one by one; all storages together have
/// fewer.
const STEPS_MAX: usize = 64;
/// The longest name of a step or a device, in bytes: it widens a column of a table.
const NAME_BYTES_MAX: usize = 255;
/// The longest path of a slow operation, in bytes: it widens a column, too. The kernel takes 4,096.
const PATH_BYTES_MAX: usize = 16 << 10;

/// What is wrong, and where.
#[derive(Debug)]
pub(super) struct Wrong {
    pub(super) field: String,
    pub(super) why: String,
}

type Valid = Result<(), Wrong>;

fn wrong<T>(field: impl Into<String>, why: impl Into<String>) -> Result<T, Wrong> {
    Err(Wrong {
        field: field.into(),
        why: why.into(),
    })
}

/// The place that a field is in.
trait Within {
    fn within(self, place: impl FnOnce() -> String) -> Self;
}

impl Within for Valid {
    fn within(self, place: impl FnOnce() -> String) -> Self {
        self.map_err(|Wrong { field, why }| Wrong {
            field: format!("{}.{field}", place()),
            why,
        })
    }
}

/// Of each element of a list, with its place.
fn each<T>(name: &'static str, list: &[T], mut check: impl FnMut(&T) -> Valid) -> Valid {
    let mut indexed = list.iter().enumerate();
    indexed.try_for_each(|(index, element)| check(element).within(|| format!("{name}[{index}]")))
}

fn at_most(field: &'static str, found: usize, most: usize) -> Valid {
    if found > most {
        return wrong(
            field,
            format!("{found} of them, and there are at most {most}"),
        );
    }
    Ok(())
}

/// What is there once only, by a key.
fn distinct<K: Ord>(field: &'static str, keys: impl Iterator<Item = K>) -> Valid {
    let mut seen = BTreeSet::new();
    for key in keys {
        if !seen.insert(key) {
            return wrong(field, "one of them is there twice");
        }
    }
    Ok(())
}

fn from_to(field: &'static str, number: f64, (low, high): (f64, f64)) -> Valid {
    // Not a number is refused, too.
    if !(low..=high).contains(&number) {
        return wrong(field, format!("{number:?} is not from {low:?} to {high:?}"));
    }
    Ok(())
}

fn not_negative(field: &'static str, number: f64) -> Valid {
    from_to(field, number, (0.0, f64::MAX))
}

/// Something a second, or what such a rate is a share of.
fn rate(field: &'static str, number: f64) -> Valid {
    from_to(field, number, (f64::MIN_POSITIVE, f64::MAX))
}

fn moment(field: &'static str, ns: u64) -> Valid {
    if ns > MOMENT_MAX_NS {
        return wrong(field, format!("{ns} ns are more than a run can have"));
    }
    Ok(())
}

fn order(field: &'static str, began_ns: u64, ended_ns: u64) -> Valid {
    if ended_ns < began_ns {
        return wrong(
            field,
            format!("{ended_ns} is before {began_ns}, where it began"),
        );
    }
    moment(field, ended_ns)
}

/// A number that others of its kind are added to, in whatever view.
struct Total {
    what: &'static str,
    sum: u64,
}

impl Total {
    const fn of(what: &'static str) -> Self {
        Self { what, sum: 0 }
    }

    fn add(&mut self, field: &'static str, numbers: &[u64]) -> Valid {
        for number in numbers {
            self.sum = match self.sum.checked_add(*number) {
                Some(sum) => sum,
                None => return wrong(field, format!("with it {} are more than 2^64", self.what)),
            };
        }
        Ok(())
    }
}

/// The sums that views make: over segments, phases, steps, workers.
struct Totals {
    operations: Total,
    bytes: Total,
    durations: Total,
    transactions: Total,
    issued: Total,
    skipped: Total,
    workers: Total,
    workers_ns: Total,
    phases_ns: Total,
}

impl Totals {
    fn new() -> Self {
        Self {
            operations: Total::of("all operations"),
            bytes: Total::of("all bytes"),
            durations: Total::of("all durations in histograms"),
            transactions: Total::of("all transactions"),
            issued: Total::of("all transactions that were issued"),
            skipped: Total::of("all operations that were skipped"),
            workers: Total::of("all that workers did"),
            workers_ns: Total::of("the times of all workers"),
            phases_ns: Total::of("the times of all phases"),
        }
    }
}

/// Whether a run can have been so.
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

/// Ranks in their order, on hosts that are there, with workers in ranges that follow one another.
fn cluster(cluster: &ClusterRecord) -> Valid {
    at_most("ranks", cluster.launched as usize, RANKS_MAX)?;
    at_most(
        "ranks",
        cluster.ranks.len() + cluster.missing.len(),
        cluster.launched as usize,
    )?;
    at_most("hosts", cluster.hosts.len(), cluster.ranks.len())?;
    let hosts = cluster.hosts.iter().map(|host| host.host.hostname.clone());
    hosts.enumerate().try_for_each(|(index, hostname)| {
        at_most("host.hostname", hostname.len(), HOSTNAME_BYTES_MAX)
            .within(|| format!("hosts[{index}]"))
    })?;
    at_most("observers", cluster.observers.len(), RANKS_MAX)?;
    each("observers", &cluster.observers, |observer| {
        at_most(
            "host.hostname",
            observer.host.hostname.len(),
            HOSTNAME_BYTES_MAX,
        )?;
        for clock in [&observer.clock_begin, &observer.clock_end] {
            moment("clock.error_ns", clock.error_ns)?;
            moment("clock.offset_ns", clock.offset_ns.unsigned_abs())?;
        }
        moment("whole_ns", observer.whole_ns)?;
        each("phases", &observer.phases, |phase| moment("ns", phase.ns))
    })?;
    let missing = cluster.missing.iter().map(|missing| missing.rank);
    distinct(
        "missing",
        missing.chain(cluster.ranks.iter().map(|rank| rank.rank)),
    )?;
    each("missing", &cluster.missing, |missing| {
        below("rank", missing.rank, cluster.launched)
    })?;
    let mut next_rank = 0_u64;
    let mut next_worker = 0_u64;
    each("ranks", &cluster.ranks, |rank| {
        below("rank", rank.rank, cluster.launched)?;
        let found = u64::from(rank.rank);
        if std::mem::replace(&mut next_rank, found + 1) > found {
            return wrong("rank", "it comes after a higher one");
        }
        if rank.host as usize >= cluster.hosts.len() {
            return wrong("host", format!("there are {} hosts", cluster.hosts.len()));
        }
        let first = u64::from(rank.first_worker);
        if std::mem::replace(&mut next_worker, first + u64::from(rank.workers)) > first {
            return wrong("first_worker", "a rank before it has that worker, too");
        }
        let hashes = rank.worker_hashes.len();
        if hashes > rank.workers as usize {
            return wrong(
                "worker_hashes",
                format!("{hashes} of {} workers", rank.workers),
            );
        }
        for clock in [&rank.clock.begin, &rank.clock.end] {
            if let Fact::Known(clock) = clock {
                moment("clock.error_ns", clock.error_ns)?;
                moment("clock.offset_ns", clock.offset_ns.unsigned_abs())?;
            }
        }
        moment(
            "clock.wall_offset_ns",
            rank.clock.wall_offset_ns.unsigned_abs(),
        )
    })
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
    let Target { fill_fraction, .. } = target;
    let fraction = fill_fraction.known().copied();
    fraction.map_or(Ok(()), |fraction| {
        from_to("target.fill_fraction", fraction, (0.0, 1.0))
    })
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
    not_negative(
        "calibration.created_per_second",
        calibration.created_per_second,
    )?;
    let transactions = calibration.transactions_per_second;
    transactions.map_or(Ok(()), |number| {
        not_negative("calibration.transactions_per_second", number)
    })
}

fn actual(actual: &Actual) -> Valid {
    let mut totals = Totals::new();
    phases(&actual.phases, &mut totals)?;
    at_most("sweep_steps", actual.sweep_steps.len(), SWEEP_STEPS_MAX)?;
    each("sweep_steps", &actual.sweep_steps, |sweep_step| {
        self::sweep_step(sweep_step, &mut totals)
    })?;
    let mut errors = Total::of("all errors");
    each("errors", &actual.errors, |error| {
        errors.add("count", &[error.count])
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

fn phases(phases: &[PhaseRecord], totals: &mut Totals) -> Valid {
    distinct("phases", phases.iter().map(|phase| phase.phase))?;
    each("phases", phases, |phase| self::phase(phase, totals))
}

fn phase(phase: &PhaseRecord, totals: &mut Totals) -> Valid {
    at_most("segments", phase.segments.len(), SEGMENTS_MAX)?;
    let operations = phase
        .segments
        .iter()
        .flat_map(|segment| &segment.operations);
    let steps: BTreeSet<&String> = operations
        .flat_map(|operation| &operation.steps)
        .map(|step| &step.step)
        .collect();
    at_most("segments: kinds of steps", steps.len(), STEPS_MAX)?;
    at_most("hosts", phase.hosts.len(), RANKS_MAX)?;
    distinct(
        "hosts",
        phase
            .hosts
            .iter()
            .map(|host| (&host.host.hostname, host.host.boot_id.known())),
    )?;
    let mut ranks = Total::of("the ranks of all hosts");
    let mut host_ns = Total::of("the times of all workers of all hosts");
    each("hosts", &phase.hosts, |host| {
        ranks.add("ranks", &[host.ranks.into()])?;
        if ranks.sum > RANKS_MAX as u64 {
            return wrong("ranks", "more than can be launched");
        }
        let workers = host.workers.as_ref();
        workers.map_or(Ok(()), |workers| {
            host_ns.add("workers", &[workers.cpu_ns, workers.ns])
        })
    })?;
    let mut earlier_ns = 0;
    each("segments", &phase.segments, |segment| {
        order(
            "began_ns",
            std::mem::replace(&mut earlier_ns, segment.began_ns),
            segment.began_ns,
        )?;
        self::segment(segment, totals)
    })?;
    totals.phases_ns.add("segments", &[phase.measured_ns()])?;
    totals
        .transactions
        .add("waiting", &[phase.waiting.unwrap_or(0)])?;
    at_most(
        "workers",
        phase.workers.len(),
        Workload::WORKERS_MAX as usize,
    )?;
    each("workers", &phase.workers, |worker| {
        self::worker(worker, totals)
    })?;
    if let Some(first) = &phase.first_done {
        moment("first_done.at_ns", first.at_ns)?;
    }
    moment("caught_up_ns", phase.caught_up_ns.unwrap_or(0))?;
    distinct(
        "claim_waits",
        phase.claim_waits.iter().map(|waits| waits.role),
    )?;
    each("claim_waits", &phase.claim_waits, |waits| {
        totals.durations.add("wait", &[waits.wait.count()])
    })?;
    slices(phase)?;
    distinct(
        "slowest",
        phase.slowest.iter().map(|slowest| slowest.action),
    )?;
    each("slowest", &phase.slowest, slowest)?;
    machine(phase)?;
    if let Some(found) = &phase.steady {
        steady(found).within(|| "steady".to_owned())?;
    }
    let sync = phase.sync.as_ref();
    sync.map_or(Ok(()), |sync| {
        order("sync.ended_ns", sync.began_ns, sync.ended_ns)
    })
}

fn segment(segment: &Segment, totals: &mut Totals) -> Valid {
    order("ended_ns", segment.began_ns, segment.ended_ns)?;
    totals
        .transactions
        .add("transactions", &[segment.transactions])?;
    totals.issued.add("issued", &[segment.issued])?;
    totals.skipped.add("skipped", &[segment.skipped.total()])?;
    let keys = segment.operations.iter();
    distinct(
        "operations",
        keys.map(|operation| (operation.role, operation.action)),
    )?;
    each("operations", &segment.operations, |operation| {
        self::operation(operation, totals)
    })
}

fn operation(operation: &OperationRecord, totals: &mut Totals) -> Valid {
    let Meter {
        operations,
        bytes,
        failed,
        missed,
        latency,
        service,
    } = &operation.meter;
    totals
        .operations
        .add("meter", &[*operations, *failed, *missed])?;
    totals.bytes.add("meter.bytes", &[*bytes])?;
    let service = service.as_ref().map_or(0, Histogram::count);
    totals
        .durations
        .add("meter.latency", &[latency.count(), service])?;
    distinct("steps", operation.steps.iter().map(|step| &step.step))?;
    each("steps", &operation.steps, |step| {
        name("step", &step.step)?;
        totals.durations.add("latency", &[step.latency.count()])
    })
}

fn name(field: &'static str, name: &str) -> Valid {
    at_most(field, name.len(), NAME_BYTES_MAX).map_err(|_| Wrong {
        field: field.to_owned(),
        why: format!(
            "a name of {} bytes, and they have at most {NAME_BYTES_MAX}",
            name.len()
        ),
    })
}

fn worker(worker: &WorkerPhase, totals: &mut Totals) -> Valid {
    order("ended_ns", worker.began_ns, worker.ended_ns)?;
    totals
        .workers_ns
        .add("ended_ns", &[worker.ended_ns - worker.began_ns])?;
    totals.workers.add("transactions", &[worker.transactions])?;
    totals.workers.add("issued", &[worker.issued])?;
    totals.workers.add("operations", &[worker.operations])
}

/// The sums that are made of all kinds of operations in a slice.
fn slices(phase: &PhaseRecord) -> Valid {
    let mut operations = Total::of("all operations of the slices");
    let mut bytes = Total::of("all bytes of the slices");
    for meter in phase.slices.iter().flat_map(|slice| slice.values()) {
        operations.add("slices", &[meter.operations, meter.failed])?;
        bytes.add("slices", &[meter.bytes])?;
    }
    Ok(())
}

fn slowest(slowest: &SlowestRecord) -> Valid {
    at_most("operations", slowest.operations.len(), SLOWEST_KEPT)?;
    each("operations", &slowest.operations, |slow| {
        if slow.path.len() > PATH_BYTES_MAX {
            return wrong(
                "path",
                format!(
                    "it has {} bytes, and paths have at most {PATH_BYTES_MAX}",
                    slow.path.len()
                ),
            );
        }
        slow.step
            .as_ref()
            .map_or(Ok(()), |step| name("step.step", &step.step))
    })
}

fn machine(phase: &PhaseRecord) -> Valid {
    let Some(machine) = &phase.machine else {
        return Ok(());
    };
    moment(
        "machine.ended_ns",
        machine.ended_ns.last().copied().unwrap_or(0),
    )?;
    moment("machine.began_ns", machine.began_ns)?;
    let devices = machine.devices.known().map(|devices| &devices[..]);
    each(
        "machine.devices.known",
        devices.unwrap_or_default(),
        |device| name("name", &device.name),
    )
}

fn steady(found: &SteadyFound) -> Valid {
    for number in found.rounds.iter().chain(&found.seconds) {
        not_negative("rounds", *number)?;
    }
    if let Some(Steady {
        average,
        excursion,
        slope_excursion,
        ..
    }) = &found.snia
    {
        not_negative("snia.average", *average)?;
        not_negative("snia.excursion", *excursion)?;
        not_negative("snia.slope_excursion", *slope_excursion)?;
    }
    if let Some(Drift { average, limit, .. }) = &found.slope {
        not_negative("slope.average", *average)?;
        not_negative("slope.limit", *limit)?;
    }
    Ok(())
}

/// Reports of edition 1.5 print sums of bytes as 32-bit floats, whose range is smaller than that of
/// the numbers in JSON.
fn classic(figures: &ClassicFigures) -> Valid {
    for (field, bytes) in [
        ("bytes_read", figures.bytes_read),
        ("bytes_written", figures.bytes_written),
    ] {
        from_to(field, bytes, (0.0, f32::MAX.into()))?;
    }
    Total::of("the files").add(
        "created_mixed",
        &[figures.created_alone, figures.created_mixed],
    )?;
    Total::of("the files").add(
        "deleted_mixed",
        &[figures.deleted_alone, figures.deleted_mixed],
    )
}
