//! The only list of I/O engines: the facts about each engine, and its constructor.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::{Engine, EngineFacts, Targets, Url, UrlError};

use crate::{nfs, null, posix, raw, s3, stdio, uring};

/// A function that creates an engine with a queue depth, for a list of targets.
type Make = fn(usize, &[PathBuf]) -> Arc<dyn Engine>;

#[derive(Debug)]
pub struct Row {
    pub facts: &'static EngineFacts,
    pub make: Make,
}

/// All engines that a run can select, in the order of the help.
pub static ROWS: [Row; 7] = [
    row(&stdio::FACTS, |_, _| Arc::new(stdio::Stdio)),
    row(&raw::FACTS, |_, _| Arc::new(raw::Raw)),
    row(&posix::FACTS, |_, _| Arc::new(posix::Posix)),
    row(&uring::FACTS, |depth, _| Arc::new(uring::Uring::new(depth))),
    row(&null::FACTS, |_, _| Arc::new(null::Null)),
    row(&nfs::FACTS, |depth, targets| {
        Arc::new(nfs::Nfs::new(depth, targets))
    }),
    row(&s3::FACTS, |depth, targets| {
        Arc::new(s3::S3::new(depth, targets))
    }),
];

const fn row(facts: &'static EngineFacts, make: Make) -> Row {
    Row { facts, make }
}

pub fn named(name: &str) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.facts.name == name)
}

/// Returns the engine for a target that is a URL of a known scheme; `None` for a directory.
pub fn of_url(target: &Path) -> Option<&'static Row> {
    let matches = |row: &&Row| match row.facts.targets {
        Targets::Urls(syntax) => syntax.matches(target),
        Targets::None | Targets::Directories => false,
    };
    ROWS.iter().find(matches)
}

/// Whether a target is a URL of a known scheme, and therefore not a path of a mounted file system.
pub fn is_url(target: &Path) -> bool {
    of_url(target).is_some()
}

/// Parses a target that is a URL of a known scheme; returns `None` for a directory.
///
/// # Errors
/// Returns an error that describes the invalid part of the URL.
pub fn parse_url(target: &Path) -> Result<Option<Url>, UrlError> {
    match of_url(target).map(|row| row.facts.targets) {
        Some(Targets::Urls(syntax)) => syntax.parse(target).map(Some),
        _ => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_schemes_of_engines_are_unique() {
        let schemes = ROWS.iter().filter_map(|row| match row.facts.targets {
            Targets::Urls(syntax) => Some(syntax.scheme),
            Targets::None | Targets::Directories => None,
        });
        for mut names in [
            ROWS.iter().map(|row| row.facts.name).collect::<Vec<_>>(),
            schemes.collect(),
        ] {
            names.sort_unstable();
            let all = names.len();
            names.dedup();
            assert_eq!(names.len(), all);
        }
    }

    #[test]
    fn engines_report_the_facts_of_their_registry_rows() {
        for row in &ROWS {
            let engine = (row.make)(1, &[]);
            assert_eq!(engine.name(), row.facts.name);
            assert_eq!(engine.depth(), 1);
            assert_eq!(engine.namespace().is_some(), row.facts.makes_files());
        }
    }
}
