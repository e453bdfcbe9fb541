//! A whole workload: the work of one worker, how many workers there are, and what they share.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::classic::Classic;
use crate::contents::ContentSpec;
use crate::endless;
use crate::intent::{Action, Phase, Stream};
use crate::invalid::{self, InvalidWhole};
use crate::mix::{InvalidMix, Mix};
use crate::mix_stream::MixStream;
use crate::mixer::{Mixer, Tables};
use crate::stream::{ClassicStream, StreamError};
use crate::table::MemoryHint;

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

/// Who shares a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "pools")]
pub enum Workers {
    /// Every worker has a pool of its own.
    Private {
        /// How many workers.
        workers: u32,
    },
    /// All work on one pool, or so many on each of several.
    Shared {
        /// How many change files.
        writers: u32,
        /// How many only look.
        readers: u32,
        /// How many pools there are, each with as many writers and readers; left out where that is
        /// 1.
        #[serde(
            rename = "shared_pools",
            default = "one",
            skip_serializing_if = "is_one"
        )]
        #[schemars(range(min = 1))]
        pools: u32,
    },
}

fn one() -> u32 {
    1
}

fn is_one(number: &u32) -> bool {
    *number == 1
}

/// What a worker of a shared pool does.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Everything: its pool is its own.
    Worker,
    /// It changes files.
    Writer,
    /// It only looks.
    Reader,
}

impl Role {
    /// The role's name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Worker => "worker",
            Self::Writer => "writer",
            Self::Reader => "reader",
        }
    }
}

impl Workers {
    /// One worker with a pool of its own.
    pub const ONE: Self = Self::Private { workers: 1 };

    /// How many workers there are.
    pub fn count(self) -> u32 {
        match self {
            Self::Private { workers } => workers,
            Self::Shared { pools, .. } => self.of_a_pool().saturating_mul(pools),
        }
    }

    /// How many work on one pool.
    pub fn of_a_pool(self) -> u32 {
        match self {
            Self::Private { .. } => 1,
            Self::Shared {
                writers, readers, ..
            } => writers.saturating_add(readers),
        }
    }

    /// How many pools there are.
    pub fn pools(self) -> u32 {
        match self {
            Self::Private { workers } => workers,
            Self::Shared { pools, .. } => pools,
        }
    }

    /// The number of a worker's pool, where there are several: its files lie in a directory of
    /// their own, and their contents are told apart.
    pub fn pool_of(self, worker: u32) -> Option<u32> {
        (self.pools() > 1).then(|| worker / self.of_a_pool().max(1))
    }

    /// A worker's number among those of its pool.
    pub fn within_pool(self, worker: u32) -> u32 {
        worker % self.of_a_pool().max(1)
    }

    /// What a worker does; in each pool writers come before readers.
    pub fn role(self, worker: u32) -> Role {
        match self {
            Self::Private { .. } => Role::Worker,
            Self::Shared { writers, .. } if self.within_pool(worker) < writers => Role::Writer,
            Self::Shared { .. } => Role::Reader,
        }
    }

    /// Whether all work on one pool.
    pub fn is_shared(self) -> bool {
        matches!(self, Self::Shared { .. })
    }
}

/// Where the workers' generators begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WorkerSeeds {
    /// All at the seed, as several started processes would.
    Same,
    /// Each at the seed plus its own number.
    #[default]
    Offset,
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

impl From<Classic> for Workload {
    fn from(classic: Classic) -> Self {
        Self {
            work: Work::Classic(classic),
            workers: Workers::ONE,
            worker_seeds: WorkerSeeds::Offset,
            contents: None,
        }
    }
}

impl From<Mix> for Workload {
    fn from(mix: Mix) -> Self {
        Self {
            work: Work::Mix(mix),
            workers: Workers::ONE,
            worker_seeds: WorkerSeeds::Offset,
            contents: Some(ContentSpec::default()),
        }
    }
}

/// Any stream: for those who go through many, and do not measure.
pub type AnyStream = Box<dyn Stream + Send>;

impl Workload {
    /// More transactions than any run performs: the number of a run that ends by something else. In
    /// JSON it is null.
    pub const ENDLESS: u64 = endless::ENDLESS;

    /// The greatest number of workers.
    pub const WORKERS_MAX: u32 = invalid::WORKERS_MAX;

    /// Checks that the workload can be performed.
    ///
    /// # Errors
    /// What is wrong, and what would be right.
    pub fn validate(&self) -> Result<(), InvalidWhole> {
        let workers = self.workers.count();
        if workers == 0 || workers > Self::WORKERS_MAX {
            return Err(InvalidWhole::Workers(workers.into()));
        }
        if let Some(contents) = &self.contents {
            contents
                .validate()
                .map_err(|error| InvalidWhole::Contents(error.to_string()))?;
        }
        match &self.work {
            Work::Classic(_) if self.workers.is_shared() => Err(InvalidWhole::ClassicShared),
            Work::Classic(classic) => Ok(classic.validate()?),
            Work::Mix(_) if self.contents.is_none() => Err(InvalidWhole::NoContents),
            Work::Mix(mix) => {
                mix.validate()?;
                Ok(self.validate_roles(mix)?)
            }
        }
    }

    fn validate_roles(&self, mix: &Mix) -> Result<(), InvalidMix> {
        if let Workers::Shared {
            writers, readers, ..
        } = self.workers
        {
            if writers > 0 && mix.weights.of_those_that_read(false).sum() == 0 {
                return Err(InvalidMix::Idle(
                    "writers",
                    "add one that changes files, like create=1, or use --writers 0",
                ));
            }
            if readers > 0 && mix.weights.of_those_that_read(true).sum() == 0 {
                return Err(InvalidMix::Idle(
                    "readers",
                    "add one that reads, like read=1, or use --readers 0",
                ));
            }
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
        match &self.work {
            Work::Classic(classic) => &classic.weights,
            Work::Mix(mix) => &mix.location_weights,
        }
    }

    /// Which location a place lies in.
    pub fn location_of(&self, place: u32) -> usize {
        match &self.work {
            Work::Classic(classic) => classic.location_of(place),
            Work::Mix(mix) => mix.location_of(place),
        }
    }

    /// Files of a pool before its transactions.
    pub fn files(&self) -> u64 {
        match &self.work {
            Work::Classic(classic) => classic.files,
            Work::Mix(mix) => mix.files,
        }
    }

    /// Transactions of one worker.
    pub fn transactions(&self) -> u64 {
        match &self.work {
            Work::Classic(classic) => classic.transactions,
            Work::Mix(mix) => mix.transactions,
        }
    }

    /// No file is ever larger, in bytes.
    pub fn size_max_bytes(&self) -> u64 {
        match &self.work {
            Work::Classic(classic) => classic.size_high_bytes,
            Work::Mix(mix) => mix.content_bytes_max(),
        }
    }

    /// No more files are ever there at once, in all pools together: for mixes with a chance of
    /// error below 10^-8. Their pools walk at random: this is the drift of creations over
    /// deletions, and six standard deviations; and as many symbolic links and directories as a
    /// mix makes at most.
    pub fn files_max(&self) -> u64 {
        let pools = u64::from(self.streams());
        match &self.work {
            Work::Classic(classic) => classic
                .slots()
                .min(classic.files.saturating_add(classic.transactions))
                .saturating_mul(pools),
            Work::Mix(mix) => {
                let transactions = mix
                    .transactions
                    .saturating_mul(u64::from(self.workers.count()) / pools);
                let sum = mix.weights.sum().max(1) as f64;
                let share = |grows: bool| {
                    let weight = |action: &Action| f64::from(mix.weights.get(*action));
                    let of_kind = Action::ALL
                        .iter()
                        .filter(|action| action.changes_count() == Some(grows));
                    of_kind.map(weight).sum::<f64>() / sum
                };
                let (up, down) = (share(true), share(false));
                let steps = transactions as f64;
                let grown =
                    ((up - down) * steps).max(0.0) + 6.0 * ((up + down) * steps).sqrt() + 16.0;
                let grown = (grown as u64).min(transactions);
                let extras = mix.extras_max().min(transactions);
                let extras = [
                    Action::SymbolicLink,
                    Action::ReadLink,
                    Action::MakeDirectory,
                    Action::RemoveDirectory,
                ]
                .chunks(2)
                .filter(|actions| actions.iter().any(|action| mix.weights.get(*action) > 0))
                .map(|_| extras)
                .sum::<u64>();
                mix.files
                    .saturating_add(grown + extras)
                    .saturating_mul(pools)
            }
        }
    }

    /// Whether pools grow for as long as the transactions go on.
    pub fn grows(&self) -> bool {
        self.mix().is_some_and(|mix| {
            let weight = |grows| -> u64 {
                let of_kind = Action::ALL
                    .iter()
                    .filter(|action| action.changes_count() == Some(grows));
                of_kind
                    .map(|action| u64::from(mix.weights.get(*action)))
                    .sum()
            };
            weight(true) > weight(false)
        })
    }

    /// The actions that can occur in a phase, each once.
    pub fn actions(&self, phase: Phase) -> Vec<Action> {
        let of_transactions: Vec<Action> = match &self.work {
            Work::Classic(_) => vec![Action::Create, Action::Read, Action::Append, Action::Delete],
            // Where the pool is empty, a file is created, whatever the mix asks for.
            Work::Mix(mix) => [Action::Create]
                .into_iter()
                .chain(
                    mix.weights
                        .actions()
                        .flat_map(|action| action.comes_as().iter().copied()),
                )
                .collect(),
        };
        let mut actions = match phase {
            Phase::Prepare => vec![Action::Create],
            Phase::Transactions => of_transactions,
            // What one operation stands in for makes things, too: a symbolic link is made where
            // there is none to read.
            Phase::Delete => [Action::Delete]
                .into_iter()
                .chain(
                    of_transactions
                        .iter()
                        .flat_map(|action| action.comes_as().iter().copied()),
                )
                .filter(|action| action.removes())
                .collect(),
        };
        actions.sort_unstable();
        actions.dedup();
        actions
    }

    /// Directories in each location, those of workers included.
    pub fn directories(&self) -> u64 {
        let of_a_pool = match &self.work {
            Work::Classic(classic) if classic.subdirectories > 1 => classic.subdirectories.into(),
            Work::Classic(_) => 0,
            Work::Mix(mix) => mix.layout.directory_count(),
        };
        match self.workers.pools() {
            0 | 1 => of_a_pool,
            pools => (of_a_pool + 1) * u64::from(pools),
        }
    }

    /// The largest content that one operation moves, in bytes.
    pub fn content_bytes_max(&self) -> u64 {
        match &self.work {
            Work::Classic(classic) => classic.size_high_bytes,
            Work::Mix(mix) => mix.content_bytes_max(),
        }
    }

    /// Bytes of one read call.
    pub fn read_block_bytes(&self) -> u64 {
        match &self.work {
            Work::Classic(classic) => classic.read_block_bytes,
            Work::Mix(mix) => mix.read_block_bytes,
        }
    }

    /// Bytes of one write call.
    pub fn write_block_bytes(&self) -> u64 {
        match &self.work {
            Work::Classic(classic) => classic.write_block_bytes,
            Work::Mix(mix) => mix.write_block_bytes,
        }
    }

    /// Running numbers in one pool's names stay at or below this.
    pub fn numbers_max(&self) -> u64 {
        let work = match self.workers {
            Workers::Private { .. } => self.transactions(),
            // Every worker takes numbers in steps.
            Workers::Shared { .. } => self
                .transactions()
                .saturating_add(1)
                .saturating_mul(self.workers.of_a_pool().into()),
        };
        self.files().saturating_add(work)
    }

    /// The seed of the work.
    pub fn seed(&self) -> u64 {
        match &self.work {
            Work::Classic(classic) => classic.seed.into(),
            Work::Mix(mix) => mix.seed,
        }
    }

    /// Where a worker's generator begins.
    pub fn worker_seed(&self, worker: u32) -> u64 {
        match self.worker_seeds {
            WorkerSeeds::Same => self.seed(),
            WorkerSeeds::Offset => self.seed().wrapping_add(worker.into()),
        }
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
    pub fn stream(&self, number: u32, hint: MemoryHint) -> Result<AnyStream, StreamError> {
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

    /// What the pool is made of before its first transaction, in a fixed form.
    pub fn pool_canonical(&self) -> String {
        let mut pool = self.clone();
        match &mut pool.work {
            Work::Classic(classic) => {
                let plain = Classic::default();
                classic.transactions = 0;
                (classic.bias_read, classic.bias_create) = (plain.bias_read, plain.bias_create);
                classic.read_block_bytes = plain.read_block_bytes;
                classic.write_block_bytes = plain.write_block_bytes;
            }
            Work::Mix(mix) => {
                *mix = Mix {
                    files: mix.files,
                    transactions: 0,
                    sizes: mix.sizes.clone(),
                    layout: mix.layout,
                    names: mix.names,
                    align_bytes: mix.align_bytes,
                    location_weights: mix.location_weights.clone(),
                    seed: mix.seed,
                    size_max_bytes: mix.sizes.high(),
                    ..Mix::default()
                };
            }
        }
        if self.workers.is_shared() {
            // Each is prepared as one worker's own would be.
            pool.workers = Workers::Private {
                workers: self.workers.pools(),
            };
        }
        pool.canonical()
    }

    /// The same work without its number of transactions, in a fixed form: what a pool that has
    /// transactions behind it can go on with.
    pub fn endless_canonical(&self) -> String {
        let mut endless = self.clone();
        match &mut endless.work {
            Work::Classic(classic) => classic.transactions = 0,
            Work::Mix(mix) => mix.transactions = 0,
        }
        endless.canonical()
    }

    /// The work with so many transactions more for each worker.
    #[must_use]
    pub fn with_more_transactions(&self, more: u64) -> Self {
        self.with_transactions(self.transactions().saturating_add(more))
    }

    /// The work with another number of transactions for each worker.
    #[must_use]
    pub fn with_transactions(&self, transactions: u64) -> Self {
        let mut other = self.clone();
        match &mut other.work {
            Work::Classic(classic) => classic.transactions = transactions,
            Work::Mix(mix) => mix.transactions = transactions,
        }
        other
    }

    /// The work with another number of files in each pool.
    #[must_use]
    pub fn with_files(&self, files: u64) -> Self {
        let mut other = self.clone();
        match &mut other.work {
            Work::Classic(classic) => classic.files = files,
            Work::Mix(mix) => mix.files = files,
        }
        other
    }

    /// Every field with its value, in a fixed form: what the fingerprint is made of.
    pub fn canonical(&self) -> String {
        let mut text = match &self.work {
            Work::Classic(classic) => classic.canonical(),
            Work::Mix(mix) => mix.canonical(),
        };
        match self.workers {
            Workers::ONE => {}
            Workers::Private { workers } => {
                text.push_str(&format!(
                    " workers={workers} worker-seeds={:?}",
                    self.worker_seeds
                ));
            }
            Workers::Shared {
                writers,
                readers,
                pools,
            } => {
                let seeds = self.worker_seeds;
                text.push_str(&format!(
                    " writers={writers} readers={readers} worker-seeds={seeds:?}"
                ));
                if pools > 1 {
                    text.push_str(&format!(" pools={pools}"));
                }
            }
        }
        if let Some(contents) = &self.contents {
            text.push_str(&format!(
                " contents={} dedup={}",
                contents.kind, contents.dedup
            ));
        }
        text
    }
}
