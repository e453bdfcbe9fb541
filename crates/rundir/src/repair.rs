//! Repairs the pool of a run that a crash has ended, so that the next run can continue on it.
//!
//! Every operation that had begun then counts as done. The stream of each worker is followed to its
//! last operation in the acknowledgement log, files are made or removed until the pool is that of
//! the streams, and the manifest records it as kept.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::namespace::{Directory, Namespace};
use engine::{Action, NameKind};
use spec::{OnError, Place, RunSpec};
use workload::{Mix, Phase};

use crate::ack_log::entry::Header;
use crate::ack_log::logged::{Logged, read};
use crate::ack_log::loss::VerifyError;
use crate::ack_log::outcome::foreign;
use crate::ack_log::replay::{Acked, Replay};
use crate::ack_log::tree;
use crate::clean::{Abandoned, find_abandoned};
use crate::heartbeat::{self, Life};
use crate::manifest::{KeptPool, Manifest, Position};
use crate::names;
use crate::ownership::{self, Evidence, Ownership};
use crate::run_directory::RunDirectories;
use crate::verify_log::find_directories;

mod files;
mod positions;

pub use files::Repaired;

/// Returns why pools of this run cannot be repaired after any crash; `None` if they can.
pub fn refusal(spec: &RunSpec) -> Option<String> {
    let workload = &spec.workload;
    let Some(mix) = workload.mix().filter(|mix| mix.replay.is_none()) else {
        return Some("it needs a mix, whose files can be written again (use --mix)".to_owned());
    };
    let actions = workload.actions(Phase::Transactions);
    let reason = match () {
        () if !mix.phases.is_empty() => "phases begin with a new pool (use --mix)",
        () if workload.workers.is_shared() => {
            "the state of a shared pool depends on the timing of its workers (use private pools)"
        }
        () if spec.engine.calls_server() || spec.place != Place::OwnDirectory => {
            "it writes files itself, in the directory of a run on a mounted file system (mount \
             the server's files)"
        }
        () if spec.on_error != OnError::Stop => {
            "a failed operation leaves its file in an unknown state (use --on-error stop)"
        }
        () if !has_changes(mix) => "the mix changes nothing (add create or append)",
        () => {
            let action = actions.into_iter().find(|action| !is_repairable(*action))?;
            let name = action.name();
            return Some(format!(
                "it repairs files and not what {name} makes (remove {name} from the mix)"
            ));
        }
    };
    Some(reason.to_owned())
}

fn has_changes(mix: &Mix) -> bool {
    let mut actions = mix.weights.actions();
    actions.any(|action| !action.reads())
}

/// Whether all effects of the action that a later operation needs are files with their contents.
fn is_repairable(action: Action) -> bool {
    let is_file = matches!(action.named(), NameKind::File | NameKind::Temporary);
    let has_attribute = matches!(action, Action::SetExtended | Action::GetExtended);
    is_file && !has_attribute && !action.links() && action != Action::SymbolicLink
}

/// Repairs the pool of a killed run, and leaves it for a run with `--reuse`. `ack_logs` are those
/// of all runs on the pool, from the first to the last. All changes are on disk when this function
/// returns.
///
/// # Errors
/// Returns the reason if the pool cannot be used: a directory or the manifest is lost, or it has a
/// file that is not certainly of the run. Such a file is not touched.
pub fn repair(
    namespace: &Arc<dyn Namespace>,
    target: &Path,
    ack_logs: &[PathBuf],
) -> Result<Repaired, VerifyError> {
    let Logged {
        header, mut replay, ..
    } = read(ack_logs)?;
    replay.begin_next_log().map_err(VerifyError::new)?;
    let positions = positions::positions(&header.workload, &replay)?;
    let own = Arc::clone(namespace).with_own_rights();
    let found = find_directories(&*own, target, &header, false)?;
    let [Some(found)] = &found[..] else {
        return Err(VerifyError::new("it has several locations".to_owned()));
    };
    let abandoned = find_abandoned(namespace, &found.path).map_err(VerifyError::new)?;
    let places = [Some(tree::Place {
        path: found.path.clone(),
        held: Arc::clone(&abandoned.directory),
    })];
    if let Some(first) = foreign(&places, &replay)?.first {
        return Err(VerifyError::new(format!(
            "it contains the foreign file {first}"
        )));
    }
    has_directories(&header, &*abandoned.directory)?;
    let evidence = abandoned.evidence();
    let ownership = ownership(&abandoned, &evidence)?;
    let repaired = files::repair(&header, &replay, &places, ownership)?;
    keep(abandoned, &header, &replay, positions)?;
    Ok(repaired)
}

/// Distinguishes the files of the run from those that another program has written under its names.
fn ownership<'a>(
    abandoned: &'a Abandoned,
    evidence: &'a Evidence,
) -> Result<Ownership<'a>, VerifyError> {
    let (directory, manifest) = (&*abandoned.directory, &abandoned.manifest);
    let failed = |errno| VerifyError::system("examine", &abandoned.path, errno);
    let owner = Manifest::owner(directory).map_err(failed)?;
    let began = ownership::began(directory, manifest).map_err(failed)?;
    Ok(Ownership::new(manifest, evidence, owner, began))
}

/// Checks that the directories of all pools exist.
fn has_directories(header: &Header, directory: &dyn Directory) -> Result<(), VerifyError> {
    let Some(mix) = header.workload.mix() else {
        return Err(VerifyError::new("its workload is no mix".to_owned()));
    };
    let workers = header.workload.workers;
    for worker in 0..workers.count() {
        let own = workers.pool_of(worker).map(names::worker_directory);
        let own: Vec<Vec<u8>> = own.map(String::into_bytes).into_iter().collect();
        for path in mix.layout.directories().chain([Vec::new()]) {
            let parts = path.split(|byte| *byte == b'/');
            let parts = parts.filter(|part| !part.is_empty());
            let mut held: Option<Arc<dyn Directory>> = None;
            for part in own.iter().map(Vec::as_slice).chain(parts) {
                let above = held.as_deref().unwrap_or(directory);
                let opened = above.open(part).map_err(|errno| {
                    let path = String::from_utf8_lossy(&path).into_owned();
                    VerifyError::system("open the directory", Path::new(&path), errno)
                })?;
                held = Some(opened);
            }
        }
    }
    Ok(())
}

/// Records the pool in its manifest.
fn keep(
    abandoned: Abandoned,
    header: &Header,
    replay: &Replay,
    positions: Vec<Position>,
) -> Result<(), VerifyError> {
    let is_file = |acked: &Acked| matches!(acked, Acked::File(_));
    let names = replay.names.values();
    let kept = KeptPool {
        pool: header.workload.pool_canonical(),
        workload: header.workload.endless_canonical(),
        positions,
        names: names.filter(|name| is_file(&name.acked)).count() as u64,
        left_ns: heartbeat::wall_ns(),
        set_back_ns: abandoned.evidence().set_back_ns,
    };
    let path = abandoned.path.clone();
    let directory = abandoned
        .into_run_directory()
        .map_err(|errno| VerifyError::system("examine", &path, errno))?;
    // A kept pool needs no heartbeat.
    let directories = RunDirectories::new(vec![directory], Vec::new(), Life::private(1, 1));
    directories.keep(&kept).map_err(VerifyError::new)
}
