//! The state while the operations of a replay are determined one after the other.

use super::deviation::{Difference, Differences};
use super::objects::{ObjectIndex, Objects};
use super::order::{Turn, Use, Uses, Waits};
use super::own_time::OwnTimes;
use super::step::{Step, Steps};
use super::traced::{NameIndex, Trace, TracedKind, TracedOperation};
use crate::intent::Action;
use crate::pool::VERSION_MAX;
use crate::sizes::SIZE_MAX_BYTES;

/// The number of dependencies of one operation.
const DEPENDENCIES_MAX: usize = u8::MAX as usize;

/// An operation of the trace, and the worker that performs it.
#[derive(Clone, Copy, Debug)]
pub struct Traced<'a> {
    pub one: &'a TracedOperation,
    pub worker: u32,
}

/// What an operation uses, which determines its order.
#[derive(Clone, Copy, Debug)]
pub enum Used {
    Object(ObjectIndex, Use),
    Place(u32, Use),
}

/// Determines the operations of a replay.
#[derive(Debug)]
pub struct Simulation<'a> {
    pub trace: &'a Trace,
    pub objects: Objects,
    pub steps: Steps,
    pub differences: Differences,
    /// The sizes of the prepared files, which later operations may correct.
    pub first_sizes: Vec<u64>,
    /// How many objects have been prepared.
    prepared: usize,
    /// Whether operations are recorded. The first pass only finds the sizes of prepared files.
    is_recorded: bool,
    /// The time between operations; `None` if it is not replayed.
    own: Option<OwnTimes>,
    waits: Waits,
    origin_ns: u64,
}

impl<'a> Simulation<'a> {
    /// `first_sizes` are the sizes that an earlier pass found; empty in the first pass.
    pub fn new(trace: &'a Trace, workers: u32, first_sizes: Option<Vec<u64>>) -> Self {
        let is_maildir = trace
            .operations
            .iter()
            .any(|one| one.action == Action::Deliver);
        let times = trace.operations.iter().filter_map(|one| one.begin_ns);
        let steps = Steps {
            of_workers: vec![Vec::new(); workers as usize],
            ..Steps::default()
        };
        Self {
            trace,
            objects: Objects::new(trace.names.len(), is_maildir),
            steps,
            differences: Differences::default(),
            is_recorded: first_sizes.is_some(),
            own: None,
            first_sizes: first_sizes.unwrap_or_default(),
            prepared: 0,
            waits: Waits::new(workers as usize),
            origin_ns: times.min().unwrap_or(0),
        }
    }

    /// Also records the time between operations, and the waits for other threads.
    pub fn with_pauses(self, has_pauses: bool) -> Self {
        let own = has_pauses.then(OwnTimes::default);
        Self { own, ..self }
    }

    pub fn place_of(&mut self, name: NameIndex) -> u32 {
        self.objects.place_of(&self.trace.names, name)
    }

    /// Adds an object that existed before the trace.
    pub fn prepare(&mut self, kind: TracedKind, place: u32, size_bytes: u64) -> ObjectIndex {
        let index = self.prepared;
        self.prepared += 1;
        if index == self.first_sizes.len() {
            self.first_sizes.push(limited(size_bytes));
        }
        let size = self.first_sizes[index];
        let object = self.objects.add(kind, place, size);
        self.objects.all[object].prepared = Some(index);
        if self.is_recorded {
            let number = self.objects.all[object].number;
            let (action, other) = match kind {
                TracedKind::File => (Action::Create, 0),
                TracedKind::SymbolicLink => (Action::SymbolicLink, number),
                TracedKind::Directory => (Action::MakeDirectory, 0),
            };
            let is_file = kind == TracedKind::File;
            self.steps.prepared.push(Step {
                action,
                place,
                number,
                other,
                file: if is_file { number } else { 0 },
                bytes: if is_file { size } else { 0 },
                ..Step::NOTHING
            });
        }
        object
    }

    /// Returns the file that a name denotes, and creates it before the trace if it is not known.
    /// `size_bytes` is the size that it has at least.
    pub fn file(&mut self, name: NameIndex, kind: TracedKind, size_bytes: u64) -> ObjectIndex {
        let object = match self.objects.get(name) {
            Some(object) => object,
            None => {
                let place = self.place_of(name);
                let size = if kind == TracedKind::File {
                    size_bytes
                } else {
                    0
                };
                let object = self.prepare(TracedKind::File, place, size);
                self.objects.bind(name, Some(object));
                object
            }
        };
        if kind != TracedKind::File || self.objects.all[object].kind != TracedKind::File {
            self.differences.add(Difference::OnDirectories);
        }
        let object = match self.objects.all[object].kind {
            TracedKind::File => object,
            _ => self.stand_in(object),
        };
        self.correct(object, size_bytes);
        object
    }

    /// A file beside a symbolic link or a directory, on which operations for files are performed.
    pub fn stand_in(&mut self, object: ObjectIndex) -> ObjectIndex {
        if let Some(stand_in) = self.objects.all[object].stand_in {
            return stand_in;
        }
        let place = self.objects.all[object].place;
        let stand_in = self.prepare(TracedKind::File, place, 0);
        self.objects.all[object].stand_in = Some(stand_in);
        stand_in
    }

    /// Enlarges a file that existed before the trace, if an operation shows that it was larger.
    fn correct(&mut self, object: ObjectIndex, size_bytes: u64) {
        let one = &mut self.objects.all[object];
        let size_bytes = limited(size_bytes);
        if let Some(index) = one.prepared.filter(|_| size_bytes > one.size_bytes) {
            let more = size_bytes - one.size_bytes;
            let first = &mut self.first_sizes[index];
            if first.saturating_add(more) <= SIZE_MAX_BYTES {
                *first += more;
                one.size_bytes = size_bytes;
            }
        }
    }

    /// Returns a size within the limit, and counts one that is not.
    pub fn size(&mut self, bytes: u64) -> u64 {
        if bytes > SIZE_MAX_BYTES {
            self.differences.add(Difference::TooLarge);
        }
        limited(bytes)
    }

    /// Gives a file new contents of this size.
    pub fn renew(&mut self, object: ObjectIndex, size_bytes: u64) {
        let one = &mut self.objects.all[object];
        one.version = match one.version >= VERSION_MAX {
            true => 1,
            false => one.version + 1,
        };
        one.size_bytes = size_bytes;
        one.prepared = None;
    }

    /// A step on an object, in its state before the operation.
    pub fn on(&self, object: ObjectIndex, action: Action) -> Step {
        let one = &self.objects.all[object];
        Step {
            action,
            place: one.place,
            number: one.number,
            file: one.file,
            version: one.version,
            size_bytes: one.size_bytes,
            ..Step::NOTHING
        }
    }

    /// Adds an operation of a worker, and determines on which operations it depends.
    pub fn emit(&mut self, traced: Traced<'_>, mut step: Step, used: &[Used]) {
        if !self.is_recorded {
            return;
        }
        let Some(of_worker) = self.steps.of_workers.get_mut(traced.worker as usize) else {
            return;
        };
        of_worker.push(self.steps.all.len() as u32);
        let turn = Turn {
            worker: traced.worker,
            completed: of_worker.len() as u32,
            begin: traced.one.begin,
            end: traced.one.end,
        };
        let times = traced.one.begin_ns.unwrap_or(self.origin_ns);
        step.syncs = traced.one.syncs;
        step.due_ns = times.saturating_sub(self.origin_ns);
        let first = self.steps.dependencies.len();
        self.pause(traced.one.thread, turn);
        if self.steps.of_workers.len() > 1 {
            used.iter().for_each(|used| self.order(turn, *used));
            let count = (self.steps.dependencies.len() - first).min(DEPENDENCIES_MAX);
            step.dependencies = (first as u32, count as u8);
        }
        self.steps.all.push(step);
    }

    /// Adds the time of a worker before an operation of the trace.
    pub fn spend(&mut self, traced: Traced<'_>) {
        if let Some(own) = &mut self.own {
            own.spend(traced.worker, traced.one.own);
        }
    }

    /// Records the time before an operation, which begins after the operation that its worker
    /// awaited.
    fn pause(&mut self, thread: u32, turn: Turn) {
        let Some(own) = &mut self.own else { return };
        let (pause, awaited) = own.perform(thread, turn);
        self.steps.pauses.push(pause);
        let dependency = awaited.and_then(|before| self.waits.dependency(turn, before));
        self.steps.dependencies.extend(dependency);
    }

    fn order(&mut self, turn: Turn, used: Used) {
        let (uses, how, may_overlap): (&mut Uses, Use, bool) = match used {
            Used::Object(object, how) => {
                let uses = &mut self.objects.all[object].uses;
                (uses.get_or_insert_default(), how, false)
            }
            Used::Place(place, how) => {
                let uses = &mut self.objects.uses_of_places;
                (uses.entry(place).or_default(), how, true)
            }
        };
        let (waits, dependencies) = (&mut self.waits, &mut self.steps.dependencies);
        uses.add(turn, how, may_overlap, &mut |before| {
            dependencies.extend(waits.dependency(turn, before));
        });
    }
}

fn limited(bytes: u64) -> u64 {
    bytes.min(SIZE_MAX_BYTES)
}

/// The directory of a second name, if it is not the first one.
pub fn other_place(place: u32, other: u32) -> Option<u32> {
    (other != place).then_some(other)
}

/// A change of an object.
pub fn change(object: ObjectIndex) -> Used {
    Used::Object(object, Use::Change)
}
