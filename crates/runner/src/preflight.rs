//! Preflight checks, each of which may refuse the run. They check the spec, the I/O engine, the
//! machine and the targets, and change nothing.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::namespace::Namespace;
use engine::{Capability, Engine, Need, OperationKind};
use engines::registry;
use record::{LocationRecord, Room};
use rundir::prepare::OtherUser;
use rundir::{ack_log, prepare};
use spec::{Cache, Place, RunSpec};
use system::{DurabilityFacts, Fact, Host, Sources, Target};
use workload::{Action, Fingerprint, Phase, Workload, fingerprint};

use crate::control::Control;
use crate::error::Refused;
use crate::events::NoEvents;
use crate::free_space::{self, Ground, Volumes};
use crate::memory;
use crate::servers;
use crate::timed_call::{Call, Waiter};

/// Results of the preflight checks, which the run and its record use.
pub(crate) struct Looked {
    /// The namespace of the run's files; `None` for a run that creates no files.
    pub namespace: Option<Arc<dyn Namespace>>,
    pub host: Host,
    pub targets: Vec<Fact<Target>>,
    pub room: Option<Room>,
    /// The absolute path of each location.
    pub directories: Vec<PathBuf>,
    pub fingerprint: Fingerprint,
    /// The user as whom the run accesses files; `None` if that is the process's own user.
    pub other_user: Option<OtherUser>,
}

impl Looked {
    /// Performs all preflight checks except those of directory contents. Only the first rank checks
    /// free space, on behalf of all ranks.
    pub(crate) fn at(
        request: &RunSpec,
        engine: &dyn Engine,
        is_first: bool,
        waiter: &mut Waiter<'_>,
    ) -> Result<Self, Refused> {
        let namespace = able(request, engine)?;
        let host = Host::read(&Sources::default());
        memory::refuse_without(request, &host)?;
        let directories = directories(request)?;
        // If the targets are on a server, its reachability is checked first.
        let ((targets, grounds), other_user) = match request.engine.uses_urls() {
            true => {
                let other_user = ask_of_targets(request, &namespace, &directories, waiter)?;
                (
                    targets(request, &namespace, &directories, waiter)?,
                    other_user,
                )
            }
            false => {
                let found = targets(request, &namespace, &directories, waiter)?;
                (
                    found,
                    ask_of_targets(request, &namespace, &directories, waiter)?,
                )
            }
        };
        Ok(Self {
            room: match is_first {
                true => room(request, &grounds)?,
                false => None,
            },
            namespace,
            host,
            targets,
            directories,
            other_user,
            // The fingerprint is computed last, because it takes seconds for thousands of workers
            // and a refusal should be quick.
            fingerprint: fingerprint::fingerprint(&request.workload)?,
        })
    }

    /// Returns the locations for the record. `directories` are the directories in which the run
    /// creates its files.
    pub(crate) fn locations(
        &self,
        request: &RunSpec,
        directories: &[PathBuf],
    ) -> Vec<LocationRecord> {
        let weights = request.workload.location_weights();
        let locations = weights.iter().zip(&self.targets).zip(directories);
        let servers = self
            .namespace
            .as_ref()
            .map(|namespace| namespace.servers(request.durability_of_writes()))
            .unwrap_or_default();
        let mut servers = servers.into_iter();
        locations
            .map(|((weight, target), directory)| LocationRecord {
                weight: *weight,
                server: servers.next().as_ref().map(servers::record_of),
                directory: directory.to_string_lossy().into_owned(),
                target: target.clone(),
                durability: target
                    .known()
                    .map(|target| DurabilityFacts::of(&Sources::default(), target)),
            })
            .collect()
    }
}

/// Checks whether a run would be refused because of its spec, engine, machine or target. Changes
/// nothing. Free space and reused pools are checked only by the run itself.
///
/// # Errors
/// Returns the reason for the refusal.
pub fn judge(request: &RunSpec, engine: &dyn Engine) -> Result<(), Refused> {
    let namespace = able(request, engine)?;
    ask_of_targets(
        request,
        &namespace,
        &directories(request)?,
        &mut unwatched(request, &mut NoEvents),
    )
    .map(drop)
}

/// Checks whether a run would be refused for lack of memory or free space. Changes nothing.
///
/// # Errors
/// Returns the reason for the refusal.
pub fn judge_room(request: &RunSpec, engine: &dyn Engine) -> Result<(), Refused> {
    memory::refuse_without(request, &Host::read(&Sources::default()))?;
    let (directories, namespace) = (directories(request)?, namespace(request, engine)?);
    let (_, grounds) = targets(
        request,
        &namespace,
        &directories,
        &mut unwatched(request, &mut NoEvents),
    )?;
    room(request, &grounds).map(drop)
}

/// Checks whether a run would be refused for lack of space on an empty file system that does not
/// exist yet: its name, its kind and its size in bytes.
///
/// # Errors
/// Returns the reason for the refusal.
pub fn judge_planned_room(
    request: &RunSpec,
    (name, kind, bytes): (&str, &str, u64),
) -> Result<(), Refused> {
    let ground = Ground::of_planned(name, kind, bytes);
    let grounds = vec![ground; request.targets.len()];
    room(request, &grounds).map(drop)
}

/// Returns a waiter that sends no events, for checks outside of a run.
fn unwatched<'e>(request: &RunSpec, nobody: &'e mut NoEvents) -> Waiter<'e> {
    Waiter::new(Control::default(), request.stall_timeout, nobody)
}

/// Calls `act`, which accesses targets. The run is refused if the call does not return in time.
pub(crate) fn ask<A: Send + 'static>(
    waiter: &mut Waiter<'_>,
    what: &'static str,
    paths: String,
    act: impl FnOnce() -> A + Send + 'static,
) -> Result<A, Refused> {
    let answer = waiter.wait_for(&Call::new(what, paths.clone()), act);
    answer.map_err(|why| Refused::NoAnswer { what, paths, why })
}

pub(crate) fn paths(directories: &[PathBuf]) -> String {
    let paths: Vec<String> = directories
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    paths.join(", ")
}

/// Checks that the spec has no conflicts and that the engine supports it. Returns the run's
/// namespace.
pub(crate) fn able(
    request: &RunSpec,
    engine: &dyn Engine,
) -> Result<Option<Arc<dyn Namespace>>, Refused> {
    request.check()?;
    engine.supports(&need(request))?;
    namespace(request, engine)
}

/// Calls [`refuse_inability`] with a time limit.
fn ask_of_targets(
    request: &RunSpec,
    namespace: &Option<Arc<dyn Namespace>>,
    directories: &[PathBuf],
    waiter: &mut Waiter<'_>,
) -> Result<Option<OtherUser>, Refused> {
    let (asked, namespace, all) = (request.clone(), namespace.clone(), directories.to_vec());
    let answer = move || refuse_inability(&asked, namespace.as_deref(), &all);
    ask(waiter, "look at", paths(directories), answer)?
}

/// Reads the properties and the free space of targets. For targets on servers, which this machine's
/// kernel does not mount, the properties are not applicable. A run without files needs no free
/// space.
fn targets(
    request: &RunSpec,
    namespace: &Option<Arc<dyn Namespace>>,
    directories: &[PathBuf],
    waiter: &mut Waiter<'_>,
) -> Result<(Vec<Fact<Target>>, Vec<Ground>), Refused> {
    let (all, namespace) = (directories.to_vec(), namespace.clone());
    let has_urls = request.engine.uses_urls();
    match (request.place, namespace) {
        (Place::Nowhere, _) => Ok((vec![Fact::NotApplicable; directories.len()], Vec::new())),
        (_, Some(namespace)) if has_urls => {
            let grounds = ask(waiter, "look at", paths(directories), move || {
                let grounds = all
                    .iter()
                    .map(|directory| Ground::of_server(&*namespace, directory));
                grounds.collect()
            })?;
            Ok((vec![Fact::NotApplicable; directories.len()], grounds))
        }
        _ => {
            let targets: Vec<Target> = ask(waiter, "look at", paths(directories), move || {
                let sources = Sources::default();
                all.iter()
                    .map(|directory| Target::read(&sources, directory))
                    .collect()
            })?;
            let grounds = targets.iter().map(Ground::from).collect();
            Ok((targets.into_iter().map(Fact::Known).collect(), grounds))
        }
    }
}

/// Checks the free space of the targets. Returns `None` for a run without files.
fn room(request: &RunSpec, grounds: &[Ground]) -> Result<Option<Room>, Refused> {
    if request.place == Place::Nowhere {
        return Ok(None);
    }
    let workload = &request.workload;
    let volumes = Volumes::of(workload, grounds);
    let whole = volumes.check(workload)?;
    let is_bounded = workload.transactions() < Workload::ENDLESS || !workload.grows();
    // For a pool that grows without limit the needed space is unknown. Only its initial files must
    // fit.
    let initial = match is_bounded {
        true => None,
        false => Some(volumes.check(&workload.with_transactions(0))?),
    };
    let shortage = free_space::shortage(initial.as_ref().unwrap_or(&whole));
    match shortage.filter(|_| request.room_check && !request.keeping.reuse) {
        Some(lack) => Err(Refused::NoRoom(lack)),
        None => Ok(Some(whole)),
    }
}

/// Lists the operations and features that the run needs from its engine.
fn need(request: &RunSpec) -> Need {
    let workload = &request.workload;
    let mut operations: Vec<OperationKind> = Phase::ALL
        .into_iter()
        .flat_map(|phase| workload.actions(phase))
        .filter_map(Action::performs)
        .collect();
    if workload.directories() > 0 {
        operations.extend([OperationKind::MakeDirectory, OperationKind::RemoveDirectory]);
    }
    if request.check {
        operations.extend([OperationKind::Stat, OperationKind::List]);
    }
    for cache in request.caches() {
        match cache {
            Cache::Warm => operations.push(OperationKind::Read),
            Cache::ColdData => operations.push(OperationKind::Evict),
            Cache::AsIs | Cache::Cold => {}
        }
    }
    let weights = workload.mix().map(|mix| &mix.weights);
    let mix = weights.map(|all| {
        all.actions()
            .map(|action| (action, all.get(action)))
            .collect()
    });
    Need {
        operations,
        mix: mix.unwrap_or_default(),
        durability: request.durability.clone(),
        direct: request.direct,
    }
}

/// The namespace of the run's files; `None` for a run that creates no files.
fn namespace(
    request: &RunSpec,
    engine: &dyn Engine,
) -> Result<Option<Arc<dyn Namespace>>, Refused> {
    match (request.place, engine.namespace()) {
        (Place::Nowhere, _) => Ok(None),
        (Place::OwnDirectory | Place::Location, Some(namespace)) if request.trusts_others => {
            Ok(Some(namespace.with_own_rights()))
        }
        (Place::OwnDirectory | Place::Location, Some(namespace)) => Ok(Some(namespace)),
        (Place::OwnDirectory | Place::Location, None) => Err(Refused::Unable(format!(
            "--engine {} creates no files (use --engine posix)",
            engine.name()
        ))),
    }
}

/// The absolute path of each location; targets of runs without files are returned unchanged.
fn directories(request: &RunSpec) -> Result<Vec<PathBuf>, Refused> {
    let path = |target: &PathBuf| match request.place {
        Place::Nowhere => Ok(target.clone()),
        Place::OwnDirectory | Place::Location => match registry::parse_url(target) {
            Ok(Some(url)) => Ok(url.bare()),
            // URLs that cannot be parsed were refused earlier.
            Err(_) => Ok(target.clone()),
            Ok(None) => {
                std::path::absolute(spec::directory(target)).map_err(Refused::WorkingDirectory)
            }
        },
    };
    request.targets.iter().map(path).collect()
}

/// Refuses options that this machine or target does not support. Returns the user as whom the run
/// accesses files, if that is not the process's own user.
fn refuse_inability(
    request: &RunSpec,
    namespace: Option<&dyn Namespace>,
    directories: &[PathBuf],
) -> Result<Option<OtherUser>, Refused> {
    if request.caches().contains(&Cache::Cold)
        && let Err(error) = system::may_drop_caches()
    {
        return Err(Refused::Unable(format!(
            "cannot use --cache cold: dropping the system's caches failed: {error} (run as \
                 root, or use --cache cold-data)"
        )));
    }
    let nowhere = namespace.is_none();
    let mut other_user = None;
    if let Some(namespace) = namespace {
        for directory in directories {
            namespace.reach(directory).map_err(Refused::Unreachable)?;
        }
        let (trusts, subdirectories) = (request.trusts_others, workload_subdirectories(request));
        other_user = prepare::other_user(namespace, directories, trusts, subdirectories)?;
    }
    if !request.engine.uses_directories() {
        // The following checks concern this machine's kernel. These checks do not apply to targets
        // on servers.
        ack_log::check(request, &[])?;
        return Ok(other_user);
    }
    if request.direct {
        for directory in directories {
            if let Err(error) = engines::probe_direct(directory) {
                return Err(Refused::Unable(format!(
                    "cannot use --direct: the file system of {} does not support direct I/O: \
                     {error} (remove --direct, or use another --target)",
                    directory.display()
                )));
            }
        }
    }
    if !nowhere {
        check_actions(request, directories)?;
    }
    ack_log::check(request, directories)?;
    Ok(other_user)
}

/// Returns an error if the mix has actions that a file system of the targets does not support.
fn check_actions(request: &RunSpec, directories: &[PathBuf]) -> Result<(), Refused> {
    let wants = |is_one: fn(Action) -> bool| {
        let mix = request.workload.mix();
        mix.is_some_and(|mix| mix.weights.actions().any(is_one))
    };
    let is_extended = |action: Action| {
        action.performs().map(OperationKind::needs) == Some(Capability::ExtendedAttributes)
    };
    let unable = |directory: &Path, what: &str, actions: &str| {
        Err(Refused::Unable(format!(
            "cannot use this --mix: the file system of {} does not support {what} (remove \
             {actions}, or use another --target)",
            directory.display()
        )))
    };
    for directory in directories {
        let attribute = || extended_attribute(directory);
        if wants(is_extended) && attribute() == Err(rustix::io::Errno::OPNOTSUPP) {
            return unable(directory, "extended attributes", "set-xattr and get-xattr");
        }
        let lacks = |error: std::io::Error| {
            rustix::io::Errno::from_io_error(&error) == Some(rustix::io::Errno::OPNOTSUPP)
        };
        if wants(Action::clones) && engines::probe_clone(directory).is_err_and(lacks) {
            return unable(
                directory,
                "files that share blocks",
                "clone, install-clone and clone-tree",
            );
        }
    }
    Ok(())
}

fn extended_attribute(directory: &Path) -> Result<(), rustix::io::Errno> {
    let mut buffer = [0_u8; 64];
    rustix::fs::getxattr(directory, "user.postmark", &mut buffer[..]).map(drop)
}

/// Number of subdirectories that the classic workload creates in the user's own directory; 1 if it
/// creates none there.
fn workload_subdirectories(request: &RunSpec) -> u32 {
    match (request.place, request.workload.classic()) {
        (Place::Location, Some(classic)) => classic.subdirectories,
        _ => 1,
    }
}
