//! The verdict on a run's numbers: VALID, DOUBTFUL or INVALID, with reasons from a closed list of
//! rules. Each rule has its own file.
//!
//! A verdict is a pure function of a record. A fact that was not examined, or that the system did
//! not report, is never a reason; [`Seen`] reports such facts. The worst reason determines the
//! verdict's level. The list in `docs/reference/rules.md` is generated from the module
//! documentation of the rules' files.
//!
//! A load sweep deliberately applies rates that the target cannot sustain. The verdict of a sweep
//! therefore judges the machine, the clocks, the overhead and the errors, but neither the length
//! nor the steadiness of the run. A partial run is INVALID, and its length and rate are not judged.

use record::run::Record;
use record::{ExpectedReason, PlanRecord};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use system::Host;

mod ack_log;
mod allocated_during_run;
mod cache_not_dropped;
mod client_saturated;
mod clock_source_changed;
mod clocks_not_aligned;
mod connections_lost;
mod device_wrote_nothing;
mod durability_in_memory;
mod emulated;
mod errors;
mod fits_in_memory;
mod hosts_apart;
mod latency_drift;
mod latency_overflow;
mod memory;
mod memory_beneath;
mod nearly_full;
mod not_steady;
mod other_load;
mod outcomes_not_known;
mod overhead;
mod partial;
mod paused;
mod planned;
mod pool_changed_size;
mod processors;
mod ran_dry;
mod ranks_not_done;
mod rate_not_reached;
mod reads_from_device;
mod reads_from_memory;
mod retransmissions;
mod rule;
mod seen;
mod server_restarted;
mod servers;
mod skipped;
mod stalled;
mod steadiness;
mod steady_state_not_reached;
mod steal;
mod suspended;
mod too_few_clients;
mod too_short;
mod wall_clock_stepped;
mod wrong_names;

pub use self::latency_drift::{LatencyDrift, TimeSpent};
pub(crate) use self::memory::pool_bytes;
pub use self::planned::{Occurs, Planned};
pub use self::rule::{Foreseen, Level, Rule};
pub use self::seen::{Measured, Seen};
pub use self::steadiness::Steadiness;

/// Defines [`Reason`] from the list of rules.
macro_rules! rules {
    ($($file:ident::$Rule:ident,)*) => {
        $(pub use self::$file::$Rule;)*

        /// A reason of a verdict: a rule that applies to the run, with the numbers that the rule
        /// found.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "reason", rename_all = "kebab-case")]
        #[allow(missing_docs, reason = "each rule says what it is")]
        pub enum Reason {
            $($Rule($Rule),)*
        }

        impl Reason {
            /// Names of the rules' files, in the order in which reasons of the same level are
            /// listed.
            pub const FILES: &[&str] = &[$(stringify!($file)),*];

            fn find_all(record: &Record, seen: &Seen) -> Vec<Self> {
                let found = [$($Rule::find(record, seen).map(Self::$Rule)),*];
                found.into_iter().flatten().collect()
            }

            fn foresee_all(planned: &Planned<'_>) -> Vec<Foreseen<Self>> {
                let found = [$($Rule::foresee(planned).map(|found| found.map(Self::$Rule))),*];
                found.into_iter().flatten().collect()
            }

            pub fn level(&self) -> Level {
                match self { $(Self::$Rule(rule) => rule.level(),)* }
            }

            /// Returns what the rule found in the run: a clause without a period, with the measured
            /// number and its limit.
            pub fn sentence(&self) -> String {
                match self { $(Self::$Rule(rule) => rule.sentence(),)* }
            }

            /// Returns what the user can do: an imperative without a period.
            pub fn advice(&self) -> &'static str {
                match self { $(Self::$Rule(rule) => rule.advice(),)* }
            }
        }

        $(impl From<$Rule> for Reason {
            fn from(rule: $Rule) -> Self {
                Self::$Rule(rule)
            }
        })*
    };
}

rules! {
    partial::Partial,
    errors::Errors,
    skipped::Skipped,
    wrong_names::WrongNames,
    ran_dry::RanDry,
    stalled::Stalled,
    latency_overflow::LatencyOverflow,
    ack_log::AckLog,
    pool_changed_size::PoolChangedSize,
    too_short::TooShort,
    not_steady::NotSteady,
    steady_state_not_reached::SteadyStateNotReached,
    rate_not_reached::RateNotReached,
    overhead::Overhead,
    other_load::OtherLoad,
    steal::Steal,
    emulated::Emulated,
    paused::Paused,
    suspended::Suspended,
    wall_clock_stepped::WallClockStepped,
    clock_source_changed::ClockSourceChanged,
    fits_in_memory::FitsInMemory,
    reads_from_memory::ReadsFromMemory,
    reads_from_device::ReadsFromDevice,
    memory_beneath::MemoryBeneath,
    durability_in_memory::DurabilityInMemory,
    cache_not_dropped::CacheNotDropped,
    device_wrote_nothing::DeviceWroteNothing,
    retransmissions::Retransmissions,
    outcomes_not_known::OutcomesNotKnown,
    server_restarted::ServerRestarted,
    connections_lost::ConnectionsLost,
    client_saturated::ClientSaturated,
    nearly_full::NearlyFull,
    allocated_during_run::AllocatedDuringRun,
    ranks_not_done::RanksNotDone,
    hosts_apart::HostsApart,
    too_few_clients::TooFewClients,
    clocks_not_aligned::ClocksNotAligned,
}

impl Reason {
    /// Returns the lasting name of the rule: `reason` in JSON.
    pub fn name(&self) -> String {
        // Serialization cannot fail, because all fields are numbers and strings.
        let value = serde_json::to_value(self).unwrap_or_default();
        value["reason"].as_str().unwrap_or_default().to_owned()
    }

    /// Returns the reason in one line: the lasting name of the rule, what it found, and what the
    /// user can do.
    pub fn line(&self) -> String {
        format!("{}: {}: {}", self.name(), self.sentence(), self.advice())
    }
}

/// Whether a run's numbers are reliable, with reasons.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// Level of the worst reason; `valid` if there is no reason.
    pub level: Level,
    /// The reasons, the worst first.
    pub reasons: Vec<Reason>,
    /// The facts that the rules examined.
    pub seen: Seen,
}

impl Verdict {
    pub fn of(record: &Record) -> Self {
        let seen = Seen::of(record);
        let mut reasons = Reason::find_all(record, &seen);
        // The sort is stable: reasons of the same level stay in the order of the list of rules.
        reasons.sort_by_key(|reason| std::cmp::Reverse(reason.level()));
        Self {
            level: reasons.first().map_or(Level::Valid, Reason::level),
            reasons,
            seen,
        }
    }

    /// Returns the reasons of the verdict that are already known from the plan of a run, the worst
    /// first. `host` is the machine that will perform the run.
    pub fn expected(record: &PlanRecord, host: &Host) -> Vec<ExpectedReason> {
        let planned = Planned { record, host };
        let mut reasons = Reason::foresee_all(&planned);
        reasons.retain(|found| planned.expects(found.occurs));
        reasons.sort_by_key(|found| std::cmp::Reverse(found.reason.level()));
        let expected = |found: Foreseen<Reason>| {
            let above_per_second = match found.occurs {
                Occurs::Always => None,
                Occurs::Above(least) => Some(least),
            };
            ExpectedReason {
                rule: found.reason.name(),
                level: found.reason.level().name().to_lowercase(),
                advice: found.reason.advice().to_owned(),
                sentence: found.sentence,
                above_per_second,
                rate_per_second: above_per_second.and_then(|_| planned.rate()),
            }
        };
        reasons.into_iter().map(expected).collect()
    }
}
