//! Checks that a pool contains exactly the expected names with their sizes. Also checks their
//! contents if contents are verified.

use std::collections::{BTreeMap, BTreeSet};

use engine::{Listing, NameWriter};
use record::Check;
use workload::End;
use workload::names::NameKind;

use super::name_check::{CHECK_NAMES, Look, NamesFound};
use super::state::{Left, Worker};
use super::visibility_retry::{add_stale, until_seen};
use crate::clock::Clock as _;
use crate::events::Stage;
use crate::failures::Failed;
use crate::path_builder::Namer;
use crate::source::Source;

impl Worker {
    /// Checks every name of this worker's share, after the transactions.
    pub(super) fn check_names(&mut self) -> Result<(), Left> {
        self.begins(Stage::Check, 0)?;
        let began_ns = self.tools.clock.now_ns();
        let mut looked = NamesFound::default();
        self.look_at_names(1, &mut looked)?;
        self.look_at_directories(&mut looked)?;
        self.unless_stopping()?;
        self.report.check = Some(self.end_look(Stage::Check, &looked, began_ns));
        Ok(())
    }

    /// Ends a stage in which names were checked, and returns the results of the check.
    pub(super) fn end_look(&mut self, stage: Stage, looked: &NamesFound, began_ns: u64) -> Check {
        let names = looked.check.names;
        self.rendezvous.ended(stage, (names, names), End::Complete);
        Check {
            duration_ns: self.tools.clock.now_ns().saturating_sub(began_ns),
            ..looked.check
        }
    }

    /// Lists the directories of the pool, and counts directories whose listing differs from the
    /// expected one. Does nothing if another worker of the pool performs this check.
    pub(super) fn look_at_directories(&mut self, looked: &mut NamesFound) -> Result<(), Left> {
        if !self.tools.source.lists() {
            return Ok(());
        }
        let mut uncertain = self.config.failures.uncertain_names();
        let naming = self.config.namer.naming().clone();
        for names in uncertain.values_mut() {
            names.retain(|(kind, _)| naming.is_beside_files(*kind));
        }
        uncertain.retain(|_, names| !names.is_empty());
        let mut name = Vec::new();
        let mut places: BTreeMap<u32, Listing> = (0..self.config.namer.places())
            .map(|place| (place, Listing::default()))
            .collect();
        self.tools.source.pool(true, &mut |kept| {
            if !naming.is_beside_files(kept.kind) {
                return;
            }
            name.clear();
            naming.write_name(kept.kind, kept.number, &mut NameWriter::new(&mut name));
            places.entry(kept.place).or_default().add(&name);
        });
        for (place, name) in naming.inner_directories() {
            places.entry(place).or_default().add(&name);
        }
        for (place, expected) in places {
            self.unless_stopping()?;
            looked.check.directories += 1;
            let uncertain = uncertain.remove(&place);
            looked.check.left_out += uncertain.as_ref().map_or(0, BTreeSet::len) as u64;
            let mut found = self.look_at_directory(place, expected, uncertain.as_ref());
            if let Some((failed, until_ns)) = found
                .take_if(|_| self.waits_until_ns.is_some())
                .zip(self.waits_until_ns)
            {
                let (clock, control) = (self.tools.clock.clone(), self.tools.control.clone());
                let mut look = || self.look_at_directory(place, expected, uncertain.as_ref());
                let seen = until_seen(&clock, &control, until_ns, &failed, &mut look);
                found = seen
                    .map(|seen| add_stale(&mut self.report.stale, seen))
                    .err();
            }
            if let Some(failed) = found {
                looked.count(failed.clone());
                self.config.failures.count(failed)?;
            }
        }
        Ok(())
    }

    /// Returns the difference between a directory and its expected listing, if there is one. Names
    /// with unknown state may or may not be listed.
    fn look_at_directory(
        &mut self,
        place: u32,
        expected: Listing,
        uncertain: Option<&BTreeSet<(NameKind, u64)>>,
    ) -> Option<Failed> {
        let wrong = match uncertain {
            Some(uncertain) => self
                .differences(0, place, uncertain)
                .map(|differences| differences.map(|text| format!("the listing is wrong{text}"))),
            None => self.listing_differs(place, expected),
        };
        let path = |namer: &mut Namer| namer.directory(place).path.to_string_lossy().into_owned();
        match wrong {
            Ok(None) => None,
            Ok(Some(message)) => Some(Failed::verification(
                CHECK_NAMES,
                path(&mut self.config.namer),
                message,
            )),
            Err(failure) => Some(Failed::operation(
                CHECK_NAMES,
                path(&mut self.config.namer),
                failure,
            )),
        }
    }
    /// Checks every `every`-th name of this worker's share.
    pub(super) fn look_at_names(
        &mut self,
        every: u64,
        looked: &mut NamesFound,
    ) -> Result<(), Left> {
        let (mut look, source) = self.look(looked);
        let mut ends = Ok(());
        let mut seen = 0;
        source.pool(false, &mut |kept| {
            seen += 1;
            if ends.is_ok() && seen % every == 0 {
                ends = look.at(kept);
            }
        });
        Ok(ends?)
    }

    /// Returns a check of names, and the source that supplies the names to check.
    pub(super) fn look<'w>(&'w mut self, looked: &'w mut NamesFound) -> (Look<'w>, &'w Source) {
        let Self {
            tools,
            config,
            tickets,
            ..
        } = self;
        let look = Look {
            session: &mut *tools.session,
            slot: &tools.slots[0],
            tickets,
            clock: &tools.clock,
            control: &tools.control,
            config,
            waits_until_ns: self.waits_until_ns,
            stale: &mut self.report.stale,
            looked,
        };
        (look, &tools.source)
    }
}
