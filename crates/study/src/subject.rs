//! What a run measured: its workload, its target, and its cell in a study.

use record::{Coordinate, Fact, Record};
use serde::{Deserialize, Serialize};
use verdict::list_row::WorkKind;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Subject {
    /// Identity of the run; empty for simulated runs.
    pub id: String,
    /// The workload: its preset, or else `classic` or `mix`.
    pub workload: String,
    /// File systems and devices of the run's locations.
    pub target: String,
    /// Name and release of the kernel, such as `Linux 6.18.1`; empty if not available.
    #[serde(default)]
    pub kernel: String,
    /// The coordinates of the run's cell; empty for a run outside of a study.
    pub coordinates: Vec<Coordinate>,
}

impl From<&Record> for Subject {
    fn from(record: &Record) -> Self {
        let kernel = &record.host.kernel;
        let kind = || WorkKind::of(&record.spec.workload.work).name().to_owned();
        Self {
            id: record.id.to_string(),
            workload: record.spec.preset.clone().unwrap_or_else(kind),
            target: target(record),
            kernel: format!("{} {}", kernel.sysname, kernel.release),
            coordinates: record
                .study
                .as_ref()
                .map_or_else(Vec::new, |part| part.coordinates.clone()),
        }
    }
}

/// Describes the file systems and devices of a run's locations, each once. The fill level is left
/// out, because it differs between the runs of one configuration.
fn target(record: &Record) -> String {
    let mut found: Vec<String> = Vec::new();
    for location in &record.locations {
        let words = match (&location.target, &location.server) {
            (Fact::Known(target), _) => target.file_system_line(),
            (Fact::NotApplicable, Some(server)) => server.one_line(),
            (Fact::NotApplicable, None) => "no file system".to_owned(),
            (Fact::Unavailable(why), _) => format!("not available ({why})"),
        };
        if !found.contains(&words) {
            found.push(words);
        }
    }
    found.join("; ")
}
