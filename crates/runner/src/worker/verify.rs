//! What a worker does besides its operations: looking at what they read, at names, and at the page
//! cache.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use engine::{Failure, Listing, NoSteps, Operation, Session, Ticket};
use record::{Check, Stale};
use spec::Cache;
use workload::names::NameKind;
use workload::{End, Intent, Kept, Phase};

use super::visibility_retry::{LATE_MAX, SEEN_EVERY_NS, add_stale, seen_after, until_seen};
use super::{Left, Payload, Worker, submit};
use crate::clock::{Clock as _, RunClock};
use crate::control::Control;
use crate::events::Stage;
use crate::failures::Failed;
use crate::path_builder::Namer;
use crate::source::{Expected, Source};
use crate::worker::WorkerConfig;
use rundir::manifest::Position;
use rundir::worker_status::{Aside, Slot};

/// What errors of the look at names and at contents are called.
const CHECK_NAMES: &str = Aside::Look.name();
const CHECK_CONTENTS: &str = Aside::ReadToLook.name();
/// Names that are too many or too few are told up to this many.
const NAMED_MAX: usize = 5;
/// In larger directories differing names are not looked for, which takes memory.
const EXPLAINED_MAX: u64 = 1_000_000;
/// Of a pool of an earlier run so many files of each worker are looked at, at least where there are
/// as many.
const SAMPLE: u64 = 1_000;

impl Worker {
    /// Compares what was read with what the file must hold.
    pub(super) fn verify(&mut self, ticket: Ticket, intent: &Intent) -> Result<(), Left> {
        let (Payload::Made { contents, .. }, Some(found)) =
            (&self.config.payload, self.tools.session.content(ticket))
        else {
            return Ok(());
        };
        // Of what does not fit into the session's buffer the last part is there.
        let offset = intent.offset_bytes + intent.bytes - found.len() as u64;
        if let Err(mismatch) = contents.check(intent.file, intent.version, offset, found) {
            let path = self
                .config
                .namer
                .name(intent.place, NameKind::File, intent.number)
                .path;
            let path = path.to_string_lossy().into_owned();
            let failed = Failed::content(intent.action.name(), path, &mismatch);
            self.config.failures.count(failed)?;
        }
        Ok(())
    }

    /// Compares a listing with what it must show.
    pub(super) fn verify_listing(
        &mut self,
        ticket: Ticket,
        intent: &Intent,
        expected: Expected,
    ) -> Result<(), Left> {
        let flight = ticket.flight();
        let Some(found) = self.tools.session.listing(ticket) else {
            return Ok(());
        };
        let message = match expected {
            Expected::Exactly(listing) if listing != found => {
                self.explain_listing(flight, intent.place, &listing.entries.to_string(), found)
            }
            Expected::Between(least, most) if found.entries < least || found.entries > most => {
                let text = format!("{least} to {most}");
                self.explain_listing(flight, intent.place, &text, found)
            }
            Expected::Exactly(_) | Expected::Between(..) | Expected::Unknown => return Ok(()),
        };
        let path = self
            .config
            .namer
            .directory(intent.place)
            .path
            .to_string_lossy()
            .into_owned();
        let failed = Failed::verification(intent.action.name(), path, message);
        Ok(self.config.failures.count(failed)?)
    }

    /// Says what is wrong with a directory that shows something else than it must. In a shared pool
    /// that others are working on, and where others are in flight, some of these names may be
    /// on the move.
    fn explain_listing(
        &mut self,
        flight: usize,
        place: u32,
        expected: &str,
        found: Listing,
    ) -> String {
        let text = format!(
            "the listing has {} entries instead of {expected}",
            found.entries
        );
        if found.entries > EXPLAINED_MAX {
            return text;
        }
        match self.differences(flight, place, &BTreeSet::new()) {
            Ok(differences) => format!("{text}{}", differences.unwrap_or_default()),
            Err(failure) => format!("{text}; it cannot be listed again: {}", failure.cause),
        }
    }

    /// Lists a directory and says which names are missing, foreign or there twice, but for those of
    /// which it is not known whether they must be there; nothing where all is well. It is done
    /// on a flight that is free.
    fn differences(
        &mut self,
        flight: usize,
        place: u32,
        uncertain: &BTreeSet<(NameKind, u64)>,
    ) -> Result<Option<String>, Failure> {
        let naming = self.config.namer.naming().clone();
        let written = |kind, number| {
            let mut name = Vec::new();
            naming.write_name(kind, number, &mut name);
            name
        };
        let mut wanted = HashSet::new();
        self.tools.source.pool(true, &mut |kept| {
            if kept.place == place {
                wanted.insert(written(kept.kind, kept.number));
            }
        });
        let mut seen: BTreeMap<Vec<u8>, u32> = BTreeMap::new();
        let directory = self.config.namer.directory(place);
        let names = self.tools.slots[flight].aside(
            Aside::ListToLook,
            (place, NameKind::Directory, 0),
            || self.tools.session.names(directory),
        )?;
        for name in names.into_iter().filter(|name| !name.starts_with(b".")) {
            *seen.entry(name).or_default() += 1;
        }
        for (kind, number) in uncertain {
            let name = written(*kind, *number);
            wanted.remove(&name);
            seen.remove(&name);
        }
        let mut missing: Vec<&Vec<u8>> = wanted
            .iter()
            .filter(|name| !seen.contains_key(*name))
            .collect();
        missing.sort();
        let foreign: Vec<&Vec<u8>> = seen.keys().filter(|name| !wanted.contains(*name)).collect();
        let twice: Vec<&Vec<u8>> = seen
            .iter()
            .filter(|(_, count)| **count > 1)
            .map(|(name, _)| name)
            .collect();
        let mut text = String::new();
        for (what, names) in [
            ("missing", missing),
            ("not to be there", foreign),
            ("there twice", twice),
        ] {
            if !names.is_empty() {
                text.push_str(&format!("; {what}: {}", some(&names)));
            }
        }
        Ok((!text.is_empty()).then_some(text))
    }

    /// After the transactions: exactly the files that should exist, with their sizes, and with
    /// their contents where these are verified.
    pub(super) fn check_names(&mut self) -> Result<(), Left> {
        self.begins(Stage::Check, 0)?;
        let began_ns = self.tools.clock.now_ns();
        let mut looked = NamesFound::default();
        self.look_at_names(1, &mut looked)?;
        self.look_at_directories(&mut looked)?;
        if self.tools.control.is_stopping() {
            return Err(Left::Stopped);
        }
        self.report.check =
            Some(looked.to_check(self.tools.clock.now_ns().saturating_sub(began_ns)));
        self.rendezvous
            .ended(Stage::Check, (looked.names, looked.names), End::Complete);
        Ok(())
    }

    /// Lists the directories of the pool, where that is this worker's part, and counts those that
    /// do not show what they must.
    pub(super) fn look_at_directories(&mut self, looked: &mut NamesFound) -> Result<(), Left> {
        if !self.tools.source.lists() {
            return Ok(());
        }
        let mut uncertain = self.config.failures.uncertain_names();
        let naming = self.config.namer.naming().clone();
        let mut name = Vec::new();
        let mut places: BTreeMap<u32, Listing> = (0..self.config.namer.places())
            .map(|place| (place, Listing::default()))
            .collect();
        self.tools.source.pool(true, &mut |kept| {
            name.clear();
            naming.write_name(kept.kind, kept.number, &mut name);
            places.entry(kept.place).or_default().add(&name);
        });
        for (place, expected) in places {
            if self.tools.control.is_stopping() {
                return Err(Left::Stopped);
            }
            looked.directories += 1;
            let uncertain = uncertain.remove(&place);
            looked.left_out += uncertain.as_ref().map_or(0, BTreeSet::len) as u64;
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

    /// Gives what is wrong with a directory. Of names that are uncertain it is not known whether
    /// they must be there.
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

    /// Lists a directory and compares it with what it must show; nothing where it shows that.
    fn listing_differs(
        &mut self,
        place: u32,
        expected: Listing,
    ) -> Result<Option<String>, Failure> {
        let Self {
            tools,
            config,
            tickets,
            ..
        } = self;
        let name = config.namer.directory(place);
        let (ticket, listed) =
            tools
                .slot
                .aside(Aside::ListToLook, (place, NameKind::Directory, 0), || {
                    submit(
                        &mut *tools.session,
                        tickets,
                        &Operation::List { name },
                        &mut NoSteps,
                    )
                });
        listed?;
        Ok(match self.tools.session.listing(ticket) {
            Some(found) if found != expected => {
                Some(self.explain_listing(0, place, &expected.entries.to_string(), found))
            }
            _ => None,
        })
    }

    /// Takes a pool that an earlier run has left: follows its stream as far as it was performed,
    /// without doing anything, and then checks the pool by count and by sample.
    pub(super) fn take_pool(&mut self, position: Position) -> Result<(), Left> {
        let began_ns = self.tools.clock.now_ns();
        self.follow(Phase::Prepare, u64::MAX, |_| ());
        self.follow(Phase::Transactions, position.intents, |_| ());
        self.report.position.intents = position.intents;
        // Only when all have done so a shared pool is whole.
        self.begins(Stage::Take, 0)?;
        let files = self.tools.source.remaining(Phase::Delete);
        self.look_at_taken((files / SAMPLE).max(1), began_ns)
    }

    /// Follows the stream of a phase for so many intents, without doing anything.
    pub(super) fn follow(&mut self, phase: Phase, mut left: u64, mut each: impl FnMut(&Intent)) {
        while left > 0 && !self.tools.control.is_stopping() {
            let Some(intent) = self.tools.source.next(phase, 0, true) else {
                break;
            };
            if self.tools.source.is_pure() {
                self.config.hasher.take(&intent);
            }
            self.tools.source.completed(0, &intent, true);
            each(&intent);
            left -= 1;
        }
    }

    /// Checks a pool that somebody else has made, by every so-and-so-many-th of its names.
    fn look_at_taken(&mut self, every: u64, began_ns: u64) -> Result<(), Left> {
        let mut looked = NamesFound::default();
        self.look_at_names(every, &mut looked)?;
        self.look_at_directories(&mut looked)?;
        self.taken(looked, began_ns)
    }

    /// A pool that somebody else has made was looked at.
    pub(super) fn taken(&mut self, looked: NamesFound, began_ns: u64) -> Result<(), Left> {
        // Any difference is too much: it is not the pool that it says it is.
        if let Some(failed) = looked.first {
            return Err(Left::Failed(failed));
        }
        if self.tools.control.is_stopping() {
            return Err(Left::Stopped);
        }
        self.report.taken =
            Some(looked.to_check(self.tools.clock.now_ns().saturating_sub(began_ns)));
        self.rendezvous
            .ended(Stage::Take, (looked.names, looked.names), End::Complete);
        Ok(())
    }

    /// Asks for every so-and-so-many-th name of this worker's share.
    pub(super) fn look_at_names(
        &mut self,
        every: u64,
        looked: &mut NamesFound,
    ) -> Result<(), Left> {
        let (look, source) = self.look(looked);
        let mut look = look;
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

    /// Looks at names, beside the source that says which there are.
    pub(super) fn look<'w>(&'w mut self, looked: &'w mut NamesFound) -> (Look<'w>, &'w dyn Source) {
        let Self {
            tools,
            config,
            tickets,
            ..
        } = self;
        let look = Look {
            session: &mut *tools.session,
            slot: &tools.slot,
            tickets,
            clock: &tools.clock,
            control: &tools.control,
            config,
            waits_until_ns: self.waits_until_ns,
            stale: &mut self.report.stale,
            looked,
        };
        (look, &*tools.source)
    }

    /// How many files this worker's share of the pool has, and some of them, from its beginning to
    /// its end: at most so many, and a hundredth, rounded up.
    pub(super) fn sample(&self, most: u64) -> (u64, Vec<(u32, u64)>) {
        let pool = |each: &mut dyn FnMut(Kept)| {
            self.tools.source.pool(false, &mut |kept| {
                if kept.kind == NameKind::File {
                    each(kept);
                }
            });
        };
        let mut files = 0_u64;
        pool(&mut |_| files += 1);
        let wanted = most.min(files.div_ceil(100));
        let mut sample = Vec::new();
        let mut seen = 0;
        pool(&mut |kept| {
            // The next one is taken where its share of the pool has gone by.
            if (sample.len() as u64) < wanted && seen * wanted >= sample.len() as u64 * files {
                sample.push((kept.place, kept.number));
            }
            seen += 1;
        });
        (files, sample)
    }

    /// Does to the page cache what can be done file by file.
    pub(super) fn prepare_cache(&mut self) -> Result<(), Left> {
        let stage = match self.config.cache {
            Cache::Warm => Stage::Warm,
            Cache::ColdData => Stage::Cool,
            Cache::AsIs | Cache::Cold => return Ok(()),
        };
        self.begins(stage, 0)?;
        let Self {
            tools,
            config,
            tickets,
            ..
        } = self;
        let (source, session, control) = (&tools.source, &mut tools.session, &tools.control);
        let mut failed = None;
        let mut done = 0;
        source.pool(false, &mut |kept| {
            if kept.kind != NameKind::File || failed.is_some() || control.is_stopping() {
                return;
            }
            let aside = if stage == Stage::Warm {
                Aside::Warm
            } else {
                Aside::Cool
            };
            let operation = operation(&mut config.namer, kept, stage);
            let outcome = tools
                .slot
                .aside(aside, (kept.place, kept.kind, kept.number), || {
                    submit(&mut **session, tickets, &operation, &mut NoSteps).1
                });
            // One that was stopped ends as all others, below.
            if let Err(failure) = outcome.or_else(Failure::unless_stopped) {
                let path = operation.name().path.to_string_lossy().into_owned();
                failed = Some(Failed::operation("prepare the cache for", path, failure));
            }
            done += 1;
            tools.slot.publish(done, done);
        });
        if let Some(failed) = failed {
            self.config.failures.count(failed)?;
        }
        if self.tools.control.is_stopping() {
            return Err(Left::Stopped);
        }
        self.rendezvous.ended(stage, (done, done), End::Complete);
        Ok(())
    }
}

/// What a look at the names came to.
#[derive(Debug, Default)]
pub(super) struct NamesFound {
    pub(super) names: u64,
    directories: u64,
    /// Names and directories that are not as they must be, and the first of them.
    wrong: u64,
    pub(super) first: Option<Failed>,
    /// Names that may be there or not.
    left_out: u64,
    /// Names that are not as they must be yet, and are waited for.
    late: Vec<LateName>,
}

/// A name that is looked for: it must be there, or gone.
#[derive(Clone, Copy, Debug)]
enum Sought {
    Kept(Kept),
    Removed((u32, NameKind, u64)),
}

/// A name that was not as it must be at the first look.
#[derive(Debug)]
struct LateName {
    sought: Sought,
    since_ns: u64,
    first: Failed,
}

impl NamesFound {
    fn count(&mut self, failed: Failed) {
        self.wrong += 1;
        self.first.get_or_insert(failed);
    }

    pub(super) fn to_check(&self, duration_ns: u64) -> Check {
        Check {
            names: self.names,
            directories: self.directories,
            wrong: self.wrong,
            left_out: self.left_out,
            duration_ns,
        }
    }
}

/// A look at names, one after the other.
pub(super) struct Look<'w> {
    session: &'w mut dyn Session,
    slot: &'w Slot,
    tickets: &'w mut u64,
    clock: &'w RunClock,
    control: &'w Control,
    config: &'w mut WorkerConfig,
    waits_until_ns: Option<u64>,
    stale: &'w mut Option<Stale>,
    looked: &'w mut NamesFound,
}

impl Look<'_> {
    /// Asks for one thing of the pool, and reads it where contents are verified. Gives a difference
    /// that ends the run.
    pub(super) fn at(&mut self, kept: Kept) -> Result<(), Failed> {
        if self.config.failures.is_uncertain(&kept) {
            // It is among the names that are left out.
            return Ok(());
        }
        self.finds(Sought::Kept(kept))
    }

    /// Asks for a name that was removed.
    pub(super) fn at_removed(&mut self, name: (u32, NameKind, u64)) -> Result<(), Failed> {
        self.finds(Sought::Removed(name))
    }

    /// Gives what is wrong with one thing of the pool.
    fn kept(&mut self, kept: &Kept) -> Option<Failed> {
        let Self {
            session,
            slot,
            config,
            ..
        } = self;
        let which = (kept.place, kept.kind, kept.number);
        let name = config.namer.name(kept.place, kept.kind, kept.number);
        let path = || name.path.to_string_lossy().into_owned();
        let bytes = (kept.kind == NameKind::File).then_some(kept.size_bytes);
        // Directories are looked at by the listings of those above.
        if kept.kind != NameKind::Directory {
            let looked = slot.aside(Aside::Look, which, || {
                submit(
                    &mut **session,
                    self.tickets,
                    &Operation::Stat { name, bytes },
                    &mut NoSteps,
                )
                .1
            });
            if let Err(failure) = looked {
                return Some(Failed::operation(CHECK_NAMES, path(), failure));
            }
        }
        let (true, Some(bytes), Payload::Made { contents, .. }) =
            (config.verify, bytes, &config.payload)
        else {
            return None;
        };
        let (ticket, read) = slot.aside(Aside::ReadToLook, which, || {
            submit(
                &mut **session,
                self.tickets,
                &Operation::Read { name, bytes },
                &mut NoSteps,
            )
        });
        if let Err(failure) = read {
            let failure = failure.unless_stopped().err()?;
            return Some(Failed::operation(CHECK_CONTENTS, path(), failure));
        }
        let found = session.content(ticket).unwrap_or_default();
        let offset = bytes - found.len() as u64;
        let mismatch = contents
            .check(kept.file, kept.version, offset, found)
            .err()?;
        Some(Failed::content(CHECK_CONTENTS, path(), &mismatch))
    }

    /// Gives what is wrong with a name that was removed: it is there.
    fn removed(&mut self, which: (u32, NameKind, u64)) -> Option<Failed> {
        let (place, kind, number) = which;
        let name = self.config.namer.name(place, kind, number);
        let looked = self.slot.aside(Aside::Look, which, || {
            submit(
                self.session,
                self.tickets,
                &Operation::Stat { name, bytes: None },
                &mut NoSteps,
            )
            .1
        });
        let path = || name.path.to_string_lossy().into_owned();
        match looked {
            Err(failure) if failure.errno() == Some(engine::Errno::NOENT.0) => None,
            Err(failure) => Some(Failed::operation(CHECK_NAMES, path(), failure)),
            Ok(()) => {
                let message = "the name is there, and its removal was acknowledged".to_owned();
                Some(Failed::verification(CHECK_NAMES, path(), message))
            }
        }
    }

    fn look_for(&mut self, sought: Sought) -> Option<Failed> {
        match sought {
            Sought::Kept(kept) => self.kept(&kept),
            Sought::Removed(name) => self.removed(name),
        }
    }

    fn finds(&mut self, sought: Sought) -> Result<(), Failed> {
        if self.control.is_stopping() {
            return Ok(());
        }
        self.looked.names += 1;
        let found = self.look_for(sought);
        self.slot.publish(self.looked.names, self.looked.names);
        match (found, self.waits_until_ns) {
            (None, _) => Ok(()),
            (Some(first), Some(_)) => {
                let since_ns = self.clock.now_ns();
                self.looked.late.push(LateName {
                    sought,
                    since_ns,
                    first,
                });
                match self.looked.late.len() {
                    LATE_MAX => self.until_seen(),
                    _ => Ok(()),
                }
            }
            (Some(failed), None) => self.is_wrong(failed),
        }
    }

    /// Looks for the names that were not as they must be, all of them again and again, until they
    /// are or it has taken too long.
    pub(super) fn until_seen(&mut self) -> Result<(), Failed> {
        while !self.looked.late.is_empty() && !self.control.is_stopping() {
            let is_over = self
                .waits_until_ns
                .is_none_or(|until_ns| self.clock.now_ns() >= until_ns);
            for late in std::mem::take(&mut self.looked.late) {
                match self.look_for(late.sought) {
                    None => {
                        let ns = self.clock.now_ns().saturating_sub(late.since_ns);
                        add_stale(self.stale, seen_after(ns, late.first));
                    }
                    Some(failed) if is_over => self.is_wrong(failed)?,
                    Some(_) => self.looked.late.push(late),
                }
            }
            if !self.looked.late.is_empty() {
                self.clock.sleep(SEEN_EVERY_NS);
            }
        }
        Ok(())
    }

    fn is_wrong(&mut self, failed: Failed) -> Result<(), Failed> {
        self.looked.count(failed.clone());
        self.config.failures.count(failed)
    }
}

fn operation<'a>(namer: &'a mut Namer, kept: Kept, stage: Stage) -> Operation<'a> {
    let name = namer.name(kept.place, kept.kind, kept.number);
    if stage == Stage::Warm {
        Operation::Read {
            name,
            bytes: kept.size_bytes,
        }
    } else {
        Operation::Evict { name }
    }
}

fn some(names: &[&Vec<u8>]) -> String {
    let mut shown: Vec<String> = names
        .iter()
        .take(NAMED_MAX)
        .map(|name| format!("'{}'", String::from_utf8_lossy(name)))
        .collect();
    if names.len() > NAMED_MAX {
        shown.push(format!("and {} more", names.len() - NAMED_MAX));
    }
    shown.join(", ")
}
