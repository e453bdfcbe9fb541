//! **`ack-log`** (DOUBTFUL). The run waited for its acknowledgement log. Rates include these waits,
//! latencies do not. *Threshold*: any run with `--ack-log`. *Evidence*: the options. *What to do*:
//! omit `--ack-log` to measure rates.

use super::rule::*;

/// The run waited for its acknowledgement log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct AckLog {
    /// Path of the acknowledgement log, as given to `--ack-log`.
    pub path: String,
}

impl Rule for AckLog {
    const ADVICE: &str = "compare latencies, or remove --ack-log";

    fn find(record: &Record, _: &Seen) -> Option<Self> {
        let path = record.spec.ack_log.as_ref()?.to_string_lossy().into_owned();
        Some(Self { path })
    }

    fn sentence(&self) -> String {
        format!(
            "rates include the waits for the acknowledgement log {}",
            self.path
        )
    }
}
