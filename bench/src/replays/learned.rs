//! The trace of a command, and the workload that is learned from it.

use crate::result::Result;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::process::{command, output};
use crate::realism::application::Application;
use crate::realism::setup::SetupOptions;
use crate::realism::visit::{CellRequest, remove};
use crate::realism::volume::Volume;

/// In a stored trace, this path replaces the directory of the command, which is another one in each
/// visit.
pub const DIRECTORY: &str = "/measured";
/// Options of strace(1). The filter makes other calls run at full speed. It contains the calls in
/// which a thread waits or sleeps, so that this time does not count as computing.
const STRACE_OPTIONS: &str = "-f --seccomp-bpf -ttt -T -y -s 0 -e \
    trace=%file,%desc,%process,%network,futex,nanosleep,clock_nanosleep,pause,rt_sigsuspend,\
    rt_sigtimedwait";

/// The fidelity report about a learned workload.
pub struct Learned(Value);

impl Learned {
    /// Reads the report beside a trace.
    pub fn load(trace: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(trace.with_extension("json"))?;
        Ok(Self(serde_json::from_str(&text)?))
    }

    /// Operations of the trace, of which some are compounds such as removals of trees; 0 for a
    /// tree.
    pub fn operations(&self) -> u64 {
        let counts = self.0["profile"]["mix"].as_object().into_iter().flatten();
        counts.filter_map(|(_, count)| count.as_u64()).sum()
    }

    /// Share of the operations that the workload does not represent, from 0 to 1; `None` for a
    /// tree.
    pub fn left_out(&self) -> Option<f64> {
        let all = self.0["left-out"].as_array().into_iter().flatten();
        let left_out: u64 = all.filter_map(|one| one["count"].as_u64()).sum();
        let operations = self.operations();
        (operations > 0).then(|| left_out as f64 / (left_out + operations) as f64)
    }

    /// A number of the profile, such as `files`.
    pub fn count(&self, name: &str) -> u64 {
        self.0["profile"][name].as_u64().unwrap_or_default()
    }

    /// The largest operations with their shares.
    pub fn mix(&self, most: usize) -> Vec<(String, f64)> {
        let all = self.0["mix"].as_array().into_iter().flatten();
        let share = |one: &Value| {
            let name = one["operation"].as_str()?.to_owned();
            Some((name, one["model"].as_f64()?))
        };
        let mut all: Vec<(String, f64)> = all.filter_map(share).collect();
        all.sort_by(|one, other| other.1.total_cmp(&one.1));
        all.truncate(most);
        all
    }

    /// The total variation distance of the mixes; `None` for a tree.
    pub fn mix_distance(&self) -> Option<f64> {
        self.0["mix-distance"].as_f64()
    }

    /// The Kolmogorov-Smirnov distance of a distribution.
    pub fn distance(&self, what: &str) -> Option<f64> {
        self.comparison(what)?["distance"].as_f64()
    }

    /// The observed value of a distribution that a share of its values, one of the report's, does
    /// not exceed.
    pub fn quantile(&self, what: &str, share: f64) -> Option<u64> {
        let quantiles = self.comparison(what)?["quantiles"].as_array()?;
        let is_wanted = |row: &&Value| row[0].as_f64() == Some(share);
        quantiles.iter().find(is_wanted)?[1].as_u64()
    }

    fn comparison(&self, what: &str) -> Option<&Value> {
        let mut all = self.0["comparisons"].as_array()?.iter();
        all.find(|one| one["what"] == what)
    }
}

/// Traces a command once on an empty file system, and learns the tree that it leaves.
pub fn trace(
    ours: &Path,
    volume: &mut Volume,
    setup: &SetupOptions,
    application: &Application,
    file: &Path,
) -> Result<()> {
    let outside = CellRequest::outside()?;
    let request = CellRequest { setup, round: 0 };
    let mut cell = request.cell(volume, outside.path(), application, setup.data)?;
    (application.prepare)(&mut cell)?;
    cell.strace_options = STRACE_OPTIONS;
    cell.traces = Some(Vec::new());
    (application.run)(&mut cell)?;
    let logs = cell.traces.take().unwrap_or_default();
    let [log] = &logs[..] else {
        return Err(format!("{} has {} traces", application.name, logs.len()).into());
    };
    let tree = cell.path(application.files);
    if tree.exists() {
        learn(ours, &[tree.as_os_str()], &tree_file(file))?;
    }
    let text = std::fs::read(log)?;
    let directory = cell.directory.as_os_str().as_encoded_bytes();
    let partial = file.with_extension("partial");
    std::fs::write(&partial, replaced(&text, directory, DIRECTORY.as_bytes()))?;
    std::fs::rename(partial, file)?;
    remove(&cell.directory)
}

/// Learns the workload of a trace, unless its files exist.
pub fn learn_trace(ours: &Path, trace: &Path) -> Result<()> {
    if trace.with_extension("json").exists() {
        return Ok(());
    }
    let cpu_time = cpu_time(trace)?;
    let words = [
        "--below",
        DIRECTORY,
        "--cpu-time",
        cpu_time.trim(),
        "--trace",
    ];
    let words = words.map(OsStr::new);
    learn(ours, &[&words, &[trace.as_os_str()][..]].concat(), trace)
}

/// The processor time of a command without strace, as the value of an option.
pub fn cpu_time(trace: &Path) -> Result<String> {
    let file = trace.with_extension("cpu");
    std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()).into())
}

/// Stores the processor time of a command, unless it is stored. `measure` returns it in seconds.
pub fn store_cpu_time(trace: &Path, measure: impl FnOnce() -> Result<f64>) -> Result<()> {
    let file = trace.with_extension("cpu");
    if file.exists() {
        return Ok(());
    }
    let us = (measure()? * 1e6).max(1.0);
    Ok(std::fs::write(file, format!("{us:.0}us\n"))?)
}

/// The files of the tree that a command leaves are beside its trace, with other extensions.
pub fn tree_file(trace: &Path) -> PathBuf {
    let mut name = trace.file_stem().unwrap_or_default().to_owned();
    name.push("-tree.strace");
    trace.with_file_name(name)
}

/// Writes a workload and the report about it, which have the name `file` with other extensions.
fn learn(ours: &Path, source: &[&OsStr], file: &Path) -> Result<()> {
    let mut learn = command(ours, "learn --force --format json");
    learn.args(source).arg("--output");
    let report = output(learn.arg(file.with_extension("toml")))?;
    Ok(std::fs::write(file.with_extension("json"), report)?)
}

/// `text` with `to` in all places of `from`.
fn replaced(text: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut result = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        if rest.starts_with(from) {
            result.extend_from_slice(to);
            rest = &rest[from.len()..];
        } else {
            result.push(*first);
            rest = after;
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directory_of_a_trace_is_replaced() {
        let text = b"open(\"/tmp/x/a\") = 3</tmp/x/a>";
        assert_eq!(
            replaced(text, b"/tmp/x", DIRECTORY.as_bytes()),
            b"open(\"/measured/a\") = 3</measured/a>"
        );
    }
}
