//! What a worker does besides its operations: looking at what they read, at names, and at the page cache.

use std::collections::{BTreeMap, HashSet};

use record::Check;
use storage::{Listing, Name, NoSteps, Operation, Session};
use workload::names::NameKind;
use workload::{End, Intent, Kept, Phase};

use super::{Left, Matter, Worker, submit};
use crate::clock::Clock;
use crate::events::Stage;
use crate::failures::Failed;
use crate::naming::Namer;
use crate::request::Cache;
use crate::site::manifest::Position;
use crate::source::{Expected, Source};
use crate::stopwatch::Stopwatch;
use crate::worker::Rendezvous;

/// Names that are too many or too few are told up to this many.
const NAMED_MAX: usize = 5;
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
    pub(super) fn verify(&mut self, intent: &Intent) -> Result<(), Left> {
        let (Matter::Made { contents, .. }, Some(found)) = (&self.duty.matter, self.tools.session.content()) else {
            return Ok(());
        };
        // Of what does not fit into the session's buffer the last part is there.
        let offset = intent.offset_bytes + intent.bytes - found.len() as u64;
        if let Err(mismatch) = contents.check(intent.file, intent.version, offset, found) {
            let path = self.duty.namer.name(intent.place, NameKind::File, intent.number).path;
            let path = path.to_string_lossy().into_owned();
            let failed = Failed::content(intent.action.name(), path, &mismatch);
            self.duty.failures.count(failed)?;
        }
        Ok(())
    }

    /// Compares a listing with what it must show.
    pub(super) fn verify_listing(&mut self, intent: &Intent, expected: Expected) -> Result<(), Left> {
        let Some(found) = self.tools.session.listing() else {
            return Ok(());
        };
        let message = match expected {
            Expected::Exactly(listing) if listing != found => {
                self.explain_listing(intent.place, &listing.entries.to_string(), found)
            }
            Expected::Between(least, most) if found.entries < least || found.entries > most => {
                let text = format!("{least} to {most}");
                self.explain_listing(intent.place, &text, found)
            }
            Expected::Exactly(_) | Expected::Between(..) | Expected::Unknown => return Ok(()),
        };
        let path = self
            .duty
            .namer
            .directory(intent.place)
            .path
            .to_string_lossy()
            .into_owned();
        let failed = Failed::verification(intent.action.name(), path, message);
        Ok(self.duty.failures.count(failed)?)
    }

    /// Says which names are missing, foreign or there twice. In a shared pool that others are working on, some of these
    /// may be on the move.
    fn explain_listing(&mut self, place: u32, expected: &str, found: Listing) -> String {
        let mut wanted = HashSet::new();
        let naming = self.duty.namer.naming().clone();
        self.tools.source.pool(true, &mut |kept| {
            if kept.place == place {
                let mut name = Vec::new();
                naming.write_name(kept.kind, kept.number, &mut name);
                wanted.insert(name);
            }
        });
        let mut text = format!("the listing shows {} entries where {expected} must be", found.entries);
        let directory = self.duty.namer.directory(place);
        let names = match self.tools.session.names(directory) {
            Ok(names) => names,
            Err(failure) => return format!("{text}; it cannot be listed again: {}", failure.cause),
        };
        let mut seen: BTreeMap<Vec<u8>, u32> = BTreeMap::new();
        for name in names.into_iter().filter(|name| !name.starts_with(b".")) {
            *seen.entry(name).or_default() += 1;
        }
        let mut missing: Vec<&Vec<u8>> = wanted.iter().filter(|name| !seen.contains_key(*name)).collect();
        missing.sort();
        let foreign: Vec<&Vec<u8>> = seen.keys().filter(|name| !wanted.contains(*name)).collect();
        let twice: Vec<&Vec<u8>> = seen
            .iter()
            .filter(|(_, count)| **count > 1)
            .map(|(name, _)| name)
            .collect();
        for (what, names) in [
            ("missing", missing),
            ("not to be there", foreign),
            ("there twice", twice),
        ] {
            if !names.is_empty() {
                text.push_str(&format!("; {what}: {}", some(&names)));
            }
        }
        text
    }

    /// After the transactions: exactly the files that should exist, with their sizes, and with their contents where
    /// these are verified.
    pub(super) fn check_names(&mut self) -> Result<(), Left> {
        self.tools.slot.begin(0);
        self.begins(Stage::Check)?;
        let began_ns = self.tools.clock.now_ns();
        let (names, mut wrong, places) = self.look_at_names(1);
        let directories = self.list(places, &mut wrong)?;
        for failed in wrong {
            self.duty.failures.count(failed)?;
        }
        if self.tools.control.is_stopping() {
            return Err(Left::Stopped);
        }
        self.report.check = Some(Check {
            names,
            directories,
            duration_ns: self.tools.clock.now_ns().saturating_sub(began_ns),
        });
        self.rendezvous.ended(Stage::Check, names, End::Complete);
        Ok(())
    }

    /// Lists directories, and says which do not show what they must. Gives how many.
    fn list(&mut self, places: BTreeMap<u32, Listing>, wrong: &mut Vec<Failed>) -> Result<u64, Left> {
        let mut directories = 0;
        for (place, expected) in places {
            if self.tools.control.is_stopping() {
                return Err(Left::Stopped);
            }
            directories += 1;
            let name = self.duty.namer.directory(place);
            let path = name.path.to_string_lossy().into_owned();
            let listed = submit(
                &mut self.tools.session,
                &mut self.tickets,
                &Operation::List { name },
                &mut NoSteps,
            );
            match listed {
                Err(failure) => wrong.push(Failed::operation("check names", path, failure)),
                Ok(()) => match self.tools.session.listing() {
                    Some(found) if found != expected => {
                        let message = self.explain_listing(place, &expected.entries.to_string(), found);
                        wrong.push(Failed::verification("check names", path, message));
                    }
                    _ => {}
                },
            }
        }
        Ok(directories)
    }

    /// Takes a pool that an earlier run has left: follows its stream as far as it was performed, without doing
    /// anything, and then checks the pool by count and by sample.
    pub(super) fn take_pool(&mut self, position: Position) -> Result<(), Left> {
        let began_ns = self.tools.clock.now_ns();
        for phase in [Phase::Prepare, Phase::Transactions] {
            let mut left = if phase == Phase::Prepare {
                u64::MAX
            } else {
                position.intents
            };
            while left > 0 && !self.tools.control.is_stopping() {
                let Some(intent) = self.tools.source.next(phase) else {
                    break;
                };
                self.tools.source.completed(&intent, true);
                left -= 1;
            }
        }
        self.report.position.intents = position.intents;
        // Only when all have done so a shared pool is whole.
        self.tools.slot.begin(0);
        self.begins(Stage::Take)?;
        let files = self.tools.source.remaining(Phase::Delete);
        let (names, mut wrong, places) = self.look_at_names((files / SAMPLE).max(1));
        let directories = self.list(places, &mut wrong)?;
        // Any difference is too much: it is not the pool that it says it is.
        if let Some(failed) = wrong.into_iter().next() {
            let _ = self.duty.failures.count(failed.clone());
            return Err(Left::Failed(failed));
        }
        if self.tools.control.is_stopping() {
            return Err(Left::Stopped);
        }
        self.report.taken = Some(Check {
            names,
            directories,
            duration_ns: self.tools.clock.now_ns().saturating_sub(began_ns),
        });
        self.rendezvous.ended(Stage::Take, names, End::Complete);
        Ok(())
    }

    /// Asks for every so-and-so-many-th file of this worker's share. Gives how many these were, what was wrong, and what
    /// each place must show.
    fn look_at_names(&mut self, every: u64) -> (u64, Vec<Failed>, BTreeMap<u32, Listing>) {
        let Self {
            tools, duty, tickets, ..
        } = self;
        let (source, session, control) = (&tools.source, &mut tools.session, &tools.control);
        let mut wrong = Vec::new();
        let (mut seen, mut done) = (0, 0);
        source.pool(false, &mut |kept| {
            seen += 1;
            if control.is_stopping()
                || wrong.len() > NAMED_MAX
                || duty.failures.is_spoiled(kept.file)
                || seen % every != 0
            {
                return;
            }
            done += 1;
            let name = duty.namer.name(kept.place, kept.kind, kept.number);
            let bytes = (kept.kind == NameKind::File).then_some(kept.size_bytes);
            let path = |name: Name<'_>| name.path.to_string_lossy().into_owned();
            if kept.kind != NameKind::Directory {
                let looked = submit(session, tickets, &Operation::Stat { name, bytes }, &mut NoSteps);
                if let Err(failure) = looked {
                    wrong.push(Failed::operation("check names", path(name), failure));
                    return;
                }
            }
            if let (true, Some(bytes), Matter::Made { contents, .. }) = (duty.verify, bytes, &duty.matter) {
                match submit(session, tickets, &Operation::Read { name, bytes }, &mut NoSteps) {
                    Err(failure) => wrong.push(Failed::operation("check contents", path(name), failure)),
                    Ok(()) => {
                        let found = session.content().unwrap_or_default();
                        let offset = bytes - found.len() as u64;
                        if let Err(mismatch) = contents.check(kept.file, kept.version, offset, found) {
                            wrong.push(Failed::content("check contents", path(name), &mismatch));
                        }
                    }
                }
            }
            tools.slot.publish(done);
        });
        let mut places = BTreeMap::new();
        // Files whose state is not known may be there or not.
        if source.lists() && !duty.failures.any_spoiled() {
            let naming = duty.namer.naming().clone();
            let mut name = Vec::new();
            places.extend((0..duty.namer.places()).map(|place| (place, Listing::default())));
            source.pool(true, &mut |kept| {
                name.clear();
                naming.write_name(kept.kind, kept.number, &mut name);
                places.entry(kept.place).or_insert_with(Listing::default).add(&name);
            });
        }
        (done, wrong, places)
    }

    /// Does to the page cache what can be done file by file.
    pub(super) fn prepare_cache(&mut self) -> Result<(), Left> {
        let stage = match self.duty.cache {
            Cache::Warm => Stage::Warm,
            Cache::ColdData => Stage::Cool,
            Cache::AsIs | Cache::Cold => return Ok(()),
        };
        self.tools.slot.begin(0);
        self.begins(stage)?;
        let Self {
            tools, duty, tickets, ..
        } = self;
        let (source, session, control) = (&tools.source, &mut tools.session, &tools.control);
        let mut failed = None;
        let mut done = 0;
        source.pool(false, &mut |kept| {
            if kept.kind != NameKind::File || failed.is_some() || control.is_stopping() {
                return;
            }
            let operation = operation(&mut duty.namer, kept, stage);
            if let Err(failure) = submit(session, tickets, &operation, &mut NoSteps) {
                let path = operation.name().path.to_string_lossy().into_owned();
                failed = Some(Failed::operation("prepare the cache for", path, failure));
            }
            done += 1;
            tools.slot.publish(done);
        });
        if let Some(failed) = failed {
            self.duty.failures.count(failed)?;
        }
        if self.tools.control.is_stopping() {
            return Err(Left::Stopped);
        }
        self.rendezvous.ended(stage, done, End::Complete);
        Ok(())
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
