//! **`durability-in-memory`** (INVALID). Durability was requested, but the changes are in memory.
//! *Threshold*: with a `--durability` other than `none`, any location in memory: on tmpfs and
//! similar file systems, where a sync has no effect, or on a file system whose device is memory
//! (`ram0`, an image on tmpfs). On such a device the file system performs its syncs, but no disk
//! stores the data, so the rate is that of a system without durability. *Evidence*: the file system
//! and the devices of each location. *What to do*: use a directory on a disk, or request no
//! durability (`--durability none`).

use spec::Policies;
use system::{Class, Device, Target};

use super::rule::*;

/// Durability was requested on a target that does not survive a power failure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct DurabilityInMemory {
    /// The requested durability policy, such as `fsync`.
    pub durability: String,
    /// Directory of the location that is in memory.
    pub path: String,
    /// File system and devices of the location.
    pub place: String,
    /// True if the file system is on a device that is memory. False if the file system itself
    /// stores its data in memory, as tmpfs does.
    pub is_beneath: bool,
}

impl Rule for DurabilityInMemory {
    const ADVICE: &str = "use a --target on a disk, or --durability none";

    fn find(record: &Record, _: &Seen) -> Option<Self> {
        record.locations.iter().find_map(|location| {
            let target = location.target.known()?;
            Self::of_target(&record.spec.durability, &location.directory, target)
        })
    }

    fn foresee(planned: &Planned<'_>) -> Option<Foreseen<Self>> {
        let durability = &planned.spec().durability;
        let mut targets = planned.record.targets.iter();
        let found = targets.find_map(|target| Self::of_target(durability, &target.path, target))?;
        Some(Foreseen::new(found, Occurs::Always))
    }

    fn level(&self) -> Level {
        Level::Invalid
    }

    fn sentence(&self) -> String {
        format!(
            "--durability {}, but {} lies in memory ({}), {}",
            self.durability,
            self.path,
            self.place,
            match self.is_beneath {
                true => "so no disk stores what is synced",
                false => "where syncing does nothing",
            }
        )
    }
}

impl DurabilityInMemory {
    fn of_target(durability: &Policies, path: &str, target: &Target) -> Option<Self> {
        if !durability.sync() {
            return None;
        }
        let is_memory = target.class.known() == Some(&Class::Memory);
        let is_beneath = target.device.known().is_some_and(Device::is_memory);
        (is_memory || is_beneath).then(|| Self {
            durability: durability.to_string(),
            path: path.to_owned(),
            place: target.one_line(),
            is_beneath: !is_memory,
        })
    }
}
