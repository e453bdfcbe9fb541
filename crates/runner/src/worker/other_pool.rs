//! Changes to the pool of another worker, and checks that the operations which that worker
//! acknowledged are visible. With `--neighbour`, this worker then performs its transactions on the
//! pool of the other worker. In the check across ranks, it only checks that pool.

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

/// Time limit within which operations of another host must become visible. The limit exceeds the 60
/// s for which an NFS client caches attributes (acregmax and acdirmax, nfs(5)).
const SEEN_WITHIN_NS: u64 = 65_000_000_000;

/// Maximum number of removed names that are checked for each worker. If more names were removed,
/// the names removed last are checked.
const REMOVED_MAX: usize = 10_000;
/// Approximate number of names in shared pools that ranks check for each other. The number is
/// divided evenly among the workers.
const SAMPLE_OF_ALL: u64 = 65_536;

/// A pool, and a session that is open in the directories of the pool.
type InUse = (PoolAt, Box<dyn Session>);

impl Worker {
    /// Changes from the prepared pool to that of another worker, and checks all names in it.
    /// Measures how long acknowledged operations take to become visible.
    pub(super) fn turn_to(&mut self, other: OtherPool) -> Result<(), Left> {
        let began_ns = self.tools.clock.now_ns();
        let theirs = self.hear_of(&other, Stage::Take, None)?;
        drop(self.enter(other, theirs.spoiled)?);
        self.follow(Phase::Prepare, u64::MAX, |_| ());
        if !self.tools.source.is_pure() {
            // A shared pool is complete only after all workers have drawn their streams.
            self.begins(Stage::Take, 0)?;
        }
        let mut looked = NamesFound::default();
        self.look_patiently(None, &VecDeque::new(), &mut looked)?;
        self.taken(looked, began_ns)
    }

    /// Checks the operations that another worker acknowledged in its transactions. The check covers
    /// every existing name with its contents, and the names that were removed last. In a shared
    /// pool, it covers only a sample of the names.
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

    /// Returns a sample of this worker's share of a shared pool, spread evenly, for the checks by
    /// other ranks.
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

    /// Publishes the operations that this worker acknowledged. After a barrier, returns the
    /// acknowledged operations of the worker that used the pool `other`.
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

    /// Changes to another pool, in which the files and names in `spoiled` have unknown state.
    /// Returns the previous pool.
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

    /// Checks all names of the current pool, or only those in `sample`. Waits for operations that
    /// are not visible yet.
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
        // Removed names are checked first, because a listing may refresh the client's cache, which
        // would hide that a removed name was still cached.
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

/// Whether an intent removes a name. A rename removes the old name.
fn removes(intent: &Intent) -> bool {
    matches!(
        intent.action,
        Action::Delete | Action::Rename | Action::RemoveLink | Action::RemoveSymbolicLink
    )
}
