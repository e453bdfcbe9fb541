//! Slices of a record put together to the stretches of time that are drawn.

use std::collections::BTreeMap;

use measure::{LATENCY_PRECISION_BITS, SparseHistogram};
use record::{Action, PhaseRecord, Record};

/// No line has more points: a screen shows no more, and the file stays small.
pub(super) const POINTS_MAX: usize = 240;

/// Operations of one kind in a stretch of time.
#[derive(Default)]
pub(crate) struct Done {
    pub operations: u64,
    pub(super) bytes: u64,
    pub(super) latency: SparseHistogram,
}

/// What was done in a stretch of time.
#[derive(Default)]
pub(crate) struct Stretch {
    pub began_ns: u64,
    pub ended_ns: u64,
    pub(super) failed: u64,
    pub(super) done: BTreeMap<Action, Done>,
}

impl Stretch {
    pub(super) fn seconds(&self) -> f64 {
        self.ended_ns.saturating_sub(self.began_ns) as f64 / 1e9
    }

    pub(super) fn middle_s(&self) -> f64 {
        (self.began_ns as f64 + self.ended_ns as f64) / 2e9
    }

    /// Takes the one that follows.
    fn add(&mut self, next: Self) {
        self.ended_ns = next.ended_ns;
        self.failed = self.failed.saturating_add(next.failed);
        for (action, more) in next.done {
            let done = self.done.entry(action).or_default();
            done.operations = done.operations.saturating_add(more.operations);
            done.bytes = done.bytes.saturating_add(more.bytes);
            done.latency.merge(&more.latency);
        }
    }

    pub(crate) fn per_second(&self, count: impl Fn(&Done) -> u64) -> Option<f64> {
        let all: f64 = self.done.values().map(|done| count(done) as f64).sum();
        (self.seconds() > 0.0).then(|| all / self.seconds())
    }
}

/// The phases whose moments count from the record's own origin, in the order of time.
pub(crate) fn phases(record: &Record) -> Vec<&PhaseRecord> {
    let steps = record
        .actual
        .sweep_steps
        .iter()
        .filter(|step| step.of_run.is_none());
    let mut phases: Vec<&PhaseRecord> = record.actual.phases.iter().collect();
    phases.extend(steps.flat_map(|step| &step.phases));
    phases.sort_by_key(|phase| span_ns(phase).0);
    phases
}

/// When it began and ended.
pub(super) fn span_ns(phase: &PhaseRecord) -> (u64, u64) {
    phase.span_ns().unwrap_or_default()
}

/// Slices put together, so that there are no more than so many of all phases, without their
/// latencies.
pub(crate) fn stretches(phases: &[&PhaseRecord], most: usize) -> Vec<Stretch> {
    put_together(phases, slices(phases).div_ceil(most).max(1), false)
}

/// The same with latencies, of whole stretches that share them.
pub(super) fn stretches_of_latencies(phases: &[&PhaseRecord], most: usize) -> Vec<Stretch> {
    let sharing = phases.iter().map(|phase| phase.slices.sharing());
    let sharing = sharing.max().unwrap_or(1);
    // More than there are is all of them.
    let together = slices(phases).div_ceil(most).max(1);
    let together = together
        .checked_next_multiple_of(sharing)
        .unwrap_or(sharing);
    put_together(phases, together, true)
}

fn slices(phases: &[&PhaseRecord]) -> usize {
    phases.iter().map(|phase| phase.slices.len()).sum()
}

fn put_together(phases: &[&PhaseRecord], together: usize, with_latencies: bool) -> Vec<Stretch> {
    let mut stretches: Vec<Stretch> = Vec::new();
    for phase in phases {
        let (began_ns, ended_ns) = span_ns(phase);
        let slices: Vec<_> = phase.slices.iter().collect();
        let wide_ns = phase.slices.width_ns().saturating_mul(together as u64);
        for (number, slices) in (0_u64..).zip(slices.chunks(together)) {
            let from_ns = began_ns.saturating_add(number.saturating_mul(wide_ns));
            let mut stretch = Stretch {
                began_ns: from_ns,
                // The last one is cut short by the phase's end.
                ended_ns: from_ns.saturating_add(wide_ns).min(ended_ns.max(from_ns)),
                ..Stretch::default()
            };
            for ((_, action), meter) in slices.iter().copied().flatten() {
                let done = stretch.done.entry(*action).or_default();
                done.operations = done.operations.saturating_add(meter.operations);
                done.bytes = done.bytes.saturating_add(meter.bytes);
                if with_latencies {
                    // Those of older records are finer than a picture shows, and take long to be
                    // merged.
                    done.latency
                        .merge(&meter.latency.coarse(LATENCY_PRECISION_BITS));
                }
                stretch.failed = stretch.failed.saturating_add(meter.failed);
            }
            // So short a rest of a phase is no rate of its own.
            let is_rest = stretch.ended_ns - stretch.began_ns < wide_ns / 2;
            match stretches.last_mut() {
                Some(before) if is_rest && number > 0 => Stretch::add(before, stretch),
                _ => stretches.push(stretch),
            }
        }
        // Slices end with the last one in which something was done.
        let told_ns =
            began_ns.saturating_add((slices.len() as u64).saturating_mul(phase.slices.width_ns()));
        if !slices.is_empty() && ended_ns.saturating_sub(told_ns) >= phase.slices.width_ns() {
            stretches.push(Stretch {
                began_ns: told_ns,
                ended_ns,
                ..Stretch::default()
            });
        }
    }
    stretches
}
