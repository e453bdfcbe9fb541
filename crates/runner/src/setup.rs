//! Claims the directories of a run: new ones, or the pool of an earlier run.

use std::path::PathBuf;
use std::sync::Arc;

use engine::namespace::DIRECTORY_MODE;
use engines::PathBuffer;
use engines::registry;
use rundir::Life;
use rundir::joined;
use rundir::manifest::{BEGINS_BYTES, Begins, Makes, MixNames, OtherRank, Position};
use rundir::ownership::Evidence;
use rundir::prepare::{self, LayoutRequest};
use rundir::reuse::take_kept;
use rundir::run_directory::RunDirectories;
use spec::{Place, RunSpec};
use system::{Fact, WatchedDevices};
use workload::{Action, Work, Workload};

use crate::clock::unix_ns;
use crate::error::{NoAnswer, Refused};
use crate::path_builder::SET_MODES;
use crate::preflight::{self, Looked, paths};
use crate::processes::PlaceOfAll;
use crate::run_target::{Taken, TakenLocation};
use crate::timed_call::{Call, Waiter};

/// The verb phrase of error messages about a failed claim. The path of the location follows it.
const TAKE_PLACE: &str = "make the run directory in";

/// Claims the directories. With several processes, the first process claims them and the others
/// open them.
///
/// The inner error is the reason why a call did not return. Any of the directories may then exist.
pub(crate) fn take(
    request: &RunSpec,
    looked: &Looked,
    (devices, now_ns, depth): (&Fact<WatchedDevices>, u64, usize),
    waiter: &mut Waiter<'_>,
) -> Result<Result<Taken, String>, Refused> {
    let own = request.workers_of(0).len() as u32;
    let began_unix_ns = unix_ns();
    let life = match looked.namespace {
        Some(_) => Life::begin(own, depth, began_unix_ns, now_ns),
        None => Life::private(own, depth),
    };
    let introduced = waiter.control.processes().introduce(request, &life);
    let (others, first_host) = introduced.inspect_err(|_| life.end())?;
    if waiter.control.is_first() {
        let of_first = (life, began_unix_ns, others);
        let taken = take_first(request, looked, devices, of_first, waiter);
        let processes = waiter.control.processes();
        processes.tell_place(|| match &taken {
            Ok(Ok(taken)) => Ok(taken.place_of_all()),
            Ok(Err(why)) => Err(why.clone()),
            Err(refused) => Err(refused.to_string()),
        });
        return match taken {
            // With several processes, all of them refuse the run. Only the first process claims
            // directories, so only it has directories to release.
            Ok(Err(why)) if !processes.is_alone() => Err(Refused::Ranks(why)),
            taken => taken,
        };
    }
    match waiter.control.processes().hear_place()? {
        Ok(place) => join(looked, place, life, devices, waiter).map(Ok),
        Err(why) => {
            life.end();
            Err(Refused::OnRank {
                rank: 0,
                host: first_host,
                why,
            })
        }
    }
}

/// Opens the directories that the first process claimed.
fn join(
    looked: &Looked,
    place: PlaceOfAll,
    life: Life,
    devices: &Fact<WatchedDevices>,
    waiter: &mut Waiter<'_>,
) -> Result<Taken, Refused> {
    let PlaceOfAll {
        locations,
        owners,
        positions,
    } = place;
    let mut taken = Taken {
        owned: Arc::new(RunDirectories::none(life.clone())),
        run_directories: Vec::new(),
        positions,
        devices: devices.clone(),
    };
    let mut identities = Vec::new();
    if let Some(namespace) = looked.namespace.clone() {
        // A location that is given twice has one directory, which is added at its first occurrence.
        let mut directories: Vec<PathBuf> = Vec::new();
        for (_, directory, number) in &locations {
            if *number == directories.len() {
                directories.push(directory.clone());
            }
        }
        let paths = paths(&directories);
        let joined = preflight::ask(waiter, "open the run directory", paths, move || {
            let taken = directories.into_iter().zip(owners);
            joined::join(&namespace, taken, life.clone()).inspect_err(|_| life.end())
        })??;
        identities = joined.identities();
        taken.owned = Arc::new(joined);
    }
    taken.run_directories = locations
        .into_iter()
        .map(|(shown, directory, number)| {
            TakenLocation::new(
                &shown,
                &directory,
                identities.get(number).copied().flatten(),
                number,
            )
        })
        .collect();
    Ok(taken)
}

fn take_first(
    request: &RunSpec,
    looked: &Looked,
    devices: &Fact<WatchedDevices>,
    (life, began_unix_ns, others): (Life, u64, Vec<OtherRank>),
    waiter: &mut Waiter<'_>,
) -> Result<Result<Taken, String>, Refused> {
    let Some(namespace) = &looked.namespace else {
        return Ok(Ok(Taken::nowhere(request, life)));
    };
    let call = Call::new(TAKE_PLACE, paths(&looked.directories));
    let (asked, devices) = (request.clone(), devices.clone());
    let workload = &request.workload;
    let wish = LayoutRequest {
        namespace: Arc::clone(namespace),
        locations: looked.directories.clone(),
        in_own_directories: request.place == Place::OwnDirectory,
        makes: makes(workload),
        numbers_max: workload.numbers_max(),
        subdirectories: workload
            .classic()
            .map_or(1, |classic| classic.subdirectories),
        workers: workload.streams(),
        mix: workload.mix().map(|mix| MixNames {
            layout: mix.layout,
            names: mix.names,
        }),
        tool: format!("postmark {}", env!("CARGO_PKG_VERSION")),
        host: looked.host.hostname.clone(),
        life,
        began_unix_ns,
        ranks: others,
    };
    let is_new = !request.keeping.reuse;
    let taken = waiter.wait_or(
        &call,
        move || take_place(&asked, wish, devices),
        move |late| {
            if let (true, Ok(taken)) = (is_new, late) {
                taken.owned.leave(&Evidence::default(), &mut |_| ());
            }
        },
    );
    match taken {
        Ok(taken) => taken.map(Ok),
        Err(why @ NoAnswer::NoThread(_)) => Err(Refused::NoAnswer {
            what: TAKE_PLACE,
            paths: call.path,
            why,
        }),
        Err(why) => Ok(Err(format!("cannot {TAKE_PLACE} {}: {why}", call.path))),
    }
}

fn take_place(
    request: &RunSpec,
    wish: LayoutRequest,
    devices: Fact<WatchedDevices>,
) -> Result<Taken, Refused> {
    let life = wish.life.clone();
    let taken = refuse_nul(request).and_then(|()| match request.keeping.reuse {
        true => reuse_pool(&request.workload, wish, devices),
        false => make_place(request, &wish, devices),
    });
    taken.inspect_err(|_| life.end())
}

fn make_place(
    request: &RunSpec,
    wish: &LayoutRequest,
    devices: Fact<WatchedDevices>,
) -> Result<Taken, Refused> {
    let (places, run_directory_of) = prepare::prepare(wish)?;
    if wish.workers > 1 {
        places.make_worker_directories(wish.workers)?;
    }
    let said = request.targets.iter().map(PathBuf::as_path);
    let run_directories = said
        .zip(&run_directory_of)
        .map(|(path, number)| {
            let run_directory = &places.all()[*number];
            let directory = run_directory.directory();
            let shown = match request.place {
                // A URL may end with parameters, so messages name the directory instead of the
                // target.
                Place::OwnDirectory if registry::is_url(path) => directory.to_owned(),
                Place::OwnDirectory => path.join(directory.file_name().unwrap_or_default()),
                Place::Location | Place::Nowhere => path.to_owned(),
            };
            TakenLocation::new(&shown, directory, run_directory.identity(), *number)
        })
        .collect();
    Ok(Taken {
        owned: Arc::new(places),
        run_directories,
        positions: Vec::new(),
        devices,
    })
}

/// Claims the pool of an earlier run for this run.
fn reuse_pool(
    workload: &Workload,
    wish: LayoutRequest,
    devices: Fact<WatchedDevices>,
) -> Result<Taken, Refused> {
    let (places, positions) = take_kept(
        &wish.namespace,
        &wish.locations,
        workload,
        &wish.makes,
        (wish.life, &wish.ranks),
    )?;
    let run_directories = places
        .all()
        .iter()
        .enumerate()
        .map(|(number, run_directory)| {
            TakenLocation::new(
                run_directory.directory(),
                run_directory.directory(),
                run_directory.identity(),
                number,
            )
        });
    Ok(Taken {
        run_directories: run_directories.collect(),
        owned: Arc::new(places),
        // If the earlier run only prepared a shared pool, this run may have more workers. A worker
        // without a recorded position starts at the default position.
        positions: vec![Position::default(); workload.workers.count() as usize]
            .into_iter()
            .enumerate()
            .map(|(worker, none)| positions.get(worker).copied().unwrap_or(none))
            .collect(),
        devices,
    })
}

/// Properties of the workload's files, by which a clean-up recognises them before it removes them.
fn makes(workload: &Workload) -> Makes {
    // File modes with which engines create files: 0o644 with `open`, as in the original PostMark,
    // and 0o666 with `fopen`.
    let mut modes = vec![0o644, 0o666];
    if let Some(mix) = workload.mix()
        && mix.weights.actions().any(Action::sets_attributes)
    {
        modes.extend(SET_MODES);
    }
    let begins = match (workload.classic(), workload.contents) {
        (Some(classic), None) => Begins::Texts {
            texts: (0..workload.workers.count())
                .map(|worker| {
                    let text = workload::stream::text_begins(
                        &workload.classic_of(classic, worker),
                        BEGINS_BYTES as u64,
                    );
                    String::from_utf8_lossy(&text).into_owned()
                })
                .collect(),
            size_low_bytes: classic.size_low_bytes,
        },
        (_, contents) => Begins::Contents {
            spec: contents.unwrap_or_default(),
            seed: workload.seed(),
        },
    };
    Makes {
        modes,
        directory_modes: vec![DIRECTORY_MODE],
        size_max_bytes: workload.content_bytes_max(),
        size_min_bytes: match &workload.work {
            Work::Classic(classic) => classic.size_low_bytes,
            Work::Mix(mix) if mix.weights.get(Action::Truncate) > 0 => 0,
            Work::Mix(mix) => mix.sizes.low(),
        },
        begins,
    }
}

fn refuse_nul(request: &RunSpec) -> Result<(), Refused> {
    for target in &request.targets {
        let bytes = target.as_os_str().as_encoded_bytes().to_vec();
        PathBuffer::new(0, bytes).map_err(|_| Refused::Nul(target.clone()))?;
    }
    Ok(())
}
