//! Merges the slices of a record, which are its shortest time intervals, into the longer time
//! intervals of a chart.

use std::collections::BTreeMap;

use measure::{LATENCY_PRECISION_BITS, SparseHistogram};
use record::{Action, PhaseRecord, Record};

/// Approximate maximum number of points of a line: a screen shows no more, and the file stays
/// small.
pub(super) const POINTS_MAX: usize = 240;

/// Operations of one kind in a time interval.
#[derive(Default)]
pub(crate) struct Done {
    pub operations: u64,
    pub(super) bytes: u64,
    pub(super) latency: SparseHistogram,
}

/// All operations in a time interval.
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

    /// Appends the interval that follows `self`.
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

/// The phases in order of time. Load levels that were separate runs are left out, because their
/// times do not refer to the record's origin.
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

pub(super) fn span_ns(phase: &PhaseRecord) -> (u64, u64) {
    phase.span_ns().unwrap_or_default()
}

/// Merges slices so that all phases together have about `most` time intervals, without latencies.
pub(crate) fn stretches(phases: &[&PhaseRecord], most: usize) -> Vec<Stretch> {
    put_together(phases, slices(phases).div_ceil(most).max(1), false)
}

/// Merges slices as [`stretches`] does, but with their latencies. Slices that share a histogram
/// stay together.
pub(super) fn stretches_of_latencies(phases: &[&PhaseRecord], most: usize) -> Vec<Stretch> {
    let sharing = phases.iter().map(|phase| phase.slices.sharing());
    let sharing = sharing.max().unwrap_or(1);
    // If the multiple overflows, `sharing` exceeds the number of slices. Each phase then becomes
    // one interval.
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
                // The last interval ends at the end of the phase.
                ended_ns: from_ns.saturating_add(wide_ns).min(ended_ns.max(from_ns)),
                ..Stretch::default()
            };
            for ((_, action), meter) in slices.iter().copied().flatten() {
                let done = stretch.done.entry(*action).or_default();
                done.operations = done.operations.saturating_add(meter.operations);
                done.bytes = done.bytes.saturating_add(meter.bytes);
                if with_latencies {
                    // Older records contain finer histograms than a chart shows, and merging such
                    // fine histograms takes long.
                    done.latency
                        .merge(&meter.latency.coarse(LATENCY_PRECISION_BITS));
                }
                stretch.failed = stretch.failed.saturating_add(meter.failed);
            }
            // A rest of less than half an interval at the end of a phase is added to the interval
            // before it.
            let is_rest = stretch.ended_ns - stretch.began_ns < wide_ns / 2;
            match stretches.last_mut() {
                Some(before) if is_rest && number > 0 => Stretch::add(before, stretch),
                _ => stretches.push(stretch),
            }
        }
        // The slices end with the last slice in which an operation completed. The rest of the phase
        // is one interval without operations.
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
