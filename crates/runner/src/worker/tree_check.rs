//! Checks the result of an operation on a tree, outside of the measured time: the contents of all
//! files of a copy, and that the name of a removed tree does not exist.

use engine::Operation;
use rundir::worker_status::Aside;
use workload::names::NameKind;
use workload::{Action, Intent, Kept};

use super::config::Payload;
use super::state::{Left, Worker, submit_aside};
use crate::failures::Failed;

/// The name of these checks in errors.
const CHECK_TREE: &str = "check tree";

impl Worker {
    /// Checks a tree that was just copied or removed, if contents are verified.
    pub(super) fn verify_tree(&mut self, intent: &Intent) -> Result<(), Left> {
        if !self.config.verify {
            return Ok(());
        }
        if intent.action == Action::RemoveTree {
            return self.verify_removal(intent);
        }
        // The pool is still in the state in which the directory was copied, because the next
        // operation is drawn later. This is not true for operations that were all drawn before.
        if self.tools.source.is_drawn_before() {
            return Ok(());
        }
        let namer = &self.config.namer;
        let mut files = Vec::new();
        self.tools.source.pool(true, &mut |kept| {
            let is_copied =
                kept.kind == NameKind::File && namer.are_copied_together(kept.place, intent.place);
            if is_copied {
                files.push(kept);
            }
        });
        for file in files {
            self.unless_stopping()?;
            self.verify_copy(intent, &file)?;
        }
        Ok(())
    }

    fn verify_removal(&mut self, intent: &Intent) -> Result<(), Left> {
        let name = self
            .config
            .namer
            .name(intent.place, NameKind::Tree, intent.number);
        let path = name.path.to_string_lossy().into_owned();
        let (_, looked) = submit_aside(
            &mut *self.tools.session,
            &self.tools.slots[0],
            &mut self.tickets,
            (Aside::Look, (intent.place, NameKind::Tree, intent.number)),
            &Operation::StatMissing { name },
        );
        match looked.map_err(|failure| failure.unless_stopped()) {
            Ok(()) | Err(Ok(())) => Ok(()),
            Err(Err(failure)) => {
                let failed = Failed::operation(CHECK_TREE, path, failure);
                Ok(self.config.failures.count(failed)?)
            }
        }
    }

    /// Reads a file of a copied tree, and compares its contents with those of the file that was
    /// copied.
    fn verify_copy(&mut self, intent: &Intent, file: &Kept) -> Result<(), Left> {
        let (place, tree, bytes) = (intent.place, intent.number, file.size_bytes);
        let name = self.config.namer.in_tree(file.place, tree, file.number);
        let path = name.path.to_string_lossy().into_owned();
        let (ticket, read) = submit_aside(
            &mut *self.tools.session,
            &self.tools.slots[0],
            &mut self.tickets,
            (Aside::ReadToLook, (place, NameKind::Tree, tree)),
            &Operation::Read { name, bytes },
        );
        if let Err(failure) = read {
            return match failure.unless_stopped() {
                Ok(()) => Ok(()),
                Err(failure) => {
                    let failed = Failed::operation(CHECK_TREE, path, failure);
                    Ok(self.config.failures.count(failed)?)
                }
            };
        }
        let (Payload::Made { contents, .. }, Some(found)) =
            (&self.config.payload, self.tools.session.content(ticket))
        else {
            return Ok(());
        };
        // If the file is larger than the session's buffer, only its last part is available.
        let offset = bytes - found.len() as u64;
        if let Err(mismatch) = contents.check(file.file, file.version, offset, found) {
            let failed = Failed::content(intent.action.name(), path, &mismatch);
            self.config.failures.count(failed)?;
        }
        Ok(())
    }
}
