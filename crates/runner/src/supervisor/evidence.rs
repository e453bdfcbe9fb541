//! Samples the page-cache residency of the pool before and after the transactions, at barriers
//! where all workers wait.

use std::sync::Arc;

use engine::Errno;
use engine::namespace::Held;
use record::Fact;
use workload::Phase;
use workload::names::NameKind;

use super::evidence_watch::{self, HeldFiles, SAMPLE_MAX};
use super::state::Supervisor;
use crate::events::Stage;
use crate::worker::Answer;

impl Supervisor<'_> {
    /// Asks the workers for a sample of their files before or after transactions, and returns true.
    /// Returns false in a run without syncs between phases, because the next phase starts at once
    /// and leaves no time for a sample.
    pub(super) fn asks_for_sample(&mut self, stage: Stage) -> bool {
        let is_wanted = self.unsynced == Some(Phase::Transactions)
            || stage == Stage::Phase(Phase::Transactions);
        if !is_wanted || !self.evidence.is_on() || !self.watch.sync || self.is_stopping() {
            return false;
        }
        self.evidence.sampling = Some(stage);
        let each = (SAMPLE_MAX as u64 / u64::from(self.alive)).max(1);
        self.answer(Answer::Sample(each));
        true
    }

    /// Takes the sample of the pool once all workers have sent their samples, and then continues
    /// with the stage.
    pub(super) fn sampled(&mut self) {
        let Some(stage) = self.evidence.sampling.take() else {
            return;
        };
        let held = self.hold_sample();
        if self.unsynced == Some(Phase::Transactions) {
            // If another load follows, the same files are sampled before that load.
            let (after, held) = self.look_at(held, true);
            self.evidence.held = held;
            let evidence = &mut self.watched.of_phase(Phase::Transactions).evidence;
            let residency = evidence.as_mut().map(|evidence| &mut evidence.residency);
            if let Some(Some(residency)) = residency {
                residency.after = after;
            }
        } else {
            self.evidence.held = Some(held);
        }
        self.pass(stage);
    }

    /// Samples the page cache just before the transactions, after any dropping of caches.
    pub(super) fn look_at_residency(&mut self) {
        if let Some(held) = self.evidence.held.take() {
            self.evidence.before = Some(self.look_at(held, false).0);
        }
    }

    /// Opens the files of the sample through the run's directories, in a separate thread, because
    /// opening a file may never return.
    fn hold_sample(&mut self) -> Fact<HeldFiles> {
        let sample = self.evidence.whole_sample();
        let mut names = Vec::new();
        for (worker, place, number) in sample {
            let pool = &mut self.watch.pools[worker as usize];
            let name = pool.namer.name(place, NameKind::File, number);
            let mut below = Vec::new();
            if let Some(directory) = &pool.directory {
                below.extend_from_slice(directory.as_bytes());
                below.push(b'/');
            }
            below.extend_from_slice(name.relative.to_bytes());
            names.push((name.location, below));
        }
        if names.is_empty() {
            return Fact::Unavailable("a hundredth of the pool is less than a file".to_owned());
        }
        let owned = Arc::clone(&self.watch.owned);
        let opened = self.wait_for("open a sample of the pool", move || {
            let directories = owned.held();
            let hold = |(location, name): &(usize, Vec<u8>)| match directories.get(*location) {
                Some(directory) => directory.hold(name),
                None => Ok(None),
            };
            names
                .iter()
                .map(hold)
                .collect::<Result<Option<Vec<Box<dyn Held>>>, Errno>>()
                .map(|held| held.map(HeldFiles::new))
        });
        match opened {
            Some(Ok(Some(held))) => Fact::Known(held),
            Some(Ok(None)) | None => Fact::NotApplicable,
            Some(Err(errno)) => {
                Fact::Unavailable(format!("cannot open a file of the pool: {errno}"))
            }
        }
    }

    /// Closes the files of the sample in a separate thread, because closing a file may never
    /// return.
    pub(super) fn close_sample(&mut self) {
        if let Some(Fact::Known(held)) = self.evidence.held.take() {
            self.wait_for("close a sample of the pool", move || held.close());
        }
    }

    /// Samples the page-cache residency of the files. If `again` is set, also returns the open
    /// files for the next sample.
    fn look_at(
        &mut self,
        held: Fact<HeldFiles>,
        again: bool,
    ) -> (Fact<record::ResidencySample>, Option<Fact<HeldFiles>>) {
        match held {
            Fact::Known(held) => {
                let looked = self.wait_for("look at the page cache", move || {
                    let found = evidence_watch::look(&held);
                    if again {
                        return (found, Some(held));
                    }
                    held.close();
                    (found, None)
                });
                match looked {
                    Some((found, held)) => (found, held.map(Fact::Known)),
                    None => (Fact::NotApplicable, None),
                }
            }
            Fact::NotApplicable => (Fact::NotApplicable, None),
            Fact::Unavailable(why) => (Fact::Unavailable(why), None),
        }
    }
}
