//! What limits a run: the resource with the largest part of the workers' time in the transactions.
//! Each limit has a separate file, which computes the limit's part. The parts add up to the whole
//! time.
//!
//! The list in `docs/reference/limited-by.md` is generated from the module
//! documentation of these files.

use record::run::Record;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use system::Fact;
use workload::Phase;

use crate::summary::PhaseSummary;

mod compute;
mod cpu;
mod device;
mod flushes;
mod lock;
mod offered_rate;
mod processor_wait;
mod program;
mod server;
mod think_time;
mod times;
mod waits_for;

use self::times::Times;

/// Defines [`RunLimit`] from the list of limits, with the names in reports.
macro_rules! limits {
    ($($file:ident::$Limit:ident = $name:literal,)*) => {
        /// A cause that limits a run, such as the CPU or the device.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        #[allow(missing_docs, reason = "each file describes its limit")]
        pub enum RunLimit {
            $($Limit,)*
        }

        impl RunLimit {
            pub const FILES: &[&str] = &[$(stringify!($file)),*];

            pub const ALL: &[Self] = &[$(Self::$Limit),*];

            /// The name in reports, such as `the CPU`.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$Limit => $name,)* }
            }

            /// The other limit of the same resource, if the resource has two. The device and its
            /// flushes are one resource, and so are the CPU and waiting for a processor.
            const fn same_resource(self) -> Option<Self> {
                match self {
                    Self::Device => Some(Self::Flushes),
                    Self::Flushes => Some(Self::Device),
                    Self::Cpu => Some(Self::ProcessorWait),
                    Self::ProcessorWait => Some(Self::Cpu),
                    _ => None,
                }
            }

            fn part(self, times: &Times) -> f64 {
                match self { $(Self::$Limit => $file::part(times),)* }
            }
        }
    };
}

limits! {
    offered_rate::OfferedRate = "the offered rate",
    think_time::ThinkTime = "the think time",
    compute::Compute = "the workload's own compute",
    program::Program = "the program",
    cpu::Cpu = "the CPU",
    processor_wait::ProcessorWait = "waiting for a processor",
    server::Server = "the server",
    flushes::Flushes = "the device's flushes",
    device::Device = "the device",
    lock::Lock = "locks",
}

/// The part of the workers' time that belongs to one limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LimitPart {
    /// What the workers spent this part of their time on.
    pub limit: RunLimit,
    /// Share of the workers' time, from 0 to 1.
    pub fraction: f64,
}

/// What limited the transactions, and all parts of the workers' time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LimitSummary {
    /// The limit with the largest part, of the resource with the largest part. The device and its
    /// flushes are one resource, and so are the CPU and waiting for a processor. An open loop that
    /// keeps up with its arrivals is limited by `offered-rate`.
    pub limit: RunLimit,
    /// Share of the workers' time that belongs to `limit`, from 0 to 1.
    pub fraction: f64,
    /// All parts of the workers' time, which add up to 1. They add up to less if it is not known
    /// what workers waited for in calls.
    pub parts: Vec<LimitPart>,
}

impl LimitSummary {
    /// Returns the limit of the same resource, with its part; `None` without such a part.
    pub fn same_resource(&self) -> Option<LimitPart> {
        let other = self.limit.same_resource()?;
        let mut parts = self.parts.iter().copied();
        parts.find(|part| part.limit == other && part.fraction > 0.0)
    }
}

/// Finds what limited the transactions; `None` without transactions, and for load sweeps.
pub(crate) fn summary(record: &Record, phases: &[PhaseSummary]) -> Option<Fact<LimitSummary>> {
    let phase = record.actual.phase(Phase::Transactions)?;
    let mut phases = phases.iter();
    let summary = phases.find(|summary| summary.phase == Phase::Transactions)?;
    Some(Times::of(record, phase, summary).and_then(|(times, why)| largest(&times, why)))
}

/// Returns the limit with the largest part, of the resource with the largest part. If it is not
/// known what workers waited for in calls, `why` contains the reason.
fn largest(times: &Times, why: Option<String>) -> Fact<LimitSummary> {
    let parts: Vec<LimitPart> = RunLimit::ALL
        .iter()
        .map(|limit| LimitPart {
            limit: *limit,
            fraction: limit.part(times),
        })
        .collect();
    let is_candidate = |part: &&LimitPart| match part.limit {
        RunLimit::OfferedRate => times.keeps_up,
        _ => !times.keeps_up,
    };
    let of_resource = |part: &LimitPart| {
        let other = part.limit.same_resource();
        part.fraction + other.map_or(0.0, |other| other.part(times))
    };
    let candidates = parts.iter().filter(is_candidate);
    let found = candidates.max_by(|one, other| {
        let by_resource = of_resource(one).total_cmp(&of_resource(other));
        by_resource.then(one.fraction.total_cmp(&other.fraction))
    });
    let Some(found) = found.copied() else {
        return Fact::NotApplicable;
    };
    match why {
        Some(why) if !times.keeps_up && times.asleep() > of_resource(&found) => {
            Fact::Unavailable(why)
        }
        _ => Fact::Known(LimitSummary {
            limit: found.limit,
            fraction: found.fraction,
            parts,
        }),
    }
}
