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
    /// Whether a loop device below a location reads and writes its file through the page cache.
    #[serde(default)]
    pub has_caching_loop: bool,
    /// Name and release of the kernel, such as `Linux 6.18.1`; empty if not available.
    #[serde(default)]
    pub kernel: String,
    /// Host, kernel with its build, and targets with their mount options, as one text. It is equal
    /// for runs whose records show the same system.
    #[serde(default)]
    pub system: String,
    /// Random identifier of the host's boot; empty if not available.
    #[serde(default)]
    pub boot: String,
    /// The settings of the run that differ from those of the original, in words of reports.
    #[serde(default)]
    pub settings: Vec<String>,
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
            has_caching_loop: record.targets().any(|target| {
                let device = target.device.known();
                device.is_some_and(|device| device.caching_loop().is_some())
            }),
            kernel: format!("{} {}", kernel.sysname, kernel.release),
            system: system(record),
            boot: record.host.boot_id.known().cloned().unwrap_or_default(),
            settings: record.spec.settings(),
            coordinates: record
                .study
                .as_ref()
                .map_or_else(Vec::new, |part| part.coordinates.clone()),
        }
    }
}

fn system(record: &Record) -> String {
    let kernel = &record.host.kernel;
    let mounts = record.targets().filter_map(|target| target.mount.known());
    let options = mounts.map(|mount| {
        let options = mount.mount_options.iter().chain(&mount.super_options);
        options.map(String::as_str).collect::<Vec<_>>().join(",")
    });
    let options: Vec<String> = options.collect();
    let words = [
        &record.host.hostname,
        &kernel.sysname,
        &kernel.release,
        &kernel.version,
        &kernel.machine,
        &target(record),
        &options.join("; "),
    ];
    words.map(String::as_str).join(" ")
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
