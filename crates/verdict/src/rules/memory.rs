//! Whether memory did the work where the run says that a device did.

use spec::{Cache, Durability};
use system::{Class, Device, Fact};
use workload::{Action, Phase, Work, Workload};

use super::Reason;
use super::limits::{SERVED_BY_DEVICE_COLD_MIN, SERVED_BY_DEVICE_DIRECT_MIN};
use crate::summary::{Behind, ReadsServed, Surprise, operations, reads};
use record::run::{LocationRecord, Record};

pub(super) fn reasons(record: &Record) -> Vec<Reason> {
    let served_by = reads::of_transactions(record);
    let found = [
        fits_in_memory(record, served_by.as_ref()),
        served_by
            .as_ref()
            .and_then(|served_by| not_as_asked(record, served_by)),
        served_by
            .as_ref()
            .and_then(|served_by| memory_beneath(record, served_by)),
        durability_in_memory(record),
    ];
    found.into_iter().flatten().collect()
}

fn says_cold(record: &Record) -> bool {
    matches!(record.spec.cache, Cache::Cold | Cache::ColdData) && !record.spec.direct
}

/// What the run asks for that its reads must then come from a device for.
fn asked_of_device(record: &Record) -> Option<&'static str> {
    match record.spec.direct {
        true => Some("direct"),
        false => says_cold(record).then(|| record.spec.cache.name()),
    }
}

/// What fits is read from the device once; the more is read twice, the less is cold. Where as much
/// came from there as a cold cache needs, little was read twice.
fn fits_in_memory(record: &Record, served_by: Option<&ReadsServed>) -> Option<Reason> {
    let fraction = served_by.and_then(ReadsServed::fetched_fraction);
    if !says_cold(record) || fraction.is_some_and(|fraction| fraction >= SERVED_BY_DEVICE_COLD_MIN)
    {
        return None;
    }
    let cache_bytes = record.host.cache_limit_bytes().into_known()?;
    let pool_bytes = pool_bytes(record);
    (pool_bytes <= cache_bytes).then(|| Reason::FitsInMemory {
        cache: record.spec.cache.name().to_owned(),
        pool_bytes,
        cache_bytes,
    })
}

/// Contents of all pools when the transactions began: what was created before, or, where the pool
/// was there already, what its sizes come to on the average.
pub(super) fn pool_bytes(record: &Record) -> u64 {
    let mut phases = record.actual.phases.iter();
    if let Some(prepare) = phases.find(|phase| phase.phase == Phase::Prepare) {
        return operations(prepare)
            .filter(|operation| operation.action == Action::Create)
            .map(|operation| operation.meter.bytes)
            .sum();
    }
    expected_bytes(&record.spec.workload)
}

fn expected_bytes(workload: &Workload) -> u64 {
    let mean = match &workload.work {
        Work::Classic(classic) => {
            (classic.size_low_bytes as f64 + classic.size_high_bytes as f64) / 2.0
        }
        Work::Mix(mix) => mix.sizes.mean(),
    };
    let pools = if workload.workers.is_shared() {
        1
    } else {
        workload.workers.count()
    };
    (mean * workload.files() as f64 * f64::from(pools)) as u64
}

/// What reads got from the device, where that is not what the run says of them. What it does not
/// speak of is as it is.
fn not_as_asked(record: &Record, served_by: &ReadsServed) -> Option<Reason> {
    let device_bytes = *served_by.fetched_bytes.known()?;
    let read_bytes = served_by.read_bytes;
    if served_by.surprise == Some(Surprise::MuchThoughWarm) {
        return Some(Reason::ReadsFromDevice {
            device_bytes,
            read_bytes,
        });
    }
    let past_the_cache =
        record.spec.direct && served_by.fetched_fraction()? < SERVED_BY_DEVICE_DIRECT_MIN;
    let is_less = past_the_cache || served_by.surprise == Some(Surprise::LittleThoughCold);
    (is_less && is_counted(&record.locations)).then_some(Reason::ReadsFromMemory {
        asked: asked_of_device(record)?.to_owned(),
        device_bytes,
        read_bytes,
    })
}

/// Memory below what the file system takes for its device: a disk of memory, or the page cache of
/// a loop device's file. Of that one, what the devices beneath it read is all that can have come
/// from them.
fn memory_beneath(record: &Record, served_by: &ReadsServed) -> Option<Reason> {
    let asked = asked_of_device(record).filter(|_| served_by.read_bytes > 0)?;
    record.locations.iter().find_map(|location| {
        let target = location.target.known()?;
        let device = target.device.known()?;
        let in_memory = Behind::of_target(target) == Fact::Known(Behind::Memory);
        let caching = device.caching_loop().filter(|_| !in_memory);
        (in_memory || caching.is_some()).then(|| Reason::MemoryBeneath {
            asked: asked.to_owned(),
            path: location.directory.clone(),
            place: target.one_line(),
            loop_device: caching.map(|device| device.name.clone()),
            device_bytes: caching.and_then(|_| served_by.beneath_loop_bytes.known().copied()),
            read_bytes: served_by.read_bytes,
        })
    })
}

/// Whether the kernel counts for this process what it fetches from all of these: of networks, FUSE
/// and layers it may not.
fn is_counted(locations: &[LocationRecord]) -> bool {
    locations.iter().all(|location| {
        let class = location
            .target
            .known()
            .and_then(|target| target.class.known());
        matches!(class, Some(Class::Block | Class::Memory))
    })
}

fn durability_in_memory(record: &Record) -> Option<Reason> {
    let durability = record.spec.durability;
    if durability == Durability::None {
        return None;
    }
    record.locations.iter().find_map(|location| {
        let target = location.target.known()?;
        let is_memory = target.class.known() == Some(&Class::Memory);
        let is_beneath = target.device.known().is_some_and(Device::is_memory);
        (is_memory || is_beneath).then(|| Reason::DurabilityInMemory {
            durability: durability.to_string(),
            path: location.directory.clone(),
            place: target.one_line(),
            is_beneath: !is_memory,
        })
    })
}
