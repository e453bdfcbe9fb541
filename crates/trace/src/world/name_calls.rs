//! Calls that name files.

use engine::Action;

use super::{Event, World};
use crate::done::{Done, parent};
use crate::reason::Reason;

impl World {
    /// Follows a call that names files. Returns whether it is one.
    pub(super) fn use_names(&mut self, event: &Event<'_>) -> bool {
        let call = event.call;
        let (action, at, reason) = match call.name {
            "unlink" => (Action::Delete, None, Reason::Failed),
            "unlinkat" if call.has(2, "AT_REMOVEDIR") => {
                (Action::RemoveDirectory, Some(0), Reason::Failed)
            }
            "unlinkat" => (Action::Delete, Some(0), Reason::Failed),
            "rmdir" => (Action::RemoveDirectory, None, Reason::Failed),
            "mkdir" => (Action::MakeDirectory, None, Reason::Failed),
            "mkdirat" => (Action::MakeDirectory, Some(0), Reason::Failed),
            "symlink" => return self.name(event, Action::SymbolicLink, None, 1),
            "symlinkat" => return self.name(event, Action::SymbolicLink, Some(1), 1),
            "readlink" => (Action::ReadLink, None, Reason::Failed),
            "readlinkat" => (Action::ReadLink, Some(0), Reason::Failed),
            "truncate" => (Action::Truncate, None, Reason::Failed),
            "chmod" | "chown" | "lchown" | "utime" | "utimes" => {
                (Action::SetAttributes, None, Reason::Failed)
            }
            "fchmodat" | "fchmodat2" | "fchownat" | "utimensat" | "futimesat" => {
                (Action::SetAttributes, Some(0), Reason::Failed)
            }
            "setxattr" | "lsetxattr" | "removexattr" | "lremovexattr" => {
                (Action::SetExtended, None, Reason::Failed)
            }
            "getxattr" | "lgetxattr" | "listxattr" | "llistxattr" => {
                (Action::GetExtended, None, Reason::Failed)
            }
            "mknod" => (Action::Create, None, Reason::Special),
            "mknodat" => (Action::Create, Some(0), Reason::Special),
            _ => return self.use_two_names(event),
        };
        if reason == Reason::Special && !call.has(1, "S_IFREG") && !call.has(2, "S_IFREG") {
            self.recorder.leave_out(reason, None);
            return true;
        }
        self.name(event, action, at, 0)
    }

    /// Records an operation on the name at `index`, or after the directory at `at`.
    fn name(&mut self, event: &Event<'_>, action: Action, at: Option<usize>, index: usize) -> bool {
        let call = event.call;
        let path = match at {
            Some(at) => self.path_at(event, at),
            None => self.path(event, index),
        };
        let Some(path) = path else { return true };
        match (call.error, action) {
            (None, Action::Truncate) => {
                let mut done = Done::new(action, path, event.begin, event.end);
                done.size = call.number(1).and_then(|size| u64::try_from(size).ok());
                self.recorder.perform(event.thread, done);
            }
            (None, _) if call.answer.is_some() => self.perform(event, action, path),
            (Some("EEXIST"), Action::MakeDirectory) => {
                self.perform(event, Action::MakeDirectoryExisting, path);
            }
            // The name exists: it is not a symbolic link, it is used already, or it is a directory
            // with entries. The call looks it up and changes nothing.
            (Some("EINVAL"), Action::ReadLink) | (Some("EEXIST" | "ENOTEMPTY"), _) => {
                self.perform(event, Action::Stat, path);
            }
            (Some("ENODATA"), Action::GetExtended) => self.perform(event, action, path),
            // A call on a missing name looks the name up. git(1) removes names before it uses them.
            (Some("ENOENT"), _) => {
                // A new name is in a directory that is missing.
                let missing = match creates(action) {
                    true => parent(&path).into(),
                    false => path,
                };
                self.perform(event, Action::StatMissing, missing);
            }
            _ => self.recorder.leave_out_below(Reason::Failed, &path),
        }
        true
    }

    fn use_two_names(&mut self, event: &Event<'_>) -> bool {
        let call = event.call;
        let (action, from, to) = match call.name {
            "rename" => (Action::Rename, self.path(event, 0), self.path(event, 1)),
            "link" => (Action::Link, self.path(event, 0), self.path(event, 1)),
            "renameat" | "renameat2" => (
                Action::Rename,
                self.path_at(event, 0),
                self.path_at(event, 2),
            ),
            "linkat" => (Action::Link, self.path_at(event, 0), self.path_at(event, 2)),
            _ => return false,
        };
        let Some((from, to)) = from.zip(to) else {
            return true;
        };
        match (call.answer, call.error) {
            (Some(_), _) => {}
            (None, Some("EEXIST")) => {
                self.perform(event, Action::Stat, to);
                return true;
            }
            (None, Some("ENOENT")) => {
                self.perform(event, Action::StatMissing, from);
                return true;
            }
            _ => {
                self.recorder.leave_out_below(Reason::Failed, &to);
                return true;
            }
        }
        let mut done = Done::new(action, from, event.begin, event.end);
        done.to = Some(to);
        self.recorder.perform(event.thread, done);
        true
    }
}

/// Whether a call creates its name, so that the error ENOENT is about its directory.
fn creates(action: Action) -> bool {
    matches!(
        action,
        Action::Create | Action::MakeDirectory | Action::SymbolicLink
    )
}
