//! **`errors`** (DOUBTFUL, INVALID). Operations failed. Rates exclude failed operations, and files
//! that a failed operation damaged are not used again. So the run performed another workload than
//! the requested one. *Threshold*: any error; INVALID: more than `--on-error` allows. *Evidence*:
//! the failed operations, by operation, call and error number. *What to do*: remove the cause.

use super::rule::*;

/// Operations failed, and rates exclude them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Errors {
    /// Number of errors in the whole run.
    pub errors: u64,
    /// Operations that were tried, in all phases.
    pub operations: u64,
    /// The errors that `--on-error` allows, as written in the option.
    pub allowed: String,
    /// Whether more errors occurred than `allowed`; the run is then INVALID.
    pub is_exceeded: bool,
}

impl Rule for Errors {
    const ADVICE: &str = "remove the reported cause (rates exclude failed operations)";

    fn find(record: &Record, _: &Seen) -> Option<Self> {
        let errors: u64 = record.actual.errors.iter().map(|error| error.count).sum();
        let segments = record.actual.all_phases().flat_map(|phase| &phase.segments);
        let tried = segments
            .flat_map(|segment| &segment.operations)
            .map(|operation| &operation.meter);
        let operations = tried.map(|meter| meter.operations + meter.failed).sum();
        // Each load level of a complete sweep stayed within the allowed errors, but the sum over
        // all load levels may exceed them.
        let is_complete_sweep = record.spec.drive.sweep.is_some() && !record.actual.is_partial();
        (errors > 0).then(|| Self {
            errors,
            operations,
            allowed: record.spec.on_error.to_string(),
            is_exceeded: !is_complete_sweep && record.spec.on_error.is_exceeded(errors, operations),
        })
    }

    fn level(&self) -> Level {
        Level::invalid_if(self.is_exceeded)
    }

    fn sentence(&self) -> String {
        let (errors, operations) = (
            counted(self.errors, "error"),
            counted(self.operations, "operation"),
        );
        let limit = match self.is_exceeded {
            true => format!("more than --on-error {} allows", self.allowed),
            false => format!("within --on-error {}", self.allowed),
        };
        format!("{errors} in {operations}, {limit}")
    }
}
