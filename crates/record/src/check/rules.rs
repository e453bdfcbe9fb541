//! What holds between the numbers of a record that the program wrote, beyond what reading asks for.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use workload::fingerprint::{GENERATORS_VERSION, fingerprint};
use workload::plan::{Followed, Planner};
use workload::{Action, Role};

use crate::run::{OperationRecord, PhaseRecord, Record, Segment};
use observe::Fact;

/// A rule of consistency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// Numbers are in their range, moments in their order, and sums can be made: what every reader of a record asks for.
    Consistency,
    /// The fingerprint is that of the record's workload.
    Fingerprint,
    /// The hash of the stream is that of the record's workload.
    StreamHash,
    /// Phases are in their order, and one begins after the one before has ended.
    PhaseOrder,
    /// What the workers did is what was done in the measured segments.
    Workers,
    /// Histograms have as many latencies as there are operations.
    Latencies,
    /// What was done over time is what was done in the segments.
    Series,
}

impl Rule {
    /// Its lasting name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Consistency => "consistency",
            Self::Fingerprint => "fingerprint",
            Self::StreamHash => "stream-hash",
            Self::PhaseOrder => "phase-order",
            Self::Workers => "workers",
            Self::Latencies => "latencies",
            Self::Series => "series",
        }
    }
}

/// A rule that a record breaks, or that could not be checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BrokenRule {
    /// Which one.
    pub rule: Rule,
    /// The JSON path of the place.
    pub field: String,
    /// What is wrong there, or why it could not be checked.
    pub why: String,
}

/// What was found.
#[derive(Default)]
pub(super) struct Findings {
    pub broken: Vec<BrokenRule>,
    pub unchecked: Vec<BrokenRule>,
}

impl Findings {
    /// Takes the first break of a rule: others of the same rule tell no more.
    fn broken(&mut self, rule: Rule, field: &str, why: String) {
        if !self.broken.iter().any(|known| known.rule == rule) {
            let field = field.to_owned();
            self.broken.push(BrokenRule { rule, field, why });
        }
    }

    fn unchecked(&mut self, rule: Rule, field: &str, why: impl Into<String>) {
        self.unchecked.push(BrokenRule {
            rule,
            field: field.to_owned(),
            why: why.into(),
        });
    }

    fn equal(&mut self, rule: Rule, field: &str, (what, found): (&str, u64), (other, expected): (&str, u64)) {
        if found != expected {
            self.broken(rule, field, format!("{what}: {found}, but {other}: {expected}"));
        }
    }
}

/// Of a record that was read: its sums can be made.
pub(super) fn check(record: &Record) -> Findings {
    let mut found = Findings::default();
    stream(record, &mut found);
    let has_latencies = record.spec.latencies;
    phases(&record.actual.phases, "record.actual", has_latencies, &mut found);
    for (index, step) in record.actual.sweep_steps.iter().enumerate() {
        let place = format!("record.actual.sweep_steps[{index}]");
        phases(&step.phases, &place, has_latencies, &mut found);
    }
    found
}

/// What the generators make of the workload.
fn stream(record: &Record, found: &mut Findings) {
    let (hash, place) = ("record.actual.stream_hash", "record.fingerprint");
    let theirs = record.tool.generators;
    if theirs != GENERATORS_VERSION {
        let why = format!("the record is of generators {theirs}, and this program has generators {GENERATORS_VERSION}");
        return found.unchecked(Rule::Fingerprint, place, why);
    }
    let workload = &record.spec.workload;
    let known_hash = record.actual.stream_hash.known();
    let is_followed = known_hash.is_some() && Followed::of(workload).is_none();
    if known_hash.is_some() && !is_followed {
        found.unchecked(Rule::StreamHash, hash, "the stream is too long to be followed");
    }
    let derived = if is_followed {
        Planner::new(workload)
            .plan()
            .map(|plan| (plan.fingerprint, Some(plan.stream_hash)))
    } else {
        fingerprint(workload).map(|fingerprint| (fingerprint, None))
    };
    let (fingerprint, stream_hash) = match derived {
        Ok(derived) => derived,
        Err(problem) => return found.broken(Rule::Fingerprint, "record.spec.workload", problem.to_string()),
    };
    if record.fingerprint != fingerprint {
        found.broken(
            Rule::Fingerprint,
            place,
            format!("{}, but the workload has {fingerprint}", record.fingerprint),
        );
    }
    if let (Fact::Known(recorded), Some(derived)) = (&record.actual.stream_hash, stream_hash) {
        if *recorded != derived {
            found.broken(
                Rule::StreamHash,
                hash,
                format!("{recorded}, but the workload has {derived}"),
            );
        }
    }
}

fn phases(phases: &[PhaseRecord], place: &str, has_latencies: bool, found: &mut Findings) {
    let mut earlier: Option<&PhaseRecord> = None;
    for (index, phase) in phases.iter().enumerate() {
        let place = format!("{place}.phases[{index}]");
        if let Some(earlier) = earlier {
            order(earlier, phase, &place, found);
        }
        earlier = Some(phase);
        // Where a phase was left, a worker may have been lost with what it had done.
        if phase.complete {
            workers(phase, &place, found);
            series(phase, &place, found);
        }
        if has_latencies {
            latencies(phase, &place, found);
        }
    }
}

fn order(earlier: &PhaseRecord, later: &PhaseRecord, place: &str, found: &mut Findings) {
    if later.phase <= earlier.phase {
        let why = format!("{} after {}", later.phase.name(), earlier.phase.name());
        return found.broken(Rule::PhaseOrder, place, why);
    }
    let ended_ns = earlier.segments.iter().map(|segment| segment.ended_ns).max();
    let began_ns = later.segments.iter().map(|segment| segment.began_ns).min();
    if let (Some(ended_ns), Some(began_ns)) = (ended_ns, began_ns) {
        if began_ns < ended_ns {
            let why = format!(
                "it began at {began_ns} ns, and {} ended at {ended_ns} ns",
                earlier.phase.name()
            );
            found.broken(Rule::PhaseOrder, place, why);
        }
    }
}

fn workers(phase: &PhaseRecord, place: &str, found: &mut Findings) {
    let of_segments = |part: fn(&OperationRecord) -> u64| -> u64 {
        let operations = phase.measured().flat_map(|segment| &segment.operations);
        operations.map(part).sum()
    };
    let transactions = phase.workers.iter().map(|worker| worker.transactions).sum();
    let operations = phase.workers.iter().map(|worker| worker.operations).sum();
    // Bytes of workers are in no other sum, and may be any number.
    let bytes = phase
        .workers
        .iter()
        .fold(0_u64, |sum, worker| sum.saturating_add(worker.bytes));
    let place = format!("{place}.workers");
    for (what, of_workers, of_segments) in [
        ("transactions", transactions, phase.transactions()),
        (
            "operations",
            operations,
            of_segments(|operation| operation.meter.operations),
        ),
        ("bytes", bytes, of_segments(|operation| operation.meter.bytes)),
    ] {
        let (of_workers, of_segments) = (
            (format!("{what} of all workers"), of_workers),
            (format!("{what} of the measured segments"), of_segments),
        );
        found.equal(
            Rule::Workers,
            &place,
            (&of_workers.0, of_workers.1),
            (&of_segments.0, of_segments.1),
        );
    }
}

fn latencies(phase: &PhaseRecord, place: &str, found: &mut Findings) {
    for (number, Segment { operations, .. }) in phase.segments.iter().enumerate() {
        for (index, OperationRecord { meter, .. }) in operations.iter().enumerate() {
            let place = format!("{place}.segments[{number}].operations[{index}].meter");
            let histograms = [("latency", Some(&meter.latency)), ("service", meter.service.as_ref())];
            for (name, histogram) in histograms {
                let Some(histogram) = histogram else {
                    continue;
                };
                let field = format!("{place}.{name}");
                let operations = ("operations", meter.operations);
                found.equal(Rule::Latencies, &field, ("latencies", histogram.count()), operations);
            }
        }
    }
}

fn series(phase: &PhaseRecord, place: &str, found: &mut Findings) {
    if phase.slices.is_empty() {
        return;
    }
    let mut done: BTreeMap<(Role, Action), (u64, u64)> = BTreeMap::new();
    for operation in phase.segments.iter().flat_map(|segment| &segment.operations) {
        let sum = done.entry((operation.role, operation.action)).or_default();
        sum.0 += operation.meter.operations;
        sum.1 += operation.meter.bytes;
    }
    let mut series: BTreeMap<(Role, Action), (u64, u64)> = BTreeMap::new();
    for (key, slice) in phase.slices.iter().flatten() {
        let sum = series.entry(*key).or_default();
        sum.0 += slice.operations;
        sum.1 += slice.bytes;
    }
    let place = format!("{place}.slices");
    for key in done.keys().chain(series.keys()) {
        let of = |sums: &BTreeMap<_, (u64, u64)>| sums.get(key).copied().unwrap_or_default();
        let ((operations, bytes), (slice_operations, slice_bytes)) = (of(&done), of(&series));
        let name = key.1.name();
        for (what, of_slices, of_segments) in [
            ("operations", slice_operations, operations),
            ("bytes", slice_bytes, bytes),
        ] {
            let of_slices = (format!("{what} of {name}"), of_slices);
            found.equal(
                Rule::Series,
                &place,
                (&of_slices.0, of_slices.1),
                ("in the segments", of_segments),
            );
        }
    }
}
