//! The phases that rules check, and the collection of the rules' findings.

use std::fmt;
use std::ops::RangeInclusive;

use measure::Histogram;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use spec::RunSpec;
use system::Fact;
use workload::{End, Phase};

use super::super::values;
use record::Outcome;
use record::machine::MachineOverTime;
use record::run::{Load, OperationRecord, PhaseRecord, Record, SystemDuring};

/// A rule by which the values of a record must agree with one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// Numbers are in their range, moments are in their order, and sums do not overflow. Reading a
    /// record fails if this rule is broken.
    Consistency,
    /// The recorded fingerprint equals the one that is computed from the record's workload.
    Fingerprint,
    /// The recorded hash of the stream equals the one that is computed from the record's workload.
    StreamHash,
    /// Operations and bytes are those that the record's workload contains for the performed number
    /// of transactions.
    StreamCounts,
    /// The spec is the one that the command line resolves to.
    CommandLine,
    /// The record has the parts that its spec requires, and no others.
    Parts,
    /// Phases are in their order, and each begins after the previous one has ended.
    PhaseOrder,
    /// Moments of segments, workers, syncs and readings of the machine are in their order and
    /// within the run.
    Times,
    /// Phases with a time limit last as long as the spec requires. The recorded intervals of a
    /// phase do not extend beyond its end.
    Duration,
    /// The service times of all operations add up to at most the time for which the workers ran.
    WorkTime,
    /// Issued transactions completed, failed or were skipped, and rates include only completed
    /// transactions.
    Transactions,
    /// The workers' counts equal those of the measured segments.
    Workers,
    /// Histograms contain as many latencies as there are operations.
    Latencies,
    /// Sum, minimum and maximum of a histogram agree with its buckets.
    Histograms,
    /// The calls of an operation take at most its service time.
    Steps,
    /// The time series and the segments contain the same work.
    Series,
    /// The slowest operations have the greatest latencies of all operations.
    Slowest,
    /// The failed operations and the recorded errors agree.
    Errors,
    /// The number of arrivals in an open loop agrees with its rate.
    Arrivals,
    /// The steady-state result follows from the rounds.
    Steady,
    /// The figures of the original PostMark's report agree with the phases.
    Classic,
    /// The run checked exactly the names in the pool.
    NamesChecked,
    /// Counters of a phase are at most those of the run, and the parts of a counter add up to the
    /// counter.
    Counters,
    /// Facts of targets, space, host and ranks agree with one another.
    Environment,
}

/// Displays the lasting name of the rule.
impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// A rule that a record breaks, or that could not be checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BrokenRule {
    /// Lasting name of the rule, such as `stream-hash`.
    pub rule: Rule,
    /// JSON path of the value.
    pub field: String,
    /// Why the rule is broken, or why it could not be checked.
    pub why: String,
}

#[derive(Default)]
pub(in crate::check) struct Findings {
    pub broken: Vec<BrokenRule>,
    pub unchecked: Vec<BrokenRule>,
}

impl Findings {
    pub(super) fn unchecked(&mut self, rule: Rule, field: &str, why: impl Into<String>) {
        self.unchecked.push(BrokenRule {
            rule,
            field: field.to_owned(),
            why: why.into(),
        });
    }

    /// Returns the part of the record at the path `place`, to check its values against a rule.
    pub(super) fn at(&mut self, rule: Rule, place: impl Into<String>) -> At<'_> {
        At {
            rule,
            place: place.into(),
            found: self,
        }
    }
}

/// A value in a record that is checked against a rule. The argument `field` of the methods is
/// appended to the value's JSON path, and begins with a separator such as a dot.
pub(super) struct At<'f> {
    found: &'f mut Findings,
    rule: Rule,
    place: String,
}

impl At<'_> {
    /// Returns a field to check against the same rule.
    pub(super) fn below(&mut self, field: &str) -> At<'_> {
        self.found.at(self.rule, format!("{}{field}", self.place))
    }

    /// Returns the same value to check against another rule.
    pub(super) fn of(&mut self, rule: Rule) -> At<'_> {
        self.found.at(rule, &*self.place)
    }

    /// Reports that the rule is broken. Only the first report of each rule is kept.
    pub(super) fn broken(&mut self, field: &str, why: impl Into<String>) {
        let Self { found, rule, place } = self;
        if !found.broken.iter().any(|known| known.rule == *rule) {
            found.broken.push(BrokenRule {
                rule: *rule,
                field: format!("{place}{field}"),
                why: why.into(),
            });
        }
    }

    /// Checks that a recorded value equals the value that follows from the rest of the record. The
    /// first difference breaks the rule. If either value is null, the check is skipped.
    pub(super) fn same(
        &mut self,
        field: &str,
        recorded: impl Serialize,
        expected: impl Serialize,
        by: &str,
    ) {
        let recorded = serde_json::to_value(recorded).unwrap_or_default();
        let expected = serde_json::to_value(expected).unwrap_or_default();
        if recorded.is_null() || expected.is_null() {
            return;
        }
        let place = format!("{}{field}", self.place);
        let mut differs = |place: &str, one: Option<&Value>, other: Option<&Value>| {
            let [one, other] = [one, other].map(|value| value.unwrap_or(&Value::Null));
            let why = format!("{one}, and {by} {other}");
            self.found.at(self.rule, place).broken("", why);
        };
        values::compare(&place, Some(&recorded), Some(&expected), &mut differs);
    }

    /// Checks that a number is in a range, if it is known.
    pub(super) fn within<T: PartialOrd + fmt::Display>(
        &mut self,
        field: &str,
        recorded: impl Into<Option<T>>,
        range: RangeInclusive<T>,
        by: &str,
    ) {
        if let Some(recorded) = recorded.into().filter(|number| !range.contains(number)) {
            let (least, most) = range.into_inner();
            let why = format!("{recorded}, and from {least} to {most} {by}");
            self.broken(field, why);
        }
    }

    /// Checks that a recorded number is at most `most`, if both numbers are known.
    pub(super) fn at_most(
        &mut self,
        field: &str,
        recorded: impl Into<Option<u64>>,
        most: impl Into<Option<u64>>,
        by: &str,
    ) {
        if let (Some(recorded), Some(most)) = (recorded.into(), most.into())
            && recorded > most
        {
            self.broken(field, format!("{recorded}, and at most {most} {by}"));
        }
    }

    /// Checks that a recorded number is at least `least`, if both numbers are known.
    pub(super) fn at_least(
        &mut self,
        field: &str,
        recorded: impl Into<Option<u64>>,
        least: impl Into<Option<u64>>,
        by: &str,
    ) {
        if let (Some(recorded), Some(least)) = (recorded.into(), least.into())
            && recorded < least
        {
            self.broken(field, format!("{recorded}, and at least {least} {by}"));
        }
    }

    /// Checks that a part exists if and only if the rest of the record requires it. `is_due` is
    /// `None` if the rest of the record does not determine whether the part exists.
    pub(super) fn due(&mut self, part: &str, is_there: bool, is_due: impl Into<Option<bool>>) {
        let is_wrong = |is_due: &bool| *is_due != is_there;
        if let Some(is_due) = is_due.into().filter(is_wrong) {
            let why = match is_due {
                true => "it is missing, although the rest of the record requires it",
                false => "it is there, although the rest of the record rules it out",
            };
            self.broken(part, why);
        }
    }

    /// Checks a part that is written at the end of a phase or a run. The part may be missing if the
    /// end was not reached.
    pub(super) fn due_at_end(&mut self, part: &str, is_there: bool, is_due: bool, has_ended: bool) {
        self.due(part, is_there, (has_ended || !is_due).then_some(is_due));
    }
}

/// A list of phases (those of the run, or of one load level), with facts of the run that contains
/// them.
pub(super) struct Scope<'a> {
    pub(super) record: &'a Record,
    pub(super) spec: &'a RunSpec,
    pub(super) phases: &'a [PhaseRecord],
    /// JSON path of the value that contains the phases.
    pub(super) place: String,
    /// Arrival rate of an open loop, in transactions a second.
    pub(super) per_second: Option<f64>,
    pub(super) workers: u32,
    /// Activity of the system during the run that contains the phases.
    pub(super) during: &'a SystemDuring,
    /// Whether `phases` are all phases of the run.
    pub(super) is_run: bool,
}

/// Minimum tolerance between the clocks of different ranks, in nanoseconds.
const CLOCKS_NS: u64 = 1_000_000;

impl Scope<'_> {
    pub(super) fn place(&self, index: usize) -> String {
        format!("{}.phases[{index}]", self.place)
    }

    /// Iterates over the kernel's counters over time: one value for each phase in which they were
    /// read.
    pub(super) fn machines(&self) -> impl Iterator<Item = &MachineOverTime> {
        self.phases
            .iter()
            .filter_map(|phase| phase.machine.as_ref())
    }

    pub(super) fn has_ranks(&self) -> bool {
        self.record.cluster.is_some()
    }

    /// Returns the tolerance between moments of different ranks, in nanoseconds; 0 without ranks.
    pub(super) fn clocks_ns(&self) -> u64 {
        let Some(cluster) = &self.record.cluster else {
            return 0;
        };
        let clocks = cluster
            .ranks
            .iter()
            .flat_map(|rank| [&rank.clock.begin, &rank.clock.end]);
        let errors = clocks.filter_map(Fact::known).map(|clock| clock.error_ns);
        CLOCKS_NS.saturating_add(errors.max().unwrap_or(0).saturating_mul(2))
    }

    /// Returns the number of transactions that the workload requests of all workers together.
    pub(super) fn asked_for(&self) -> u64 {
        let workload = &self.spec.workload;
        match workload.replay() {
            Some(_) => workload.transactions_of_all(),
            None => workload.transactions().saturating_mul(self.workers.into()),
        }
    }

    pub(super) fn is_complete(&self) -> bool {
        self.record.actual.outcome == Outcome::Complete
    }

    /// Whether the transactions completed, and the pool did not run dry.
    pub(super) fn has_ended(&self) -> bool {
        self.record.actual.end.known() == Some(&End::Complete)
    }

    pub(super) fn is_open(&self, phase: &PhaseRecord) -> bool {
        let is_open = self.per_second.is_some() || self.spec.workload.has_traced_times();
        phase.phase == Phase::Transactions && is_open
    }
}

/// Iterates over the operations of all segments, with their JSON paths relative to the phase.
pub(super) fn placed_operations(
    phase: &PhaseRecord,
) -> impl Iterator<Item = (String, &OperationRecord)> {
    let segments = phase.segments.iter().enumerate();
    segments.flat_map(|(number, segment)| {
        let operations = segment.operations.iter().enumerate();
        operations
            .map(move |(index, one)| (format!(".segments[{number}].operations[{index}]"), one))
    })
}

/// Returns the service times of operations. If no separate service times are recorded, the
/// latencies are the service times.
pub(super) fn service(operation: &OperationRecord) -> &Histogram {
    operation
        .meter
        .service
        .as_ref()
        .unwrap_or(&operation.meter.latency)
}

/// Returns the service time of the longest operation of a phase, in nanoseconds.
pub(super) fn longest_ns(phase: &PhaseRecord) -> u64 {
    let longest = phase
        .all_operations()
        .filter_map(|operation| service(operation).max_ns());
    longest.max().unwrap_or(0)
}

/// Returns the phases of the run, and the phases of each load level.
pub(super) fn scopes(record: &Record) -> Vec<Scope<'_>> {
    let actual = &record.actual;
    let workers = record.spec.workload.workers.count();
    let mut scopes = vec![Scope {
        record,
        spec: &record.spec,
        phases: &actual.phases,
        place: "record.actual".to_owned(),
        per_second: record.spec.drive.rate(),
        workers,
        during: &record.during,
        is_run: actual.sweep_steps.is_empty(),
    }];
    for (index, step) in actual.sweep_steps.iter().enumerate() {
        let of_run = step.of_run.as_deref();
        let is_of_counts = matches!(step.load, Load::Workers(_) | Load::Ranks(_));
        scopes.push(Scope {
            record,
            spec: &record.spec,
            phases: &step.phases,
            place: format!("record.actual.sweep_steps[{index}]"),
            per_second: step.load.rate(),
            workers: if is_of_counts { step.workers } else { workers },
            during: of_run.map_or(&record.during, |run| &run.during),
            is_run: false,
        });
    }
    scopes
}
