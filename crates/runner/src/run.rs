//! A whole run: place, room, workers, record.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use contract::home::{DIRECTORY_MODE, Home};
use contract::{Capability, Need, OperationKind, Storage};
use observe::{Clocks, Counters, Fact, Host, Sources, Target, WatchedDevices};
use record::{CleanUp, End, LocationRecord, Origin, Outcome, Record, Room, SystemDuring};
use spec::{Cache, Place, RunSpec};
use storage::PathBuffer;
use workload::{Action, Crew, Phase, Work, Workload, fingerprint};

use crate::clock::{Clock, unix_ns};
use crate::control::Control;
use crate::crew::{self, Performed, Telling};
use crate::events::{Event, Events, NoEvents, Progress, Stage};
use crate::head::Found;
use crate::memory;
use crate::naming::SET_MODES;
use crate::own_cost;
use crate::refused::Refused;
use crate::room::{self, Volumes};
use crate::taken::{Taken, TakenLocation};
use crate::waiting::{Call, NoAnswer, Waiter};
use rundir::Life;
use rundir::journal::{self, Journal};
use rundir::kept::take_kept;
use rundir::manifest::{BEGINS_BYTES, Begins, KeptPool, Makes, MixNames, Position};
use rundir::ownership::Evidence;
use rundir::prepare::{self, Wish};
use rundir::site::Site;

/// What a run found before it began.
struct Start {
    targets: Vec<Fact<Target>>,
    room: Option<Room>,
    /// What the pool takes before its first transaction, where nobody can foretell how it grows.
    initial: Option<Room>,
    /// The path of each location from the root.
    directories: Vec<PathBuf>,
}

/// Performs a run, and removes what it made.
///
/// `take_control` is called when everything is looked at and before anything is touched: from then on the run
/// ends itself when it is told to, and cleans up. Before, nothing needs to be cleaned up, and it may be ended at once.
///
/// # Errors
/// Where the run was refused: nothing was touched. A run that began always gives a record, however it ended.
pub fn run<S: Storage + Clone + Send + 'static, C: Clock>(
    request: &RunSpec,
    storage: &S,
    clock: &C,
    take_control: &mut dyn TakeControl,
    events: &mut dyn Events,
) -> Result<Record, Refused> {
    request.check()?;
    storage.supports(&need(request))?;
    let home = home(request, storage)?;
    let before = take_control.taken().unwrap_or_default();
    let mut stuck = Vec::new();
    let mut waiter = Waiter {
        control: &before,
        stuck_after: request.stuck_after,
        events: &mut *events,
        stuck: &mut stuck,
    };
    let host = Host::read(&Sources::default());
    memory::refuse_without(request, &host)?;
    let start = look(request, &mut waiter)?;
    ask_of_targets(request, &home, &start.directories, &mut waiter)?;
    refuse_without_room(request, &start)?;
    // Of thousands of workers it takes seconds: refusals do not wait for it.
    let fingerprint = fingerprint::fingerprint(&request.workload)?;
    let control = take_control.take();
    let sources = Sources::default();
    let devices = WatchedDevices::of(&sources, start.targets.iter().filter_map(Fact::known));
    let mut waiter = Waiter {
        control: &control,
        stuck_after: request.stuck_after,
        events: &mut *events,
        stuck: &mut stuck,
    };
    let taken = wait_for_place(request, (&start, &home), (&host, &devices, clock.now_ns()), &mut waiter)?;
    let count = || (Clocks::read(&sources), Counters::read(&sources, &devices));
    let before = count();
    let during = || {
        let (clocks, counters) = count();
        SystemDuring {
            counted: counters.since(&before.1),
            clocks: clocks.since(&before.0),
        }
    };
    let origin = Origin::from(&clock.clocks());
    let directories: Vec<PathBuf> = match &taken {
        Ok(taken) => taken.grounds.iter().map(|ground| ground.directory.clone()).collect(),
        Err(_) => start.directories.clone(),
    };
    let found = Found {
        locations: locations(request, start.targets, &directories),
        fingerprint,
        origin,
        host,
        during: during(),
        room: start.room,
    };
    let mut head = found.into_record(request);
    let taken = match taken {
        Ok(taken) => taken,
        Err(why) => {
            head.actual.outcome = Outcome::Failed {
                why: format!("cannot {TAKE_PLACE} {}: {why}", paths(&directories)),
            };
            head.actual.clean_up = Some(not_asked(paths(&directories)));
            head.actual.stuck = stuck;
            return Ok(head);
        }
    };
    let takes_records = events.takes_records();
    let mut waiter = Waiter {
        control: &control,
        stuck_after: request.stuck_after,
        events: &mut *events,
        stuck: &mut stuck,
    };
    let performed = open_journal(request, directories, &mut waiter).and_then(|journal| {
        let telling = Telling {
            events: &mut *events,
            record: takes_records.then_some((&head, &during)),
            origin,
        };
        let performed = crew::perform(request, storage, clock, &control, &taken, journal.as_ref(), telling);
        match performed {
            Ok(performed) => Ok((journal, performed)),
            Err(refused) => {
                leave_open(journal);
                Err(refused)
            }
        }
    });
    let mut waiter = Waiter {
        control: &control,
        stuck_after: request.stuck_after,
        events: &mut *events,
        stuck: &mut stuck,
    };
    let (journal, mut performed) = match performed {
        Ok(performed) => performed,
        Err(refused) => {
            // A pool that was there before was not touched yet.
            if request.keeping.reuse {
                let place = taken.site.describe();
                taken.site.life().end();
                close(taken.site, place, &mut waiter);
            } else {
                let _ = leave(taken.site, Evidence::default(), None, &mut waiter);
            }
            return Err(refused);
        }
    };
    let (clean_up, unanswered) = clean_up(request, &performed, taken.site, &mut waiter);
    if let Some(why) = unanswered {
        performed.outcome = Outcome::Failed { why };
        performed.abandoned = true;
    }
    // Where somebody did not come back, it may be the journal that was waited for.
    if let Some(journal) = journal {
        if performed.abandoned {
            leave_open(journal);
        } else {
            let removed = clean_up.as_ref().map_or(0, |done| done.files);
            let path = request.journal.as_deref().unwrap_or(Path::new(""));
            let call = Call::new("end the journal", path.display().to_string());
            // An end that is not written is one that nobody relies on: see `Journal::over`.
            let _ = waiter.wait_for(&call, move || journal.over(removed));
        }
    }
    performed.watched.stuck.extend(stuck);
    let during = during();
    let mut actual = performed.into_actual(request, clean_up);
    if request.own_cost {
        actual.own_cost = own_cost::measure(request, &actual, &control);
    }
    Ok(Record { during, actual, ..head })
}

/// Who may stop a run, and from when on.
pub trait TakeControl {
    /// What was taken before, by a run before this one: it may stop this one already while it looks at its targets.
    fn taken(&self) -> Option<Control>;

    /// From now on the run ends itself when it is told to.
    fn take(&mut self) -> Control;
}

impl<F: FnMut() -> Control> TakeControl for F {
    fn taken(&self) -> Option<Control> {
        None
    }

    fn take(&mut self) -> Control {
        self()
    }
}

/// What is being done when the place is taken, in words that a path can follow.
const TAKE_PLACE: &str = "make the run directory in";

/// Closes what is open on a target, which may wait for its server.
fn close<T: Send + 'static>(of_target: T, path: String, waiter: &mut Waiter<'_>) {
    // What does not close is closed by the process's end.
    let _ = waiter.wait_for(&Call::new("close what is open in", path), move || drop(of_target));
}

/// What is open on a target that does not answer stays open: closing it could keep this thread for ever. At its end the process may have
/// to wait there; who waits for it does not.
fn leave_open<T>(of_target: T) {
    std::mem::forget(of_target);
}

fn paths(directories: &[PathBuf]) -> String {
    let paths: Vec<String> = directories.iter().map(|path| path.display().to_string()).collect();
    paths.join(", ")
}

/// Nothing was removed, since the file system does not answer.
fn not_asked(path: String) -> CleanUp {
    let why = "a call did not return, so nothing more was asked of the file system: 'postmark clean' removes what the run \
               made there later";
    CleanUp {
        left: vec![record::Left {
            path,
            why: why.to_owned(),
        }],
        incomplete: true,
        ..CleanUp::default()
    }
}

/// Takes the place; the inner error where nothing was answered, so that nobody knows what was made.
fn wait_for_place(
    request: &RunSpec,
    (start, home): (&Start, &Option<Arc<dyn Home>>),
    (host, devices, now_ns): (&Host, &Fact<WatchedDevices>, u64),
    waiter: &mut Waiter<'_>,
) -> Result<Result<Taken, NoAnswer>, Refused> {
    let Some(home) = home else {
        return Ok(Ok(Taken::nowhere(request)));
    };
    let call = Call::new(TAKE_PLACE, paths(&start.directories));
    let asked = request.clone();
    let taking = Taking {
        home: Arc::clone(home),
        directories: start.directories.clone(),
        hostname: host.hostname.clone(),
        devices: devices.clone(),
        now_ns,
    };
    let is_new = !request.keeping.reuse;
    let taken = waiter.wait_or(
        &call,
        move || take_place(&asked, taking),
        move |late| {
            if let (true, Ok(taken)) = (is_new, late) {
                taken.site.leave(&Evidence::default(), &mut |_| ());
            }
        },
    );
    match taken {
        Ok(taken) => taken.map(Ok),
        Err(NoAnswer::NoThread(error)) => Err(Refused::NoAnswer {
            what: TAKE_PLACE,
            paths: call.path,
            why: NoAnswer::NoThread(error),
        }),
        Err(why) => Ok(Err(why)),
    }
}

fn open_journal(
    request: &RunSpec,
    directories: Vec<PathBuf>,
    waiter: &mut Waiter<'_>,
) -> Result<Option<Journal>, Refused> {
    let Some(path) = &request.journal else {
        return Ok(None);
    };
    let call = Call::new("begin the journal", path.display().to_string());
    let asked = request.clone();
    let opened = waiter.wait_for(&call, move || {
        Journal::open(&asked, &directories).map_err(Refused::from)
    });
    opened.unwrap_or_else(|why| {
        Err(Refused::NoAnswer {
            what: "begin the journal",
            paths: call.path,
            why,
        })
    })
}

/// [`refuse_inability`], which asks the targets.
fn ask_of_targets(
    request: &RunSpec,
    home: &Option<Arc<dyn Home>>,
    directories: &[PathBuf],
    waiter: &mut Waiter<'_>,
) -> Result<(), Refused> {
    let (asked, home, all) = (request.clone(), home.clone(), directories.to_vec());
    let what = "look at";
    let call = Call::new(what, paths(directories));
    let answer = waiter.wait_for(&call, move || refuse_inability(&asked, home.as_deref(), &all));
    answer.unwrap_or_else(|why| {
        let paths = call.path;
        Err(Refused::NoAnswer { what, paths, why })
    })
}

fn locations(request: &RunSpec, targets: Vec<Fact<Target>>, directories: &[PathBuf]) -> Vec<LocationRecord> {
    let weights = request.workload.location_weights();
    let locations = weights.iter().zip(targets).zip(directories);
    locations
        .map(|((weight, target), directory)| LocationRecord {
            weight: *weight,
            directory: directory.to_string_lossy().into_owned(),
            target,
        })
        .collect()
}

/// Whether a run would be refused for what it asks of its storage, machine and target; touches nothing. Room, and a pool
/// to be taken, are looked at by the run alone.
///
/// # Errors
/// Why it would be.
pub fn judge<S: Storage>(request: &RunSpec, storage: &S) -> Result<(), Refused> {
    request.check()?;
    storage.supports(&need(request))?;
    unwatched(request, |waiter| {
        let home = home(request, storage)?;
        ask_of_targets(request, &home, &directories(request)?, waiter)
    })
}

/// Looks at targets where nobody watches a run.
fn unwatched<A>(request: &RunSpec, look: impl FnOnce(&mut Waiter<'_>) -> Result<A, Refused>) -> Result<A, Refused> {
    look(&mut Waiter {
        control: &Control::default(),
        stuck_after: request.stuck_after,
        events: &mut NoEvents,
        stuck: &mut Vec::new(),
    })
}

/// Whether a run would be refused for want of room; touches nothing.
///
/// # Errors
/// Why it would be.
pub fn judge_room(request: &RunSpec) -> Result<(), Refused> {
    memory::refuse_without(request, &Host::read(&Sources::default()))?;
    let start = unwatched(request, |waiter| look(request, waiter))?;
    refuse_without_room(request, &start)
}

fn refuse_without_room(request: &RunSpec, start: &Start) -> Result<(), Refused> {
    if !request.room_check || request.keeping.reuse {
        return Ok(());
    }
    // Of a pool that grows without end nobody knows whether it has room; its beginning has to have it all the same.
    let room = start.initial.as_ref().or(start.room.as_ref());
    let shortage = room.and_then(room::shortage);
    shortage.map_or(Ok(()), |lack| Err(Refused::NoRoom(lack)))
}

/// What the storage is going to be asked for.
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
    match request.cache {
        Cache::Warm => operations.push(OperationKind::Read),
        Cache::ColdData => operations.push(OperationKind::Evict),
        Cache::AsIs | Cache::Cold => {}
    }
    Need {
        operations,
        durability: request.durability,
        direct: request.direct,
    }
}

/// Where the run's files live; nothing for a run that makes none.
fn home<S: Storage>(request: &RunSpec, storage: &S) -> Result<Option<Arc<dyn Home>>, Refused> {
    match (request.place, storage.home()) {
        (Place::Nowhere, _) => Ok(None),
        (Place::OwnDirectory | Place::Location, Some(home)) => Ok(Some(home)),
        (Place::OwnDirectory | Place::Location, None) => Err(Refused::Unable(format!(
            "the storage {} makes no files: take --storage posix",
            storage.name()
        ))),
    }
}

/// Looks at the targets and their room; touches nothing.
fn look(request: &RunSpec, waiter: &mut Waiter<'_>) -> Result<Start, Refused> {
    let directories = directories(request)?;
    if request.place == Place::Nowhere {
        return Ok(Start {
            targets: request.targets.iter().map(|_| Fact::NotApplicable).collect(),
            room: None,
            initial: None,
            directories,
        });
    }
    let what = "look at";
    let (call, all) = (Call::new(what, paths(&directories)), directories.clone());
    let read = move || {
        let sources = Sources::default();
        all.iter().map(|directory| Target::read(&sources, directory)).collect()
    };
    let targets: Vec<Target> = waiter.wait_for(&call, read).map_err(|why| {
        let paths = call.path.clone();
        Refused::NoAnswer { what, paths, why }
    })?;
    let volumes = Volumes::of(&request.workload, &targets);
    let room = volumes.check(&request.workload)?;
    let is_bounded = request.workload.transactions() < Workload::ENDLESS || !request.workload.grows();
    let initial = match is_bounded {
        true => None,
        false => Some(volumes.check(&request.workload.with_transactions(0))?),
    };
    Ok(Start {
        targets: targets.into_iter().map(Fact::Known).collect(),
        room: Some(room),
        initial,
        directories,
    })
}

/// The path of each location from the root; as said where the storage touches none.
fn directories(request: &RunSpec) -> Result<Vec<PathBuf>, Refused> {
    let path = |target: &PathBuf| match request.place {
        Place::Nowhere => Ok(target.clone()),
        Place::OwnDirectory | Place::Location => {
            std::path::absolute(spec::directory(target)).map_err(Refused::WorkingDirectory)
        }
    };
    request.targets.iter().map(path).collect()
}

/// Wishes that this machine or target cannot fulfil.
fn refuse_inability(request: &RunSpec, home: Option<&dyn Home>, directories: &[PathBuf]) -> Result<(), Refused> {
    if request.cache == Cache::Cold {
        if let Err(error) = observe::may_drop_caches() {
            return Err(Refused::Unable(format!(
                "--cache cold: the system's caches cannot be dropped ({error}): run as root, or take --cache cold-data, which advises the kernel file by file"
            )));
        }
    }
    let nowhere = home.is_none();
    if let Some(home) = home {
        for directory in directories {
            let subdirectories = workload_subdirectories(request);
            prepare::refuse_untrusted(home, directory, request.trusts_others, subdirectories)?;
        }
    }
    if request.direct {
        for directory in directories {
            if let Err(error) = storage::probe_direct(directory) {
                return Err(Refused::Unable(format!(
                    "--direct: the file system of {} does not do input and output past the page cache ({error}): leave --direct out, or give another --at",
                    directory.display()
                )));
            }
        }
    }
    let is_extended =
        |action: Action| action.performs().map(OperationKind::needs) == Some(Capability::ExtendedAttributes);
    let wants_extended = |mix: &workload::Mix| mix.weights.actions().any(is_extended);
    if !nowhere && request.workload.mix().is_some_and(wants_extended) {
        for directory in directories {
            if let Err(rustix::io::Errno::OPNOTSUPP) = extended_attribute(directory) {
                return Err(Refused::Unable(format!(
                    "--mix: the file system of {} has no extended attributes: leave set-xattr and get-xattr out, or give another --at",
                    directory.display()
                )));
            }
        }
    }
    Ok(journal::check(request, directories)?)
}

fn extended_attribute(directory: &Path) -> Result<(), rustix::io::Errno> {
    let mut buffer = [0_u8; 64];
    rustix::fs::getxattr(directory, "user.postmark", &mut buffer[..]).map(drop)
}

/// What a run takes with it to its place.
struct Taking {
    home: Arc<dyn Home>,
    directories: Vec<PathBuf>,
    hostname: String,
    devices: Fact<WatchedDevices>,
    /// By the run's clock.
    now_ns: u64,
}

fn take_place(request: &RunSpec, taking: Taking) -> Result<Taken, Refused> {
    refuse_nul(request)?;
    let began_unix_ns = unix_ns();
    let life = Life::begin(request.workload.crew.workers(), began_unix_ns, taking.now_ns);
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
        let grounds = taken.grounds.all().iter().enumerate();
        let grounds = grounds.map(|(number, ground)| {
            TakenLocation::new(ground.directory(), ground.directory(), ground.identity(), number)
        });
        return Ok(Taken {
            grounds: grounds.collect(),
            site: Arc::new(taken.grounds),
            // A shared pool that has only been prepared is the same for any number of workers.
            positions: vec![Position::default(); workload.crew.workers() as usize]
                .into_iter()
                .enumerate()
                .map(|(worker, none)| taken.positions.get(worker).copied().unwrap_or(none))
                .collect(),
            devices,
        });
    }
    let private = match workload.crew {
        Crew::Private { workers } => workers,
        Crew::Shared { .. } => 1,
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
    let (places, ground_of) = prepare::prepare(&wish)?;
    if private > 1 {
        places.make_worker_directories(private)?;
    }
    let grounds = said
        .zip(&ground_of)
        .map(|(path, number)| {
            let ground = &places.all()[*number];
            let directory = ground.directory();
            let shown = match request.place {
                Place::OwnDirectory => path.join(directory.file_name().unwrap_or_default()),
                Place::Location | Place::Nowhere => path.to_owned(),
            };
            TakenLocation::new(&shown, directory, ground.identity(), *number)
        })
        .collect();
    Ok(Taken {
        site: Arc::new(places),
        grounds,
        positions: Vec::new(),
        devices,
    })
}

/// Subdirectories beside the user's own files.
fn workload_subdirectories(request: &RunSpec) -> u32 {
    match (request.place, request.workload.classic()) {
        (Place::Location, Some(classic)) => classic.subdirectories,
        _ => 1,
    }
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
            texts: (0..workload.crew.workers())
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

/// Removes what is left of the run; after a whole one that is its mark only. With why there was no answer, where that is so.
fn clean_up(
    request: &RunSpec,
    performed: &Performed,
    site: Arc<dyn Site>,
    waiter: &mut Waiter<'_>,
) -> (Option<CleanUp>, Option<String>) {
    if performed.abandoned {
        let place = site.describe();
        leave_open(site);
        return (Some(not_asked(place)), None);
    }
    if request.keeping.reuse && !performed.in_use {
        // It was not touched.
        let place = site.describe();
        site.life().end();
        close(site, place, waiter);
        return (None, None);
    }
    let whole = matches!(performed.outcome, Outcome::Complete | Outcome::Interrupted { .. });
    if let (true, true, Some(positions)) = (request.keeping.keep, whole, &performed.positions) {
        let kept = KeptPool {
            pool: request.workload.pool_canonical(),
            workload: request.workload.endless_canonical(),
            positions: positions.clone(),
            names: performed.names,
            left_ns: site.life().latest_ns(),
            set_back_ns: site.life().set_back_ns(),
        };
        return keep(site, kept, waiter);
    }
    if performed.outcome == Outcome::Complete && !performed.any_spoiled {
        // Every file of its own is gone: what bears such a name now is somebody else's.
        let (done, unanswered) = leave(site, Evidence::default(), None, waiter);
        return ((done.files > 0 || !done.left.is_empty()).then_some(done), unanswered);
    }
    waiter.events.event(Event::Began(Stage::CleanUp, Progress::default()));
    let evidence = Evidence {
        numbers_made: performed.numbers_made,
        partly_written: performed.partly_written.clone(),
        set_back_ns: site.life().set_back_ns(),
        until: None,
        is_complete: true,
    };
    let (done, unanswered) = leave(site, evidence, Some(Stage::CleanUp), waiter);
    let progress = Progress {
        done: done.files,
        total: Some(done.files),
    };
    waiter
        .events
        .event(Event::Ended(Stage::CleanUp, progress, End::Complete));
    (Some(done), unanswered)
}

/// Leaves the pool for a later run.
fn keep(site: Arc<dyn Site>, kept: KeptPool, waiter: &mut Waiter<'_>) -> (Option<CleanUp>, Option<String>) {
    let call = Call::new("write the manifest of the kept pool in", site.describe());
    let marked = waiter.wait_for(&call, move || site.keep(kept));
    let (why, unanswered) = match marked {
        Ok(Ok(())) => return (None, None),
        Ok(Err(why)) => (why, None),
        Err(why) => (
            why.to_string(),
            Some(format!("cannot {} {}: {why}", call.what, call.path)),
        ),
    };
    let done = CleanUp {
        left: vec![record::Left {
            path: call.path,
            why: format!("the pool is there, but cannot be marked as kept: {why}: 'postmark clean' removes it"),
        }],
        incomplete: true,
        ..CleanUp::default()
    };
    (Some(done), unanswered)
}

/// Removes what is left of a run, and waits for that as long as it goes on.
fn leave(
    site: Arc<dyn Site>,
    evidence: Evidence,
    stage: Option<Stage>,
    waiter: &mut Waiter<'_>,
) -> (CleanUp, Option<String>) {
    let call = Call {
        stage,
        ..Call::new("remove what the run made in", site.describe())
    };
    let removed = Arc::clone(&call.progress);
    // With the last hold on the place: whoever hears of it may unmount at once.
    let left = waiter.wait_for(&call, move || {
        site.leave(&evidence, &mut |files| removed.store(files, Ordering::Relaxed))
    });
    left.map_or_else(
        |why| {
            let done = CleanUp {
                left: vec![record::Left {
                    path: call.path.clone(),
                    why: format!("{why}; 'postmark clean' removes the rest later"),
                }],
                incomplete: true,
                ..CleanUp::default()
            };
            (done, Some(format!("cannot {} {}: {why}", call.what, call.path)))
        },
        |done| (done, None),
    )
}
