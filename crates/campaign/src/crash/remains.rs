//! Removes the files of a round after its verification.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;

use engine::Errno;
use engine::namespace::{Directory, EntryKind, Namespace};
use rundir::{Cleaned, Verified};

use super::plan::CrashPlan;
use super::pool::Pool;
use super::surroundings::Surroundings;

/// Removes the files of a verified run with this process number. Returns what remains, with the
/// reasons.
pub(super) fn remove(
    namespace: &Arc<dyn Namespace>,
    verified: &Verified,
    process: u32,
) -> Vec<String> {
    let directories: BTreeSet<&String> = verified.directories.iter().flatten().collect();
    let mut left = Vec::new();
    for directory in directories {
        let path = Path::new(directory);
        let without_manifest = |why: String| match remove_whole(namespace, path, verified, process)
        {
            Ok(()) => None,
            Err(problem) => Some(format!("{directory}: {why}; {problem}")),
        };
        match rundir::clean(namespace, path) {
            Ok(cleaned) if cleaned.is_empty() => {
                left.extend(without_manifest("its manifest is lost".to_owned()));
            }
            Ok(cleaned) => {
                for each in &cleaned {
                    match each {
                        Cleaned::Untouched { why, .. } => {
                            left.extend(without_manifest(why.clone()))
                        }
                        // The run of this round has ended, so a manifest that seems to belong to an
                        // active run is an incomplete one.
                        Cleaned::Active { process: None, .. } => {
                            left.extend(without_manifest("its manifest is incomplete".to_owned()));
                        }
                        each => left.extend(remains(each)),
                    }
                }
            }
            Err(error) => left.push(error.to_string()),
        }
    }
    left
}

/// Removes the pool of a round, whose run had this process number. Returns whether nothing remains.
pub(super) fn clean_by_logs(
    plan: &CrashPlan,
    pool: Pool,
    process: u32,
    surroundings: &Surroundings<'_>,
) -> bool {
    let logs = pool.logs(plan);
    let Ok(namespace) = (surroundings.namespace)(&plan.target) else {
        return false;
    };
    let own = Arc::clone(&namespace).with_own_rights();
    match rundir::verify_logs(&*own, &plan.target, &logs) {
        Ok(verified) => {
            let maker = pool.process.unwrap_or(process);
            remove(&namespace, &verified, maker).is_empty()
        }
        Err(error) => error.is_directory_lost || logs.iter().any(|log| fs::metadata(log).is_err()),
    }
}

fn remains(cleaned: &Cleaned) -> Vec<String> {
    match cleaned {
        Cleaned::Removed { clean_up, .. } => {
            let left = clean_up.left.iter();
            left.map(|left| format!("{}: {}", left.path, left.why))
                .collect()
        }
        Cleaned::Drafts { .. } => Vec::new(),
        Cleaned::Active { directory, .. } => vec![format!("{}: in use", directory.display())],
        Cleaned::InHands { directory, .. } | Cleaned::Kept { directory } => {
            vec![format!("{}: not removed", directory.display())]
        }
        Cleaned::Untouched { directory, why } => vec![format!("{}: {why}", directory.display())],
    }
}

/// Removes the own directory of a run whose manifest a crash has lost or torn, with everything in
/// it. The directory is that of the run if its name contains the process number of the run, and
/// everything in it is of the run if verification has found no foreign file.
fn remove_whole(
    namespace: &Arc<dyn Namespace>,
    path: &Path,
    verified: &Verified,
    process: u32,
) -> Result<(), String> {
    let name = path.file_name().unwrap_or_default();
    if !is_of_run(name, process) {
        return Err("it is not a directory of this run".to_owned());
    }
    if let Some(foreign) = &verified.foreign_first {
        return Err(format!("it contains the foreign file {foreign}"));
    }
    let above = path.parent().unwrap_or(path);
    let own = Arc::clone(namespace).with_own_rights();
    let removed = own
        .open(above)
        .and_then(|above| remove_tree(&*above, name.as_bytes()));
    removed.map_err(|errno| std::io::Error::from(errno).to_string())
}

/// Whether this is the name of an own directory, `postmark-SECONDS-PROCESS-ATTEMPT`, of a process.
fn is_of_run(name: &OsStr, process: u32) -> bool {
    let parts = name.to_str().unwrap_or_default().split('-');
    let [program, second, of, attempt] = parts.collect::<Vec<_>>()[..] else {
        return false;
    };
    program == "postmark"
        && of.parse() == Ok(process)
        && [second, attempt]
            .iter()
            .all(|part| part.parse::<u64>().is_ok())
}

fn remove_tree(above: &dyn Directory, name: &[u8]) -> Result<(), Errno> {
    if above.facts_of(name)?.kind == EntryKind::Directory {
        let directory = above.open(name)?;
        let mut inner = Vec::new();
        directory.list(&mut |entry| {
            inner.push(entry.name.to_owned());
            Ok(())
        })?;
        for each in inner {
            remove_tree(&*directory, &each)?;
        }
    }
    // The facts of a directory have changed by the removals.
    above.remove(name, &above.facts_of(name)?).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_directories_of_the_process_are_of_its_run() {
        for (name, is_own) in [
            ("postmark-1795764288-12-0", true),
            ("postmark-1795764288-13-0", false),
            ("postmark-1795764288-12", false),
            ("postmark-1795764288-12-0-1", false),
            ("postmark-x-12-0", false),
            ("mine-1795764288-12-0", false),
        ] {
            assert_eq!(is_of_run(OsStr::new(name), 12), is_own, "{name}");
        }
    }
}
