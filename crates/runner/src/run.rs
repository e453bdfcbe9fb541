//! A whole run: place, room, workers, record.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use observe::{Clocks, Counters, Fact, Host, Sources, Target, WatchedDevices};
use record::{CleanUp, End, LocationRecord, Origin, Outcome, Record, Room, SystemDuring};
use storage::{Need, OperationKind, PathBuffer, Storage};
use workload::{Action, Crew, Phase, Work, Workload, fingerprint};

use crate::clock::{Clock, unix_ns};
use crate::control::Control;
use crate::crew::{self, Ground, Performed, Telling};
use crate::events::{Event, Events, Progress, Stage};
use crate::head::Found;
use crate::journal::{self, Journal};
use crate::memory;
use crate::naming::SET_MODES;
use crate::own_cost;
use crate::request::{Cache, Place, Refused, Request, RequestedLocation};
use crate::room::{self, Volumes};
use crate::site::life::Life;
use crate::site::manifest::{Kept, MixNames, Position};
use crate::site::ownership::{BEGINS_BYTES, Begins, Evidence, Makes};
use crate::site::{self, NoSite, Site, Wish};

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
    request: &Request,
    storage: &S,
    clock: &C,
    take_control: &mut dyn FnMut() -> Control,
    events: &mut dyn Events,
) -> Result<Record, Refused> {
    storage.supports(&need(request))?;
    let host = Host::read(&Sources::default());
    memory::refuse_without(request, &host)?;
    let start = look(request)?;
    refuse_contradictions(request, &start.directories)?;
    refuse_without_room(request, &start)?;
    // Of thousands of workers it takes seconds: refusals do not wait for it.
    let fingerprint = fingerprint::fingerprint(&request.workload)?;
    let control = take_control();
    let mut taken = take_place(request, &start, &host, clock.now_ns())?;
    let sources = Sources::default();
    let devices = taken.devices.clone();
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
    let found = Found {
        storage: storage.name(),
        how: request.how(),
        locations: locations(request, start.targets, &taken.grounds),
        fingerprint,
        origin,
        host,
        during: during(),
        room: start.room,
    };
    let head = found.into_record(request);
    let directories: Vec<PathBuf> = taken.grounds.iter().map(|ground| ground.directory.clone()).collect();
    let takes_records = events.takes_records();
    let performed = Journal::open(request, &directories).and_then(|journal| {
        let telling = Telling {
            events: &mut *events,
            record: takes_records.then_some((&head, &during)),
            origin,
        };
        let performed = crew::perform(request, storage, clock, &control, &taken, journal.as_ref(), telling)?;
        Ok((journal, performed))
    });
    let (journal, performed) = performed.inspect_err(|_| {
        // A pool that was there before was not touched yet.
        if !request.keeping.reuse {
            taken.site.leave(&Evidence::default(), &mut |_| ());
        }
    })?;
    let clean_up = clean_up(request, &performed, taken.site, events);
    // Where somebody did not come back, it may be the journal that was waited for.
    if let Some(journal) = journal.filter(|_| !performed.abandoned) {
        journal.over(clean_up.as_ref().map_or(0, |done| done.files));
    }
    let during = during();
    let mut actual = performed.into_actual(request, clean_up);
    if request.own_cost {
        actual.own_cost = own_cost::measure(request, &actual, &control);
    }
    Ok(Record { during, actual, ..head })
}

fn locations(request: &Request, targets: Vec<Fact<Target>>, grounds: &[Ground]) -> Vec<LocationRecord> {
    let weights = request.workload.location_weights();
    let locations = request.locations.iter().zip(weights).zip(targets).zip(grounds);
    locations
        .map(|(((location, weight), target), ground)| LocationRecord {
            path: location.path.to_string_lossy().into_owned(),
            weight: *weight,
            directory: ground.directory.to_string_lossy().into_owned(),
            target,
        })
        .collect()
}

/// Whether a run would be refused for what it asks of its storage, machine and target; touches nothing. Room, and a pool
/// to be taken, are looked at by the run alone.
///
/// # Errors
/// Why it would be.
pub fn judge<S: Storage>(request: &Request, storage: &S) -> Result<(), Refused> {
    storage.supports(&need(request))?;
    refuse_contradictions(request, &directories(request)?)
}

/// Whether a run would be refused for want of room; touches nothing.
///
/// # Errors
/// Why it would be.
pub fn judge_room(request: &Request) -> Result<(), Refused> {
    memory::refuse_without(request, &Host::read(&Sources::default()))?;
    refuse_without_room(request, &look(request)?)
}

fn refuse_without_room(request: &Request, start: &Start) -> Result<(), Refused> {
    if !request.room_check || request.keeping.reuse {
        return Ok(());
    }
    // Of a pool that grows without end nobody knows whether it has room; its beginning has to have it all the same.
    let room = start.initial.as_ref().or(start.room.as_ref());
    let shortage = room.and_then(room::shortage);
    shortage.map_or(Ok(()), |lack| Err(Refused::NoRoom(lack)))
}

/// What the storage is going to be asked for.
fn need(request: &Request) -> Need {
    let workload = &request.workload;
    let mut operations: Vec<OperationKind> = Phase::ALL
        .into_iter()
        .flat_map(|phase| workload.actions(phase))
        .filter_map(kind)
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

/// The operations that an action of a mix may be.
fn kind(action: Action) -> Option<OperationKind> {
    use OperationKind as Kind;
    Some(match action {
        Action::Nothing => return None,
        Action::Create => Kind::Create,
        Action::Read => Kind::Read,
        Action::Append => Kind::Append,
        Action::Delete | Action::RemoveLink | Action::RemoveSymbolicLink => Kind::Delete,
        Action::ReadRange => Kind::ReadRange,
        Action::Overwrite => Kind::Overwrite,
        Action::Truncate => Kind::Truncate,
        Action::Stat => Kind::Stat,
        Action::SetAttributes => Kind::SetAttributes,
        Action::Rename => Kind::Rename,
        Action::Replace => Kind::Replace,
        Action::Deliver => Kind::Deliver,
        Action::Link => Kind::Link,
        Action::SymbolicLink => Kind::SymbolicLink,
        Action::ReadLink => Kind::ReadLink,
        Action::SetExtended => Kind::SetExtended,
        Action::GetExtended => Kind::GetExtended,
        Action::List => Kind::List,
        Action::ListWithStat => Kind::ListWithStat,
        Action::MakeDirectory => Kind::MakeDirectory,
        Action::RemoveDirectory => Kind::RemoveDirectory,
    })
}

/// Looks at the targets and their room; touches nothing.
fn look(request: &Request) -> Result<Start, Refused> {
    let directories = directories(request)?;
    if request.place == Place::Nowhere {
        return Ok(Start {
            targets: request.locations.iter().map(|_| Fact::NotApplicable).collect(),
            room: None,
            initial: None,
            directories,
        });
    }
    let sources = Sources::default();
    let targets: Vec<Target> = directories
        .iter()
        .map(|directory| Target::read(&sources, directory))
        .collect();
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
fn directories(request: &Request) -> Result<Vec<PathBuf>, Refused> {
    let path = |location: &RequestedLocation| match request.place {
        Place::Nowhere => Ok(location.path.clone()),
        Place::OwnDirectory | Place::Location => {
            std::path::absolute(location.directory()).map_err(Refused::WorkingDirectory)
        }
    };
    request.locations.iter().map(path).collect()
}

/// Wishes that contradict one another, or that this machine or target cannot fulfil.
fn refuse_contradictions(request: &Request, directories: &[PathBuf]) -> Result<(), Refused> {
    let refuse = |text: &str| Err(Refused::Contradiction(text.to_owned()));
    if request.verify
        && !request
            .workload
            .contents
            .as_ref()
            .is_some_and(workload::contents::tells_versions_apart)
    {
        return refuse(
            "--verify: the contents are text, the same in every file, so that old or foreign contents would not be seen: give --contents incompressible or compressible:RATIO",
        );
    }
    if request.cache == Cache::Cold {
        if let Err(error) = observe::may_drop_caches() {
            return Err(Refused::Contradiction(format!(
                "--cache cold: the system's caches cannot be dropped ({error}): run as root, or take --cache cold-data, which advises the kernel file by file"
            )));
        }
    }
    let nowhere = request.place == Place::Nowhere;
    if nowhere && (request.keeping.keep || request.keeping.reuse || request.journal.is_some()) {
        return refuse("--keep, --reuse, --journal: the storage null keeps nothing: take --storage posix");
    }
    let has_transactions = request.workload.transactions() > 0;
    if request.keeping.keep && request.workload.crew.is_shared() && has_transactions {
        return refuse(
            "--keep: what a shared pool holds after transactions is not a function of the workload, so that nobody could check it later: give --transactions 0 to keep the prepared pool",
        );
    }
    let bounded = |mix: &workload::Mix| mix.layout.entries_max.is_some();
    if (request.keeping.keep || request.keeping.reuse)
        && request.workload.crew.is_shared()
        && request.workload.mix().is_some_and(bounded)
    {
        return refuse(
            "--keep, --reuse: where a shared pool's files lie is not known with --entries-max: leave it out",
        );
    }
    if request.direct {
        for directory in directories {
            if let Err(error) = storage::probe_direct(directory) {
                return Err(Refused::Contradiction(format!(
                    "--direct: the file system of {} does not do input and output past the page cache ({error}): leave --direct out, or give another --at",
                    directory.display()
                )));
            }
        }
    }
    let extended = [Action::SetExtended, Action::GetExtended];
    let wants_extended = |mix: &workload::Mix| extended.iter().any(|action| mix.weights.get(*action) > 0);
    if !nowhere && request.workload.mix().is_some_and(wants_extended) {
        for directory in directories {
            if let Err(rustix::io::Errno::OPNOTSUPP) = extended_attribute(directory) {
                return Err(Refused::Contradiction(format!(
                    "--mix: the file system of {} has no extended attributes: leave set-xattr and get-xattr out, or give another --at",
                    directory.display()
                )));
            }
        }
    }
    journal::check(request, directories)
}

fn extended_attribute(directory: &Path) -> Result<(), rustix::io::Errno> {
    let mut buffer = [0_u8; 64];
    rustix::fs::getxattr(directory, "user.postmark", &mut buffer[..]).map(drop)
}

/// A run's place, once it is its own.
pub(crate) struct Taken {
    pub site: Box<dyn Site>,
    /// One for each location.
    pub grounds: Vec<Ground>,
    /// By worker, how far a pool of an earlier run is; empty where there is none.
    pub positions: Vec<Position>,
    /// The devices under the locations.
    pub devices: Fact<WatchedDevices>,
}

impl Taken {
    /// A place that touches no file system.
    pub(crate) fn nowhere(request: &Request) -> Self {
        let locations = request.locations.iter().enumerate();
        Self {
            site: Box::new(NoSite(Life::private(request.workload.crew.workers()))),
            grounds: locations
                .map(|(number, location)| Ground::new(&location.path, &location.path, None, number))
                .collect(),
            positions: Vec::new(),
            devices: Fact::NotApplicable,
        }
    }
}

fn take_place(request: &Request, start: &Start, host: &Host, now_ns: u64) -> Result<Taken, Refused> {
    if request.place == Place::Nowhere {
        return Ok(Taken::nowhere(request));
    }
    refuse_nul(request)?;
    let began_unix_ns = unix_ns();
    let life = Life::begin(request.workload.crew.workers(), began_unix_ns, now_ns);
    take_place_with(request, start, host, (life.clone(), began_unix_ns)).inspect_err(|_| life.end())
}

fn take_place_with(
    request: &Request,
    start: &Start,
    host: &Host,
    (life, began_unix_ns): (Life, u64),
) -> Result<Taken, Refused> {
    let said = request.locations.iter().map(|location| location.path.as_path());
    let devices = WatchedDevices::of(&Sources::default(), start.targets.iter().filter_map(Fact::known));
    let workload = &request.workload;
    if request.keeping.reuse {
        let taken = site::take_kept(&start.directories, workload, workload.numbers_max(), life)?;
        taken.grounds.life.lies_in(taken.grounds.all.len());
        let grounds = taken.grounds.all.iter().enumerate();
        let grounds = grounds
            .map(|(number, ground)| Ground::new(&ground.directory, &ground.directory, Some(ground.identity()), number));
        return Ok(Taken {
            grounds: grounds.collect(),
            site: Box::new(taken.grounds),
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
        locations: start.directories.clone(),
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
        host: host.hostname.clone(),
        life,
        began_unix_ns,
        trusts_others: request.trusts_others,
    };
    let (mut places, ground_of) = site::prepare(&wish)?;
    places.life.lies_in(places.all.len());
    if private > 1 {
        places.make_worker_directories(private)?;
    }
    let grounds = said
        .zip(&ground_of)
        .map(|(path, number)| {
            let ground = &places.all[*number];
            let directory = &ground.directory;
            let shown = match request.place {
                Place::OwnDirectory => path.join(directory.file_name().unwrap_or_default()),
                Place::Location | Place::Nowhere => path.to_owned(),
            };
            Ground::new(&shown, directory, Some(ground.identity()), *number)
        })
        .collect();
    Ok(Taken {
        site: Box::new(places),
        grounds,
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
        size_max_bytes: workload.size_max_bytes(),
        size_min_bytes: match &workload.work {
            Work::Classic(classic) => classic.size_low_bytes,
            Work::Mix(mix) if mix.weights.get(Action::Truncate) > 0 => 0,
            Work::Mix(mix) => mix.sizes.low(),
        },
        begins,
    }
}

fn refuse_nul(request: &Request) -> Result<(), Refused> {
    for location in &request.locations {
        let bytes = location.path.as_os_str().as_encoded_bytes().to_vec();
        PathBuffer::new(0, bytes).map_err(|_| Refused::Nul(location.path.clone()))?;
    }
    Ok(())
}

/// Removes what is left of the run; after a whole one that is its mark only.
fn clean_up(
    request: &Request,
    performed: &Performed,
    mut site: Box<dyn Site>,
    events: &mut dyn Events,
) -> Option<CleanUp> {
    if performed.abandoned {
        return Some(CleanUp {
            left: vec![record::Left {
                path: site.describe(),
                why: "a call did not come back, so nothing more was asked of the file system: 'postmark clean' removes it later"
                    .to_owned(),
            }],
            incomplete: true,
            ..CleanUp::default()
        });
    }
    if request.keeping.reuse && !performed.in_use {
        // It was not touched.
        return None;
    }
    let whole = matches!(performed.outcome, Outcome::Complete | Outcome::Interrupted { .. });
    if let (true, true, Some(positions)) = (request.keeping.keep, whole, &performed.positions) {
        let kept = Kept {
            pool: request.workload.pool_canonical(),
            workload: request.workload.endless_canonical(),
            positions: positions.clone(),
            names: performed.names,
            left_ns: unix_ns() as i64,
        };
        let Err(why) = site.keep(kept) else {
            return None;
        };
        return Some(CleanUp {
            left: vec![record::Left {
                path: site.describe(),
                why: format!("the pool is there, but cannot be marked as kept: {why}"),
            }],
            incomplete: true,
            ..CleanUp::default()
        });
    }
    if performed.outcome == Outcome::Complete && !performed.any_spoiled {
        // Every file of its own is gone: what bears such a name now is somebody else's.
        let done = leave(site, Evidence::default(), request.stuck_after, &mut |_| ());
        return (done.files > 0 || !done.left.is_empty()).then_some(done);
    }
    events.event(Event::Began(Stage::CleanUp, Progress::default()));
    let evidence = Evidence {
        numbers_made: performed.numbers_made,
        partly_written: performed.partly_written.clone(),
        set_back_ns: site.life().set_back_ns(),
        until: None,
        is_complete: true,
    };
    let done = leave(site, evidence, request.stuck_after, &mut |files| {
        events.event(Event::Going(
            Stage::CleanUp,
            Progress {
                done: files,
                total: None,
            },
        ));
    });
    let progress = Progress {
        done: done.files,
        total: Some(done.files),
    };
    events.event(Event::Ended(Stage::CleanUp, progress, End::Complete));
    Some(done)
}

/// Removes what is left of a run in a thread of its own, and waits for that as long as it goes on.
fn leave(mut site: Box<dyn Site>, evidence: Evidence, stuck_after: Duration, tell: &mut dyn FnMut(u64)) -> CleanUp {
    const TELL_EVERY: Duration = Duration::from_millis(100);
    /// One removal may take so many times the time after which an operation is named.
    const GIVE_UP_AFTER: u32 = 5;
    let place = site.describe();
    let removed = Arc::new(AtomicU64::new(0));
    let (answer, answers) = mpsc::channel();
    let count = Arc::clone(&removed);
    let removing = thread::Builder::new().name("clean up".to_owned()).spawn(move || {
        let done = site.leave(&evidence, &mut |files| count.store(files, Ordering::Relaxed));
        // Whoever hears of it may unmount at once.
        drop(site);
        // Nobody may be waiting any more.
        let _ = answer.send(done);
    });
    let given_up = |why: String| CleanUp {
        left: vec![record::Left { path: place, why }],
        incomplete: true,
        ..CleanUp::default()
    };
    if let Err(error) = removing {
        return given_up(format!(
            "the system has no thread to remove it: {error}: 'postmark clean' removes it"
        ));
    }
    let (mut seen, mut since) = (0, Instant::now());
    loop {
        match answers.recv_timeout(TELL_EVERY) {
            Ok(done) => return done,
            Err(RecvTimeoutError::Disconnected) => {
                return given_up("its removal broke off: 'postmark clean' removes the rest".to_owned());
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        let now = removed.load(Ordering::Relaxed);
        tell(now);
        if now != seen {
            (seen, since) = (now, Instant::now());
        } else if since.elapsed() >= stuck_after * GIVE_UP_AFTER {
            return given_up(format!(
                "its removal has not gone on for {} s: 'postmark clean' removes the rest later",
                since.elapsed().as_secs()
            ));
        }
    }
}
