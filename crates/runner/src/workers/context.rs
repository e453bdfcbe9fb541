//! State that all workers of a run share, and the inputs of each worker, which are derived from
//! that state.

use std::sync::Arc;

use engine::namespace::ActingUser;
use engine::{Engine, Settings, Stopping};
use engines::PathBuffer;
use record::Origin;
use rundir::AckLog;
use rundir::manifest::Position;
use rundir::names::worker_directory;
use spec::RunSpec;
use workload::births::Tables;
use workload::contents::Contents;
use workload::mixer::Mixer;
use workload::replay::Timing;
use workload::{Mix, Phase, Role, StreamHasher, Work, Workers};

use crate::acknowledged::AcknowledgedByAll;
use crate::clock::RunClock;
use crate::control::Control;
use crate::error::Refused;
use crate::failures::{Failures, Spoiled};
use crate::pace::Pacer;
use crate::path_builder::{Namer, Naming};
use crate::replay::ReplayProgress;
use crate::run_target::{Taken, TakenLocation};
use crate::supervisor::PoolOfWorker;
use crate::worker::{Payload, PoolDirectory, WorkerConfig};

pub(super) struct RunContext<'a> {
    pub(super) request: &'a RunSpec,
    pub(super) engine: &'a Arc<dyn Engine>,
    pub(super) clock: &'a RunClock,
    pub(super) control: &'a Control,
    pub(super) run_directories: &'a [TakenLocation],
    pub(super) naming: Naming,
    /// Tables from which all workers of a mix draw sizes; `None` for a classic workload.
    pub(super) tables: Option<Tables>,
    /// Positions in the streams of all workers for the reused pool of an earlier run; empty if no
    /// pool is reused.
    pub(super) positions: &'a [Position],
    /// The user as whom the run accesses files; `None` if that is the process's own user.
    pub(super) acts_as: Option<ActingUser>,
    pub(super) ack_log: Option<&'a AckLog>,
    /// Files and names of the shared pool whose state is unknown after failed operations.
    pub(super) spoiled: Arc<Spoiled>,
    pub(super) acknowledged: AcknowledgedByAll,
    /// The progress of the workers of a replay.
    pub(super) progress: Arc<ReplayProgress>,
    pub(super) origin_ns: u64,
}

impl<'a> RunContext<'a> {
    pub(super) fn new(
        request: &'a RunSpec,
        (engine, clock, control): (&'a Arc<dyn Engine>, &'a RunClock, &'a Control),
        taken: &'a Taken,
        ack_log: Option<&'a AckLog>,
        origin: Origin,
    ) -> Result<Self, Refused> {
        Ok(Self {
            request,
            engine,
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
            progress: Arc::new(ReplayProgress::new(match request.workload.replay() {
                Some(_) => request.workload.workers.count(),
                None => 0,
            })),
            origin_ns: origin.monotonic_ns.unsigned_abs(),
        })
    }

    /// Number of the worker's pool if the run has several pools; otherwise `None`.
    fn own(&self, worker: u32) -> Option<u32> {
        self.request.workload.workers.pool_of(worker)
    }

    /// Returns the generator that draws the operations of a worker in a mix.
    pub(super) fn mixer(&self, mix: &Mix, worker: u32) -> Mixer {
        match &self.tables {
            Some(tables) => self.request.workload.mixer_with(mix, tables, worker),
            None => self.request.workload.mixer(mix, worker),
        }
    }

    /// Returns the generator of the pool's writers for a worker that only reads; otherwise `None`.
    pub(super) fn writer(&self, mix: &Mix, worker: u32) -> Option<Mixer> {
        let workers = self.request.workload.workers;
        let first = worker - workers.within_pool(worker);
        let has_others =
            workers.role(worker) == Role::Reader && workers.role(first) == Role::Writer;
        has_others.then(|| self.mixer(mix, first))
    }

    /// Describes the pool that a worker prepares, for the supervisor.
    pub(super) fn pool_of(&self, worker: u32) -> PoolOfWorker {
        PoolOfWorker {
            namer: self.namer(worker),
            directory: self.own(worker).map(worker_directory),
        }
    }

    pub(super) fn namer(&self, worker: u32) -> Namer {
        let own = self.own(worker);
        let paths = self
            .run_directories
            .iter()
            .enumerate()
            .map(|(location, run_directory)| {
                // Paths with a NUL character were refused earlier.
                PathBuffer::new(location, run_directory.prefix_of(own))
                    .unwrap_or_else(|_| unreachable!("the paths have no NUL in them"))
            });
        Namer::new(self.naming.clone(), paths.collect())
    }

    pub(super) fn settings(&self, worker: u32) -> Settings {
        let workload = &self.request.workload;
        let largest = workload.content_bytes_max().max(1);
        // A block need not be larger than the largest file, because no call reads or writes more.
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
            durability: self.request.durability.clone(),
            direct: self.request.direct,
            keep_contents_bytes: if self.request.verify {
                largest as usize
            } else {
                0
            },
            // If the pool is kept, a stop does not interrupt operations, because a kept pool must
            // contain only complete files.
            stopping: match self.request.keeping.keep {
                true => Stopping::default(),
                false => {
                    let control = self.control.clone();
                    Stopping::when(move || control.is_stopping())
                }
            },
        }
    }

    /// Returns the directories that a worker creates and removes. For a shared pool, the first
    /// worker creates and removes all of them.
    fn directories(&self, worker: u32) -> Vec<PoolDirectory> {
        let mut directories = Vec::new();
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
        directories
    }

    pub(super) fn config(&self, worker: u32, payload: Payload) -> WorkerConfig {
        WorkerConfig {
            namer: self.namer(worker),
            payload,
            failures: Failures::new(
                self.request,
                self.control.clone(),
                match self.request.workload.workers {
                    Workers::Private { .. } => Arc::default(),
                    Workers::Shared { .. } => Arc::clone(&self.spoiled),
                },
            ),
            role: self.request.workload.workers.role(worker),
            directories: self.directories(worker),
            has_directories: self.naming.has_directories(),
            caches: self.request.caches(),
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

    pub(super) fn pacer(&self, worker: u32) -> Pacer {
        let replay = self.request.workload.replay();
        let traced = replay.filter(|replay| replay.timing == Timing::Traced);
        if let Some(Ok(steps)) = traced.map(|replay| replay.loaded.steps()) {
            return Pacer::traced(Arc::clone(steps), worker);
        }
        let Some(process) = self.request.drive.arrivals() else {
            return Pacer::closed();
        };
        let workload = &self.request.workload;
        Pacer::of(process, workload.seed(), (worker, workload.workers.count()))
    }

    /// Returns the generator for the contents of a worker's files. Contents differ between pools.
    pub(super) fn payload(&self, worker: u32, text: Option<Arc<Vec<u8>>>) -> Payload {
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
}
