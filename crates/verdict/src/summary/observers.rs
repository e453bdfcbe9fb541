//! Rates and shares from the counters that observers read, and the calls that ranks sent.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use system::{Fact, InterfaceReading, MachineCounted};
use workload::Phase;

use record::merge::added;
use record::observer::sent;
use record::ranks::ObserverRecord;
use record::run::{PhaseRecord, Record};

/// The numbers of one observer: a rank that performs no work and reads its machine's counters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ObserverSummary {
    /// Name of the observer's host.
    pub host: String,
    /// The longest time between two consecutive readings, in nanoseconds.
    pub interval_ns: u64,
    /// Maximum error of the observer's clock after its alignment with the ranks' clocks, in
    /// nanoseconds.
    pub clock_error_ns: u64,
    /// One row for the whole run, then one for each phase.
    pub rows: Vec<ObserverRow>,
}

/// The numbers of one observer over a phase, or over the whole run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ObserverRow {
    /// Load level of a load sweep, from 0; null if the row belongs to no load level.
    pub step: Option<u32>,
    /// The phase; null for the whole run.
    pub phase: Option<Phase>,
    /// Duration of the phase or of the run, in nanoseconds.
    pub ns: u64,
    /// Share of all processors' time in user mode or in the kernel, from 0 to 1.
    pub cpu_busy: Fact<f64>,
    /// 99th percentile of `cpu_busy` over windows of 2 s. Not available for less than 2 s.
    pub cpu_busy_p99: Fact<f64>,
    /// Share of all processors' time that was idle while a task waited for a device, from 0 to 1.
    pub cpu_iowait: Fact<f64>,
    /// Bytes a second that devices read. Devices on top of other devices are excluded, so that each
    /// byte counts once.
    pub device_read_per_s: Fact<f64>,
    /// Bytes a second written to the devices of `device_read_per_s`.
    pub device_written_per_s: Fact<f64>,
    /// Reads and writes a second of the devices of `device_read_per_s`.
    pub device_operations_per_s: Fact<f64>,
    /// Bytes a second that network interfaces received, without the loopback interface.
    pub received_per_s: Fact<f64>,
    /// Bytes a second that network interfaces sent, without the loopback interface.
    pub sent_per_s: Fact<f64>,
    /// Bytes a second that network interfaces received or sent, without the loopback interface.
    pub passed_per_s: Fact<f64>,
    /// Calls of all clients that the machine's NFS servers counted.
    pub server_calls: Fact<u64>,
    /// Processor time of the machine for each of the `server_calls`, in nanoseconds. It includes
    /// all other activity of the machine. Not applicable if there were no calls.
    pub cpu_ns_per_call: Fact<f64>,
    /// Calls that the ranks' NFS clients counted. Not applicable if the ranks used no NFS client.
    /// The calls of the kernel's client are counted in phases only, so their number in the whole
    /// run is not available.
    pub client_calls: Fact<u64>,
}

impl ObserverRow {
    /// Returns the server's number of calls minus the clients' number, as a share of the clients'
    /// number. `None` if one of the two numbers is not known, or if the clients made no calls.
    pub fn calls_differ(&self) -> Option<f64> {
        let (server, client) = (*self.server_calls.known()?, *self.client_calls.known()?);
        (client > 0).then(|| (server as f64 - client as f64) / client as f64)
    }
}

pub(super) fn summary(record: &Record) -> Vec<ObserverSummary> {
    let observers = record.cluster.iter().flat_map(|cluster| &cluster.observers);
    observers.map(|observer| of_one(record, observer)).collect()
}

fn of_one(record: &Record, observer: &ObserverRecord) -> ObserverSummary {
    let whole_sent = match &record.actual.traffic {
        Some(totals) => totals.messages.requests(),
        None => without_totals(record),
    };
    let mut rows = vec![row(
        (None, None),
        observer.whole_ns,
        &Fact::Known(&observer.whole),
        &observer.cpu_busy_p99,
        whole_sent,
    )];
    for phase in &observer.phases {
        let performed = of_step(record, phase.step)
            .iter()
            .find(|one| one.phase == phase.phase);
        let sent = performed.map_or(Fact::NotApplicable, sent_in);
        rows.push(row(
            (phase.step, Some(phase.phase)),
            phase.ns,
            &phase.counted.as_ref(),
            &phase.cpu_busy_p99,
            sent,
        ));
    }
    ObserverSummary {
        host: observer.host.hostname.clone(),
        interval_ns: observer.interval_ns,
        clock_error_ns: observer
            .clock_begin
            .error_ns
            .max(observer.clock_end.error_ns),
        rows,
    }
}

/// Returns the calls of the ranks' NFS clients in a phase. A phase without evidence has no calls,
/// because its I/O engine uses no file system.
fn sent_in(phase: &PhaseRecord) -> Fact<u64> {
    let evidence = phase.evidence.as_ref();
    evidence.map_or(Fact::NotApplicable, |evidence| {
        sent(&evidence.performing.messages)
    })
}

/// Returns the calls in the whole run for a record without totals of the I/O engine. The counters
/// of the kernel's client are read in phases only, so the calls outside of phases are not known.
fn without_totals(record: &Record) -> Fact<u64> {
    let steps = record.actual.sweep_steps.iter();
    let phases = record.actual.phases.iter();
    let mut all = phases.chain(steps.flat_map(|step| &step.phases));
    match all.any(|phase| sent_in(phase) != Fact::NotApplicable) {
        true => Fact::Unavailable("calls outside of phases were not counted".to_owned()),
        false => Fact::NotApplicable,
    }
}

fn of_step(record: &Record, step: Option<u32>) -> &[PhaseRecord] {
    match step {
        None => &record.actual.phases,
        Some(number) => match record.actual.sweep_steps.get(number as usize) {
            Some(step) => &step.phases,
            None => &[],
        },
    }
}

/// Adds up a counter over all interfaces.
fn passed(
    counted: Fact<&MachineCounted>,
    counter: fn(&InterfaceReading) -> &Fact<u64>,
) -> Fact<u64> {
    let interfaces = counted.and_then(|counted| counted.interfaces.as_ref());
    interfaces.and_then(|interfaces| {
        let counters = interfaces
            .iter()
            .map(|interface| counter(interface).clone());
        counters.fold(Fact::Known(0), added)
    })
}

fn row(
    (step, phase): (Option<u32>, Option<Phase>),
    ns: u64,
    counted: &Fact<&MachineCounted>,
    cpu_busy_p99: &Fact<f64>,
    client_calls: Fact<u64>,
) -> ObserverRow {
    let per_s = |count: Fact<u64>| {
        count.and_then(|count| match ns {
            0 => Fact::Unavailable("it lasted for no time".to_owned()),
            ns => Fact::Known(count as f64 / (ns as f64 / 1e9)),
        })
    };
    let counted = || counted.clone();
    let processors = || counted().and_then(|counted| counted.processors.as_ref());
    let stored = || counted().and_then(MachineCounted::stored);
    let received = per_s(passed(counted(), |interface| &interface.received_bytes));
    let sent = per_s(passed(counted(), |interface| &interface.sent_bytes));
    let server_calls = counted().and_then(MachineCounted::requests);
    ObserverRow {
        passed_per_s: received
            .clone()
            .and_then(|received| sent.clone().map(|sent| received + sent)),
        step,
        phase,
        ns,
        cpu_busy: processors().and_then(|spent| spent.fraction_of(&spent.busy_ns)),
        cpu_busy_p99: cpu_busy_p99.clone(),
        cpu_iowait: processors().and_then(|spent| spent.fraction_of(&spent.iowait_ns)),
        device_read_per_s: per_s(stored().and_then(|stored| stored.read_bytes)),
        device_written_per_s: per_s(stored().and_then(|stored| stored.written_bytes)),
        device_operations_per_s: per_s(stored().and_then(|stored| {
            let (reads, writes) = (stored.reads, stored.writes);
            reads.and_then(|reads| writes.map(|writes| reads.saturating_add(writes)))
        })),
        received_per_s: received,
        sent_per_s: sent,
        cpu_ns_per_call: server_calls.as_ref().and_then(|calls| match calls {
            0 => Fact::NotApplicable,
            calls => processors()
                .and_then(|spent| spent.busy_ns.as_ref())
                .map(|busy_ns| *busy_ns as f64 / *calls as f64),
        }),
        server_calls,
        client_calls,
    }
}
