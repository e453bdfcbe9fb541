//! How the time of a run divides into its phases and what precedes, separates and follows them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spec::Note;
use system::Fact;
use workload::Phase;

use record::run::{Check, PhaseRecord, Record, SegmentKind};

/// The time of a whole run, in nanoseconds, and its parts. The parts include those of load levels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunTime {
    /// Time from the beginning of the wait before the run until the run has released its
    /// directories: the sum of all other fields. It excludes the measurement of the overhead.
    pub whole_ns: u64,
    /// Wait before the run: until earlier writes were on their devices, or until the machine was
    /// quiet.
    pub waited_ns: u64,
    /// Phase `prepare`.
    pub prepare_ns: u64,
    /// Transactions before the measurement window.
    pub warm_up_ns: u64,
    /// Measurement window of the transactions.
    pub measured_ns: u64,
    /// Phase `delete`.
    pub delete_ns: u64,
    /// Syncs after phases, and the wait until the file system reported deleted space as free.
    pub syncs_ns: u64,
    /// Checks of names.
    pub checks_ns: u64,
    /// Remaining time, such as that of cache operations, of creating and removing directories, and
    /// of reading counters.
    pub other_ns: u64,
}

impl RunTime {
    /// The parts in the order in which they occur, with their names.
    pub fn parts(&self) -> [(&'static str, u64); 8] {
        [
            ("wait before the run", self.waited_ns),
            ("preparation", self.prepare_ns),
            ("warm-up", self.warm_up_ns),
            ("measurement", self.measured_ns),
            ("deletion", self.delete_ns),
            ("syncs", self.syncs_ns),
            ("checks", self.checks_ns),
            ("other", self.other_ns),
        ]
    }
}

/// Returns the time of a run and its parts; `None` if the end of the run is not known, because the
/// program was killed.
pub(super) fn summary(record: &Record) -> Option<RunTime> {
    let runs_ns = runs_ns(record);
    if runs_ns == 0 {
        return None;
    }
    let mut time = RunTime {
        waited_ns: waited_ns(record),
        checks_ns: checks_ns(record),
        ..RunTime::default()
    };
    for phase in record.actual.all_phases() {
        add(&mut time, phase);
    }
    let known_ns: u64 = time.parts().iter().map(|(_, ns)| ns).sum();
    // The clock of the phases and that of the run are read at slightly different moments.
    time.whole_ns = (time.waited_ns + runs_ns).max(known_ns);
    time.other_ns = time.whole_ns - known_ns;
    Some(time)
}

/// Time from the claim of the directories until their release. Load levels with own pools are runs
/// of their own, of which the first has no record of its own.
fn runs_ns(record: &Record) -> u64 {
    let levels = record.actual.sweep_steps.iter();
    let of_levels = levels.filter_map(|level| level.of_run.as_ref());
    let of_levels: u64 = of_levels.map(|run| run.during.clocks.elapsed_ns).sum();
    record.during.clocks.elapsed_ns + of_levels
}

fn waited_ns(record: &Record) -> u64 {
    let for_writes = record.hints.iter().map(|note| match note {
        Note::WaitedForWriteBack { waited_ns, .. } => *waited_ns,
        _ => 0,
    });
    let for_quiet = record.study.as_ref().and_then(|part| part.quiet.as_ref());
    for_writes.sum::<u64>() + for_quiet.map_or(0, |quiet| quiet.waited_ns)
}

fn checks_ns(record: &Record) -> u64 {
    let actual = &record.actual;
    let all: [Option<&Check>; 3] = [
        actual.check.known(),
        actual.check_across.as_ref(),
        actual.taken.as_ref(),
    ];
    all.into_iter()
        .flatten()
        .map(|check| check.duration_ns)
        .sum()
}

fn add(time: &mut RunTime, phase: &PhaseRecord) {
    for segment in &phase.segments {
        let part = match (phase.phase, segment.kind) {
            (Phase::Prepare, _) => &mut time.prepare_ns,
            (Phase::Delete, _) => &mut time.delete_ns,
            (Phase::Transactions, SegmentKind::Measured) => &mut time.measured_ns,
            (Phase::Transactions, SegmentKind::WarmUp | SegmentKind::Approach) => {
                &mut time.warm_up_ns
            }
        };
        *part += segment.ended_ns.saturating_sub(segment.began_ns);
    }
    if let Some(sync) = &phase.sync {
        let space_back_ns = match sync.space_back_ns {
            Fact::Known(ns) => ns,
            _ => 0,
        };
        time.syncs_ns += sync
            .ended_ns
            .saturating_sub(sync.began_ns)
            .max(space_back_ns);
    }
}
