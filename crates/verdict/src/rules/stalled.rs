//! **`stalled`** (DOUBTFUL, INVALID). One operation of a worker took very long. One such wait
//! outweighs all other operations. *Threshold*: longer than `--stall-timeout`; INVALID: the
//! operation had not returned. *Evidence*: `actual.stalled`. *What to do*: read the kernel's log.

use super::rule::*;

/// Operations took longer than `--stall-timeout`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Stalled {
    /// Number of operations that exceeded `--stall-timeout`.
    pub times: u64,
    /// Time of the longest of these operations, in nanoseconds.
    pub longest_ns: u64,
    /// Number of these operations that had not returned when the run ended.
    pub lost: u64,
}

impl Rule for Stalled {
    const ADVICE: &str = "see the kernel's log for what the device or the file system waited for";

    fn find(record: &Record, _: &Seen) -> Option<Self> {
        let stalled = &record.actual.stalled;
        Some(Self {
            times: stalled.len() as u64,
            longest_ns: stalled.iter().map(|stalled| stalled.ns).max()?,
            lost: stalled.iter().filter(|stalled| !stalled.came_back).count() as u64,
        })
    }

    fn level(&self) -> Level {
        Level::invalid_if(self.lost > 0)
    }

    fn sentence(&self) -> String {
        let end = match (self.lost, self.times) {
            (0, 1) => "it returned".to_owned(),
            (0, _) => "all returned".to_owned(),
            (1, 1) => "it did not return".to_owned(),
            (lost, times) if lost == times => "none returned".to_owned(),
            (lost, _) => format!("{} did not return", grouped(lost)),
        };
        format!(
            "{} exceeded --stall-timeout (longest {}), {end}",
            counted(self.times, "operation"),
            latency(self.longest_ns as f64)
        )
    }
}
