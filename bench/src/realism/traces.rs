//! The data file of traces: the mix of calls and the sizes of files, of each application with each
//! of its data sets and of each preset.

use crate::result::Result;
use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::mix::{Mix, add_calls};

/// Greatest number of file sizes stored for a trace. Thinning a sample to this number changes its
/// distance from another sample by at most 1 / `SIZES_MAX`.
const SIZES_MAX: usize = 2_000;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    pub mix: Mix,
    /// Sizes of files in bytes, sorted: all of them, or values at equal steps of the sorted sample.
    pub sizes: Vec<u64>,
}

/// All traces, by [`key`].
pub type Traces = BTreeMap<String, Trace>;

/// The key of a trace: an application with a data set, or a preset (`data` is empty).
pub fn key(name: &str, data: &str) -> String {
    match data {
        "" => name.to_owned(),
        _ => format!("{name}, {data}"),
    }
}

impl Trace {
    /// Reads the logs of strace, and removes them.
    pub fn new<P: AsRef<Path>>(logs: &[P], target: &Path, sizes: Vec<u64>) -> Result<Self> {
        let mut mix = Mix::new();
        for log in logs {
            let text = std::fs::read(log)?;
            add_calls(&mut mix, &String::from_utf8_lossy(&text), target);
            std::fs::remove_file(log)?;
        }
        Ok(Self {
            mix,
            sizes: at_most(SIZES_MAX, sizes),
        })
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
