//! A whole run: place, room, worker, record.

use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;

use observe::{Fact, Host, ProcessTimes, Sources, SystemTimes, Target};
use record::{
    Actual, ClassicFigures, CleanUp, End, ErrorRecord, LocationRecord, Meter, Outcome, PhaseRecord, Record, Room,
    SystemDuring, Tool,
};
use rustix::io::Errno;
use storage::{Location, OpenError, PathBuffer, Settings, Step, Storage};
use workload::stream::StreamError;
use workload::{Action, Classic, ClassicStream, Phase, fingerprint};

use crate::advice;
use crate::clock::{Clock, unix_ns};
use crate::control::Control;
use crate::events::{Event, Events, Progress, Stage};
use crate::room::{self, Volumes};
use crate::site::{self, Grounds, NoSite, PrepareError, Site, Wish};
use crate::supervisor::{Border, supervise, watch_mounts};
use crate::worker::{self, Material, Report, Stopwatch, Timed, Tools, Untimed};

/// Where a run's files go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Into a directory of the run's own in each location.
    OwnDirectory,
    /// Into the locations themselves, as the original has it.
    Location,
    /// Nowhere: the storage touches no file system.
    Nowhere,
}

/// A location as asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestedLocation {
    /// The directory, as said. Empty: the working directory, with names that have no directory before them.
    pub path: PathBuf,
}

impl RequestedLocation {
    /// The directory that is meant.
    pub fn directory(&self) -> &Path {
        if self.path.as_os_str().is_empty() {
            Path::new(".")
        } else {
            &self.path
        }
    }
}

/// A run as asked for.
#[derive(Clone, Debug)]
pub struct Request {
    /// The arguments as said.
    pub said: Vec<String>,
    /// The complete workload as meant.
    pub workload: Classic,
    /// One for each of the workload's weights.
    pub locations: Vec<RequestedLocation>,
    /// Where the files go.
    pub place: Place,
    /// Whether every operation's latency is recorded.
    pub latencies: bool,
    /// Whether a target without room is refused.
    pub room_check: bool,
}

/// A run was refused; nothing was touched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// The workload cannot be performed.
    #[error(transparent)]
    Workload(#[from] StreamError),
    /// The place cannot be taken.
    #[error(transparent)]
    Place(#[from] PrepareError),
    /// There is no room.
    #[error("{0}")]
    NoRoom(String),
    /// The working directory cannot be found.
    #[error("cannot find the working directory: {0}: give a directory with --at")]
    WorkingDirectory(std::io::Error),
    /// A path that no system call takes.
    #[error("the path {0:?} has a NUL in it: give another")]
    Nul(PathBuf),
}

/// What a run found before it began.
struct Start {
    targets: Vec<Fact<Target>>,
    room: Option<Room>,
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
pub fn run<S: Storage, C: Clock>(
    request: &Request,
    storage: &S,
    clock: &C,
    take_control: &mut dyn FnMut() -> Control,
    events: &mut dyn Events,
) -> Result<Record, Refused> {
    let fingerprint = fingerprint::fingerprint(&request.workload)?;
    let start = look(request)?;
    if request.room_check {
        if let Some(lack) = start.room.as_ref().and_then(room::shortage) {
            return Err(Refused::NoRoom(lack));
        }
    }
    let stream = ClassicStream::with_hint(&request.workload, observe::memory::prefer_huge_pages)?;
    let host = Host::read(&Sources::default());
    let control = take_control();
    let (mut site, prefixes, grounds) = take_place(request, &start, &host)?;
    let settings = settings(request, &prefixes);
    let material = material(request, &prefixes, &grounds)?;
    let (system_before, process_before) = times();
    let origin_unix_ns = unix_ns();
    let errand = Errand {
        request,
        storage,
        clock,
        control: &control,
        settings,
    };
    let actual = errand.perform(stream, material, site.as_mut(), events);
    let (system_after, process_after) = times();
    let process = process_before.and_then(|before| process_after.map(|after| after.since(&before)));
    let system = system_before.and_then(|before| system_after.map(|after| after.since(&before)));
    let locations = request
        .locations
        .iter()
        .zip(&request.workload.weights)
        .zip(start.targets)
        .zip(&prefixes);
    Ok(Record {
        schema: record::run::SCHEMA_VERSION,
        tool: Tool::this(),
        said: request.said.clone(),
        workload: request.workload.clone(),
        storage: storage.name().to_owned(),
        latencies: request.latencies,
        locations: locations
            .map(|(((location, weight), target), prefix)| LocationRecord {
                path: location.path.to_string_lossy().into_owned(),
                weight: *weight,
                directory: prefix.directory.to_string_lossy().into_owned(),
                target,
            })
            .collect(),
        fingerprint,
        origin_unix_ns,
        host,
        during: SystemDuring {
            process_user_ns: process.clone().map(|times| times.user_ns),
            process_system_ns: process.map(|times| times.system_ns),
            busy_fraction: system.clone().and_then(|times| times.busy_fraction),
            steal_fraction: system.and_then(|times| times.steal_fraction),
            clock_source_after: Host::read(&Sources::default()).clock_source,
        },
        room: start.room,
        actual,
        hints: Vec::new(),
    })
}

fn times() -> (Fact<SystemTimes>, Fact<ProcessTimes>) {
    let sources = Sources::default();
    (SystemTimes::read(&sources), ProcessTimes::read(&sources))
}

/// Looks at the targets and their room; touches nothing.
fn look(request: &Request) -> Result<Start, Refused> {
    if request.place == Place::Nowhere {
        return Ok(Start {
            targets: request.locations.iter().map(|_| Fact::NotApplicable).collect(),
            room: None,
            directories: request.locations.iter().map(|location| location.path.clone()).collect(),
        });
    }
    let mut directories = Vec::new();
    for location in &request.locations {
        directories.push(std::path::absolute(location.directory()).map_err(Refused::WorkingDirectory)?);
    }
    let sources = Sources::default();
    let targets: Vec<Target> = directories
        .iter()
        .map(|directory| Target::read(&sources, directory))
        .collect();
    let room = Volumes::of(&request.workload, &targets).check(&request.workload)?;
    Ok(Start {
        targets: targets.into_iter().map(Fact::Known).collect(),
        room: Some(room),
        directories,
    })
}

/// How the paths of a location's files begin.
struct Prefix {
    /// As system calls by path get it.
    path: Vec<u8>,
    /// The directory of the files.
    directory: PathBuf,
}

type Taken = (Box<dyn Site>, Vec<Prefix>, Vec<usize>);

fn take_place(request: &Request, start: &Start, host: &Host) -> Result<Taken, Refused> {
    let prefix = |path: &Path, directory: &Path| {
        let mut bytes = path.as_os_str().as_encoded_bytes().to_owned();
        if !bytes.is_empty() {
            bytes.push(b'/');
        }
        Prefix {
            path: bytes,
            directory: directory.to_owned(),
        }
    };
    let said = request.locations.iter().map(|location| location.path.as_path());
    if request.place == Place::Nowhere {
        let prefixes = said.map(|path| prefix(path, path)).collect();
        return Ok((Box::new(NoSite), prefixes, (0..request.locations.len()).collect()));
    }
    let workload = &request.workload;
    let wish = Wish {
        locations: start.directories.clone(),
        in_own_directories: request.place == Place::OwnDirectory,
        numbers_max: workload.files.saturating_add(workload.transactions),
        subdirectories: workload.subdirectories,
        tool: format!("postmark {}", env!("CARGO_PKG_VERSION")),
        host: host.hostname.clone(),
    };
    let (grounds, ground_of): (Grounds, _) = site::prepare(&wish)?;
    let prefixes = said
        .zip(&ground_of)
        .map(|(path, ground)| {
            let directory = &grounds.0[*ground].directory;
            match request.place {
                Place::OwnDirectory => prefix(&path.join(directory.file_name().unwrap_or_default()), directory),
                Place::Location | Place::Nowhere => prefix(path, directory),
            }
        })
        .collect();
    Ok((Box::new(grounds), prefixes, ground_of))
}

fn settings(request: &Request, prefixes: &[Prefix]) -> Settings {
    let largest = request.workload.size_high_bytes.max(1);
    // No call reads or writes more than the largest file has.
    let block = |bytes: u64| bytes.min(largest + 1) as usize;
    Settings {
        read_block_bytes: block(request.workload.read_block_bytes),
        write_block_bytes: block(request.workload.write_block_bytes),
        locations: prefixes
            .iter()
            .map(|prefix| Location {
                directory: prefix.directory.clone(),
            })
            .collect(),
    }
}

struct Prepared {
    paths: Vec<PathBuffer>,
    distinct: Vec<usize>,
}

fn material(request: &Request, prefixes: &[Prefix], grounds: &[usize]) -> Result<Prepared, Refused> {
    let paths = prefixes.iter().enumerate().map(|(location, prefix)| {
        PathBuffer::new(location, prefix.path.clone())
            .map_err(|_| Refused::Nul(request.locations[location].path.clone()))
    });
    let is_first = |location: &usize| !grounds[..*location].contains(&grounds[*location]);
    Ok(Prepared {
        paths: paths.collect::<Result<_, _>>()?,
        distinct: (0..prefixes.len()).filter(is_first).collect(),
    })
}

/// A run under way.
struct Errand<'a, S, C> {
    request: &'a Request,
    storage: &'a S,
    clock: &'a C,
    control: &'a Control,
    settings: Settings,
}

impl<S: Storage, C: Clock> Errand<'_, S, C> {
    fn perform(
        &self,
        stream: ClassicStream,
        prepared: Prepared,
        site: &mut dyn Site,
        events: &mut dyn Events,
    ) -> Actual {
        let (worked, gone) = self.work_watched(stream, prepared, site, events);
        let (report, why, numbers_made) = match worked {
            Ok(report) => {
                let why = report.failed.as_ref().map(describe);
                let numbers_made = numbers_made(&report);
                (report, why, numbers_made)
            }
            Err(why) => (Report::default(), Some(why), u64::MAX),
        };
        // The end is a border, too.
        let gone = gone.or_else(|| site.check().err());
        // Where the place is gone, that is what the error comes from.
        let failed = report.failed.as_ref();
        let advice = failed.map_or("", |failed| advice::for_errno(failed.failure.errno()));
        let outcome = match (gone, why, self.control.signal_caught()) {
            (Some(gone), None, _) => Outcome::PlaceGone { why: gone },
            (Some(gone), Some(why), _) => Outcome::PlaceGone {
                why: format!("{gone} ({why})"),
            },
            (None, Some(why), _) => Outcome::Failed {
                why: format!("{why}{advice}"),
            },
            (None, None, Some(signal)) if report.is_stopped => Outcome::Interrupted { signal },
            (None, None, _) => Outcome::Complete,
        };
        let clean_up = self.clean_up(&outcome, numbers_made, site, events);
        self.actual(report, outcome, clean_up)
    }

    /// The worker's thread works while this one looks on.
    fn work_watched(
        &self,
        stream: ClassicStream,
        prepared: Prepared,
        site: &dyn Site,
        events: &mut dyn Events,
    ) -> (Result<Report, String>, Option<String>) {
        let (messages, from_worker) = mpsc::channel();
        let (to_worker, answers) = mpsc::channel();
        thread::scope(|scope| {
            let watch = watch_mounts(scope, self.control, site);
            let worker = scope.spawn(|| self.work(stream, prepared, Border { messages, answers }));
            let gone = supervise(&from_worker, &to_worker, self.control, site, events);
            drop(watch);
            let worked = match worker.join() {
                Ok(worked) => worked.map_err(|error| error.to_string()),
                Err(_) => Err("the worker broke one of its own rules; this is a defect of postmark: please report it with the text above".to_owned()),
            };
            (worked, gone)
        })
    }

    fn work(&self, stream: ClassicStream, prepared: Prepared, border: Border) -> Result<Report, OpenError> {
        if self.request.latencies {
            self.work_timed(stream, prepared, border, Timed(self.clock))
        } else {
            self.work_timed(stream, prepared, border, Untimed)
        }
    }

    fn work_timed<W: Stopwatch>(
        &self,
        stream: ClassicStream,
        prepared: Prepared,
        border: Border,
        stopwatch: W,
    ) -> Result<Report, OpenError> {
        let text = stream.text();
        let material = Material {
            paths: prepared.paths,
            distinct: prepared.distinct,
            subdirectories: self.request.workload.subdirectories,
            text: &text,
        };
        let tools = Tools {
            stream,
            session: self.storage.open(&self.settings)?,
            clock: self.clock,
            stopwatch,
            control: self.control,
            origin_ns: self.clock.now_ns(),
        };
        Ok(worker::work(tools, material, border))
    }

    /// Removes what is left of the run; after a whole one that is its mark only.
    fn clean_up(
        &self,
        outcome: &Outcome,
        numbers_made: u64,
        site: &mut dyn Site,
        events: &mut dyn Events,
    ) -> Option<CleanUp> {
        if *outcome == Outcome::Complete {
            // Every file of its own is gone: what bears such a name now is somebody else's.
            let done = site.leave(0, &mut |_| ());
            return (done.files > 0 || !done.left.is_empty()).then_some(done);
        }
        events.event(Event::Began(Stage::CleanUp, Progress::default()));
        let done = site.leave(numbers_made, &mut |files| {
            // Often enough to be seen, seldom enough not to be felt.
            if files % 4096 == 0 {
                events.event(Event::Going(
                    Stage::CleanUp,
                    Progress {
                        done: files,
                        total: None,
                    },
                ));
            }
        });
        let progress = Progress {
            done: done.files,
            total: Some(done.files),
        };
        events.event(Event::Ended(Stage::CleanUp, progress, End::Complete));
        Some(done)
    }

    fn actual(&self, report: Report, outcome: Outcome, clean_up: Option<CleanUp>) -> Actual {
        Actual {
            end: report.end.unwrap_or(End::Complete),
            stream_hash: match &report.stream_hash {
                Some(hash) => Fact::Known(hash.clone()),
                None => Fact::Unavailable("the stream was not performed to its end".to_owned()),
            },
            errors: report.failed.iter().map(error_record).collect(),
            classic: self.classic(&report),
            phases: report.phases,
            outcome,
            clean_up,
        }
    }

    fn classic(&self, report: &Report) -> ClassicFigures {
        let count = |phase, action| meter(&report.phases, phase, action).map_or(0, |meter| meter.operations);
        let first = report.borders_s.first().copied().unwrap_or_default();
        let border = |index: usize| {
            report
                .borders_s
                .get(index)
                .or(report.borders_s.last())
                .copied()
                .unwrap_or(first)
        };
        ClassicFigures {
            edition: self.request.workload.edition,
            end: report.end.unwrap_or(End::Complete),
            began_s: first,
            transactions_began_s: border(1),
            transactions_ended_s: border(2),
            ended_s: border(3),
            transactions: self.request.workload.transactions,
            created_alone: count(Phase::Prepare, Action::Create),
            created_mixed: count(Phase::Transactions, Action::Create),
            read: count(Phase::Transactions, Action::Read),
            appended: count(Phase::Transactions, Action::Append),
            deleted_alone: count(Phase::Delete, Action::Delete),
            deleted_mixed: count(Phase::Transactions, Action::Delete),
            bytes_read: report.classic_bytes_read,
            bytes_written: report.classic_bytes_written,
        }
    }
}

/// The highest running number that a file of the run's may have: there is one for every creation, in order. A
/// creation that failed may have made its file, unless it found one there.
fn numbers_made(report: &Report) -> u64 {
    let created = |phase| meter(&report.phases, phase, Action::Create).map_or(0, |meter| meter.operations);
    let failed = report.failed.as_ref().is_some_and(|failed| {
        let was_there =
            failed.failure.step == Step::Open && failed.failure.errno() == Some(Errno::EXIST.raw_os_error());
        failed.operation == Action::Create.name() && !was_there
    });
    created(Phase::Prepare) + created(Phase::Transactions) + u64::from(failed)
}

fn meter(phases: &[PhaseRecord], phase: Phase, action: Action) -> Option<&Meter> {
    let record = phases.iter().find(|record| record.phase == phase)?;
    let mut operations = record.segments.iter().flat_map(|segment| &segment.operations);
    operations
        .find(|operation| operation.action == action)
        .map(|operation| &operation.meter)
}

fn describe(failed: &worker::Failed) -> String {
    let preposition = if failed.operation == "append" { " to" } else { "" };
    format!(
        "cannot {}{preposition} {} (step {}): {}",
        failed.operation,
        failed.path,
        failed.failure.step.name(),
        failed.failure.cause
    )
}

fn error_record(failed: &worker::Failed) -> ErrorRecord {
    ErrorRecord {
        operation: failed.operation.to_owned(),
        step: failed.failure.step.name().to_owned(),
        errno: failed.failure.errno().map_or(Fact::NotApplicable, Fact::Known),
        message: failed.failure.cause.to_string(),
        count: 1,
        first_path: failed.path.clone(),
        moved_bytes: match failed.failure.moved_bytes {
            Some(bytes) => Fact::Known(bytes),
            None => Fact::Unavailable("the stream does not tell what it has written".to_owned()),
        },
    }
}
