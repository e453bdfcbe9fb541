//! **`memory-beneath`** (DOUBTFUL, INVALID). The run requested reads from the device, but memory is
//! below the file system's device: the device itself is memory (`ram0`, an image on tmpfs), or a
//! loop device reads its file through the page cache (it has no direct I/O). The kernel counts such
//! reads as reads of a device. *Threshold*: with `--cache cold`, `cold-data` or `--direct`, any
//! such device below a location, if contents were read. INVALID: the devices below a loop device
//! read less than 1 % of what the reads returned (as in `reads-from-memory`). Their counters
//! include other programs' reads, so the run itself may have read even less from these devices.
//! *Evidence*: the devices of each location down to the last (`loop/dio` in sysfs), and their
//! counters. Other layers that cache (bcache, a controller, a hypervisor's host) are not detected.
//! *What to do*: `losetup --direct-io=on` on a file system that supports it, or a target on a disk.

use system::Target;

use super::memory::{READS_INVALID, asked_of_device, option};
use super::rule::*;
use crate::summary::reads::{self, Behind};

/// The device was to serve the reads, but memory is below the file system's device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct MemoryBeneath {
    /// The requested cache state, or `direct`.
    pub asked: String,
    /// Directory of the location.
    pub path: String,
    /// File system and devices of the location.
    pub place: String,
    /// The loop device that reads its file through the page cache; null if the device itself is
    /// memory.
    pub loop_device: Option<String>,
    /// Bytes that the devices below the loop device read; null if that is not known.
    pub device_bytes: Option<u64>,
    /// Bytes that the reads returned.
    pub read_bytes: u64,
}

impl Rule for MemoryBeneath {
    /// Finds a device of memory, or a loop device that caches its file. The bytes that the devices
    /// below such a loop device read are an upper bound: they include reads of other programs.
    fn find(record: &Record, _: &Seen) -> Option<Self> {
        let served_by = reads::of_transactions(record)?;
        let asked = asked_of_device(&record.spec).filter(|_| served_by.read_bytes > 0)?;
        record.locations.iter().find_map(|location| {
            let target = location.target.known()?;
            let bytes = (
                served_by.beneath_loop_bytes.known().copied(),
                served_by.read_bytes,
            );
            Self::of_target(asked, &location.directory, target, bytes)
        })
    }

    /// The bytes that devices below a loop device read are not known before a run.
    fn foresee(planned: &Planned<'_>) -> Option<Foreseen<Self>> {
        let read_bytes = planned.bytes_read();
        let asked = asked_of_device(planned.spec()).filter(|_| read_bytes > 0)?;
        let mut targets = planned.record.targets.iter();
        let found = targets
            .find_map(|target| Self::of_target(asked, &target.path, target, (None, read_bytes)))?;
        Some(Foreseen::new(found, Occurs::Always))
    }

    fn level(&self) -> Level {
        let fraction = |bytes| share(bytes, self.read_bytes);
        let fraction = self.device_bytes.map(fraction);
        Level::invalid_if(fraction.is_some_and(|fraction| fraction < READS_INVALID))
    }

    fn sentence(&self) -> String {
        let Self { path, place, .. } = self;
        let asked = option(&self.asked);
        let Some(name) = &self.loop_device else {
            return format!("{asked}, but the device of {path} is memory ({place})");
        };
        let beneath = self.device_bytes.map(|device_bytes| {
            format!(
                ", and the devices below it read {} of {} ({})",
                bytes(device_bytes as f64),
                bytes(self.read_bytes as f64),
                percent(share(device_bytes, self.read_bytes))
            )
        });
        format!(
            "{asked}, but the loop device /dev/{name} of {path} caches{}",
            beneath.unwrap_or_default()
        )
    }

    fn advice(&self) -> &'static str {
        match self.loop_device {
            None => "use a --target on a disk",
            Some(_) => "give the loop device direct I/O (losetup --direct-io=on)",
        }
    }
}

impl MemoryBeneath {
    /// Checks one target. `device_bytes` were read by the devices below a loop device, and
    /// `read_bytes` were returned by the reads of the run.
    fn of_target(
        asked: &str,
        path: &str,
        target: &Target,
        (device_bytes, read_bytes): (Option<u64>, u64),
    ) -> Option<Self> {
        let device = target.device.known()?;
        let in_memory = Behind::of_target(target) == Fact::Known(Behind::Memory);
        let caching = device.caching_loop().filter(|_| !in_memory);
        (in_memory || caching.is_some()).then(|| Self {
            asked: asked.to_owned(),
            path: path.to_owned(),
            place: target.one_line(),
            loop_device: caching.map(|device| device.name.clone()),
            device_bytes: device_bytes.filter(|_| caching.is_some()),
            read_bytes,
        })
    }
}
