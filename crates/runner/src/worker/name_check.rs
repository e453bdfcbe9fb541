//! Checks names one at a time, and repeats the check of names that are not visible yet.

use engine::{Errno, Operation, Session};
use record::{Check, Stale};
use rundir::worker_status::{Aside, Slot};
use workload::Kept;
use workload::names::NameKind;

use super::config::{Payload, WorkerConfig};
use super::state::submit_aside;
use super::visibility_retry::{LATE_MAX, SEEN_EVERY_NS, add_stale, seen_after};
use crate::clock::{Clock as _, RunClock};
use crate::control::Control;
use crate::failures::Failed;

/// Names of the operations that check names and contents, for error messages.
pub(super) const CHECK_NAMES: &str = Aside::Look.name();
pub(super) const CHECK_CONTENTS: &str = Aside::ReadToLook.name();

#[derive(Debug, Default)]
pub(super) struct NamesFound {
    pub(super) check: Check,
    /// The first name whose state still differed from the expected one after all retries.
    pub(super) first: Option<Failed>,
    /// Names that differed from the expected state and are checked again.
    late: Vec<LateName>,
}

/// The expected state of a name: it exists, or it was removed.
#[derive(Clone, Copy, Debug)]
enum Sought {
    Kept(Kept),
    Removed((u32, NameKind, u64)),
}

/// A name whose state differed from the expected one. The name is checked again, because operations
/// of other workers may become visible late.
#[derive(Debug)]
struct LateName {
    sought: Sought,
    since_ns: u64,
    first: Failed,
}

impl NamesFound {
    pub(super) fn count(&mut self, failed: Failed) {
        self.check.wrong += 1;
        self.first.get_or_insert(failed);
    }
}

pub(super) struct Look<'w> {
    pub(super) session: &'w mut dyn Session,
    pub(super) slot: &'w Slot,
    pub(super) tickets: &'w mut u64,
    pub(super) clock: &'w RunClock,
    pub(super) control: &'w Control,
    pub(super) config: &'w mut WorkerConfig,
    pub(super) waits_until_ns: Option<u64>,
    pub(super) stale: &'w mut Option<Stale>,
    pub(super) looked: &'w mut NamesFound,
}

impl Look<'_> {
    /// Checks the name of one pool entry, and its contents if contents are verified.
    ///
    /// # Errors
    /// Returns a difference that ends the run.
    pub(super) fn at(&mut self, kept: Kept) -> Result<(), Failed> {
        if self.config.failures.is_uncertain(&kept) {
            // An entry with unknown state is not checked. The check of directories counts it in
            // `left_out` of [`Check`].
            return Ok(());
        }
        self.finds(Sought::Kept(kept))
    }

    /// Checks that a removed name does not exist.
    pub(super) fn at_removed(&mut self, name: (u32, NameKind, u64)) -> Result<(), Failed> {
        self.finds(Sought::Removed(name))
    }

    /// Checks a pool entry, and describes how its state differs from the expected one; `None` if it
    /// does not.
    fn kept(&mut self, kept: &Kept) -> Option<Failed> {
        let Self {
            session,
            slot,
            config,
            ..
        } = self;
        let which = (kept.place, kept.kind, kept.number);
        // A directory in a directory with files needs no check by name, because the listing of its
        // parent includes it. The files of a tree were checked when it was copied.
        let is_listed =
            kept.kind.is_directory() && config.namer.naming().is_beside_files(kept.kind);
        let name = config.namer.name(kept.place, kept.kind, kept.number);
        let path = || name.path.to_string_lossy().into_owned();
        let bytes = (kept.kind == NameKind::File).then_some(kept.size_bytes);
        if !is_listed {
            let stat = Operation::Stat { name, bytes };
            let (_, looked) = submit_aside(
                &mut **session,
                slot,
                self.tickets,
                (Aside::Look, which),
                &stat,
            );
            if let Err(failure) = looked {
                return Some(Failed::operation(CHECK_NAMES, path(), failure));
            }
        }
        let (true, Some(bytes), Payload::Made { contents, .. }) =
            (config.verify, bytes, &config.payload)
        else {
            return None;
        };
        let read = Operation::Read { name, bytes };
        let (ticket, read) = submit_aside(
            &mut **session,
            slot,
            self.tickets,
            (Aside::ReadToLook, which),
            &read,
        );
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

    /// Returns an error if a removed name still exists.
    fn removed(&mut self, which: (u32, NameKind, u64)) -> Option<Failed> {
        let (place, kind, number) = which;
        let name = self.config.namer.name(place, kind, number);
        let (_, looked) = submit_aside(
            self.session,
            self.slot,
            self.tickets,
            (Aside::Look, which),
            &Operation::Stat { name, bytes: None },
        );
        let path = || name.path.to_string_lossy().into_owned();
        match looked {
            Err(failure) if failure.errno() == Some(Errno::NOENT.raw_os_error()) => None,
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
        self.looked.check.names += 1;
        let found = self.look_for(sought);
        let names = self.looked.check.names;
        self.slot.publish(names, names);
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

    /// Checks the differing names repeatedly, until they are as expected or the time limit is
    /// reached.
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
