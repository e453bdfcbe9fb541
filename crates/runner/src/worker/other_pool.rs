//! Turning to a pool that another worker has worked on: what that one has acknowledged must be seen
//! here, too. `--neighbour` has transactions performed there; the check across ranks looks at it.

use std::collections::VecDeque;

use engine::Session;
use rundir::worker_status::Aside;
use workload::names::NameKind;
use workload::{Action, Intent, Kept, Phase};

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

/// Of the names that a worker has removed so many are asked for, the last ones.
const REMOVED_MAX: usize = 10_000;
/// Of shared pools so many names of all ranks are looked at by others.
const SAMPLE_OF_ALL: u64 = 65_536;

/// A pool and the session in its directories.
type InUse = (PoolAt, Box<dyn Session>);

impl Worker {
    /// Leaves the pool that it has prepared for that of another worker, and looks at all of its
    /// names there: how long it takes until what is acknowledged there is seen here.
    pub(super) fn turn_to(&mut self, other: OtherPool) -> Result<(), Left> {
        let began_ns = self.tools.clock.now_ns();
        let theirs = self.hear_of(&other, Stage::Take, None)?;
        drop(self.enter(other, theirs.spoiled)?);
        self.follow(Phase::Prepare, u64::MAX, |_| ());
        if !self.tools.source.is_pure() {
            // Only when all have done so a shared pool is whole.
            self.begins(Stage::Take, 0)?;
        }
        let mut looked = NamesFound::default();
        self.look_patiently(None, &VecDeque::new(), &mut looked)?;
        self.taken(looked, began_ns)
    }

    /// Looks at what another worker has acknowledged in its transactions: every name and every
    /// content that is there, and the names that it has removed last; of a shared pool at some.
    pub(super) fn check_across(&mut self, other: OtherPool) -> Result<(), Left> {
        let began_ns = self.tools.clock.now_ns();
        let sample = (!self.tools.source.is_pure()).then(|| self.sample_of_all());
        let theirs = self.hear_of(&other, Stage::CheckAcross, sample)?;
        let own = self.enter(other, theirs.spoiled)?;
        let mut removed = VecDeque::new();
        if self.tools.source.is_pure() {
            self.follow(Phase::Prepare, u64::MAX, |_| ());
            self.follow(Phase::Transactions, theirs.intents, |intent| {
                if removes(intent) {
                    if removed.len() == REMOVED_MAX {
                        removed.pop_front();
                    }
                    removed.push_back((intent.place, intent.action.named(), intent.number));
                }
            });
        }
        let mut looked = NamesFound::default();
        let left = self.look_patiently(theirs.sample.as_deref(), &removed, &mut looked);
        drop(self.swap(own));
        left?;
        self.unless_stopping()?;
        self.report.check_across = Some(self.end_look(Stage::CheckAcross, &looked, began_ns));
        Ok(())
    }

    /// Its part of the names of shared pools that other ranks look at, from all over its share.
    fn sample_of_all(&self) -> Vec<Kept> {
        let most = (SAMPLE_OF_ALL / u64::from(self.tools.others.workers)).max(1);
        let mut share = 0_u64;
        self.tools.source.pool(false, &mut |_| share += 1);
        let every = share.div_ceil(most).max(1);
        let mut sample = Vec::new();
        let mut seen = 0;
        self.tools.source.pool(false, &mut |kept| {
            if seen % every == 0 {
                sample.push(kept);
            }
            seen += 1;
        });
        sample
    }

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

/// Whether a name is gone when an intent is done.
fn removes(intent: &Intent) -> bool {
    matches!(
        intent.action,
        Action::Delete | Action::Rename | Action::RemoveLink | Action::RemoveSymbolicLink
    )
}
