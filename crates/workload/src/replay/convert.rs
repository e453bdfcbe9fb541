//! Converts operations of a trace on files into operations of a replay.

use super::deviation::Difference;
use super::order::Use;
use super::simulation::{Simulation, Traced, Used, change, other_place};
use super::step::Step;
use super::traced::TracedKind;
use crate::intent::Action;

impl Simulation<'_> {
    /// Converts an operation of the trace.
    pub fn take(&mut self, traced: Traced<'_>) {
        let one = traced.one;
        self.spend(traced);
        if self
            .trace
            .names
            .get(one.name as usize)
            .is_some_and(|name| name.is_deep)
        {
            self.differences.add(Difference::Deep);
        }
        match one.action {
            action if action.creates() => self.create(traced),
            action if action.copies() => self.copy(traced),
            Action::CopyTree
            | Action::CloneTree
            | Action::LinkTree
            | Action::RemoveTree
            | Action::Nothing => {
                self.differences.add(Difference::Trees);
            }
            Action::Read | Action::ReadMapped | Action::ReadRange => self.read(traced),
            Action::Append | Action::Overwrite | Action::Rewrite | Action::Replace => {
                self.write(traced);
            }
            Action::Truncate => self.truncate(traced),
            Action::Stat | Action::OpenClose | Action::Lock | Action::GetExtended => {
                self.query(traced);
            }
            Action::SetAttributes | Action::SetExtended => self.set(traced),
            _ => self.change_names(traced),
        }
    }

    fn create(&mut self, traced: Traced<'_>) {
        let place = self.place_of(traced.one.name);
        // A program may leave holes, or write a part twice, as assemblers do. Later operations
        // depend on the size.
        let bytes = self.size(traced.one.size_bytes.unwrap_or(traced.one.bytes));
        let object = self.objects.add(TracedKind::File, place, bytes);
        self.objects.bind(traced.one.name, Some(object));
        let step = Step {
            bytes,
            size_bytes: 0,
            ..self.on(object, traced.one.action)
        };
        self.emit(
            traced,
            step,
            &[change(object), Used::Place(place, Use::Change)],
        );
    }

    /// Copies a file. A file that the trace does not name is prepared.
    fn copy(&mut self, traced: Traced<'_>) {
        let one = traced.one;
        let place = self.place_of(one.name);
        let bytes = self.size(one.bytes);
        let source = match one.second {
            Some(name) => self.file(name, TracedKind::File, bytes),
            None => self.prepare(TracedKind::File, place, bytes),
        };
        let (from, size) = {
            let source = &mut self.objects.all[source];
            source.prepared = None;
            (source.clone(), source.size_bytes)
        };
        let object = self.objects.add(TracedKind::File, place, size);
        let copy = &mut self.objects.all[object];
        (copy.file, copy.version) = (from.file, from.version);
        self.objects.bind(one.name, Some(object));
        let step = Step {
            other: from.number,
            other_place: other_place(place, from.place),
            bytes: size,
            size_bytes: 0,
            ..self.on(object, one.action)
        };
        let used = [
            Used::Object(source, Use::Read),
            change(object),
            Used::Place(place, Use::Change),
        ];
        self.emit(traced, step, &used);
    }

    fn read(&mut self, traced: Traced<'_>) {
        let one = traced.one;
        let end = one.offset_bytes.saturating_add(one.bytes);
        let wanted = match one.action {
            Action::ReadRange => end,
            _ => one.size_bytes.unwrap_or(one.bytes),
        };
        let object = self.file(one.name, one.kind, wanted);
        let size = self.objects.all[object].size_bytes;
        if wanted > size {
            self.differences.add(Difference::Shortened);
        }
        let mut step = self.on(object, one.action);
        match one.action {
            Action::Read => step.bytes = size,
            // An empty file has no range and no mapping.
            _ if size == 0 => step.action = Action::OpenClose,
            Action::ReadRange => {
                step.bytes = one.bytes.clamp(1, size);
                step.offset_bytes = one.offset_bytes.min(size - step.bytes);
            }
            _ => step.bytes = size,
        }
        self.emit(traced, step, &[Used::Object(object, Use::Read)]);
    }

    fn write(&mut self, traced: Traced<'_>) {
        let one = traced.one;
        let bytes = self.size(one.bytes);
        let before = match one.action {
            Action::Append => one.size_bytes.map_or(0, |size| size.saturating_sub(bytes)),
            Action::Overwrite => one.size_bytes.unwrap_or(bytes),
            _ => 0,
        };
        let object = self.file(one.name, one.kind, before);
        let size = self.objects.all[object].size_bytes;
        let mut step = Step {
            bytes,
            ..self.on(object, one.action)
        };
        match one.action {
            Action::Append | Action::Overwrite if bytes == 0 => {
                self.differences.add(Difference::NoBytes);
                step.action = Action::OpenClose;
            }
            Action::Append => {
                step.offset_bytes = size;
                step.bytes = self.size(size + bytes) - size;
                if step.bytes == 0 {
                    step.action = Action::OpenClose;
                }
                self.objects.all[object].size_bytes = size + step.bytes;
            }
            // A part of the contents is overwritten with the same bytes, so that the contents
            // still have one version.
            Action::Overwrite if bytes < size => self.objects.all[object].prepared = None,
            _ => {
                self.renew(object, bytes);
                step.version = self.objects.all[object].version;
            }
        }
        let place = Used::Place(step.place, Use::Change);
        let names: &[Used] = match one.action {
            Action::Replace => &[change(object), place],
            _ => &[change(object)],
        };
        self.emit(traced, step, names);
    }

    fn truncate(&mut self, traced: Traced<'_>) {
        let wanted = traced.one.size_bytes.unwrap_or(0);
        let object = self.file(traced.one.name, traced.one.kind, wanted);
        let one = &mut self.objects.all[object];
        if wanted > one.size_bytes {
            self.differences.add(Difference::Enlarged);
            return;
        }
        one.prepared = None;
        let step = Step {
            bytes: wanted,
            ..self.on(object, Action::Truncate)
        };
        self.objects.all[object].size_bytes = wanted;
        self.emit(traced, step, &[change(object)]);
    }

    fn query(&mut self, traced: Traced<'_>) {
        let one = traced.one;
        let object = self.file(one.name, one.kind, one.size_bytes.unwrap_or(0));
        let has_extended = self.objects.all[object].has_extended;
        if one.action == Action::GetExtended && !has_extended {
            self.differences.add(Difference::NoAttribute);
            self.set(traced);
            return;
        }
        let how = match one.action {
            Action::Lock => Use::Change,
            _ => Use::Read,
        };
        for _ in 0..one.times {
            let step = self.on(object, one.action);
            self.emit(traced, step, &[Used::Object(object, how)]);
        }
    }

    fn set(&mut self, traced: Traced<'_>) {
        let one = traced.one;
        let object = self.file(one.name, one.kind, one.size_bytes.unwrap_or(0));
        let action = match one.action {
            Action::SetAttributes => Action::SetAttributes,
            _ => Action::SetExtended,
        };
        self.objects.all[object].has_extended |= action == Action::SetExtended;
        for turn in 0..one.times {
            let step = Step {
                // One of two modes.
                other: (one.begin as u32 ^ turn) & 1,
                ..self.on(object, action)
            };
            self.emit(traced, step, &[change(object)]);
        }
    }
}
