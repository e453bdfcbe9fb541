//! What reads got from the device, and whether that is what the run asked of the cache.

use observe::Fact;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spec::{Cache, RunSpec};

use crate::run::ServedBy;

/// Of what the reads of a cold cache return, at least this share comes from the device.
pub const COLD_MIN: f64 = 0.5;
/// Of what the reads of a warm cache return, at most this share comes from the device.
pub const WARM_MAX: f64 = 0.1;

/// A cache that was not as asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Surprise {
    /// A cold cache, and less than half of what was read came from the device.
    LittleThoughCold,
    /// A warm cache, and more than a tenth of what was read came from the device.
    MuchThoughWarm,
}

/// What the transactions' reads got from the device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServedBySummary {
    /// Bytes that the process's reads got from the device.
    pub device_bytes: Fact<u64>,
    /// Bytes that its operations read.
    pub read_bytes: u64,
    /// The first over the second; nothing where one is not known, or nothing was read.
    pub fraction: Option<f64>,
    /// In what that is not what was asked of the cache; nothing where it is.
    pub surprise: Option<Surprise>,
}

pub(crate) fn summary(served_by: &ServedBy, spec: &RunSpec) -> ServedBySummary {
    let read_bytes = served_by.read_bytes;
    let known = served_by.device_bytes.known().filter(|_| read_bytes > 0);
    let fraction = known.map(|bytes| *bytes as f64 / read_bytes as f64);
    ServedBySummary {
        device_bytes: served_by.device_bytes.clone(),
        read_bytes,
        fraction,
        surprise: fraction.and_then(|fraction| surprise(fraction, spec)),
    }
}

fn surprise(fraction: f64, spec: &RunSpec) -> Option<Surprise> {
    match spec.cache {
        // Past the cache everything comes from the device.
        _ if spec.direct => None,
        Cache::Cold | Cache::ColdData if fraction < COLD_MIN => Some(Surprise::LittleThoughCold),
        Cache::Warm if fraction > WARM_MAX => Some(Surprise::MuchThoughWarm),
        _ => None,
    }
}
