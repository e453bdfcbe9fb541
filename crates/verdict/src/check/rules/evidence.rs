//! Checks the counters of devices during a phase and during the sync after it, and the sample of
//! the page cache.

use record::evidence::Residency;
use record::run::PhaseRecord;
use system::counters::{DeviceReading, DeviceRole};
use system::{Accounted, Fact};

use super::columns::{Columns, fields, units};
use super::laws;
use super::scope::{At, Findings, Rule, Scope};

/// Maximum number of files in a residency sample, which shows how much of the pool is in the page
/// cache.
const SAMPLE_MAX: u64 = 100;
/// Unit in which the kernel counts the data that a device moves, in bytes.
const SECTOR_BYTES: u64 = 512;

/// Checks the counters of a phase and of the sync after it: they come from the run's devices, and
/// are at most the run's counters.
pub(super) fn check(scope: &Scope<'_>, phase: &PhaseRecord, whole: &Columns, at: &mut At<'_>) {
    let Some(evidence) = phase.evidence.as_ref().filter(|_| !scope.has_ranks()) else {
        return;
    };
    let mut at = at.below(".evidence");
    if let Some(residency) = &evidence.residency {
        sample(scope, residency, &mut at.below(".residency"));
    }
    let mut sums = Columns::default();
    for (field, counted) in [
        (".performing", Some(&evidence.performing)),
        (".syncing", evidence.syncing.as_ref()),
    ] {
        if let Some(counted) = counted {
            devices(scope, counted, &mut sums, &mut at.below(field));
        }
    }
    sums.within(whole, &mut at);
}

/// Checks that devices are those of the whole run, in the same order, and move whole sectors.
fn devices(scope: &Scope<'_>, counted: &Accounted, sums: &mut Columns, at: &mut At<'_>) {
    fn names(devices: &Fact<Vec<DeviceReading>>) -> Option<Vec<(&str, DeviceRole)>> {
        let devices = devices.known()?.iter();
        Some(devices.map(|one| (&*one.name, one.role)).collect())
    }
    let (devices, of_run) = (&counted.devices, &scope.during.counted.devices);
    at.same(".devices", names(devices), names(of_run), "in the run");
    for DeviceReading { name, counters, .. } in devices.known().into_iter().flatten() {
        let counters = fields(&counters.known());
        sums.add(&format!("devices.{name}"), &counters);
        let mut at = at.below(&format!(".devices: {name}"));
        units([1, SECTOR_BYTES], "devices", &counters, &mut at);
    }
}

fn sample(scope: &Scope<'_>, residency: &Residency, at: &mut At<'_>) {
    let workload = &scope.spec.workload;
    let largest = workload.content_bytes_max();
    let page = scope.record.host.page_size_bytes.max(1);
    for (name, sample) in [(".before", &residency.before), (".after", &residency.after)] {
        let Fact::Known(sample) = sample else {
            continue;
        };
        let mut at = at.below(name);
        laws::check(&laws::OF_SAMPLE, sample, &mut at);
        let most = sample.files.saturating_mul(largest.div_ceil(page));
        at.at_most(".pages", sample.pages, most, "of its files");
        at.within(".files", sample.files, 1..=SAMPLE_MAX, "of a sample");
    }
}

/// Checks that a sample contains at most 1 % of the existing files (but one file is allowed), and
/// at most 100 files.
pub(super) fn sampled(scope: &Scope<'_>, found: &mut Findings) {
    let spec = scope.spec;
    let workers = u64::from(scope.workers);
    let is_alone = scope.is_run && !scope.has_ranks() && !spec.workload.workers.is_shared();
    let has_errors = !scope.record.actual.errors.is_empty();
    if !is_alone || spec.keeping.reuse || has_errors || workers == 0 {
        return;
    }
    let most = (SAMPLE_MAX / workers * workers).max(1);
    let mut files = 0_u64;
    for (index, phase) in scope.phases.iter().enumerate() {
        let before = files;
        for operation in phase.all_operations() {
            let count = operation.meter.operations;
            files = match operation.action.changes_count() {
                Some(true) => files.saturating_add(count),
                Some(false) => files.saturating_sub(count),
                None => files,
            };
        }
        let evidence = phase.evidence.as_ref().filter(|_| phase.complete);
        let Some(residency) = evidence.and_then(|evidence| evidence.residency.as_ref()) else {
            continue;
        };
        for (name, sample, files) in [
            ("before", &residency.before, before),
            ("after", &residency.after, files),
        ] {
            // The sample may contain fewer files: a worker contributes only its own files, and a
            // file may have been renamed.
            let sampled = sample.known().map_or(0, |sample| sample.files);
            let place = format!("{}.evidence.residency.{name}", scope.place(index));
            let most = (files / 100).clamp(1, most);
            found
                .at(Rule::Counters, place)
                .at_most(".files", sampled, most, "of a hundredth");
        }
    }
}
