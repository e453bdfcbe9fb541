//! A whole workload: the work of one worker, how many workers there are, and what they share.

mod bounds;
mod canonical;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::WorkloadError;
use crate::classic::Classic;
use crate::contents::ContentSpec;
use crate::endless;
use crate::intent::Stream;
use crate::mix::Mix;
use crate::mix_stream::MixStream;
use crate::mixer::{Mixer, Tables};
use crate::stream::ClassicStream;
use crate::table::MemoryHint;
pub use crate::workers::{Role, WorkerSeeds, Workers};

/// What is done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
#[expect(
    clippy::large_enum_variant,
    reason = "a run has one, and nobody moves it about"
)]
pub enum Work {
    /// The original's pairs, by an edition's rules.
    Classic(Classic),
    /// Weighted operations.
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

/// A whole workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Workload {
    /// What each worker does.
    pub work: Work,
    /// The workers.
    pub workers: Workers,
    /// Where their generators begin.
    pub worker_seeds: WorkerSeeds,
    /// What files hold; nothing: the classic edition's text.
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

/// Any stream: for those who go through many, and do not measure.
pub type AnyStream = Box<dyn Stream + Send>;

impl Workload {
    /// More transactions than any run performs: the number of a run that ends by something else. In
    /// JSON it is null.
    pub const ENDLESS: u64 = endless::ENDLESS;

    /// The greatest number of workers.
    pub const WORKERS_MAX: u32 = 4096;

    /// Checks that the workload can be performed.
    ///
    /// # Errors
    /// What is wrong, and what would be right.
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

    /// The classic part, where that is what is done.
    pub fn classic(&self) -> Option<&Classic> {
        match &self.work {
            Work::Classic(classic) => Some(classic),
            Work::Mix(_) => None,
        }
    }

    /// The mix, where that is what is done.
    pub fn mix(&self) -> Option<&Mix> {
        match &self.work {
            Work::Classic(_) => None,
            Work::Mix(mix) => Some(mix),
        }
    }

    /// The shares of the locations.
    pub fn location_weights(&self) -> &[u32] {
        self.work
            .either(|classic| &classic.weights, |mix| &mix.location_weights)
    }

    /// Which location a place lies in.
    pub fn location_of(&self, place: u32) -> usize {
        self.work.either(
            |classic| classic.location_of(place),
            |mix| mix.location_of(place),
        )
    }

    /// Files of a pool before its transactions.
    pub fn files(&self) -> u64 {
        self.work.either(|classic| classic.files, |mix| mix.files)
    }

    /// Transactions of one worker.
    pub fn transactions(&self) -> u64 {
        self.work
            .either(|classic| classic.transactions, |mix| mix.transactions)
    }

    /// The seed of the work.
    pub fn seed(&self) -> u64 {
        self.work
            .either(|classic| classic.seed.into(), |mix| mix.seed)
    }

    /// Where a worker's generator begins.
    pub fn worker_seed(&self, worker: u32) -> u64 {
        self.seed().wrapping_add(self.worker_key(worker).into())
    }

    /// A worker's number as far as its generator is concerned.
    fn worker_key(&self, worker: u32) -> u32 {
        match self.worker_seeds {
            WorkerSeeds::Same => 0,
            WorkerSeeds::Offset => worker,
        }
    }

    /// The classic work of one worker, with the worker's seed.
    pub fn classic_of(&self, classic: &Classic, worker: u32) -> Classic {
        Classic {
            // The original's seed is a 32-bit number.
            seed: self.worker_seed(worker) as u32,
            ..classic.clone()
        }
    }

    /// The draws of one worker of a mix.
    pub fn mixer(&self, mix: &Mix, worker: u32) -> Mixer {
        self.mixer_with(mix, &Tables::new(mix), worker)
    }

    /// The same with tables that workers share.
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

    /// How many streams there are: one for each pool; in that of a shared pool its workers take
    /// turns.
    pub fn streams(&self) -> u32 {
        self.workers.pools()
    }

    /// One of the streams, for planning; see [`streams`](Self::streams).
    ///
    /// # Errors
    /// Where the workload is none or does not fit in memory.
    pub fn stream(&self, number: u32, hint: MemoryHint) -> Result<AnyStream, WorkloadError> {
        self.validate()?;
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
