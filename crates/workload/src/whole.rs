//! A complete workload: the work of each worker, the number and roles of workers, and their pools.

mod bounds;
mod canonical;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::WorkloadError;
use crate::births::Tables;
use crate::classic::Classic;
use crate::contents::ContentSpec;
use crate::endless;
use crate::intent::{Action, Stream};
use crate::mix::Mix;
use crate::mix_stream::MixStream;
use crate::mixer::Mixer;
use crate::replay::{Replay, ReplayStream, Timing};
use crate::stream::ClassicStream;
use crate::table::MemoryHint;
pub use crate::workers::{Role, WorkerSeeds, Workers};

/// The operations of each worker: pairs as in the original PostMark, or a weighted mix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
#[expect(
    clippy::large_enum_variant,
    reason = "a run has one, and nobody moves it about"
)]
pub enum Work {
    /// Pairs of operations as in the original PostMark: read or append, and create or delete.
    Classic(Classic),
    /// Operations that are drawn by weight.
    Mix(Mix),
}

impl Work {
    fn either<'a, T>(
        &'a self,
        classic: impl FnOnce(&'a Classic) -> T,
        mix: impl FnOnce(&'a Mix) -> T,
    ) -> T {
        match self {
            Self::Classic(work) => classic(work),
            Self::Mix(work) => mix(work),
        }
    }
}

/// A complete workload: the work of each worker, the workers and their pools, and the contents of
/// files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Workload {
    /// The operations of each worker: classic pairs or a weighted mix.
    pub work: Work,
    /// The number of workers and their pools.
    pub workers: Workers,
    /// Whether all workers use the same seed.
    pub worker_seeds: WorkerSeeds,
    /// The contents of files; null for the text of the classic editions.
    pub contents: Option<ContentSpec>,
}

impl From<Work> for Workload {
    fn from(work: Work) -> Self {
        let contents = work.either(|_| None, |_| Some(ContentSpec::default()));
        Self {
            work,
            workers: Workers::ONE,
            worker_seeds: WorkerSeeds::Offset,
            contents,
        }
    }
}

impl From<Classic> for Workload {
    fn from(classic: Classic) -> Self {
        Work::Classic(classic).into()
    }
}

impl From<Mix> for Workload {
    fn from(mix: Mix) -> Self {
        Work::Mix(mix).into()
    }
}

/// A stream of any kind, for code that iterates over streams and does not measure them.
pub type AnyStream = Box<dyn Stream + Send>;

impl Workload {
    /// A number of transactions that no run reaches, for runs with another limit, such as a
    /// duration. In JSON it is null.
    pub const ENDLESS: u64 = endless::ENDLESS;

    /// The largest number of workers of all pools and ranks together.
    pub const WORKERS_MAX: u32 = 4096;

    pub fn validate(&self) -> Result<(), WorkloadError> {
        let workers = self.workers.count();
        ensure!(
            (1..=Self::WORKERS_MAX).contains(&workers),
            "invalid number of workers {workers}: expected 1 to {}",
            Self::WORKERS_MAX
        );
        if let Some(contents) = &self.contents {
            contents
                .validate()
                .map_err(|error| invalid!("invalid contents: {error}"))?;
        }
        match &self.work {
            Work::Classic(_) if self.workers.is_shared() => Err(invalid!(
                "writers and readers share a pool, and the classic workload has private pools \
                 only (use --mix)"
            )),
            Work::Classic(classic) => classic.validate(),
            Work::Mix(_) if self.contents.is_none() => Err(invalid!(
                "a mix needs contents: text, incompressible or compressible:RATIO"
            )),
            Work::Mix(mix) if mix.replay.is_some() => mix.validate(),
            Work::Mix(mix) if self.workers.is_shared() && !mix.phases.is_empty() => Err(invalid!(
                "phases need private pools (use --workers instead of --writers and --readers)"
            )),
            Work::Mix(mix)
                if self.workers.is_shared() && mix.weights.actions().any(Action::is_on_tree) =>
            {
                Err(invalid!(
                    "operations on trees need private pools (use --workers instead of \
                     --writers and --readers)"
                ))
            }
            Work::Mix(mix) => {
                mix.validate()?;
                self.validate_roles(mix)
            }
        }
    }

    fn validate_roles(&self, mix: &Mix) -> Result<(), WorkloadError> {
        let Workers::Shared {
            writers, readers, ..
        } = self.workers
        else {
            return Ok(());
        };
        let writers_advice = "add one that changes files, like create=1, or use --writers 0";
        let readers_advice = "add one that reads, like read=1, or use --readers 0";
        for (role, count, reads, advice) in [
            ("writers", writers, false, writers_advice),
            ("readers", readers, true, readers_advice),
        ] {
            ensure!(
                count == 0 || mix.weights.of_those_that_read(reads).sum() > 0,
                "no operation of the mix is for the {role} ({advice})"
            );
        }
        Ok(())
    }

    pub fn classic(&self) -> Option<&Classic> {
        match &self.work {
            Work::Classic(classic) => Some(classic),
            Work::Mix(_) => None,
        }
    }

    pub fn mix(&self) -> Option<&Mix> {
        match &self.work {
            Work::Classic(_) => None,
            Work::Mix(mix) => Some(mix),
        }
    }

    /// Returns the replay of a trace; `None` if the operations are drawn.
    pub fn replay(&self) -> Option<&Replay> {
        self.mix()?.replay.as_deref()
    }

    /// Whether operations start at the times of a trace.
    pub fn has_traced_times(&self) -> bool {
        self.replay()
            .is_some_and(|replay| replay.timing == Timing::Traced)
    }

    /// Returns the number of transactions of all workers together.
    pub fn transactions_of_all(&self) -> u64 {
        match self.replay() {
            Some(replay) => replay.operations.min(self.transactions()),
            None => self
                .transactions()
                .saturating_mul(self.workers.count().into()),
        }
    }

    /// Returns the shares of the pool's files on each target, relative to each other.
    pub fn location_weights(&self) -> &[u32] {
        self.work
            .either(|classic| &classic.weights, |mix| &mix.location_weights)
    }

    /// Returns the index of the target that contains the directory `place`.
    pub fn location_of(&self, place: u32) -> usize {
        self.work.either(
            |classic| classic.location_of(place),
            |mix| mix.location_of(place),
        )
    }

    /// Returns the number of files in each pool before the transactions.
    pub fn files(&self) -> u64 {
        self.work.either(|classic| classic.files, |mix| mix.files)
    }

    /// Returns the number of transactions of each worker.
    pub fn transactions(&self) -> u64 {
        self.work
            .either(|classic| classic.transactions, |mix| mix.transactions)
    }

    /// Returns the seed of the workload. Workers may use other seeds.
    pub fn seed(&self) -> u64 {
        self.work
            .either(|classic| classic.seed.into(), |mix| mix.seed)
    }

    pub fn worker_seed(&self, worker: u32) -> u64 {
        self.seed().wrapping_add(self.worker_key(worker).into())
    }

    /// Returns the number that distinguishes a worker's random numbers from those of other workers;
    /// 0 if all workers use the same seed.
    fn worker_key(&self, worker: u32) -> u32 {
        match self.worker_seeds {
            WorkerSeeds::Same => 0,
            WorkerSeeds::Offset => worker,
        }
    }

    /// Returns the classic work of one worker, with the worker's seed.
    pub fn classic_of(&self, classic: &Classic, worker: u32) -> Classic {
        Classic {
            // The seed of the original PostMark has 32 bits.
            seed: self.worker_seed(worker) as u32,
            ..classic.clone()
        }
    }

    pub fn mixer(&self, mix: &Mix, worker: u32) -> Mixer {
        self.mixer_with(mix, &Tables::new(mix), worker)
    }

    /// Returns the draft generator of one worker like [`mixer`](Self::mixer), but with existing
    /// tables, which several workers can share.
    pub fn mixer_with(&self, mix: &Mix, tables: &Tables, worker: u32) -> Mixer {
        let own = (self.worker_seed(worker), self.worker_key(worker));
        match self.workers {
            Workers::Private { .. } => Mixer::new(mix, tables, &mix.weights, own, own.0),
            Workers::Shared { .. } => {
                let weights = mix
                    .weights
                    .of_those_that_read(self.workers.role(worker) == Role::Reader);
                let pool = self.workers.pool_of(worker).unwrap_or(0);
                Mixer::new(mix, tables, &weights, own, self.worker_seed(pool))
            }
        }
    }

    /// Returns the number of streams, one for each pool. The stream of a shared pool contains the
    /// operations of all its workers, which take turns.
    pub fn streams(&self) -> u32 {
        self.workers.pools()
    }

    /// Returns stream number `number` (below [`streams`](Self::streams)), for planning.
    ///
    /// # Errors
    /// Returns an error if the workload is invalid or does not fit in memory.
    pub fn stream(&self, number: u32, hint: MemoryHint) -> Result<AnyStream, WorkloadError> {
        self.validate()?;
        if let Some(replay) = self.replay() {
            let steps = Arc::clone(replay.loaded.steps()?);
            return Ok(Box::new(ReplayStream::new(steps, self.transactions())));
        }
        Ok(match (&self.work, self.workers) {
            (Work::Classic(classic), _) => Box::new(ClassicStream::without_text(
                &self.classic_of(classic, number),
                hint,
            )?),
            (Work::Mix(mix), Workers::Private { .. }) => {
                Box::new(MixStream::new(mix, vec![self.mixer(mix, number)]))
            }
            (Work::Mix(mix), Workers::Shared { .. }) => {
                let tables = Tables::new(mix);
                let each = self.workers.of_a_pool();
                let mixers = number * each..(number + 1) * each;
                let mixers = mixers.map(|worker| self.mixer_with(mix, &tables, worker));
                Box::new(MixStream::new(mix, mixers.collect()))
            }
        })
    }
}
