//! What rules speak of, and where they tell what they have found.

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

/// A rule of consistency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// Numbers are in their range, moments in their order, and sums can be made: what every reader
    /// of a record asks for.
    Consistency,
    /// The fingerprint is that of the record's workload.
    Fingerprint,
    /// The hash of the stream is that of the record's workload.
    StreamHash,
    /// Operations and bytes are those of as many transactions of the record's workload.
    StreamCounts,
    /// The spec is the one that the command line comes to.
    CommandLine,
    /// The record has the parts that its spec asks for, and no others.
    Parts,
    /// Phases are in their order, and one begins after the one before has ended.
    PhaseOrder,
    /// Moments of segments, workers, syncs and readings of the machine follow one another, and lie
    /// within the run.
    Times,
    /// Phases last as long as the spec asks for, and as what was done over their time.
    Duration,
    /// The workers' operations fit into the workers' time.
    WorkTime,
    /// What was issued is completed, failed or skipped, and rates are of what was completed.
    Transactions,
    /// What the workers did is what was done in the measured segments.
    Workers,
    /// Histograms have as many latencies as there are operations.
    Latencies,
    /// Sum, least and greatest duration of a histogram are those of its buckets.
    Histograms,
    /// The steps of operations make up their latencies.
    Steps,
    /// What was done over time is what was done in the segments.
    Series,
    /// The slowest operations are the greatest latencies.
    Slowest,
    /// Failed operations are errors, and errors are failed operations.
    Errors,
    /// Arrivals of an open loop are as many as its rate brings.
    Arrivals,
    /// What was found of steady state is what the rounds came to.
    Steady,
    /// The figures of the original's report are those of the phases.
    Classic,
    /// The names that were checked are those of the pool.
    NamesChecked,
    /// Counters of a phase are within those of the run, and parts of a counter add up.
    Counters,
    /// Facts of targets, room, host and ranks agree with one another.
    Environment,
}

/// Its lasting name.
impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
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

    /// A place that is held against a rule.
    pub(super) fn at(&mut self, rule: Rule, place: impl Into<String>) -> At<'_> {
        At {
            rule,
            place: place.into(),
            found: self,
        }
    }
}

/// A place of a record that is held against a rule. Fields are below it: they begin with what
/// separates them, such as a point.
pub(super) struct At<'f> {
    found: &'f mut Findings,
    rule: Rule,
    place: String,
}

impl At<'_> {
    /// A field that is held against the same rule.
    pub(super) fn below(&mut self, field: &str) -> At<'_> {
        self.found.at(self.rule, format!("{}{field}", self.place))
    }

    /// The same place, held against another rule.
    pub(super) fn of(&mut self, rule: Rule) -> At<'_> {
        self.found.at(rule, &*self.place)
    }

    /// Takes the first break of a rule: others of the same rule tell no more.
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

    /// What is recorded is what follows from something else in the record; the first place in which
    /// the two differ breaks the rule. As a whole either may be unknown.
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

    /// A number is in a range, as far as it is known.
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

    /// A number is no more than another, as far as both are known.
    pub(super) fn at_most(
        &mut self,
        field: &str,
        recorded: impl Into<Option<u64>>,
        most: impl Into<Option<u64>>,
        by: &str,
    ) {
        if let (Some(recorded), Some(most)) = (recorded.into(), most.into()) {
            if recorded > most {
                self.broken(field, format!("{recorded}, and at most {most} {by}"));
            }
        }
    }

    /// A number is no less than another, as far as both are known.
    pub(super) fn at_least(
        &mut self,
        field: &str,
        recorded: impl Into<Option<u64>>,
        least: impl Into<Option<u64>>,
        by: &str,
    ) {
        if let (Some(recorded), Some(least)) = (recorded.into(), least.into()) {
            if recorded < least {
                self.broken(field, format!("{recorded}, and at least {least} {by}"));
            }
        }
    }

    /// A part is there, or is not, as the rest of the record requires; `None` where nothing follows
    /// from that.
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

    /// The same of what is made at the end: it may be missing where that was not reached.
    pub(super) fn due_at_end(&mut self, part: &str, is_there: bool, is_due: bool, has_ended: bool) {
        self.due(part, is_there, (has_ended || !is_due).then_some(is_due));
    }
}

/// A list of phases with what is known of the run that they are of.
pub(super) struct Scope<'a> {
    pub(super) record: &'a Record,
    pub(super) spec: &'a RunSpec,
    pub(super) phases: &'a [PhaseRecord],
    /// Where they are in the record.
    pub(super) place: String,
    /// Arrivals a second, where transactions are due by themselves.
    pub(super) per_second: Option<f64>,
    /// How many workers there are.
    pub(super) workers: u32,
    /// The machine while the run went on that they are of.
    pub(super) during: &'a SystemDuring,
    /// Whether nothing else is in that run.
    pub(super) is_run: bool,
}

/// Clocks of different ranks may be off by this where nothing is known, in nanoseconds.
const CLOCKS_NS: u64 = 1_000_000;

impl Scope<'_> {
    pub(super) fn place(&self, index: usize) -> String {
        format!("{}.phases[{index}]", self.place)
    }

    /// What the kernel counted over the phases' time.
    pub(super) fn machines(&self) -> impl Iterator<Item = &MachineOverTime> {
        self.phases
            .iter()
            .filter_map(|phase| phase.machine.as_ref())
    }

    pub(super) fn has_ranks(&self) -> bool {
        self.record.cluster.is_some()
    }

    /// Moments of ranks are on the clock of the first, as far as that is known.
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

    /// The transactions that all workers were to perform.
    pub(super) fn asked_for(&self) -> u64 {
        let each = self.spec.workload.transactions();
        each.saturating_mul(self.workers.into())
    }

    /// Whether the run came to its end.
    pub(super) fn is_complete(&self) -> bool {
        self.record.actual.outcome == Outcome::Complete
    }

    /// Whether its transactions came to their end, and the pool did not run dry.
    pub(super) fn has_ended(&self) -> bool {
        self.record.actual.end.known() == Some(&End::Complete)
    }

    /// Whether transactions of a phase are due by themselves.
    pub(super) fn is_open(&self, phase: &PhaseRecord) -> bool {
        phase.phase == Phase::Transactions && self.per_second.is_some()
    }
}

/// The operations of all segments, each with its field in the phase.
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

/// The times that operations took from issue to completion, as far as that is known.
pub(super) fn service(operation: &OperationRecord) -> &Histogram {
    operation
        .meter
        .service
        .as_ref()
        .unwrap_or(&operation.meter.latency)
}

/// The longest operation of a phase, in nanoseconds.
pub(super) fn longest_ns(phase: &PhaseRecord) -> u64 {
    let longest = phase
        .all_operations()
        .filter_map(|operation| service(operation).max_ns());
    longest.max().unwrap_or(0)
}

/// The phases of the run, and those of each step of a sweep.
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
