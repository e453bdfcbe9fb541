//! Observations about a tree or a trace.

use std::collections::BTreeMap;

use engine::Action;
use serde::Serialize;

use crate::contents::ContentSample;
use crate::distribution::Distribution;
use crate::own_times::OwnTimes;

/// The kind of source from which a profile was learned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// A directory with its files.
    #[default]
    Tree,
    /// A trace of operations.
    Trace,
}

/// Observations about a tree or a trace. A field is `None` if the source does not show it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Profile {
    /// The kind of source.
    pub source: Source,
    /// Names of regular files. A file with several hard links has several names.
    pub files: Option<u64>,
    /// Directories that contain at least one regular file.
    pub directories: Option<u64>,
    /// The sum of the files' sizes in bytes, by name.
    pub bytes: Option<u64>,
    /// Sizes of files in bytes.
    pub sizes: Option<Distribution>,
    /// For each file, the number of directories between the root and the file.
    pub depths: Option<Distribution>,
    /// For each directory with files, the number of its files.
    pub entries: Option<Distribution>,
    /// For each file, the length of its name in bytes.
    pub name_lengths: Option<Distribution>,
    /// Additional names of files with several hard links.
    pub links: Option<u64>,
    /// Symbolic links.
    pub symlinks: Option<u64>,
    /// Compressibility and duplicates of a sample of the contents.
    pub contents: Option<ContentSample>,
    /// How often each operation was performed.
    pub mix: Option<BTreeMap<Action, u64>>,
    /// For each operation that changes something: how often it was made durable.
    pub syncs: Option<BTreeMap<Action, Syncs>>,
    /// Bytes of each append.
    pub append_sizes: Option<Distribution>,
    /// Bytes of each read of a part of a file.
    pub range_sizes: Option<Distribution>,
    /// Nanoseconds for which a worker was idle before an operation: sleeps of its own, or in a
    /// trace of messages all time since its last operation.
    pub pauses: Option<Distribution>,
    /// Nanoseconds for which a worker computed, or used other files, before an operation.
    pub compute: Option<Distribution>,
    /// The time of all workers that is not part of operations; `None` if the source does not show
    /// it.
    pub own: Option<OwnTimes>,
    /// Processes or threads that performed operations at the same time.
    pub workers: Option<u64>,
    /// How the operations are distributed over the files.
    pub popularity: Option<Popularity>,
    /// Operations that follow one another on the same file, with the most frequent first.
    pub sequences: Vec<Sequence>,
    /// What was observed and has no form in a profile.
    pub left_out: Vec<LeftOut>,
}

impl Profile {
    /// Adapts the time of computing to the processor time of the source without the tracer, in
    /// nanoseconds. A profile without times remains as it is.
    pub fn adapt_to_cpu_time(&mut self, cpu_ns: u64) {
        let Some(own) = &mut self.own else { return };
        let factor = own.factor(cpu_ns);
        let scaled = |ns: u64| (ns as f64 * factor) as u64;
        own.compute_ns.values_mut().for_each(|ns| *ns = scaled(*ns));
        own.cpu_ns = Some(cpu_ns);
        self.compute = self.compute.as_ref().map(|compute| {
            let mut adapted = Distribution::default();
            for bucket in compute.buckets() {
                let middle = bucket.low + (bucket.high - bucket.low) / 2;
                adapted.add_times(scaled(middle), bucket.count);
            }
            adapted
        });
    }
}

/// How often an operation was made durable before the thread continued.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Syncs {
    /// All operations.
    pub operations: u64,
    /// Those whose file was synced by fdatasync(2).
    pub data: u64,
    /// Those whose file was synced by fsync(2).
    pub file: u64,
    /// Those whose directory was synced.
    pub directory: u64,
}

/// How operations are distributed over files.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Popularity {
    /// Files with at least one operation.
    pub files: u64,
    /// Operations on these files.
    pub operations: u64,
    /// Points of the curve of popularity: the share of the most popular files, and the share of
    /// all operations that are on them; both from 0 to 1, and rising.
    pub curve: Vec<(f64, f64)>,
}

/// Operations that follow one another on the same file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Sequence {
    /// The operations, with the first one first.
    pub operations: Vec<Action>,
    /// How often the sequence occurred.
    pub count: u64,
}

/// Something that was observed and that the model cannot represent.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct LeftOut {
    /// A noun phrase, such as `writes through mappings`.
    pub what: String,
    /// How many there are.
    pub count: u64,
    /// Their share (0 to 1) of all things of this kind, such as of all operations; `None` if the
    /// total is not known.
    pub share: Option<f64>,
    /// An example, such as a path; strings from a source are not sanitized here.
    pub example: Option<String>,
}

impl LeftOut {
    /// Creates an entry for `count` of `all`.
    pub fn new(what: impl Into<String>, count: u64, all: u64) -> Self {
        Self {
            what: what.into(),
            count,
            share: (all > 0).then(|| count as f64 / all as f64),
            example: None,
        }
    }

    /// Adds an example.
    #[must_use]
    pub fn with_example(self, example: Option<String>) -> Self {
        Self { example, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computing_and_operations_take_the_processor_time_together() {
        let mut profile = Profile {
            compute: Some([0, 400, 800].into_iter().collect()),
            own: Some(OwnTimes {
                compute_ns: BTreeMap::from([(Action::Read, 400), (Action::Stat, 800)]),
                operation_ns: 800,
                ..OwnTimes::default()
            }),
            ..Profile::default()
        };
        profile.adapt_to_cpu_time(500);
        let own = profile.own.unwrap();
        assert_eq!(
            own.compute_ns,
            BTreeMap::from([(Action::Read, 100), (Action::Stat, 200)])
        );
        assert_eq!(own.cpu_ns, Some(500));
        assert_eq!(profile.compute.unwrap().sum(), 300);
        let mut without = Profile::default();
        without.adapt_to_cpu_time(500);
        assert_eq!(without, Profile::default());
    }
}
