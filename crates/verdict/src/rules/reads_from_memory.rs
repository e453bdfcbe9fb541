//! **`reads-from-memory`** (DOUBTFUL, INVALID). The run requested reads from the device, but the
//! page cache served some of them. A run with `as-is` requests no cache state: its report shows the
//! share that the device served. *Threshold*: with `--cache cold` or `cold-data`, less than 90 % of
//! the bytes read came from the device (*little*, as in "served by the device"), because the other
//! 10 % equal the drift that is allowed for a steady run; with `--direct`, less than 99 %, because
//! all reads bypass the cache except for data that a file system stores with its metadata. INVALID:
//! less than 1 %, about the share of metadata (the reads of contents never reached the device).
//! *Evidence*: fetched bytes of the [evidence](evidence.md), on devices of this machine and in
//! memory; for other targets the kernel need not count them. *What to do*: use a larger pool; check
//! whether the file system honours the option.

use system::Class;

use super::memory::{READS_INVALID, asked_of_device, option};
use super::rule::*;
use crate::summary::reads::{self, Surprise};

/// The device was to serve the reads, but memory served some of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct ReadsFromMemory {
    /// The requested cache state, or `direct`.
    pub asked: String,
    /// Bytes that the reads fetched from the device.
    pub device_bytes: u64,
    /// Bytes that the reads returned.
    pub read_bytes: u64,
}

impl Rule for ReadsFromMemory {
    fn find(record: &Record, _: &Seen) -> Option<Self> {
        let served_by = reads::of_transactions(record)?;
        let device_bytes = *served_by.fetched_bytes.known()?;
        // For networks, FUSE and layered file systems, the kernel need not count the bytes that a
        // process fetches, so the rule does not apply.
        let is_counted = record.locations.iter().all(|location| {
            let target = location.target.known();
            let class = target.and_then(|target| target.class.known());
            matches!(class, Some(Class::Block | Class::Memory))
        });
        let is_less = match record.spec.direct {
            true => served_by.fetched_fraction()? < reads::DIRECT_MIN,
            false => served_by.surprise == Some(Surprise::LittleThoughCold),
        };
        (is_less && is_counted).then_some(Self {
            asked: asked_of_device(&record.spec)?.to_owned(),
            device_bytes,
            read_bytes: served_by.read_bytes,
        })
    }

    /// Memory serves all reads if the file systems of all targets are in memory.
    fn foresee(planned: &Planned<'_>) -> Option<Foreseen<Self>> {
        let (spec, targets) = (planned.spec(), &planned.record.targets);
        let asked = asked_of_device(spec)?;
        let read_bytes = planned.bytes_read();
        let mut classes = targets.iter().map(|target| target.class.known());
        let is_memory = !targets.is_empty() && classes.all(|class| class == Some(&Class::Memory));
        let is_judged = spec.direct || spec.engine.uses_page_cache();
        let reason = Self {
            asked: asked.to_owned(),
            device_bytes: 0,
            read_bytes,
        };
        (is_memory && is_judged && read_bytes > 0).then(|| Foreseen::new(reason, Occurs::Always))
    }

    fn level(&self) -> Level {
        Level::invalid_if(share(self.device_bytes, self.read_bytes) < READS_INVALID)
    }

    fn sentence(&self) -> String {
        format!(
            "{}, but the device served {} of {} read ({})",
            option(&self.asked),
            bytes(self.device_bytes as f64),
            bytes(self.read_bytes as f64),
            percent(share(self.device_bytes, self.read_bytes))
        )
    }

    fn advice(&self) -> &'static str {
        match &*self.asked {
            "direct" => {
                "check that the file system bypasses the page cache (btrfs does not where it \
                 compresses, nor ext4 with data=journal)"
            }
            _ => "use --working-set 4x, and check that the file system can drop its cache",
        }
    }
}
