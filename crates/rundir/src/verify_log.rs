//! Determines which acknowledged operations a crash has lost or torn.
//!
//! [`verify_log()`] replays the acknowledgement log of a run and computes the expected contents of
//! the run's directories. The function compares the expected contents with the file system, and
//! changes nothing.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use engine::Errno;
use engine::namespace::{EntryKind, Facts, Namespace};
use serde::Serialize;
use workload::Action;
use workload::contents::Contents;

use crate::ack_log;
use crate::ack_log::acknowledged::Acknowledged;
use crate::ack_log::entry::{self, Header};
use crate::ack_log::key::Key;
use crate::ack_log::logged::{Logged, read};
use crate::ack_log::loss::{Loss, LossKind, VerifyError};
use crate::ack_log::outcome::{Foreign, Outcome, Promised, foreign, outcomes};
use crate::ack_log::replay::{Acked, NameState};
use crate::ack_log::tree::{Place, Tree};

/// Maximum number of losses in [`Verified::lost`]. Further losses are only counted in
/// [`Verified::lost_counts`].
pub const NAMED_MAX: usize = 1000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LossCount {
    /// The operation whose effect was lost.
    pub what: Action,
    pub kind: LossKind,
    /// Number of paths with this loss.
    pub count: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verified {
    /// The program that wrote the acknowledgement log.
    pub tool: String,
    /// The durability policy of the run, such as syncing each file.
    pub policy: String,
    pub workers: u32,
    /// Path of each location's directory at verification; `None` if the run removed the directory.
    pub directories: Vec<Option<String>>,
    pub acknowledged: Acknowledged,
    /// Number of operations that began and were not acknowledged, because of the crash or a
    /// failure.
    pub in_flight: u64,
    /// Number of checked paths: those with acknowledged operations.
    pub checked: u64,
    /// The losses, sorted by path, up to [`NAMED_MAX`].
    pub lost: Vec<Loss>,
    /// Number of all losses of each kind and operation, including losses that `lost` omits.
    pub lost_counts: Vec<LossCount>,
    /// Acknowledged operations, checked paths and losses of each operation.
    pub operations: Vec<Outcome>,
    /// Number of files in the run's own directories that the log does not mention. They do not
    /// count as losses, because an NFS client, for example, renames removed files that are open.
    pub foreign: u64,
    /// Path of the first of these files.
    pub foreign_first: Option<String>,
    /// Whether contents were compared byte by byte. For classic runs, only the size and the absence
    /// of zero bytes are checked.
    pub contents_checked: bool,
    /// Whether the acknowledgement log ends with a complete line. A torn last line is ignored.
    pub complete_ack_log: bool,
    /// Whether all workers ended by themselves; false if a crash or a kill ended the workers.
    pub ended: bool,
    /// Whether the run removed files after its workers had ended, or may have done so. A missing
    /// file then counts as no loss.
    pub may_be_removed: bool,
}

impl Verified {
    /// Total number of losses, including those that `lost` omits.
    pub fn losses(&self) -> u64 {
        self.lost_counts.iter().map(|count| count.count).sum()
    }

    /// Whether a loss breaks a promise about the operation.
    pub fn is_promised(&self, what: Action, kind: LossKind) -> bool {
        let mut operations = self.operations.iter();
        let promise = operations.find(|outcome| outcome.what == what);
        promise.is_some_and(|outcome| match kind {
            LossKind::Missing | LossKind::StillThere => outcome.promise.has_names(),
            LossKind::Torn | LossKind::WrongSize => outcome.promise.has_contents(),
        })
    }
}

/// Compares the files in `path` with the operations in the acknowledgement log of a run.
///
/// `path` is the target directory of the run, or the run's own directory inside it. The file system
/// may be mounted at another path than during the run. If the run used several locations, `path`
/// replaces the location whose path has the same last component. The other locations are expected
/// at their original paths.
///
/// # Errors
/// Returns an error if verification is impossible: the acknowledgement log cannot be read or was
/// changed, or a directory of the run cannot be opened.
pub fn verify_log(
    namespace: &dyn Namespace,
    path: &Path,
    ack_log: &Path,
) -> Result<Verified, VerifyError> {
    verify_logs(namespace, path, &[ack_log.to_owned()])
}

/// Compares the files in `path` with the logs of several runs, from the first to the last. Every
/// run continued on the files of the earlier one, after their [repair](crate::repair::repair()).
/// The acknowledged operations are those of the last run.
///
/// # Errors
/// Returns an error if verification is impossible, as [`verify_log`].
pub fn verify_logs(
    namespace: &dyn Namespace,
    path: &Path,
    ack_logs: &[PathBuf],
) -> Result<Verified, VerifyError> {
    let Logged {
        header,
        replay,
        ended,
        removed,
        is_whole,
    } = read(ack_logs)?;
    // The run may have removed any of its files if all workers ended and the log does not record
    // the number of removed files.
    let may_be_removed = removed.map_or(ended, |removed| removed > 0);
    let may_be_gone = may_be_removed || (ended && replay.leaves_nothing());
    let directories = find_directories(namespace, path, &header, may_be_gone)?;
    let contents = header
        .workload
        .contents
        .map(|contents| Contents::new(&contents, header.workload.seed(), 0));
    let contents_checked = contents.is_some();
    let mut tree = Tree::new(&directories, &replay, contents, may_be_removed);
    let mut names: Vec<(&Key, &NameState)> = replay.names.iter().collect();
    names.sort_unstable_by_key(|(key, _)| *key);
    let (lost, counts) = losses(&mut tree, &names)?;
    let foreign = match header.own_directories {
        true => foreign(&directories, &replay)?,
        false => Foreign::default(),
    };
    let promised = Promised::new(header.durability, header.promise);
    Ok(Verified {
        tool: header.tool,
        policy: promised.policies.to_string(),
        workers: header.workers,
        directories: directories.iter().map(shown).collect(),
        acknowledged: Acknowledged::of(&replay),
        in_flight: replay.in_flight(),
        checked: names
            .iter()
            .filter(|(_, name)| name.acked != Acked::Unknown)
            .count() as u64,
        lost,
        operations: outcomes(&promised, &replay, &names, &counts),
        lost_counts: counts
            .into_iter()
            .map(|((what, kind), count)| LossCount { what, kind, count })
            .collect(),
        foreign: foreign.count,
        foreign_first: foreign.first,
        contents_checked,
        complete_ack_log: is_whole,
        ended,
        may_be_removed,
    })
}

fn shown(place: &Option<Place>) -> Option<String> {
    let place = place.as_ref()?;
    Some(place.path.to_string_lossy().into_owned())
}

/// Describes the latest operations in acknowledgement logs on the path of a loss.
///
/// # Errors
/// Returns an error if a log cannot be read.
pub fn history(ack_logs: &[PathBuf], loss: &Loss) -> Result<Vec<String>, VerifyError> {
    ack_log::history::history(ack_logs, &loss.key)
}

/// Number of losses by operation and kind.
type LossCounts = BTreeMap<(Action, LossKind), u64>;

/// Returns at most [`NAMED_MAX`] losses, and the number of all losses of each kind and operation.
fn losses(
    tree: &mut Tree<'_>,
    names: &[(&Key, &NameState)],
) -> Result<(Vec<Loss>, LossCounts), VerifyError> {
    let mut lost = Vec::new();
    let mut counts = LossCounts::new();
    for (key, name) in names {
        if let Some(loss) = tree.judge(key, name)? {
            *counts.entry((loss.what, loss.kind)).or_default() += 1;
            if lost.len() < NAMED_MAX {
                lost.push(loss);
            }
        }
    }
    Ok((lost, counts))
}

/// Finds and opens the directory of each location, which may be at another path than in the run.
pub(crate) fn find_directories(
    namespace: &dyn Namespace,
    path: &Path,
    header: &Header,
    may_be_gone: bool,
) -> Result<Vec<Option<Place>>, VerifyError> {
    let given = namespace
        .real_path(path)
        .map_err(|errno| VerifyError::system("find", path, errno))?;
    let was: Vec<PathBuf> = header
        .directories
        .iter()
        .map(|text| {
            let bytes =
                entry::unescape(text.as_bytes()).unwrap_or_else(|| text.clone().into_bytes());
            PathBuf::from(std::ffi::OsString::from_vec(bytes))
        })
        .collect();
    let is_one = was.iter().all(|directory| *directory == was[0]);
    was.iter()
        .map(|directory| {
            let name = directory.file_name().unwrap_or(OsStr::from_bytes(b"/"));
            let is_like = |other: &&PathBuf| other.file_name() == Some(name) && *other != directory;
            let is_meant = is_one
                || given == *directory
                || directory.parent() == Some(given.as_path())
                || !was.iter().any(|other| is_like(&other));
            let found = is_meant
                .then(|| find(namespace, &given, name, (header.own_directories, is_one)))
                .flatten();
            // A location that is not at `path` is expected at its original path.
            let is_there = || is_directory(namespace.facts(directory));
            let found = found.or_else(|| (!is_one && is_there()).then(|| directory.clone()));
            match found {
                None if !may_be_gone => Err(VerifyError {
                    is_directory_lost: true,
                    ..VerifyError::new(format!(
                        "cannot find the run directory {} in {}, and the run did not remove it \
                         (mount the file system, and use the --target of the run; if {} is that \
                         directory, the run directory and all its files are lost)",
                        name.to_string_lossy(),
                        path.display(),
                        path.display()
                    ))
                }),
                None => Ok(None),
                Some(path) => match namespace.open(&path) {
                    Ok(held) => Ok(Some(Place { path, held })),
                    Err(errno) => Err(VerifyError::system("open the directory", &path, errno)),
                },
            }
        })
        .collect()
}

/// Returns the path of the directory with this name: `given` itself, or a directory in it.
fn find(
    namespace: &dyn Namespace,
    given: &Path,
    name: &OsStr,
    (is_own, is_one): (bool, bool),
) -> Option<PathBuf> {
    if given.file_name() == Some(name) || (is_one && !is_own) {
        return Some(given.to_owned());
    }
    let inside = given.join(name);
    let open = || namespace.open(given);
    let facts = || open().and_then(|given| given.facts_of(name.as_bytes()));
    (is_own && is_directory(facts())).then_some(inside)
}

fn is_directory(facts: Result<Facts, Errno>) -> bool {
    facts.is_ok_and(|facts| facts.kind == EntryKind::Directory)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use engines::kernel_namespace::KernelNamespace;

    use super::*;

    fn header(directories: &[PathBuf], own_directories: bool) -> Header {
        Header {
            postmark_ack_log: entry::VERSION,
            tool: "postmark".to_owned(),
            workload: workload::Mix::default().into(),
            durability: engine::Policies::default(),
            promise: engine::Promise::Nothing,
            directories: directories
                .iter()
                .map(|directory| directory.to_string_lossy().into_owned())
                .collect(),
            own_directories,
            workers: 1,
        }
    }

    #[test]
    fn given_path_is_matched_to_one_of_several_locations() {
        let top = tempfile::tempdir().unwrap();
        let top = top.path().canonicalize().unwrap();
        let [a, b, c] = ["a/postmark-1", "b/postmark-1", "c/postmark-2"].map(|name| top.join(name));
        for directory in [&a, &b, &c] {
            fs::create_dir_all(directory).unwrap();
        }
        let find = |given: &Path, was: &[&PathBuf], own| {
            let was: Vec<PathBuf> = was.iter().map(|was| (*was).clone()).collect();
            let found = find_directories(
                &KernelNamespace::default(),
                given,
                &header(&was, own),
                false,
            );
            let paths = |found: Vec<Option<Place>>| {
                found
                    .into_iter()
                    .map(|found| found.map(|found| found.path))
                    .collect::<Vec<_>>()
            };
            found.map(paths).map_err(|error| error.to_string())
        };
        let both = Ok(vec![Some(a.clone()), Some(b.clone())]);
        // `a` and `b` are run directories with the same name. One of them is at the given path, the
        // other at its original path.
        assert_eq!(find(&top.join("b"), &[&a, &b], true), both);
        assert_eq!(find(&a, &[&a, &b], true), both);
        // `c` is moved away from its original path.
        let elsewhere = top.join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        fs::rename(&c, elsewhere.join("postmark-2")).unwrap();
        let moved = Ok(vec![Some(a.clone()), Some(elsewhere.join("postmark-2"))]);
        assert_eq!(find(&elsewhere, &[&a, &c], true), moved);
        assert!(
            find(&top, &[&a, &c], true)
                .unwrap_err()
                .contains("directory postmark-2")
        );
        // The log lists one location twice, so the result contains its directory twice.
        let twice = Ok(vec![Some(a.clone()), Some(a.clone())]);
        assert_eq!(find(&top.join("a"), &[&a, &a], true), twice);
        assert_eq!(find(&b, &[&c], false), Ok(vec![Some(b.clone())]));
        assert!(
            find(&top.join("none"), &[&a], true)
                .unwrap_err()
                .contains("cannot find")
        );
    }
}
