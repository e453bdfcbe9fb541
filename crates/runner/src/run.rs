//! The handle of a run, with which callers prepare the run, apply loads to its pool and finish it.

use std::path::PathBuf;
use std::sync::Arc;

use engine::Engine;
use record::{CompletedPart, HostId, Origin, Outcome, PhaseRecord, Record};
use rundir::ack_log::AckLog;
use rundir::run_directory::RunDirectories;
use spec::{PhaseLoad, RunSpec};
use system::{Fact, Sources, WatchedAccount, WatchedDevices};

use crate::clock::{Clock, RunClock};
use crate::control::{Control, TakeControl};
use crate::counter_baseline::Since;
use crate::error::Refused;
use crate::events::{Event, Events};
use crate::initial_record::{head, plain_operations};
use crate::overhead;
use crate::preflight::{self, Looked, paths};
use crate::ranks::Processes;
use crate::run_target::Taken;
use crate::servers::WatchedServers;
use crate::setup;
use crate::supervisor::{Supervisor, Watch};
use crate::teardown;
use crate::timed_call::Waiter;
use crate::workers::{self, Performed};

/// Performs a run with the load of its spec and removes its files.
///
/// # Errors
/// Returns the same errors as [`prepare`].
pub fn run<S: Engine + Clone + 'static, C: Clock + Clone + 'static>(
    request: &RunSpec,
    engine: &S,
    clock: &C,
    take_control: &mut dyn TakeControl,
    events: &mut dyn Events,
) -> Result<Record, Refused> {
    let mut run = prepare(request, engine, clock, take_control, events)?;
    run.apply_own();
    Ok(run.finish())
}

/// A run whose pool is ready, or a run that ended earlier. The run owns its directories until it is
/// finished. Finishing always returns a record.
#[must_use = "what a run has made is removed when it is finished"]
pub struct Run<'e>(Begun<'e>);

enum Begun<'e> {
    /// The run ended while it claimed its directories, whose state is therefore unknown. Also used
    /// on a rank that only waited while other ranks performed the run.
    Nowhere(Box<Record>, Control),
    Going(Box<Going<'e>>),
}

struct Going<'e> {
    /// The record before the first stage, without results.
    head: Record,
    since: Arc<Since>,
    owned: Arc<RunDirectories>,
    ack_log: Option<AckLog>,
    supervisor: Supervisor<'e>,
    servers: Option<WatchedServers>,
    now_ns: Box<dyn Fn() -> u64 + Send>,
}

#[derive(Debug)]
pub struct Finished {
    /// The merged record of all ranks.
    pub record: Record,
    /// This rank's own record; `None` with a single process, or if this rank only waited.
    pub own: Option<Box<Record>>,
}

/// Performs the preflight checks, claims the directories, and creates or reuses the pool.
///
/// The first ranks perform a run that uses fewer ranks than were launched. Every other rank waits
/// in this function for the result: the record or the refusal.
///
/// `take_control` is called after the checks and before any change on the targets. From then on a
/// stop request ends the run with a clean-up. Before that, the process may end at once.
///
/// # Errors
/// Returns an error if the run was refused: nothing was changed. A run that started always returns
/// a record.
pub fn prepare<'e, S: Engine + Clone + 'static, C: Clock + Clone + 'static>(
    request: &RunSpec,
    engine: &S,
    clock: &C,
    take_control: &mut dyn TakeControl,
    events: &'e mut dyn Events,
) -> Result<Run<'e>, Refused> {
    prepare_on(
        request,
        Arc::new(engine.clone()),
        RunClock::of(clock),
        take_control,
        events,
    )
}

/// Implements [`prepare`] without type parameters.
pub(crate) fn prepare_on<'e>(
    request: &RunSpec,
    engine: Arc<dyn Engine>,
    clock: RunClock,
    take_control: &mut dyn TakeControl,
    events: &'e mut dyn Events,
) -> Result<Run<'e>, Refused> {
    let waiter = Waiter::new(
        take_control.taken().unwrap_or_default(),
        request.stall_timeout,
        events,
    );
    let processes = Processes::of(request, take_control.ranks())?;
    if !processes.performs() {
        let control = take_control.take().among(processes.clone());
        let record = processes.rest()?;
        return Ok(Run(Begun::Nowhere(Box::new(record), control)));
    }
    let (system, processes) = ((&engine, &clock), &processes);
    let begun = begin(request, system, take_control, processes, waiter);
    begun
        .map(Run)
        .inspect_err(|refused| processes.refuse(refused))
}

fn begin<'e>(
    request: &RunSpec,
    (engine, clock): (&Arc<dyn Engine>, &RunClock),
    take_control: &mut dyn TakeControl,
    processes: &Processes,
    mut waiter: Waiter<'e>,
) -> Result<Begun<'e>, Refused> {
    let is_first = processes.number() == 0;
    let looked = Looked::at(request, &**engine, is_first, &mut waiter);
    let looked = processes.agree(looked).map_err(|(refused, _)| refused)?;
    if let Some(other_user) = looked.other_user.clone().filter(|_| is_first) {
        waiter.events.event(Event::OtherUser(other_user));
    }
    waiter.control = take_control.take().among(processes.clone());
    let targets = || looked.targets.iter().filter_map(Fact::known);
    let account = WatchedAccount::of(&Sources::default(), targets());
    let devices = account.devices().clone();
    let servers = looked.namespace.as_ref().and_then(WatchedServers::of);
    let of_machine = (&devices, clock.now_ns(), engine.depth());
    let taken = take_place(request, &looked, of_machine, &mut waiter)?;
    let since = Arc::new(Since::now(devices, targets()));
    let one_clock = processes.agree_on_origin(clock)?;
    let directories = match &taken {
        Ok(taken) => taken.directories(),
        Err(_) => looked.directories.clone(),
    };
    let mut head = head(request, looked, (&directories, one_clock.origin), &since);
    head.plain_operations = plain_operations(request, &**engine);
    head.cluster = processes.own_part(&head, &one_clock);
    let taken = match taken {
        Ok(taken) => taken,
        Err(why) => {
            head.actual.outcome = Outcome::Failed { why };
            head.actual.clean_up = Some(teardown::not_asked(paths(&directories)));
            head.actual.stalled = waiter.stalled;
            return Ok(Begun::Nowhere(Box::new(head), waiter.control.clone()));
        }
    };
    let owned = Arc::clone(&taken.owned);
    let system = (engine, clock, one_clock.origin);
    let (ack_log, mut watch) = start(request, system, taken, directories, &mut waiter)?;
    watch.account = request.engine.makes_files().then_some(account);
    watch.servers.clone_from(&servers);
    watch.host = (!processes.is_alone()).then(|| HostId::of(&head.host));
    watch.merged = processes.join_heads(&head, waiter.events.takes_records());
    tell_heads(&head, &since, &mut watch, &mut waiter);
    let clock = clock.clone();
    Ok(Begun::Going(Box::new(Going {
        head,
        since,
        owned,
        ack_log,
        supervisor: Supervisor::begin(watch, waiter),
        servers,
        now_ns: Box::new(move || clock.now_ns()),
    })))
}

/// Claims the directories of the run. Releases the directories if another process cannot claim or
/// open them.
///
/// The inner error is the reason why a call on the directories did not return.
fn take_place(
    request: &RunSpec,
    looked: &Looked,
    of_machine: (&Fact<WatchedDevices>, u64, usize),
    waiter: &mut Waiter<'_>,
) -> Result<Result<Taken, String>, Refused> {
    let taken = setup::take(request, looked, of_machine, waiter);
    waiter
        .control
        .processes()
        .agree(taken)
        .map_err(|(refused, taken)| {
            if let Some(Ok(taken)) = taken {
                teardown::give_back(request, taken.owned, waiter);
            }
            refused
        })
}

/// Opens the acknowledgement log, if requested, and starts the workers. Releases the directories if
/// another process cannot do the same.
fn start(
    request: &RunSpec,
    (engine, clock, origin): (&Arc<dyn Engine>, &RunClock, Origin),
    taken: Taken,
    directories: Vec<PathBuf>,
    waiter: &mut Waiter<'_>,
) -> Result<(Option<AckLog>, Watch), Refused> {
    let started = open_ack_log(request, directories, waiter).and_then(|ack_log| {
        let on = (engine, clock, &waiter.control);
        match workers::start(request, on, &taken, ack_log.as_ref(), origin) {
            Ok(watch) => Ok((ack_log, watch)),
            Err(refused) => {
                teardown::leave_open(ack_log);
                Err(refused)
            }
        }
    });
    waiter
        .control
        .processes()
        .agree(started)
        .map_err(|(refused, started)| {
            let owned = Arc::clone(&taken.owned);
            drop((taken, started));
            teardown::give_back(request, owned, waiter);
            refused
        })
}

/// Sends this rank's initial record and, on the first rank, the merged initial record of all ranks.
/// Sinks that take no records receive neither.
fn tell_heads(head: &Record, since: &Arc<Since>, watch: &mut Watch, waiter: &mut Waiter<'_>) {
    if !waiter.events.takes_records() {
        return;
    }
    let opened = Event::RecordOpened(Box::new(head.clone()));
    waiter.events.event(opened);
    watch.since = Some(Arc::clone(since));
    if let (Some(merged), true) = (&watch.merged, waiter.control.is_first()) {
        waiter.events.event(Event::RecordMerged(merged.clone()));
    }
}

impl<'e> Run<'e> {
    /// Whether another load can be applied. False if the run has ended or is being stopped, or if
    /// its pool has run empty.
    pub fn takes_loads(&self) -> bool {
        matches!(&self.0, Begun::Going(going) if going.supervisor.takes_loads())
    }

    /// Performs transactions on the pool, with the warm-up and duration of the run spec.
    /// `per_second` is the rate of all workers in an open loop, which must satisfy
    /// [`workload::arrivals::check_rate`]; `None` is a closed loop.
    ///
    /// Returns the merged phase of all ranks; `None` if the transactions did not complete or did
    /// not start.
    pub fn apply(&mut self, per_second: Option<f64>) -> Option<&PhaseRecord> {
        self.going()?.supervisor.apply(per_second)
    }

    /// Performs transactions as the next phase of the workload. Returns the merged phase of all
    /// ranks; `None` if the transactions did not complete or did not start.
    pub fn apply_phase(&mut self, load: &PhaseLoad) -> Option<&PhaseRecord> {
        self.going()?.supervisor.apply_phase(load)
    }

    /// Applies the load of the run spec.
    pub fn apply_own(&mut self) {
        let Some(Going {
            head, supervisor, ..
        }) = self.going()
        else {
            return;
        };
        if supervisor.apply(head.spec.drive.rate()).is_some() && supervisor.syncs() {
            supervisor.tell_load(|phase| CompletedPart::Phase(Box::new(phase)));
        }
    }

    pub fn tell(&mut self, event: Event) {
        if let Some(going) = self.going() {
            going.supervisor.tell(event);
        }
    }

    /// Sends the completed load to sinks that take records. `as_part` converts the completed phase
    /// to a part of the record.
    pub fn tell_load(&mut self, as_part: impl Fn(PhaseRecord) -> CompletedPart) {
        if let Some(going) = self.going() {
            going.supervisor.tell_load(as_part);
        }
    }

    pub fn control(&self) -> Control {
        match &self.0 {
            Begun::Nowhere(_, control) => control.clone(),
            Begun::Going(going) => going.supervisor.control(),
        }
    }

    /// Deletes the pool or keeps it for a later run, then removes the run's files and returns the
    /// record. The record has one phase of transactions for each applied load, in the order of the
    /// loads. With several ranks, each returns the merged record.
    pub fn finish(self) -> Record {
        self.finish_parts().record
    }

    /// Finishes the run as [`finish`](Self::finish) does, and also returns the record of this rank.
    pub fn finish_parts(self) -> Finished {
        let Going {
            head,
            since,
            owned,
            ack_log,
            supervisor,
            servers,
            now_ns,
        } = match self.0 {
            Begun::Nowhere(record, _) => {
                return Finished {
                    record: *record,
                    own: None,
                };
            }
            Begun::Going(going) => *going,
        };
        let request = &head.spec;
        let (watched, mut waiter) = supervisor.end();
        waiter.control.processes().close();
        let mut performed = Performed::new(request, watched, &waiter);
        let clean_up = teardown::leave_all(request, &mut performed, (owned, ack_log), &mut waiter);
        let during = since.during_with_programs();
        let hashes = performed.worker_hashes();
        let mut actual = performed.into_actual(request, clean_up);
        actual.stalled = waiter.stalled;
        // Only the first process measures the overhead, because processes on one machine would
        // disturb each other.
        if request.overhead && waiter.control.is_first() {
            actual.overhead = overhead::measure(&request.of_one_rank(), &actual, &waiter.control);
        }
        // After this point, no requests are sent to servers, so the totals are complete.
        actual.traffic = servers.map(|servers| servers.totals());
        let record = Record {
            during,
            actual,
            ..head
        };
        let processes = waiter.control.processes();
        let (record, own) = processes.join_records(record, hashes, now_ns);
        Finished { record, own }
    }

    fn going(&mut self) -> Option<&mut Going<'e>> {
        match &mut self.0 {
            Begun::Nowhere(..) => None,
            Begun::Going(going) => Some(going),
        }
    }
}

fn open_ack_log(
    request: &RunSpec,
    directories: Vec<PathBuf>,
    waiter: &mut Waiter<'_>,
) -> Result<Option<AckLog>, Refused> {
    let Some(path) = &request.ack_log else {
        return Ok(None);
    };
    let asked = request.clone();
    preflight::ask(
        waiter,
        "begin the acknowledgement log",
        path.display().to_string(),
        move || AckLog::open(&asked, &directories).map_err(Refused::from),
    )?
}
