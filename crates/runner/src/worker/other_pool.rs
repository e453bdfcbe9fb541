//! Turning to a pool that another worker has worked on: what that one has acknowledged must be seen
//! here, too.

use std::collections::VecDeque;

use engine::Session;
use rundir::worker_status::Aside;
use workload::Kept;
use workload::names::NameKind;

use super::config::{OtherPool, PoolAt};
use super::name_check::NamesFound;
use super::state::{Left, Worker};
use crate::acknowledged::{Acknowledged, SpoiledThings};
use crate::clock::Clock as _;
use crate::events::Stage;
use crate::failures::Failed;

/// What another machine has acknowledged is waited for so long. An NFS client keeps attributes for
/// 60 s at most (acregmax and acdirmax, nfs(5)).
const SEEN_WITHIN_NS: u64 = 65_000_000_000;

/// A pool and the session in its directories.
type InUse = (PoolAt, Box<dyn Session>);

impl Worker {
    /// Tells what it has acknowledged, and hears it of the worker of another pool when all have
    /// told.
    pub(super) fn hear_of(
        &mut self,
        other: &OtherPool,
        stage: Stage,
        sample: Option<Vec<Kept>>,
    ) -> Result<Acknowledged, Left> {
        let own = Acknowledged {
            intents: self.report.position.intents,
            sample,
            spoiled: self.config.failures.spoiled_things(),
        };
        self.tools.others.acknowledged.tell(self.tools.worker, own);
        self.begins(stage, 0)?;
        self.tools
            .others
            .acknowledged
            .of(other.worker)
            .ok_or_else(|| {
                let message = format!(
                    "worker {} of another rank did not tell what it has acknowledged",
                    other.worker
                );
                Left::Failed(Failed::verification(
                    Aside::Look.name(),
                    String::new(),
                    message,
                ))
            })
    }

    /// Turns to another pool, of which this is not known. Gives the one before.
    pub(super) fn enter(
        &mut self,
        other: OtherPool,
        spoiled: SpoiledThings,
    ) -> Result<InUse, Left> {
        let which = (0, NameKind::Directory, 0);
        let session = self.slot().aside(Aside::OpenSession, which, other.open);
        let session = session.map_err(|error| {
            let message = format!("the pool of another rank cannot be used: {error}");
            Failed::verification(Aside::Look.name(), String::new(), message)
        })?;
        other.pool.spoiled.add(spoiled);
        Ok(self.swap((other.pool, session)))
    }

    pub(super) fn swap(&mut self, (pool, session): InUse) -> InUse {
        let (tools, config) = (&mut self.tools, &mut self.config);
        let before = PoolAt {
            source: std::mem::replace(&mut tools.source, pool.source),
            namer: std::mem::replace(&mut config.namer, pool.namer),
            payload: std::mem::replace(&mut config.payload, pool.payload),
            hasher: std::mem::replace(&mut config.hasher, pool.hasher),
            spoiled: config.failures.turn_to(pool.spoiled),
        };
        (before, std::mem::replace(&mut tools.session, session))
    }

    /// Looks at all names of the pool that it is at, or at a sample alone; what is not seen yet is
    /// waited for.
    pub(super) fn look_patiently(
        &mut self,
        sample: Option<&[Kept]>,
        removed: &VecDeque<(u32, NameKind, u64)>,
        looked: &mut NamesFound,
    ) -> Result<(), Left> {
        self.waits_until_ns = Some(self.tools.clock.now_ns().saturating_add(SEEN_WITHIN_NS));
        let left = self.look_at_all(sample, removed, looked);
        self.waits_until_ns = None;
        left
    }

    fn look_at_all(
        &mut self,
        sample: Option<&[Kept]>,
        removed: &VecDeque<(u32, NameKind, u64)>,
        looked: &mut NamesFound,
    ) -> Result<(), Left> {
        // First, since a listing may teach the client that they are gone.
        let uncertain = self.config.failures.uncertain_names();
        let (mut look, _) = self.look(looked);
        for name @ (place, kind, number) in removed {
            if !uncertain
                .get(place)
                .is_some_and(|names| names.contains(&(*kind, *number)))
            {
                look.at_removed(*name)?;
            }
        }
        for kept in sample.into_iter().flatten() {
            look.at(*kept)?;
        }
        if sample.is_none() {
            self.look_at_names(1, looked)?;
        }
        self.look(looked).0.until_seen()?;
        if sample.is_none() {
            self.look_at_directories(looked)?;
        }
        Ok(())
    }
}
