//! **`latency-overflow`** (DOUBTFUL). A latency is beyond the range of the histograms. Percentiles
//! among such latencies are reported as the maximum. *Threshold*: 2^40 ns. *Evidence*: the
//! histograms. *What to do*: see the slowest operations in the record.

use measure::Histogram;

use super::rule::*;

/// Latencies were beyond the range of the histograms.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct LatencyOverflow {
    /// Number of operations whose latency was beyond the range of the histograms.
    pub operations: u64,
    /// Range of the histograms, in nanoseconds.
    pub range_ns: u64,
}

impl Rule for LatencyOverflow {
    const ADVICE: &str = "see the slowest operations (show --full)";

    fn find(record: &Record, _: &Seen) -> Option<Self> {
        let all = record
            .actual
            .all_phases()
            .flat_map(PhaseRecord::measured_operations);
        let operations: u64 = all
            .map(|operation| {
                // A response time is never shorter than its service time. So the greater of the
                // two counts includes each operation once.
                let service = operation.meter.service.as_ref();
                let latency = operation.meter.latency.overflow();
                latency.max(service.map_or(0, Histogram::overflow))
            })
            .sum();
        (operations > 0).then_some(Self {
            operations,
            range_ns: Histogram::RANGE_NS,
        })
    }

    fn sentence(&self) -> String {
        format!(
            "{} longer than the histograms' range of {}, so percentiles beyond it are the maximum",
            counted(self.operations, "operation"),
            latency(self.range_ns as f64)
        )
    }
}
