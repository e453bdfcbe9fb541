//! Converts operations of a trace that change or list names into operations of a replay.

use super::deviation::Difference;
use super::objects::ObjectIndex;
use super::order::Use;
use super::simulation::{Simulation, Traced, Used, change, other_place};
use super::step::Step;
use super::traced::TracedKind;
use crate::intent::Action;

impl Simulation<'_> {
    pub fn change_names(&mut self, traced: Traced<'_>) {
        match traced.one.action {
            Action::Delete | Action::RemoveLink | Action::RemoveSymbolicLink => {
                self.remove(traced, TracedKind::File);
            }
            Action::RemoveDirectory => self.remove(traced, TracedKind::Directory),
            Action::Rename => self.rename(traced),
            Action::Link | Action::InstallLink => self.link(traced),
            Action::MakeDirectory => self.make(traced, TracedKind::Directory),
            Action::SymbolicLink => self.make(traced, TracedKind::SymbolicLink),
            Action::MakeDirectoryExisting => self.use_object(traced, TracedKind::Directory),
            Action::ReadLink => self.use_object(traced, TracedKind::SymbolicLink),
            Action::List | Action::ListWithStat => self.list(traced),
            Action::StatMissing | Action::OpenMissing | Action::LockFile => {
                self.beside(traced);
            }
            _ => self.differences.add(Difference::Trees),
        }
    }

    /// Returns the object of a kind that a name denotes. An object that the trace did not create is
    /// prepared.
    fn object(&mut self, traced: Traced<'_>, kind: TracedKind) -> ObjectIndex {
        let known = self.objects.get(traced.one.name);
        let known = known.filter(|object| self.objects.all[*object].kind == kind);
        known.unwrap_or_else(|| {
            let place = self.place_of(traced.one.name);
            let object = self.prepare(kind, place, 0);
            self.objects.bind(traced.one.name, Some(object));
            object
        })
    }

    /// Removes a name. Of a file with several names, one of its hard links is removed.
    fn remove(&mut self, traced: Traced<'_>, kind: TracedKind) {
        let object = match (self.objects.get(traced.one.name), traced.one.action) {
            (Some(object), _) => object,
            (None, Action::RemoveSymbolicLink) => self.object(traced, TracedKind::SymbolicLink),
            (None, _) => self.object(traced, kind),
        };
        self.objects.bind(traced.one.name, None);
        let place = self.place_of(traced.one.name);
        self.remove_object(traced, object, place);
    }

    /// Removes a name of an object in a directory. If that is not a hard link, another hard link is
    /// removed, and the object keeps the name that later operations use.
    fn remove_object(&mut self, traced: Traced<'_>, object: ObjectIndex, place: u32) {
        let kind = self.objects.all[object].kind;
        let step = match self.objects.remove_link(object, place) {
            Some(link) => {
                let step = self.on(object, Action::RemoveLink);
                Step {
                    place: link.place,
                    number: link.number,
                    other: step.number,
                    ..step
                }
            }
            None => {
                let step = self.on(
                    object,
                    match kind {
                        TracedKind::File => Action::Delete,
                        TracedKind::SymbolicLink => Action::RemoveSymbolicLink,
                        TracedKind::Directory => Action::RemoveDirectory,
                    },
                );
                self.objects.all[object].exists = false;
                Step {
                    other: match kind {
                        TracedKind::SymbolicLink => step.number,
                        _ => 0,
                    },
                    ..step
                }
            }
        };
        let place = step.place;
        self.emit(
            traced,
            step,
            &[change(object), Used::Place(place, Use::Change)],
        );
        if !self.objects.all[object].exists {
            self.objects.all[object].uses = None;
        }
    }

    /// Renames a file to a new number. A file with the new name is removed before.
    fn rename(&mut self, traced: Traced<'_>) {
        let one = traced.one;
        let Some(to) = one.second.filter(|to| *to != one.name) else {
            return;
        };
        let known = self.objects.get(one.name);
        let object = known.unwrap_or_else(|| self.file(one.name, one.kind, 0));
        let to_place = self.place_of(to);
        if one.kind == TracedKind::Directory || self.objects.all[object].kind != TracedKind::File {
            self.rename_other(traced, object, to_place);
            return;
        }
        let over = self.objects.get(to);
        if over == Some(object) {
            // A renaming over another name of the same file does nothing.
            return;
        }
        if let Some(over) = over.filter(|_| one.is_over) {
            self.differences.add(Difference::RenamedOver);
            self.remove_object(traced, over, to_place);
        }
        self.objects.bind(one.name, None);
        self.objects.bind(to, Some(object));
        self.move_file(traced, object, to_place);
    }

    /// Renames a file beside a symbolic link or a directory. Names in a directory remain valid,
    /// because the trace names them as before.
    fn rename_other(&mut self, traced: Traced<'_>, object: ObjectIndex, to_place: u32) {
        let one = traced.one;
        self.differences.add(Difference::RenamedOther);
        if one.kind != TracedKind::Directory {
            self.objects.bind(one.name, None);
            if let Some(to) = one.second {
                self.objects.bind(to, Some(object));
            }
        }
        let file = match self.objects.all[object].kind {
            TracedKind::File => object,
            _ => self.stand_in(object),
        };
        self.move_file(traced, file, to_place);
    }

    fn move_file(&mut self, traced: Traced<'_>, object: ObjectIndex, to_place: u32) {
        let number = self.objects.next_number();
        let step = self.on(object, Action::Rename);
        let step = Step {
            other: number,
            other_place: other_place(step.place, to_place),
            ..step
        };
        let moved = &mut self.objects.all[object];
        (moved.number, moved.place) = (number, to_place);
        let used = [
            change(object),
            Used::Place(step.place, Use::Change),
            Used::Place(to_place, Use::Change),
        ];
        self.emit(
            traced,
            step,
            &used[..2 + usize::from(step.other_place.is_some())],
        );
    }

    fn link(&mut self, traced: Traced<'_>) {
        let one = traced.one;
        let object = self.file(one.name, one.kind, 0);
        let mut place = self.objects.all[object].place;
        if let Some(to) = one.second {
            place = self.place_of(to);
            self.objects.bind(to, Some(object));
        }
        let number = self.objects.next_number();
        let step = self.on(object, one.action);
        let step = Step {
            other: number,
            other_place: other_place(step.place, place),
            ..step
        };
        self.objects.add_link(object, place, number);
        self.emit(
            traced,
            step,
            &[change(object), Used::Place(place, Use::Change)],
        );
    }

    /// Creates a symbolic link or directory.
    fn make(&mut self, traced: Traced<'_>, kind: TracedKind) {
        let one = traced.one;
        // The second name of a symbolic link in a capture is its text.
        let place = self.place_of(one.name);
        let object = self.objects.add(kind, place, 0);
        self.objects.bind(one.name, Some(object));
        let step = self.on_object(object, one.action, kind);
        self.emit(
            traced,
            step,
            &[change(object), Used::Place(place, Use::Change)],
        );
    }

    /// An operation on a symbolic link or directory.
    fn on_object(&self, object: ObjectIndex, action: Action, kind: TracedKind) -> Step {
        let step = self.on(object, action);
        Step {
            file: 0,
            other: match kind {
                TracedKind::SymbolicLink => step.number,
                _ => 0,
            },
            ..step
        }
    }

    /// Uses a symbolic link or a directory that exists.
    fn use_object(&mut self, traced: Traced<'_>, kind: TracedKind) {
        let object = self.object(traced, kind);
        let step = self.on_object(object, traced.one.action, kind);
        self.emit(traced, step, &[Used::Object(object, Use::Read)]);
    }

    fn list(&mut self, traced: Traced<'_>) {
        let place = self.objects.place(&self.trace.names, traced.one.name);
        let step = Step {
            action: traced.one.action,
            place,
            ..Step::NOTHING
        };
        self.emit(traced, step, &[Used::Place(place, Use::Read)]);
    }

    /// Uses a name that does not exist before and after the operation.
    fn beside(&mut self, traced: Traced<'_>) {
        let place = self.place_of(traced.one.name);
        let number = self.objects.next_number();
        let step = Step {
            action: traced.one.action,
            place,
            number,
            ..Step::NOTHING
        };
        self.emit(traced, step, &[]);
    }
}
