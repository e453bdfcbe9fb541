//! The files of a trace: which exist, how large they are, and how often they were used.

use std::collections::HashMap;

use engine::Action;
use learn::{Distribution, Popularity, Profile};
use workload::replay::TracedKind;

use crate::done::{Done, is_below, parent};
use crate::scope::identify;

/// The number of files that are remembered.
const FILES_MAX: usize = 1 << 22;
/// The number of points of the curve of popularity.
const POINTS: usize = 100;

/// The kind of object that a name denotes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    #[default]
    File,
    Link,
    SymbolicLink,
    Directory,
}

#[derive(Clone, Copy, Debug, Default)]
struct File {
    size: Option<u64>,
    kind: Kind,
    exists: bool,
    /// The uses in two pseudorandom halves.
    uses: [u32; 2],
    last: Option<Action>,
}

/// The files of a trace.
#[derive(Debug, Default)]
pub struct Files {
    files: HashMap<u64, File>,
    /// The number of files in each directory, and the largest number there was.
    directories: HashMap<u64, (u32, u32)>,
    /// Files that existed before the trace.
    earlier: u64,
    /// Files that were created and still exist, minus earlier files that were removed.
    balance: i64,
    balance_max: i64,
    uses: u64,
    sizes: Distribution,
    depths: Distribution,
    name_lengths: Distribution,
    sequences: HashMap<(Action, Action), u64>,
    /// Uses of files beyond the limit.
    pub beyond: u64,
}

impl Files {
    /// Whether the file exists; `None` if the trace does not show it.
    pub fn exists(&self, path: &[u8]) -> Option<bool> {
        self.files.get(&identify(path)).map(|file| file.exists)
    }

    pub fn size(&self, path: &[u8]) -> Option<u64> {
        self.files.get(&identify(path))?.size
    }

    pub fn kind(&self, path: &[u8]) -> Kind {
        let file = self.files.get(&identify(path));
        file.map(|file| file.kind).unwrap_or_default()
    }

    /// Whether the path is known to be a directory.
    pub fn is_directory(&self, path: &[u8]) -> bool {
        self.kind(path) == Kind::Directory || self.directories.contains_key(&identify(path))
    }

    fn entry(&mut self, path: &[u8]) -> Option<&mut File> {
        let key = identify(path);
        if self.files.len() >= FILES_MAX && !self.files.contains_key(&key) {
            self.beyond += 1;
            return None;
        }
        Some(self.files.entry(key).or_default())
    }

    /// Follows what an operation does to files below a directory.
    pub fn apply(&mut self, done: &Done, below: &[u8]) {
        let to = done.to.as_ref().unwrap_or(&done.path);
        match done.action {
            Action::Create | Action::Copy | Action::Clone => {
                self.create(&done.path, below, Kind::File, done.size);
            }
            Action::Delete => {
                self.meet(&done.path, below, Kind::File, None);
                self.remove(&done.path);
            }
            Action::RemoveLink | Action::RemoveSymbolicLink | Action::RemoveDirectory => {
                self.remove(&done.path);
            }
            // The files in a directory keep their paths.
            Action::Rename if done.kind == TracedKind::Directory => {}
            Action::Rename => self.rename(&done.path, to, below),
            Action::Link => self.create(to, below, Kind::Link, None),
            Action::SymbolicLink => self.create(&done.path, below, Kind::SymbolicLink, None),
            Action::MakeDirectory | Action::MakeDirectoryExisting => {
                self.create(&done.path, below, Kind::Directory, None);
            }
            Action::List | Action::ListWithStat => {
                self.meet(&done.path, below, Kind::Directory, None);
            }
            Action::ReadLink => self.meet(&done.path, below, Kind::SymbolicLink, None),
            Action::StatMissing | Action::OpenMissing => {}
            Action::Append | Action::Rewrite | Action::Overwrite | Action::Truncate => {
                let before = match done.action {
                    Action::Append => done.size.map(|size| size.saturating_sub(done.bytes)),
                    _ => None,
                };
                if self.exists(&done.path) != Some(true) || self.size(&done.path).is_none() {
                    self.meet(&done.path, below, Kind::File, before);
                }
                self.resize(&done.path, done.size);
            }
            _ => self.meet(&done.path, below, Kind::File, done.size),
        }
    }

    /// Marks a name as created.
    pub fn create(&mut self, path: &[u8], below: &[u8], kind: Kind, size: Option<u64>) {
        let Some(file) = self.entry(path) else { return };
        let is_new = !file.exists;
        (file.exists, file.kind, file.size) = (true, kind, size);
        if is_new && kind == Kind::File {
            self.balance += 1;
            self.balance_max = self.balance_max.max(self.balance);
            self.add_name(path, below);
        }
    }

    /// Marks a name as existing before the trace, if it is not known.
    pub fn meet(&mut self, path: &[u8], below: &[u8], kind: Kind, size: Option<u64>) {
        let Some(file) = self.entry(path) else { return };
        let (was_there, had_size) = (file.exists, file.size.is_some());
        file.exists = true;
        file.size = size.or(file.size);
        if !was_there {
            file.kind = kind;
        }
        if file.kind != Kind::File {
            return;
        }
        if !was_there {
            self.earlier += 1;
            self.add_name(path, below);
        }
        if let (Some(size), false) = (size, had_size) {
            self.sizes.add(size);
        }
    }

    /// Sets the size of a file.
    pub fn resize(&mut self, path: &[u8], size: Option<u64>) {
        if let Some(file) = self.files.get_mut(&identify(path)) {
            file.size = size.or(file.size);
        }
    }

    /// Counts the size of a file that was created.
    pub fn add_size(&mut self, bytes: u64) {
        self.sizes.add(bytes);
    }

    pub fn remove(&mut self, path: &[u8]) {
        let Some(file) = self.entry(path) else { return };
        let was_file = file.exists && file.kind == Kind::File;
        file.exists = false;
        file.size = None;
        if was_file {
            self.balance -= 1;
            self.leave(path);
        }
    }

    /// Moves a name.
    pub fn rename(&mut self, from: &[u8], to: &[u8], below: &[u8]) {
        let moved = self.files.remove(&identify(from)).unwrap_or_default();
        let was_over = self.exists(to) == Some(true);
        let uses = self.files.get(&identify(to)).map(|file| file.uses);
        let Some(file) = self.entry(to) else { return };
        *file = File {
            exists: true,
            ..moved
        };
        // The popularity of a file is that of its name.
        if let Some([one, other]) = uses.filter(|_| was_over) {
            file.uses = [
                moved.uses[0].saturating_add(one),
                moved.uses[1].saturating_add(other),
            ];
        }
        if moved.kind != Kind::File {
            return;
        }
        self.earlier += u64::from(!moved.exists);
        self.balance -= i64::from(was_over);
        self.leave(from);
        if !was_over {
            self.add_name(to, below);
        }
    }

    /// Counts a use of an existing file for its popularity.
    pub fn use_file(&mut self, path: &[u8], times: u64) {
        // A pseudorandom half: even numbers could be uses of the same files.
        let turn = (identify(&self.uses.to_le_bytes()) % 2) as usize;
        let Some(file) = self.files.get_mut(&identify(path)) else {
            return;
        };
        if file.kind == Kind::File {
            let times = u32::try_from(times).unwrap_or(u32::MAX);
            file.uses[turn] = file.uses[turn].saturating_add(times);
            self.uses += 1;
        }
    }

    /// Counts an operation as successor of the previous operation on the same file.
    pub fn follow(&mut self, path: &[u8], action: Action) {
        let Some(file) = self.files.get_mut(&identify(path)) else {
            return;
        };
        if let Some(before) = file.last.replace(action) {
            *self.sequences.entry((before, action)).or_default() += 1;
        }
    }

    fn add_name(&mut self, path: &[u8], below: &[u8]) {
        let directory = parent(path);
        let name = path.len() - directory.len() - usize::from(directory != b"/");
        self.name_lengths.add(name as u64);
        let inside = match is_below(path, below) {
            true => &path[below.len()..],
            false => path,
        };
        let slashes = inside.iter().filter(|byte| **byte == b'/').count() as u64;
        self.depths
            .add(slashes.saturating_sub(u64::from(below != b"/")));
        let key = identify(directory);
        if self.directories.len() < FILES_MAX || self.directories.contains_key(&key) {
            let (now, most) = self.directories.entry(key).or_default();
            *now += 1;
            *most = (*most).max(*now);
        }
    }

    fn leave(&mut self, path: &[u8]) {
        if let Some((now, _)) = self.directories.get_mut(&identify(parent(path))) {
            *now = now.saturating_sub(1);
        }
    }

    /// Writes what is known about files to a profile.
    pub fn write(self, profile: &mut Profile, sequences_max: usize) {
        let count = self
            .earlier
            .saturating_add(u64::try_from(self.balance_max).unwrap_or(0));
        profile.files = Some(count);
        profile.popularity = self.popularity();
        let some = |distribution: Distribution| (distribution.count() > 0).then_some(distribution);
        profile.bytes = self.sizes.mean().map(|mean| (mean * count as f64) as u64);
        profile.sizes = some(self.sizes);
        profile.depths = some(self.depths);
        profile.name_lengths = some(self.name_lengths);
        let used = self.directories.values().filter(|(_, most)| *most > 0);
        let entries: Distribution = used.map(|(_, most)| u64::from(*most)).collect();
        profile.directories = Some(entries.count());
        profile.entries = some(entries);
        let mut sequences: Vec<learn::Sequence> = self
            .sequences
            .into_iter()
            .map(|((one, two), count)| learn::Sequence {
                operations: vec![one, two],
                count,
            })
            .collect();
        sequences.sort_by(|one, two| {
            let order = two.count.cmp(&one.count);
            order.then_with(|| one.operations.cmp(&two.operations))
        });
        sequences.truncate(sequences_max);
        profile.sequences = sequences;
    }

    /// The curve of popularity. Files are ranked by half of the uses, and the other half is
    /// counted. With the same uses for both, files that chance preferred would look popular.
    fn popularity(&self) -> Option<Popularity> {
        let files = self.files.values().filter(|file| file.kind == Kind::File);
        let mut uses: Vec<[u32; 2]> = files
            .map(|file| file.uses)
            .filter(|uses| *uses != [0, 0])
            .collect();
        let counted: u64 = uses.iter().map(|uses| u64::from(uses[1])).sum();
        if counted == 0 {
            return None;
        }
        let ranked = uses.len() as u64;
        // Equal ranks must not depend on the second number, so they are averaged below.
        uses.sort_unstable_by_key(|uses| std::cmp::Reverse(uses[0]));
        let mut curve = vec![(0.0, 0.0)];
        let (mut before, mut below) = (0_u64, 0_u64);
        for group in uses.chunk_by(|one, two| one[0] == two[0]) {
            before += group.len() as u64;
            below += group.iter().map(|uses| u64::from(uses[1])).sum::<u64>();
            let point = (before as f64 / ranked as f64, below as f64 / counted as f64);
            let is_last = before == ranked;
            let last = curve.last().copied().unwrap_or_default();
            if is_last || (point.0 - last.0) * POINTS as f64 >= 1.0 || curve.len() < 10 {
                curve.push(point);
            }
        }
        Some(Popularity {
            files: ranked,
            operations: self.uses,
            curve,
        })
    }
}
