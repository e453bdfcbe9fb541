//! The data file of traces: the mix of calls and the sizes of files, of each application with each
//! of its data sets and of each preset.

use crate::result::Result;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::cell::Step;
use super::mix::{Mix, add_calls};

/// Greatest number of file sizes stored for a trace. Thinning a sample to this number changes its
/// distance from another sample by at most 1 / `SIZES_MAX`.
const SIZES_MAX: usize = 500;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    pub mix: Mix,
    /// The mix of each step; empty if a server performs several steps, whose calls have one log.
    #[serde(default)]
    pub steps: BTreeMap<String, Mix>,
    /// Sizes of files in bytes, sorted: all of them, or values at equal steps of the sorted sample.
    pub sizes: Vec<u64>,
}

/// All traces, by [`key`].
pub type Traces = BTreeMap<String, Trace>;

/// The key of a trace: an application with a data set, or a preset with the names of its phases
/// (`of` is empty for a preset without phases).
pub fn key(name: &str, of: &str) -> String {
    match of {
        "" => name.to_owned(),
        _ => format!("{name}, {of}"),
    }
}

impl Trace {
    /// Reads the logs of strace, and removes them. If there are as many logs as `steps`, each is
    /// the log of a step.
    pub fn new(logs: &[PathBuf], steps: &[Step], target: &Path, sizes: Vec<u64>) -> Result<Self> {
        let mut trace = Self {
            sizes: at_most(SIZES_MAX, sizes),
            ..Self::default()
        };
        for (index, log) in logs.iter().enumerate() {
            let text = std::fs::read(log)?;
            let mut mix = Mix::new();
            add_calls(&mut mix, &String::from_utf8_lossy(&text), target);
            std::fs::remove_file(log)?;
            add(&mut trace.mix, &mix);
            if logs.len() == steps.len() {
                add(
                    trace.steps.entry(steps[index].name.clone()).or_default(),
                    &mix,
                );
            }
        }
        Ok(trace)
    }

    /// The mix of some steps; of all if `steps` is empty. `None` if a step has no mix of its own.
    pub fn mix_of(&self, steps: &[&str]) -> Option<Mix> {
        if steps.is_empty() {
            return Some(self.mix.clone());
        }
        let mut sum = Mix::new();
        for step in steps {
            add(&mut sum, self.steps.get(*step)?);
        }
        Some(sum)
    }
}

fn add(sum: &mut Mix, mix: &Mix) {
    for (kind, count) in mix {
        *sum.entry(kind.clone()).or_default() += count;
    }
}

fn at_most(most: usize, mut sizes: Vec<u64>) -> Vec<u64> {
    sizes.sort_unstable();
    let count = sizes.len();
    if count <= most {
        return sizes;
    }
    (0..most)
        .map(|index| sizes[(2 * index + 1) * count / (2 * most)])
        .collect()
}

/// Reads the data file. Returns no traces if the file does not exist.
pub fn load(path: &Path) -> Result<Traces> {
    match std::fs::read_to_string(path) {
        Ok(text) => serde_json::from_str(&text)
            .map_err(|error| format!("{}: {error} (remove it)", path.display()).into()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Traces::new()),
        Err(error) => Err(format!("{}: {error}", path.display()).into()),
    }
}

pub fn save(traces: &Traces, path: &Path) -> Result<()> {
    let partial = path.with_extension("partial");
    std::fs::write(&partial, serde_json::to_string(traces)?)?;
    Ok(std::fs::rename(partial, path)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_samples_are_thinned_evenly() {
        assert_eq!(at_most(5, vec![3, 1, 2]), [1, 2, 3]);
        assert_eq!(at_most(5, (0..100).rev().collect()), [10, 30, 50, 70, 90]);
    }
}
