//! What a worker does besides its operations: looking at what they read, at names, and at the page cache.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use contract::{Listing, Name, NoSteps, Operation, Session, Ticket};
use record::{Check, Stale};
use spec::Cache;
use workload::names::NameKind;
use workload::{End, Intent, Kept, Phase};

use super::{Left, Payload, Worker, submit};
use crate::clock::Clock;
use crate::control::Control;
use crate::events::Stage;
use crate::failures::Failed;
use crate::naming::Namer;
use crate::source::{Expected, Source};
use crate::stopwatch::Stopwatch;
use crate::worker::{Neighbour, Rendezvous};
use rundir::manifest::Position;
use rundir::slot::{Aside, Slot};

/// What errors of the look at names and at contents are called.
const CHECK_NAMES: &str = Aside::Look.name();
const CHECK_CONTENTS: &str = Aside::ReadToLook.name();
/// Names that are too many or too few are told up to this many.
const NAMED_MAX: usize = 5;
/// In larger directories differing names are not looked for, which takes memory.
const EXPLAINED_MAX: u64 = 1_000_000;
/// Of a pool of an earlier run so many files of each worker are looked at, at least where there are as many.
const SAMPLE: u64 = 1_000;

impl<O, S, C, W, R> Worker<O, S, C, W, R>
where
    O: Source,
    S: Session,
    C: Clock,
    W: Stopwatch,
    R: Rendezvous,
{
    /// Compares what was read with what the file must hold.
    pub(super) fn verify(&mut self, ticket: Ticket, intent: &Intent) -> Result<(), Left> {
        let (Payload::Made { contents, .. }, Some(found)) = (&self.config.payload, self.tools.session.content(ticket))
        else {
            return Ok(());
        };
        // Of what does not fit into the session's buffer the last part is there.
        let offset = intent.offset_bytes + intent.bytes - found.len() as u64;
        if let Err(mismatch) = contents.check(intent.file, intent.version, offset, found) {
            let path = self.config.namer.name(intent.place, NameKind::File, intent.number).path;
            let path = path.to_string_lossy().into_owned();
            let failed = Failed::content(intent.action.name(), path, &mismatch);
            self.config.failures.count(failed)?;
        }
        Ok(())
    }

    /// Compares a listing with what it must show.
    pub(super) fn verify_listing(&mut self, ticket: Ticket, intent: &Intent, expected: Expected) -> Result<(), Left> {
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

    /// Says what is wrong with a directory that shows something else than it must. In a shared pool that others are
    /// working on, and where others are in flight, some of these names may be on the move.
    fn explain_listing(&mut self, flight: usize, place: u32, expected: &str, found: Listing) -> String {
        let text = format!("the listing has {} entries instead of {expected}", found.entries);
        if found.entries > EXPLAINED_MAX {
            return text;
        }
        match self.differences(flight, place, &BTreeSet::new()) {
            Ok(differences) => format!("{text}{}", differences.unwrap_or_default()),
            Err(failure) => format!("{text}; it cannot be listed again: {}", failure.cause),
        }
    }

    /// Lists a directory and says which names are missing, foreign or there twice, but for those of which it is not known
    /// whether they must be there; nothing where all is well. It is done on a flight that is free.
    fn differences(
        &mut self,
        flight: usize,
        place: u32,
        uncertain: &BTreeSet<(NameKind, u64)>,
    ) -> Result<Option<String>, contract::Failure> {
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
        let names = self.tools.slots[flight].aside(Aside::ListToLook, (place, NameKind::Directory, 0), || {
            self.tools.session.names(directory)
        })?;
        for name in names.into_iter().filter(|name| !name.starts_with(b".")) {
            *seen.entry(name).or_default() += 1;
        }
        for (kind, number) in uncertain {
            let name = written(*kind, *number);
            wanted.remove(&name);
            seen.remove(&name);
        }
        let mut missing: Vec<&Vec<u8>> = wanted.iter().filter(|name| !seen.contains_key(*name)).collect();
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

    /// After the transactions: exactly the files that should exist, with their sizes, and with their contents where
    /// these are verified.
    pub(super) fn check_names(&mut self) -> Result<(), Left> {
        self.begins(Stage::Check, 0)?;
        let began_ns = self.tools.clock.now_ns();
        let looked = self.look_at_names(1)?;
        if self.tools.control.is_stopping() {
            return Err(Left::Stopped);
        }
        self.report.check = Some(looked.to_check(self.tools.clock.now_ns().saturating_sub(began_ns)));
        self.rendezvous.ended(Stage::Check, looked.names, End::Complete);
        Ok(())
    }

    /// Lists the directories of the pool, where that is this worker's part, and counts those that do not show what they
    /// must.
    fn look_at_directories(&mut self, looked: &mut NamesFound) -> Result<(), Left> {
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
            let wrong = match uncertain.remove(&place) {
                Some(uncertain) => {
                    looked.left_out += uncertain.len() as u64;
                    self.differences(0, place, &uncertain)
                        .map(|differences| differences.map(|text| format!("the listing is wrong{text}")))
                }
                None => self.listing_differs(place, expected),
            };
            let path = |namer: &mut Namer| namer.directory(place).path.to_string_lossy().into_owned();
            let failed = match wrong {
                Ok(None) => continue,
                Ok(Some(message)) => Failed::verification(CHECK_NAMES, path(&mut self.config.namer), message),
                Err(failure) => Failed::operation(CHECK_NAMES, path(&mut self.config.namer), failure),
            };
            looked.count(failed.clone());
            self.config.failures.count(failed)?;
        }
        Ok(())
    }

    /// Lists a directory and compares it with what it must show; nothing where it shows that.
    fn listing_differs(&mut self, place: u32, expected: Listing) -> Result<Option<String>, contract::Failure> {
        let Self {
            tools, config, tickets, ..
        } = self;
        let name = config.namer.directory(place);
        let (ticket, listed) = tools
            .slot
            .aside(Aside::ListToLook, (place, NameKind::Directory, 0), || {
                submit(&mut tools.session, tickets, &Operation::List { name }, &mut NoSteps)
            });
        listed?;
        Ok(match self.tools.session.listing(ticket) {
            Some(found) if found != expected => {
                Some(self.explain_listing(0, place, &expected.entries.to_string(), found))
            }
            _ => None,
        })
    }

    /// Takes a pool that an earlier run has left: follows its stream as far as it was performed, without doing
    /// anything, and then checks the pool by count and by sample.
    pub(super) fn take_pool(&mut self, position: Position) -> Result<(), Left> {
        let began_ns = self.tools.clock.now_ns();
        self.follow(Phase::Prepare, u64::MAX);
        self.follow(Phase::Transactions, position.intents);
        self.report.position.intents = position.intents;
        // Only when all have done so a shared pool is whole.
        self.begins(Stage::Take, 0)?;
        let files = self.tools.source.remaining(Phase::Delete);
        self.look_at_taken((files / SAMPLE).max(1), began_ns)
    }

    /// Leaves the pool that it has prepared for that of another worker, and looks at all of its names there: how long it takes
    /// until what is acknowledged there is seen here.
    pub(super) fn turn_to(&mut self, neighbour: Neighbour<O, S>) -> Result<(), Left> {
        let began_ns = self.tools.clock.now_ns();
        self.begins(Stage::Take, 0)?;
        let which = (0, NameKind::Directory, 0);
        let session = self.tools.slot.aside(Aside::OpenSession, which, neighbour.open);
        self.tools.session = session.map_err(|error| {
            let message = format!("the pool of another rank cannot be used: {error}");
            Failed::verification(CHECK_NAMES, String::new(), message)
        })?;
        self.tools.source = neighbour.source;
        self.config.namer = neighbour.namer;
        self.config.payload = neighbour.payload;
        self.config.hasher = neighbour.hasher;
        self.waits_until_seen = true;
        self.follow(Phase::Prepare, u64::MAX);
        self.look_at_taken(1, began_ns)?;
        self.waits_until_seen = false;
        Ok(())
    }

    /// Follows the stream of a phase for so many intents, without doing anything.
    fn follow(&mut self, phase: Phase, mut left: u64) {
        while left > 0 && !self.tools.control.is_stopping() {
            let Some(intent) = self.tools.source.next(phase, 0, true) else {
                break;
            };
            if O::IS_PURE {
                self.config.hasher.take(&intent);
            }
            self.tools.source.completed(0, &intent, true);
            left -= 1;
        }
    }

    /// Checks a pool that somebody else has made, by every so-and-so-many-th of its names.
    fn look_at_taken(&mut self, every: u64, began_ns: u64) -> Result<(), Left> {
        let looked = self.look_at_names(every)?;
        // Any difference is too much: it is not the pool that it says it is.
        if let Some(failed) = looked.first {
            return Err(Left::Failed(failed));
        }
        if self.tools.control.is_stopping() {
            return Err(Left::Stopped);
        }
        self.report.taken = Some(looked.to_check(self.tools.clock.now_ns().saturating_sub(began_ns)));
        self.rendezvous.ended(Stage::Take, looked.names, End::Complete);
        Ok(())
    }

    /// Asks for every so-and-so-many-th file of this worker's share, and lists directories.
    fn look_at_names(&mut self, every: u64) -> Result<NamesFound, Left> {
        let mut looked = NamesFound::default();
        let mut ends = None;
        let (waits, mut stale) = (self.waits_until_seen, self.report.stale.take());
        let Self {
            tools, config, tickets, ..
        } = self;
        let (source, session, slot) = (&tools.source, &mut tools.session, &tools.slot);
        let mut seen = 0;
        source.pool(false, &mut |kept| {
            seen += 1;
            if tools.control.is_stopping() || ends.is_some() || seen % every != 0 {
                return;
            }
            if config.failures.is_uncertain(&kept) {
                // It is among the names that are left out.
                return;
            }
            looked.names += 1;
            let name = config.namer.name(kept.place, kept.kind, kept.number);
            let which = (kept.place, kept.kind, kept.number);
            let mut look = || {
                look_at(
                    session,
                    slot,
                    tickets,
                    (which, name, &kept),
                    &config.payload,
                    config.verify,
                )
            };
            let mut wrong = look();
            if let (true, Some(failed)) = (waits, &wrong) {
                let seen = until_seen(&tools.clock, &tools.control, failed, &mut look);
                if let Ok(seen) = &seen {
                    stale = add_stale(stale.take(), seen.clone());
                }
                wrong = seen.err();
            }
            if let Some(failed) = wrong {
                looked.count(failed.clone());
                ends = config.failures.count(failed).err();
            }
            slot.publish(looked.names);
        });
        self.report.stale = stale;
        if let Some(failed) = ends {
            return Err(Left::Failed(failed));
        }
        self.look_at_directories(&mut looked)?;
        Ok(looked)
    }

    /// How many files this worker's share of the pool has, and some of them, from its beginning to its end: at most so many, and
    /// a hundredth, rounded up.
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
            tools, config, tickets, ..
        } = self;
        let (source, session, control) = (&tools.source, &mut tools.session, &tools.control);
        let mut failed = None;
        let mut done = 0;
        source.pool(false, &mut |kept| {
            if kept.kind != NameKind::File || failed.is_some() || control.is_stopping() {
                return;
            }
            let aside = if stage == Stage::Warm { Aside::Warm } else { Aside::Cool };
            let operation = operation(&mut config.namer, kept, stage);
            let outcome = tools.slot.aside(aside, (kept.place, kept.kind, kept.number), || {
                submit(session, tickets, &operation, &mut NoSteps).1
            });
            if let Err(failure) = outcome {
                let path = operation.name().path.to_string_lossy().into_owned();
                failed = Some(Failed::operation("prepare the cache for", path, failure));
            }
            done += 1;
            tools.slot.publish(done);
        });
        if let Some(failed) = failed {
            self.config.failures.count(failed)?;
        }
        if self.tools.control.is_stopping() {
            return Err(Left::Stopped);
        }
        self.rendezvous.ended(stage, done, End::Complete);
        Ok(())
    }
}

/// What another machine has acknowledged is waited for so long. An NFS client keeps attributes for 60 s at most (acregmax and
/// acdirmax, nfs(5)).
const SEEN_WITHIN_NS: u64 = 65_000_000_000;
/// So often it is looked for.
const SEEN_EVERY_NS: u64 = 10_000_000;

/// Waits until a look finds what is there: for how long it did not.
fn until_seen<C: Clock>(
    clock: &C,
    control: &Control,
    first: &Failed,
    look: &mut dyn FnMut() -> Option<Failed>,
) -> Result<Stale, Failed> {
    let began_ns = clock.now_ns();
    loop {
        clock.sleep(SEEN_EVERY_NS);
        let wrong = look();
        let ns = clock.now_ns().saturating_sub(began_ns);
        match wrong {
            None => {
                return Ok(Stale {
                    count: 1,
                    longest_ns: ns,
                    path: first.path.clone(),
                    what: first.message.clone(),
                });
            }
            Some(failed) if ns >= SEEN_WITHIN_NS || control.is_stopping() => return Err(failed),
            Some(_) => {}
        }
    }
}

/// Both together.
fn add_stale(all: Option<Stale>, one: Stale) -> Option<Stale> {
    Some(match all {
        Some(all) => all.and(one),
        None => one,
    })
}

/// What a look at the names came to.
#[derive(Debug, Default)]
struct NamesFound {
    names: u64,
    directories: u64,
    /// Names and directories that are not as they must be, and the first of them.
    wrong: u64,
    first: Option<Failed>,
    /// Names that may be there or not.
    left_out: u64,
}

impl NamesFound {
    fn count(&mut self, failed: Failed) {
        self.wrong += 1;
        self.first.get_or_insert(failed);
    }

    fn to_check(&self, duration_ns: u64) -> Check {
        Check {
            names: self.names,
            directories: self.directories,
            wrong: self.wrong,
            left_out: self.left_out,
            duration_ns,
        }
    }
}

/// Asks for one thing of the pool, and reads it where contents are verified. Gives what is wrong with it.
fn look_at<S: Session>(
    session: &mut S,
    slot: &Slot,
    tickets: &mut u64,
    (which, name, kept): ((u32, NameKind, u64), Name<'_>, &Kept),
    payload: &Payload,
    verify: bool,
) -> Option<Failed> {
    let path = || name.path.to_string_lossy().into_owned();
    let bytes = (kept.kind == NameKind::File).then_some(kept.size_bytes);
    // Directories are looked at by the listings of those above.
    if kept.kind != NameKind::Directory {
        let looked = slot.aside(Aside::Look, which, || {
            submit(session, tickets, &Operation::Stat { name, bytes }, &mut NoSteps).1
        });
        if let Err(failure) = looked {
            return Some(Failed::operation(CHECK_NAMES, path(), failure));
        }
    }
    let (true, Some(bytes), Payload::Made { contents, .. }) = (verify, bytes, payload) else {
        return None;
    };
    let (ticket, read) = slot.aside(Aside::ReadToLook, which, || {
        submit(session, tickets, &Operation::Read { name, bytes }, &mut NoSteps)
    });
    if let Err(failure) = read {
        return Some(Failed::operation(CHECK_CONTENTS, path(), failure));
    }
    let found = session.content(ticket).unwrap_or_default();
    let offset = bytes - found.len() as u64;
    let mismatch = contents.check(kept.file, kept.version, offset, found).err()?;
    Some(Failed::content(CHECK_CONTENTS, path(), &mismatch))
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
