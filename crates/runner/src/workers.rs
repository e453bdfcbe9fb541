//! The workers of a run: each on a thread of its own, with its own source, session and meters; and
//! what they did together.

use std::sync::Arc;
use std::sync::mpsc;
use std::thread;

use engine::namespace::ActingUser;
use engine::{Durability, Engine, Settings, Stopping};
use engines::PathBuffer;
use record::Origin;
use record::machine::WORKER_THREAD;
use spec::{Cache, RunSpec};
use workload::contents::Contents;
use workload::mixer::{Mixer, Tables};
use workload::names::NameKind;
use workload::prepared::Prepared;
use workload::{ClassicStream, Mix, MixStream, Phase, Role, StreamHasher, Work, Workers};

use crate::acknowledged::AcknowledgedByAll;
use crate::clock::{Clock as _, RunClock};
use crate::control::Control;
use crate::error::Refused;
use crate::failures::{Failures, Spoiled};
use crate::listings::Listings;
use crate::pace::Pacer;
use crate::path_builder::{Namer, Naming};
use crate::pauses::PauseWatch;
use crate::private::{Private, PrivateStream};
use crate::run_target::{Taken, TakenLocation};
use crate::shared::{SharedPool, SharedSource};
use crate::source::Source;
use crate::stopwatch::Stopwatch;
use crate::supervisor::{Message, PoolOfWorker, SupervisorLink, Watch, watch_mounts};
use crate::worker::{
    self, OtherPool, OtherPools, Payload, PoolDirectory, Report, Tools, WorkerConfig,
};
use rundir::AckLog;
use rundir::manifest::Position;
use rundir::names::worker_directory;
use rundir::worker_status::{Aside, Slot};

pub(crate) mod aggregate;

pub(crate) use aggregate::Performed;

/// What every worker gets a copy of.
struct Common<'a> {
    request: &'a RunSpec,
    storage: &'a Arc<dyn Engine>,
    clock: &'a RunClock,
    control: &'a Control,
    run_directories: &'a [TakenLocation],
    naming: Naming,
    /// Of a mix.
    tables: Option<Tables>,
    /// By worker, how far a pool of an earlier run is; empty where there is none.
    positions: &'a [Position],
    /// The user with whose rights alone the locations are used.
    acts_as: Option<ActingUser>,
    ack_log: Option<&'a AckLog>,
    /// Of a shared pool.
    spoiled: Arc<Spoiled>,
    acknowledged: AcknowledgedByAll,
    origin_ns: u64,
}

/// The pools that a worker has, each with what its files hold.
struct Pools {
    own: (Source, Payload),
    neighbour: Option<TheirPool>,
    checked: Option<TheirPool>,
}

/// The pool of a worker of another rank.
struct TheirPool {
    /// The worker whose pool it is, and the one that has worked on it last.
    of: (u32, u32),
    pool: (Source, Payload),
    spoiled: Arc<Spoiled>,
}

/// The shared pools that a rank has: its own, the one that it turns to, and an empty one in the
/// place of those of which it only hears.
struct SharedPools {
    own: Arc<SharedPool>,
    neighbours: Arc<SharedPool>,
    nobodys: Arc<SharedPool>,
    spoiled: Arc<Spoiled>,
}

impl SharedPools {
    fn new(mix: &Mix) -> Self {
        let pool = || Arc::new(SharedPool::new(mix));
        Self {
            own: pool(),
            neighbours: pool(),
            nobodys: pool(),
            spoiled: Arc::default(),
        }
    }
}

/// Starts the workers, who wait at their first barrier for whoever looks on. Their moments count
/// from an origin of the same clock.
pub(crate) fn start(
    request: &RunSpec,
    (storage, clock, control): (&Arc<dyn Engine>, &RunClock, &Control),
    taken: &Taken,
    ack_log: Option<&AckLog>,
    origin: Origin,
) -> Result<Watch, Refused> {
    let workers = request.workers_of(control.processes().number());
    let slots = taken.owned.life().slots();
    control.engage(&slots.concat());
    let common = Common {
        request,
        storage,
        clock,
        control,
        run_directories: &taken.run_directories,
        naming: Naming::of(&request.workload.work),
        tables: request.workload.mix().map(Tables::new),
        positions: &taken.positions,
        acts_as: taken.acts_as()?,
        ack_log,
        spoiled: Arc::default(),
        acknowledged: AcknowledgedByAll::default(),
        // A monotonic clock's reading is positive.
        origin_ns: origin.monotonic_ns.unsigned_abs(),
    };
    let (messages, from_workers) = mpsc::channel();
    let mut answers = Vec::new();
    let is_shared = request.workload.workers.is_shared();
    let shared = request.workload.mix().filter(|_| is_shared);
    let shared = shared.map(SharedPools::new);
    let first_worker = workers.start;
    let pools = |of: &dyn Fn(u32) -> u32| {
        workers
            .clone()
            .map(|worker| common.pool_of(of(worker)))
            .collect()
    };
    let own = pools(&|worker| worker);
    let neighbours = match request.neighbour {
        0 => Vec::new(),
        _ => pools(&|worker| request.neighbour_of(worker)),
    };
    let checked = match request.checks_across() {
        false => Vec::new(),
        true => pools(&|worker| request.checked_by(worker).0),
    };
    for (index, worker) in workers.enumerate() {
        let (answer, from_supervisor) = mpsc::channel();
        answers.push(answer);
        let link = SupervisorLink {
            index: index as u32,
            messages: messages.clone(),
            answers: from_supervisor,
        };
        common.start(worker, link, slots[index].clone(), shared.as_ref())?;
    }
    let now_ns = clock.clone();
    let landmarks = taken.owned.landmarks();
    Ok(Watch {
        messages: from_workers,
        first_worker,
        answers,
        slots,
        pools: own,
        neighbours,
        checked,
        owned: Arc::clone(&taken.owned),
        // The mounts of this machine take no server's directory away, and a look there would be a
        // call among those that are counted.
        mounts: match request.storage.speaks_to_servers() {
            true => None,
            false => watch_mounts(control.clone(), landmarks.clone()),
        },
        landmarks,
        sync: request.sync_phases || matches!(request.cache, Cache::Cold | Cache::ColdData),
        drop_caches: request.cache == Cache::Cold,
        reuse: request.keeping.reuse,
        drive: request.drive.clone(),
        devices: request.series.then(|| taken.devices.clone()),
        pauses: clock.is_of_machine().then(PauseWatch::start).flatten(),
        account: None,
        servers: None,
        host: None,
        acknowledged: common.acknowledged.clone(),
        now_ns: Box::new(move || now_ns.now_ns()),
        origin_ns: common.origin_ns,
        since: None,
        merged: None,
    })
}

impl Common<'_> {
    /// The number of the worker's pool, where there are several.
    fn own(&self, worker: u32) -> Option<u32> {
        self.request.workload.workers.pool_of(worker)
    }

    /// The draws of a worker, whose transactions those of an earlier run do not change.
    fn mixer(&self, mix: &Mix, worker: u32) -> Mixer {
        match &self.tables {
            Some(tables) => self.request.workload.mixer_with(mix, tables, worker),
            None => self.request.workload.mixer(mix, worker),
        }
    }

    /// What the writers of a pool draw, for a worker of it that only reads.
    fn writer(&self, mix: &Mix, worker: u32) -> Option<Mixer> {
        let workers = self.request.workload.workers;
        let first = worker - workers.within_pool(worker);
        let has_others =
            workers.role(worker) == Role::Reader && workers.role(first) == Role::Writer;
        has_others.then(|| self.mixer(mix, first))
    }

    /// The pool that a worker makes, for who watches.
    fn pool_of(&self, worker: u32) -> PoolOfWorker {
        PoolOfWorker {
            namer: self.namer(worker),
            directory: self.own(worker).map(worker_directory),
        }
    }

    fn namer(&self, worker: u32) -> Namer {
        let own = self.own(worker);
        let paths = self
            .run_directories
            .iter()
            .enumerate()
            .map(|(location, run_directory)| {
                // Paths with a NUL were refused before.
                PathBuffer::new(location, run_directory.prefix_of(own))
                    .unwrap_or_else(|_| unreachable!("the paths have no NUL in them"))
            });
        Namer::new(self.naming.clone(), paths.collect())
    }

    fn settings(&self, worker: u32) -> Settings {
        let workload = &self.request.workload;
        let largest = workload.content_bytes_max().max(1);
        // No call reads or writes more than the largest file has.
        let block = |bytes: u64| match workload.work {
            Work::Classic(_) => bytes.min(largest + 1) as usize,
            Work::Mix(_) => bytes.min(largest.next_multiple_of(4096)) as usize,
        };
        Settings {
            read_block_bytes: block(workload.read_block_bytes()),
            write_block_bytes: block(workload.write_block_bytes()),
            locations: self
                .run_directories
                .iter()
                .map(|run_directory| run_directory.location_of(self.own(worker)))
                .collect(),
            acts_as: self.acts_as,
            durability: self.request.durability,
            direct: self.request.direct,
            keep_contents_bytes: if self.request.verify {
                largest as usize
            } else {
                0
            },
            // A pool that is kept holds whole files only.
            stopping: match self.request.keeping.keep {
                true => Stopping::default(),
                false => {
                    let control = self.control.clone();
                    Stopping::when(move || control.is_stopping())
                }
            },
        }
    }

    fn config(&self, worker: u32, payload: Payload) -> WorkerConfig {
        let mut directories = Vec::new();
        // In a shared pool the first worker makes them for all.
        if self.request.workload.workers.within_pool(worker) == 0 {
            for (location, run_directory) in self.run_directories.iter().enumerate() {
                let is_first = self.run_directories[..location]
                    .iter()
                    .all(|other| other.number != run_directory.number);
                if is_first {
                    let all = self.naming.directories().into_iter().enumerate();
                    directories.extend(all.map(|(number, name)| PoolDirectory {
                        location,
                        number: number as u64,
                        name,
                    }));
                }
            }
        }
        WorkerConfig {
            namer: self.namer(worker),
            payload,
            failures: Failures::new(
                self.request.on_error,
                self.control.clone(),
                match self.request.workload.workers {
                    Workers::Private { .. } => Arc::default(),
                    Workers::Shared { .. } => Arc::clone(&self.spoiled),
                },
            ),
            role: self.request.workload.workers.role(worker),
            directories,
            has_directories: self.naming.has_directories(),
            cache: self.request.cache,
            verify: self.request.verify,
            check: self.request.check,
            has_pairs: self.request.workload.classic().is_some(),
            reuse: self.positions.get(worker as usize).copied(),
            keep: self.request.keeping.keep,
            first_round: self.request.drive.first_round(),
            slices: self.request.series && self.request.latencies,
            actions: Phase::ALL.map(|phase| self.request.workload.actions(phase)),
            hasher: StreamHasher::of(&self.request.workload.work),
        }
    }

    /// When the worker's transactions are due.
    fn pacer(&self, worker: u32) -> Pacer {
        let Some(process) = self.request.drive.arrivals() else {
            return Pacer::closed();
        };
        let workload = &self.request.workload;
        Pacer::of(process, workload.seed(), (worker, workload.workers.count()))
    }

    /// What files hold: contents are told apart by pool.
    fn payload(&self, worker: u32, text: Option<Arc<Vec<u8>>>) -> Payload {
        let workload = &self.request.workload;
        match (&workload.contents, text) {
            (None, Some(text)) => Payload::Text(text),
            (contents, _) => Payload::Made {
                contents: Contents::new(
                    &contents.unwrap_or_default(),
                    workload.seed(),
                    self.own(worker).unwrap_or(0),
                ),
                buffer: vec![0; workload.content_bytes_max() as usize],
            },
        }
    }

    /// Starts a worker.
    fn start(
        &self,
        worker: u32,
        link: SupervisorLink,
        slots: Vec<Arc<Slot>>,
        shared: Option<&SharedPools>,
    ) -> Result<(), Refused> {
        let workload = &self.request.workload;
        let depth = slots.len();
        // Before their own, where others turn to it, nobody has worked on a pool but the worker
        // that has made it.
        let neighbour = self.request.neighbour_of(worker);
        let neighbour = (neighbour != worker).then_some((neighbour, neighbour));
        let checked = self
            .request
            .checks_across()
            .then(|| self.request.checked_by(worker));
        match (&workload.work, shared) {
            (Work::Mix(mix), Some(shared)) => {
                let of = |pool: &Arc<SharedPool>, worker: u32| {
                    let source = SharedSource::new(
                        Arc::clone(pool),
                        mix,
                        (self.mixer(mix, worker), self.writer(mix, worker)),
                        self.control.clone(),
                        self.clock.clone(),
                        (
                            workload.workers.within_pool(worker),
                            workload.workers.of_a_pool(),
                        ),
                        depth,
                    );
                    (Source::Shared(Box::new(source)), self.payload(worker, None))
                };
                let pools = Pools {
                    own: of(&shared.own, worker),
                    neighbour: neighbour.map(|workers| TheirPool {
                        of: workers,
                        pool: of(&shared.neighbours, workers.0),
                        spoiled: Arc::clone(&shared.spoiled),
                    }),
                    checked: checked.map(|workers| TheirPool {
                        of: workers,
                        pool: of(&shared.nobodys, workers.0),
                        spoiled: Arc::default(),
                    }),
                };
                self.start_with(worker, link, slots, pools)
            }
            _ => {
                let theirs = |of: (u32, u32)| {
                    Ok::<_, Refused>(TheirPool {
                        of,
                        pool: self.private(of.0, depth)?,
                        spoiled: Arc::default(),
                    })
                };
                let pools = Pools {
                    own: self.private(worker, depth)?,
                    neighbour: neighbour.map(theirs).transpose()?,
                    checked: checked.map(theirs).transpose()?,
                };
                self.start_with(worker, link, slots, pools)
            }
        }
    }

    /// The pool of a worker that has one of its own, and what its files hold.
    fn private(&self, worker: u32, depth: usize) -> Result<(Source, Payload), Refused> {
        let behind = self
            .positions
            .get(worker as usize)
            .map_or(0, |position| position.transactions);
        let workload = &self.request.workload.with_more_transactions(behind);
        let (stream, listings, payload) = match &workload.work {
            Work::Classic(classic) => {
                let classic = workload.classic_of(classic, worker);
                let stream = ClassicStream::with_hint(&classic, system::memory::prefer_huge_pages)?;
                let payload = self.payload(worker, Some(stream.text()));
                (PrivateStream::Classic(Box::new(stream)), None, payload)
            }
            Work::Mix(mix) => {
                let lists = workload::Action::ALL
                    .iter()
                    .filter(|action| action.lists())
                    .any(|action| mix.weights.get(*action) > 0);
                let places = u64::from(mix.layout.places()) * mix.location_weights.len() as u64;
                let stream = PrivateStream::Mix(Box::new(MixStream::new(
                    mix,
                    vec![self.mixer(mix, worker)],
                )));
                let listings = lists.then(|| Listings::new(self.naming.clone(), places, depth));
                (stream, listings, self.payload(worker, None))
            }
        };
        let stream = if self.request.prepared {
            PrivateStream::Prepared(Box::new(Prepared::new(stream)))
        } else {
            stream
        };
        let source = Source::Private(Box::new(Private { stream, listings }));
        Ok((source, payload))
    }

    fn start_with(
        &self,
        worker: u32,
        link: SupervisorLink,
        slots: Vec<Arc<Slot>>,
        pools: Pools,
    ) -> Result<(), Refused> {
        let Pools {
            own: (source, payload),
            neighbour,
            checked,
        } = pools;
        let config = self.config(worker, payload);
        let settings = self.settings(worker);
        let storage = self.storage.clone();
        let other = |theirs: TheirPool| {
            let (pool, worker) = theirs.of;
            let (storage, settings) = (self.storage.clone(), self.settings(pool));
            let (source, payload) = theirs.pool;
            OtherPool {
                worker,
                source,
                namer: self.namer(pool),
                payload,
                hasher: StreamHasher::of(&self.request.workload.work),
                spoiled: theirs.spoiled,
                open: Box::new(move || storage.open(&settings)),
            }
        };
        let others = OtherPools {
            neighbour: neighbour.map(other),
            checked: checked.map(other),
            acknowledged: self.acknowledged.clone(),
            workers: self.request.workload.workers.count().max(1),
        };
        let clock = self.clock.clone();
        // What a policy of durability costs is shown as a step, always.
        let steps = self.request.steps || self.request.durability != Durability::None;
        let latencies = self.request.latencies;
        let steps_of = (latencies && steps).then_some(slots.len());
        let control = self.control.clone();
        let log = self.ack_log.map(|ack_log| ack_log.log(worker));
        let origin_ns = self.origin_ns;
        let pin = self.request.pin;
        let pacer = self.pacer(worker);
        let (index, messages) = (link.index, link.messages.clone());
        // Not scoped: a thread that hangs in the kernel is left behind, so that the record is
        // written all the same.
        let thread = thread::Builder::new().name(format!("{WORKER_THREAD}{worker}"));
        let started = thread.spawn(move || {
            let worked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                if pin {
                    system::processors::pin_to(worker).map_err(|error| {
                        format!("cannot pin worker {worker} to a processor: {error} (remove --pin)")
                    })?;
                }
                if pacer.may_be_open() {
                    // Without it arrivals are met later, which is in their latencies: no reason not
                    // to run.
                    let _ = system::processors::wake_exactly();
                }
                let slot = &slots[0];
                let session = slot.aside(Aside::OpenSession, (0, NameKind::Directory, 0), || {
                    storage.open(&settings)
                });
                let tools = Tools {
                    worker,
                    source,
                    session: session.map_err(|error| error.to_string())?,
                    stopwatch: Stopwatch::new(clock.clone(), latencies, steps_of),
                    clock,
                    control,
                    slots,
                    origin_ns,
                    log,
                    pacer,
                    others,
                };
                Ok::<Report, String>(worker::work(tools, config, Box::new(link)))
            }));
            let report = worked.unwrap_or_else(|_| {
                Err(
                    "internal error in a worker (this is a bug in postmark: please report it with \
                     the text above)"
                        .to_owned(),
                )
            });
            // A supervisor that has given up takes no report.
            let _ = messages.send((index, Message::Done(Box::new(report))));
        });
        // Those who were started before find nobody at the first barrier, and end.
        started.map(drop).map_err(|error| {
            Refused::Unable(format!(
                "cannot start a thread for worker {worker}: {error} (use fewer workers, or raise \
                 the limit: ulimit -u, pids.max)"
            ))
        })
    }
}
