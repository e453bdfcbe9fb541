//! Compares the results of reads and listings with the expected results.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use engine::{Failure, Listing, NameWriter, Operation, Ticket};
use rundir::worker_status::Aside;
use workload::Intent;
use workload::names::NameKind;

use super::config::Payload;
use super::state::{Left, Worker, submit_aside};
use crate::failures::Failed;
use crate::listings::Expected;

/// Maximum number of names in a message about missing or unexpected names.
const NAMED_MAX: usize = 5;
/// Maximum number of entries in a directory for which a message names the differences. Finding them
/// in larger directories would take too much memory.
const EXPLAINED_MAX: u64 = 1_000_000;

impl Worker {
    /// Compares the data of a read with the expected contents of the file.
    pub(super) fn verify(&mut self, ticket: Ticket, intent: &Intent) -> Result<(), Left> {
        let (Payload::Made { contents, .. }, Some(found)) =
            (&self.config.payload, self.tools.session.content(ticket))
        else {
            return Ok(());
        };
        // If a read is larger than the session's buffer, only the last part of the data is
        // available.
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

    /// Describes how a listing differs from the expected result. If other operations are in
    /// progress in the directory, the description may include names of their files.
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

    /// Lists a directory and describes the names that are missing, unexpected or listed twice;
    /// `None` if the listing is correct. `flight` is a slot with no operation in flight. Names with
    /// unknown state are ignored.
    pub(super) fn differences(
        &mut self,
        flight: usize,
        place: u32,
        uncertain: &BTreeSet<(NameKind, u64)>,
    ) -> Result<Option<String>, Failure> {
        let naming = self.config.namer.naming().clone();
        let written = |kind, number| {
            let mut name = Vec::new();
            naming.write_name(kind, number, &mut NameWriter::new(&mut name));
            name
        };
        let mut wanted = HashSet::new();
        self.tools.source.pool(true, &mut |kept| {
            if kept.place == place && naming.is_beside_files(kept.kind) {
                wanted.insert(written(kept.kind, kept.number));
            }
        });
        let inner = naming
            .inner_directories()
            .filter(|(above, _)| *above == place);
        wanted.extend(inner.map(|(_, name)| name));
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

    /// Lists a directory and describes the differences from the expected listing; `None` if there
    /// are none.
    pub(super) fn listing_differs(
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
        let (ticket, listed) = submit_aside(
            &mut *tools.session,
            &tools.slots[0],
            tickets,
            (Aside::ListToLook, (place, NameKind::Directory, 0)),
            &Operation::List { name },
        );
        listed?;
        Ok(match self.tools.session.listing(ticket) {
            Some(found) if found != expected => {
                Some(self.explain_listing(0, place, &expected.entries.to_string(), found))
            }
            _ => None,
        })
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
