//! What devices counted while a phase performed and while it was synced, and the sample of the
//! page cache.

use record::evidence::Residency;
use record::run::PhaseRecord;
use system::counters::DeviceReading;
use system::{Accounted, Fact};

use super::columns::{Columns, fields};
use super::laws;
use super::scope::{Findings, Rule, Scope};

/// The most files of a sample of the pool.
const SAMPLE_MAX: u64 = 100;
/// The kernel's unit of what a device moves, in bytes.
const SECTOR_BYTES: u64 = 512;

/// Counters of a phase and of the sync after it are within those of the run, and of as many
/// devices.
pub(super) fn check(
    scope: &Scope<'_>,
    phase: &PhaseRecord,
    place: &str,
    whole: &Columns,
    found: &mut Findings,
) {
    let Some(evidence) = phase.evidence.as_ref().filter(|_| !scope.has_ranks()) else {
        return;
    };
    let place = format!("{place}.evidence");
    if let Some(residency) = &evidence.residency {
        sample(scope, residency, &place, found);
    }
    let mut sums = Columns::default();
    for (name, accounted) in [
        ("performing", Some(&evidence.performing)),
        ("syncing", evidence.syncing.as_ref()),
    ] {
        if let Some(accounted) = accounted {
            devices(
                scope,
                accounted,
                &format!("{place}.{name}.devices"),
                &mut sums,
                found,
            );
        }
    }
    sums.within(whole, "the phase", &place, found);
}

/// Devices are those of the whole run, in their order, and move whole sectors.
fn devices(
    scope: &Scope<'_>,
    accounted: &Accounted,
    place: &str,
    sums: &mut Columns,
    found: &mut Findings,
) {
    let Fact::Known(devices) = &accounted.devices else {
        return;
    };
    if let Fact::Known(of_run) = &scope.during.counted.devices {
        let names = |devices: &[DeviceReading]| -> Vec<String> {
            let names = devices
                .iter()
                .map(|device| format!("{} {:?}", device.name, device.role));
            names.collect()
        };
        found
            .at(Rule::Counters, place)
            .same(&names(devices), &names(of_run), "in the run");
    }
    for DeviceReading { name, counters, .. } in devices {
        let Fact::Known(counters) = counters else {
            continue;
        };
        sums.add(&format!("devices.{name}"), &fields(counters));
        for (bytes, what) in [
            (&counters.read_bytes, "reads"),
            (&counters.written_bytes, "writes"),
            (&counters.discarded_bytes, "discards"),
        ] {
            if let Some(bytes) = bytes.known().filter(|bytes| **bytes % SECTOR_BYTES != 0) {
                found.broken(
                    Rule::Counters,
                    place,
                    format!("{name} had {what} of {bytes} bytes"),
                );
            }
        }
    }
}

fn sample(scope: &Scope<'_>, residency: &Residency, place: &str, found: &mut Findings) {
    let workload = &scope.spec.workload;
    let largest = workload.content_bytes_max();
    let page = scope.record.host.page_size_bytes.max(1);
    for (name, sample) in [("before", &residency.before), ("after", &residency.after)] {
        let Fact::Known(sample) = sample else {
            continue;
        };
        let place = format!("{place}.residency.{name}");
        laws::check(&laws::OF_SAMPLE, Rule::Counters, sample, &place, found);
        let (files, pages) = (sample.files, sample.pages);
        let most = files.saturating_mul(largest.div_ceil(page));
        if pages > most || !(1..=SAMPLE_MAX).contains(&files) {
            let why = format!("{files} files have {pages} pages");
            found.broken(Rule::Counters, place, why);
        }
    }
}

/// A sample has a hundredth of the files that there were, and no more than a hundred.
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
            // Each worker gives what it has, and a file may be gone under another name.
            let sampled = sample.known().map_or(0, |sample| sample.files);
            if sampled > (files / 100).clamp(1, most) {
                let why = format!(
                    "a sample of {sampled} of {files} files, of which a hundredth is taken at most"
                );
                let place = format!("{}.evidence.residency.{name}", scope.place(index));
                found.broken(Rule::Counters, place, why);
            }
        }
    }
}
