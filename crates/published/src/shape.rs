//! The numbers that identify a published configuration, and the parameters in which a workload
//! differs from that configuration. Two results are comparable if the numbers of their
//! configurations are equal and all other parameters are the original's defaults.

use serde::Serialize;
use workload::{Classic, Edition, WorkerSeeds, Workers, Workload};

use crate::source::Configuration;

/// The numbers of a configuration. Files, transactions and subdirectories are those of each
/// process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct ConfigurationShape {
    pub files: u64,
    pub transactions: u64,
    /// The number of subdirectories; 1 means none.
    pub subdirectories: u32,
    /// The number of processes, or of workers with private pools.
    pub processes: u32,
}

impl ConfigurationShape {
    /// Returns the numbers and the PostMark edition (1.0 or 1.5) of a classic workload, or `None`
    /// for a mix.
    pub fn of(workload: &Workload) -> Option<(Self, Edition)> {
        let classic = workload.classic()?;
        let shape = Self {
            files: classic.files,
            transactions: classic.transactions,
            subdirectories: classic.subdirectories,
            processes: workload.workers.count(),
        };
        Some((shape, classic.edition))
    }

    pub fn of_configuration(configuration: &Configuration) -> Self {
        Self {
            files: configuration.files,
            transactions: configuration.transactions,
            subdirectories: configuration.subdirectories,
            processes: configuration.processes,
        }
    }

    /// Returns the workload with these numbers and the original PostMark's defaults. All processes
    /// use the same seed.
    pub fn workload(&self, edition: Edition) -> Workload {
        let one = Workload::from(Classic {
            edition,
            files: self.files,
            transactions: self.transactions,
            subdirectories: self.subdirectories,
            ..Classic::default()
        });
        if self.processes == 1 {
            return one;
        }
        Workload {
            workers: Workers::Private {
                workers: self.processes,
            },
            worker_seeds: WorkerSeeds::Same,
            ..one
        }
    }

    /// Returns the numbers as text, such as `20,000 files, 100,000 transactions`.
    pub fn in_short(&self) -> String {
        use document::units::{counted, grouped};
        let mut words = format!(
            "{}, {}",
            counted(self.files, "file"),
            counted(self.transactions, "transaction")
        );
        if self.subdirectories > 1 {
            words.push_str(&format!(
                ", {} subdirectories",
                grouped(self.subdirectories.into())
            ));
        }
        if self.processes > 1 {
            words.push_str(&format!("; {} processes, each with these", self.processes));
        }
        words
    }

    /// Returns the numbers as in the headers of published tables, such as `20000/100000/100 dir`.
    pub fn label(&self) -> String {
        let mut label = match self.transactions {
            Workload::ENDLESS.. => format!("{}/ended by time", self.files),
            transactions => format!("{}/{transactions}", self.files),
        };
        if self.subdirectories > 1 {
            label.push_str(&format!("/{} dir", self.subdirectories));
        }
        if self.processes > 1 {
            label.push_str(&format!(", {} processes", self.processes));
        }
        label
    }
}

/// Returns the parameters in which a workload differs from the published configurations. The
/// published configurations set only the numbers of [`ConfigurationShape`] and use the original
/// PostMark's defaults for all other parameters.
pub fn differences(workload: &Workload) -> Vec<String> {
    let Some((shape, edition)) = ConfigurationShape::of(workload) else {
        return vec!["a mix of operations".to_owned()];
    };
    let plain = shape.workload(edition);
    let (Some(ours), Some(theirs)) = (workload.classic(), plain.classic()) else {
        return Vec::new();
    };
    let parameters = |one: &Classic| {
        let (bias_read, bias_create) = (i64::from(one.bias_read), i64::from(one.bias_create));
        let (read, write) = (one.read_block_bytes, one.write_block_bytes);
        [
            format!(
                "sizes {} to {} bytes",
                one.size_low_bytes, one.size_high_bytes
            ),
            format!("blocks {read} and {write} bytes"),
            format!("biases {bias_read} and {bias_create}"),
            format!("seed {}", one.seed),
            format!("locations {}", one.weights.len()),
        ]
    };
    let mut found = Vec::new();
    for (ours, theirs) in parameters(ours).iter().zip(parameters(theirs)) {
        if *ours != theirs {
            let (_, theirs) = theirs.split_once(' ').unwrap_or_default();
            found.push(format!("{ours} instead of {theirs}"));
        }
    }
    if shape.processes > 1 && workload.worker_seeds != plain.worker_seeds {
        found.push("a seed for each worker instead of one seed for all".to_owned());
    }
    if workload.contents.is_some() {
        found.push("other contents".to_owned());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use workload::presets;

    #[test]
    fn published_presets_equal_the_defaults_except_for_the_shape() {
        for preset in presets::all() {
            let Some((shape, edition)) = ConfigurationShape::of(&preset.workload) else {
                assert_eq!(differences(&preset.workload), ["a mix of operations"]);
                continue;
            };
            assert_eq!(shape.workload(edition), preset.workload, "{}", preset.name);
            assert_eq!(differences(&preset.workload), [""; 0], "{}", preset.name);
        }
    }

    #[test]
    fn other_parameters_than_the_shape_are_reported_as_differences() {
        let named = |change: fn(&mut Classic)| {
            let mut classic = Classic::default();
            change(&mut classic);
            differences(&Workload::from(classic))
        };
        assert_eq!(named(|work| work.files = 7), [""; 0]);
        assert_eq!(named(|work| work.seed = 7), ["seed 7 instead of 42"]);
        assert_eq!(
            named(|work| work.size_high_bytes = 20_000),
            ["sizes 500 to 20000 bytes instead of 500 to 10000 bytes"]
        );
        assert_eq!(
            named(|work| work.read_block_bytes = 4_096),
            ["blocks 4096 and 512 bytes instead of 512 and 512 bytes"]
        );
        assert_eq!(
            named(|work| work.weights = vec![1, 1]),
            ["locations 2 instead of 1"]
        );
    }
}
