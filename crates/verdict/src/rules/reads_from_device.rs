//! **`reads-from-device`** (DOUBTFUL). A warm cache was requested, but the device served reads.
//! *Threshold*: with `--cache warm`, more than 10 % of the bytes read came from the device (*much*,
//! as in "served by the device"). *Evidence*: fetched bytes of the [evidence](evidence.md). *What
//! to do*: use a smaller pool.

use super::rule::*;
use crate::summary::reads::{self, Surprise};

/// A warm cache was requested, but reads came from the device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct ReadsFromDevice {
    /// Bytes that the reads fetched from the device.
    pub device_bytes: u64,
    /// Bytes that the reads returned.
    pub read_bytes: u64,
}

impl Rule for ReadsFromDevice {
    const ADVICE: &str = "use a smaller pool or more memory, or remove --cache warm";

    fn find(record: &Record, _: &Seen) -> Option<Self> {
        let served_by = reads::of_transactions(record)?;
        let device_bytes = *served_by.fetched_bytes.known()?;
        (served_by.surprise == Some(Surprise::MuchThoughWarm)).then_some(Self {
            device_bytes,
            read_bytes: served_by.read_bytes,
        })
    }

    fn sentence(&self) -> String {
        format!(
            "--cache warm, but the device served {} of {} read ({})",
            bytes(self.device_bytes as f64),
            bytes(self.read_bytes as f64),
            percent(share(self.device_bytes, self.read_bytes))
        )
    }
}
