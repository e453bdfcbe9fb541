//! Creates the pools that a worker uses, each with the source of its intents.

use std::sync::Arc;

use workload::prepared::Prepared;
use workload::{ClassicStream, Mix, MixStream, StreamHasher, Work};

use super::context::RunContext;
use crate::error::Refused;
use crate::failures::Spoiled;
use crate::listings::Listings;
use crate::private::{Private, PrivateStream};
use crate::replay::ReplaySource;
use crate::shared::{SharedPool, SharedSource};
use crate::source::Source;
use crate::worker::{OtherPool, Payload, PoolAt};

/// The pools of a worker, each with the contents of its files.
pub(super) struct Pools {
    pub(super) own: (Source, Payload),
    pub(super) neighbour: Option<OtherPool>,
    pub(super) checked: Option<OtherPool>,
}

/// The shared pools of a rank: the pool that it prepares, the pool for its transactions, and an
/// empty pool. The empty pool stands for the pools of other ranks, of which this rank checks only
/// samples of names.
pub(super) struct SharedPools {
    own: Arc<SharedPool>,
    neighbours: Arc<SharedPool>,
    nobodys: Arc<SharedPool>,
    spoiled: Arc<Spoiled>,
}

impl SharedPools {
    pub(super) fn new(mix: &Mix) -> Self {
        let pool = || Arc::new(SharedPool::new(mix));
        Self {
            own: pool(),
            neighbours: pool(),
            nobodys: pool(),
            spoiled: Arc::default(),
        }
    }
}

impl RunContext<'_> {
    /// Creates the pools of a worker. `depth` is its maximum number of operations in flight.
    pub(super) fn pools(
        &self,
        worker: u32,
        depth: usize,
        shared: Option<&SharedPools>,
    ) -> Result<Pools, Refused> {
        // The pair consists of the worker that prepared the pool and the worker that used it last.
        // The neighbour did both here.
        let neighbour = self.request.neighbour_of(worker);
        let neighbour = (neighbour != worker).then_some((neighbour, neighbour));
        let checked = self
            .request
            .checks_across()
            .then(|| self.request.checked_by(worker));
        if let Some(replay) = self.request.workload.replay() {
            let source = ReplaySource::new(
                Arc::clone(replay.loaded.steps()?),
                Arc::clone(&self.progress),
                self.control.clone(),
                self.clock.clone(),
                worker,
                &self.request.durability,
            );
            return Ok(Pools {
                own: (Source::Shared(Box::new(source)), self.payload(worker, None)),
                neighbour: None,
                checked: None,
            });
        }
        let (Work::Mix(mix), Some(shared)) = (&self.request.workload.work, shared) else {
            let theirs = |of: (u32, u32)| {
                self.private(of.0, depth)
                    .map(|pool| self.other(of, pool, &Arc::default()))
            };
            return Ok(Pools {
                own: self.private(worker, depth)?,
                neighbour: neighbour.map(theirs).transpose()?,
                checked: checked.map(theirs).transpose()?,
            });
        };
        let of = |pool, worker| self.shared(mix, pool, worker, depth);
        Ok(Pools {
            own: of(&shared.own, worker),
            neighbour: neighbour.map(|workers| {
                self.other(workers, of(&shared.neighbours, workers.0), &shared.spoiled)
            }),
            checked: checked.map(|workers| {
                self.other(workers, of(&shared.nobodys, workers.0), &Arc::default())
            }),
        })
    }

    /// Describes a pool of another worker. `pool` is the number of the worker that prepared the
    /// pool. `worker` is the number of the worker that used the pool last.
    fn other(
        &self,
        (pool, worker): (u32, u32),
        (source, payload): (Source, Payload),
        spoiled: &Arc<Spoiled>,
    ) -> OtherPool {
        let (engine, settings) = (self.engine.clone(), self.settings(pool));
        OtherPool {
            worker,
            pool: PoolAt {
                source,
                namer: self.namer(pool),
                payload,
                hasher: StreamHasher::of(&self.request.workload.work),
                spoiled: Arc::clone(spoiled),
            },
            open: Box::new(move || engine.open(&settings)),
        }
    }

    /// Returns a worker's source of intents on a shared pool, and the contents of the files.
    fn shared(
        &self,
        mix: &Mix,
        pool: &Arc<SharedPool>,
        worker: u32,
        depth: usize,
    ) -> (Source, Payload) {
        let workers = self.request.workload.workers;
        let source = SharedSource::new(
            Arc::clone(pool),
            mix,
            (self.mixer(mix, worker), self.writer(mix, worker)),
            self.control.clone(),
            self.clock.clone(),
            (workers.within_pool(worker), workers.of_a_pool()),
            depth,
        );
        (Source::Shared(Box::new(source)), self.payload(worker, None))
    }

    /// Returns the source of intents on a private pool, and the contents of the files.
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
                let stream = MixStream::new(mix, vec![self.mixer(mix, worker)]);
                let stream = PrivateStream::Mix(Box::new(stream.in_phases()));
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
}
