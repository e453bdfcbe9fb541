//! Taking the place of a run: the directories that it makes, or the pool of an earlier run.

use std::path::PathBuf;
use std::sync::Arc;

use contract::ServerUrl;
use contract::home::{DIRECTORY_MODE, Home};
use observe::{Fact, WatchedDevices};
use rundir::Life;
use rundir::kept::take_kept;
use rundir::manifest::{BEGINS_BYTES, Begins, Makes, MixNames, Position};
use rundir::ownership::Evidence;
use rundir::prepare::{self, Wish};
use spec::{Place, RunSpec};
use storage::PathBuffer;
use workload::{Action, Work, Workers, Workload};

use crate::clock::unix_ns;
use crate::looked::{Looked, paths};
use crate::naming::SET_MODES;
use crate::refused::Refused;
use crate::taken::{Taken, TakenLocation};
use crate::waiting::{Call, NoAnswer, Waiter};

/// What is being done when the place is taken, in words that a path can follow.
const TAKE_PLACE: &str = "make the run directory in";

/// What a run takes with it to its place.
struct Taking {
    home: Arc<dyn Home>,
    directories: Vec<PathBuf>,
    hostname: String,
    devices: Fact<WatchedDevices>,
    /// By the run's clock.
    now_ns: u64,
    /// Of the storage.
    depth: usize,
}

/// Takes the place; inside why where nothing was answered, so that nobody knows what was made.
pub(crate) fn take(
    request: &RunSpec,
    looked: &Looked,
    (devices, now_ns, depth): (&Fact<WatchedDevices>, u64, usize),
    waiter: &mut Waiter<'_>,
) -> Result<Result<Taken, String>, Refused> {
    let Some(home) = &looked.home else {
        return Ok(Ok(Taken::nowhere(request, depth)));
    };
    let call = Call::new(TAKE_PLACE, paths(&looked.directories));
    let asked = request.clone();
    let taking = Taking {
        home: Arc::clone(home),
        directories: looked.directories.clone(),
        hostname: looked.host.hostname.clone(),
        devices: devices.clone(),
        now_ns,
        depth,
    };
    let is_new = !request.keeping.reuse;
    let taken = waiter.wait_or(
        &call,
        move || take_place(&asked, taking),
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

fn take_place(request: &RunSpec, taking: Taking) -> Result<Taken, Refused> {
    refuse_nul(request)?;
    let began_unix_ns = unix_ns();
    let life = Life::begin(
        request.workload.workers.count(),
        taking.depth,
        began_unix_ns,
        taking.now_ns,
    );
    take_place_with(request, taking, (life.clone(), began_unix_ns)).inspect_err(|_| life.end())
}

fn take_place_with(
    request: &RunSpec,
    Taking {
        home,
        directories,
        hostname,
        devices,
        ..
    }: Taking,
    (life, began_unix_ns): (Life, u64),
) -> Result<Taken, Refused> {
    let said = request.targets.iter().map(PathBuf::as_path);
    let workload = &request.workload;
    if request.keeping.reuse {
        let taken = take_kept(&home, &directories, workload, &makes(workload), life)?;
        let run_directories = taken.run_directories.all().iter().enumerate();
        let run_directories = run_directories.map(|(number, run_directory)| {
            TakenLocation::new(
                run_directory.directory(),
                run_directory.directory(),
                run_directory.identity(),
                number,
            )
        });
        return Ok(Taken {
            run_directories: run_directories.collect(),
            owned: Arc::new(taken.run_directories),
            // A shared pool that has only been prepared is the same for any number of workers.
            positions: vec![Position::default(); workload.workers.count() as usize]
                .into_iter()
                .enumerate()
                .map(|(worker, none)| taken.positions.get(worker).copied().unwrap_or(none))
                .collect(),
            devices,
        });
    }
    let private = match workload.workers {
        Workers::Private { workers } => workers,
        Workers::Shared { .. } => 1,
    };
    let wish = Wish {
        home,
        locations: directories,
        in_own_directories: request.place == Place::OwnDirectory,
        makes: makes(workload),
        numbers_max: workload.numbers_max(),
        subdirectories: workload.classic().map_or(1, |classic| classic.subdirectories),
        workers: private,
        mix: workload.mix().map(|mix| MixNames {
            layout: mix.layout,
            names: mix.names,
        }),
        tool: format!("postmark {}", env!("CARGO_PKG_VERSION")),
        host: hostname,
        life,
        began_unix_ns,
    };
    let (places, run_directory_of) = prepare::prepare(&wish)?;
    if private > 1 {
        places.make_worker_directories(private)?;
    }
    let run_directories = said
        .zip(&run_directory_of)
        .map(|(path, number)| {
            let run_directory = &places.all()[*number];
            let directory = run_directory.directory();
            let shown = match request.place {
                // A URL may have parameters at its end.
                Place::OwnDirectory if ServerUrl::is_one(path) => directory.to_owned(),
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

/// What the files of a workload have in common.
fn makes(workload: &Workload) -> Makes {
    // What storages create with: open as the original has it, and fopen.
    let mut modes = vec![0o644, 0o666];
    if let Some(mix) = workload.mix() {
        if mix.weights.get(Action::SetAttributes) > 0 {
            modes.extend(SET_MODES);
        }
    }
    let begins = match (workload.classic(), workload.contents) {
        (Some(classic), None) => Begins::Texts {
            texts: (0..workload.workers.count())
                .map(|worker| {
                    let text =
                        workload::stream::text_begins(&workload.classic_of(classic, worker), BEGINS_BYTES as u64);
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
        size_max_bytes: workload.size_max_bytes(),
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
