//! Converts intents (abstract operations of a workload) into operations on paths. Paths are written
//! into existing buffers, without allocation.

use std::ffi::CStr;
use std::sync::Arc;

use engine::{Listing, Name, NameWriter, Operation};
use engines::PathBuffer;
use workload::layout::{Layout, Shape};
use workload::names::{NameKind, Names};
use workload::{Action, Intent, Mix, Work};

/// The extended attribute that [`Action::SetExtended`] sets.
const EXTENDED: &CStr = c"user.postmark";
/// The file modes that [`Action::SetAttributes`] sets. Installations set the second of these modes.
pub(crate) const SET_MODES: [u32; 2] = [0o600, 0o644];
/// The file time that [`Action::SetAttributes`] and installations set: 2001-09-09, in nanoseconds
/// since the Unix epoch.
const TIMES_NS: i64 = 1_000_000_000_000_000_000;
/// The bytes that are written to each lock file.
const LOCK_FILE: &[u8] = b"postmark";

/// The scheme of a workload's file names and directories.
#[derive(Clone, Debug)]
pub(crate) enum Naming {
    /// Paths such as `17` or `s3/17`, as in the original PostMark.
    Classic {
        /// Number of subdirectories of a location; 1 means that files are in the location itself.
        subdirectories: u32,
    },
    /// Paths in the directories of `layout`, with the names of a mix. In a replay, the directories
    /// have the paths of `replayed`, each with a final slash.
    Mix {
        layout: Layout,
        names: Names,
        replayed: Option<Arc<[Vec<u8>]>>,
        trees: TreeNaming,
    },
}

/// The places and the subdirectories of trees, which are copies of directories of the pool.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TreeNaming {
    /// The number of levels by which a directory that is copied is above the directories with
    /// files.
    levels: u32,
    /// The number of levels of subdirectories in a copy, which is higher in a maildir.
    levels_below: u32,
    /// The names of all subdirectories in a copy.
    names_below: Listing,
}

impl TreeNaming {
    fn of(mix: &Mix) -> Self {
        let (layout, levels) = (mix.layout, mix.tree_levels);
        Self {
            levels,
            levels_below: layout.levels_below(levels),
            names_below: layout.names_below(levels),
        }
    }
}

impl Naming {
    pub(crate) fn of(work: &Work) -> Self {
        match work {
            Work::Classic(classic) => Self::Classic {
                subdirectories: classic.subdirectories,
            },
            Work::Mix(mix) => {
                let (layout, names) = (mix.layout, mix.names);
                let replay = mix.replay.as_ref().filter(|_| layout.shape != Shape::Flat);
                let steps = replay.and_then(|replay| replay.loaded.steps().ok());
                Self::Mix {
                    layout,
                    names,
                    replayed: steps.map(|steps| steps.paths().into()),
                    trees: TreeNaming::of(mix),
                }
            }
        }
    }

    /// The directories that a directory of the pool contains, as pairs of its number and a name.
    pub(crate) fn inner_directories(&self) -> impl Iterator<Item = (u32, Vec<u8>)> {
        let paths = match self {
            // In a maildir, they are beside the directories with files.
            Self::Mix {
                replayed: Some(paths),
                layout,
                ..
            } if !layout.maildir => Arc::clone(paths),
            _ => Arc::default(),
        };
        let parent = |path: &[u8]| {
            let mut names = path.split(|byte| *byte == b'/').rev().skip(1);
            let name = names.next()?.to_vec();
            let above = std::str::from_utf8(names.next()?.get(1..)?).ok()?;
            Some((above.parse().ok()?, name))
        };
        let inner: Vec<_> = paths.iter().filter_map(|path| parent(path)).collect();
        inner.into_iter()
    }

    /// Number of pool directories of one location.
    pub(crate) fn places(&self) -> u32 {
        match self {
            Self::Classic { subdirectories } => *subdirectories,
            Self::Mix { layout, .. } => layout.places(),
        }
    }

    pub(crate) fn has_directories(&self) -> bool {
        match self {
            Self::Classic { subdirectories } => *subdirectories > 1,
            Self::Mix { layout, .. } => layout.directory_count() > 0,
        }
    }

    /// Paths of the subdirectories of a location, in an order in which parents precede their
    /// children.
    pub(crate) fn directories(&self) -> Vec<Vec<u8>> {
        match self {
            Self::Classic { subdirectories: 1 } => Vec::new(),
            Self::Classic { subdirectories } => (0..*subdirectories)
                .map(|number| format!("s{number}").into_bytes())
                .collect(),
            Self::Mix {
                replayed: Some(paths),
                layout,
                ..
            } => {
                let parts = match layout.maildir {
                    true => &[&b""[..], Layout::NEW, Layout::TEMPORARY][..],
                    false => &[&b""[..]][..],
                };
                let all = paths.iter().flat_map(|path| {
                    let part = |part: &&[u8]| [path.as_slice(), *part].concat();
                    parts.iter().map(part)
                });
                let without_slash = |mut path: Vec<u8>| {
                    path.pop();
                    path
                };
                all.map(without_slash).collect()
            }
            Self::Mix { layout, .. } => layout.directories().collect(),
        }
    }

    /// Whether directories with files contain the names of this kind. Trees with subdirectories are
    /// in directories above those.
    pub(crate) fn is_beside_files(&self, kind: NameKind) -> bool {
        kind != NameKind::Tree || self.trees().levels == 0
    }

    fn trees(&self) -> TreeNaming {
        match self {
            Self::Classic { .. } => TreeNaming::default(),
            Self::Mix { trees, .. } => *trees,
        }
    }

    /// Writes the path of the directory for names of `kind`, with a trailing slash. The directory
    /// is a pool directory or, in a maildir layout, the subdirectory `new` or `tmp` of a pool
    /// directory. For a tree, it is the directory that the tree copies. Writes nothing if the files
    /// are in the location itself.
    // Always inlined, because this function is a single branch for most workloads, and the compiler
    // may otherwise emit a call.
    #[inline(always)]
    fn write_directory(&self, place: u32, kind: NameKind, to: &mut NameWriter<'_>) {
        match self {
            Self::Classic { subdirectories: 1 } => {}
            Self::Classic { .. } => {
                to.push(b's');
                to.push_decimal(place.into(), 1);
                to.push(b'/');
            }
            Self::Mix {
                replayed: Some(paths),
                layout,
                ..
            } => write_replayed(paths, layout.maildir, place, kind, to),
            Self::Mix { layout, .. } if kind == NameKind::Temporary => {
                layout.write_temporary_directory(place, to)
            }
            Self::Mix { layout, trees, .. } if kind == NameKind::Tree => {
                layout.write_above(place, trees.levels, to)
            }
            Self::Mix { layout, .. } => layout.write_files_directory(place, to),
        }
    }

    /// Splits the number of a pool directory into the index of its location and the number within
    /// that location. `places` is the number of pool directories of a location.
    #[inline]
    fn at(&self, place: u32, places: u32) -> PlaceOfName<'_> {
        let (location, inner) = match places {
            1 => (place, 0),
            _ => (place / places, place % places),
        };
        PlaceOfName {
            naming: self,
            location: location as usize,
            inner,
        }
    }

    /// Writes a name without its directory.
    #[inline]
    pub(crate) fn write_name(&self, kind: NameKind, number: u64, to: &mut NameWriter<'_>) {
        match self {
            Self::Classic { .. } => to.push_decimal(number, 1),
            Self::Mix { names, .. } => names.write(kind, number, to),
        }
    }
}

/// Writes the path of a directory of a replay. Not inlined, because it would slow other workloads.
#[inline(never)]
fn write_replayed(
    paths: &[Vec<u8>],
    is_maildir: bool,
    place: u32,
    kind: NameKind,
    to: &mut NameWriter<'_>,
) {
    to.extend(paths.get(place as usize).map_or(b"", Vec::as_slice));
    match is_maildir {
        true if kind == NameKind::Temporary => to.extend(Layout::TEMPORARY),
        true => to.extend(Layout::NEW),
        false => {}
    }
}

/// Builds the names of one worker's operations.
#[derive(Clone, Debug)]
pub(crate) struct Namer {
    naming: Naming,
    places: u32,
    /// Path buffers, one for each location. `first` is for the first name of an operation, and
    /// `second` is for the second name, such as the target of a rename.
    first: Vec<PathBuffer>,
    second: Vec<PathBuffer>,
    /// Buffer for the target of a symbolic link.
    target: PathBuffer,
    value: [u8; 16],
}

impl Namer {
    /// `paths` contains the path of each location.
    pub(crate) fn new(naming: Naming, paths: Vec<PathBuffer>) -> Self {
        Self {
            places: naming.places(),
            naming,
            second: paths.clone(),
            first: paths,
            target: PathBuffer::default(),
            value: *b"postmark 0000000",
        }
    }

    pub(crate) fn naming(&self) -> &Naming {
        &self.naming
    }

    /// Number of pool directories of all locations together.
    pub(crate) fn places(&self) -> u32 {
        self.places * self.first.len() as u32
    }

    /// Builds the path of a name in a pool directory.
    #[inline]
    pub(crate) fn name(&mut self, place: u32, kind: NameKind, number: u64) -> Name<'_> {
        let place = self.naming.at(place, self.places);
        place.write(&mut self.first, kind, number)
    }

    /// Builds the path of the copy of a file of a pool directory in the tree with number `tree`.
    pub(crate) fn in_tree(&mut self, place: u32, tree: u64, file: u64) -> Name<'_> {
        let place = self.naming.at(place, self.places);
        let PlaceOfName { naming, inner, .. } = place;
        self.first[place.location].with(|to| {
            naming.write_directory(inner, NameKind::Tree, to);
            naming.write_name(NameKind::Tree, tree, to);
            to.push(b'/');
            if let Naming::Mix { layout, trees, .. } = naming {
                layout.write_below(inner, trees.levels, to);
            }
            naming.write_name(NameKind::File, file, to);
        })
    }

    /// Whether a copy of the files in the pool directory `other` includes those in `place`.
    pub(crate) fn are_copied_together(&self, place: u32, other: u32) -> bool {
        let root = |place: u32| match &self.naming {
            Naming::Mix { layout, trees, .. } => place / layout.places_of_tree(trees.levels),
            Naming::Classic { .. } => place,
        };
        root(place) == root(other)
    }

    /// Builds the path of the directory that contains files. The directory is a pool directory or,
    /// in a maildir layout, the subdirectory `new` of a pool directory.
    pub(crate) fn directory(&mut self, place: u32) -> Name<'_> {
        let place = self.naming.at(place, self.places);
        self.first[place.location].with_directory(|to| {
            place
                .naming
                .write_directory(place.inner, NameKind::File, to);
        })
    }

    /// Builds the path of a subdirectory of a location.
    pub(crate) fn relative(&mut self, location: usize, directory: &[u8]) -> Name<'_> {
        self.first[location].with(|bytes| bytes.extend(directory))
    }

    #[inline]
    pub(crate) fn operation<'a>(&'a mut self, intent: &Intent, content: &'a [u8]) -> Operation<'a> {
        if intent.action.lists() {
            return self.listing(intent);
        }
        let place = self.naming.at(intent.place, self.places);
        let name = place.write(&mut self.first, intent.action.named(), intent.number);
        let (bytes, offset) = (intent.bytes, intent.offset_bytes);
        match intent.action {
            Action::Create => Operation::Create { name, content },
            Action::Append => Operation::Append { name, content },
            Action::Overwrite => Operation::Overwrite { name, content },
            Action::Read => Operation::Read { name, bytes },
            Action::ReadRange => Operation::ReadRange {
                name,
                offset,
                bytes,
            },
            Action::Truncate => Operation::Truncate { name, bytes },
            Action::Stat => Operation::Stat {
                name,
                bytes: Some(intent.size_bytes),
            },
            Action::SetAttributes => Operation::SetAttributes {
                name,
                mode: SET_MODES[usize::from(intent.other != 0)],
                times_ns: TIMES_NS,
            },
            Action::MakeDirectory => Operation::MakeDirectory { name },
            Action::RemoveDirectory => Operation::RemoveDirectory { name },
            Action::Delete | Action::RemoveLink | Action::RemoveSymbolicLink => {
                Operation::Delete { name }
            }
            Action::StatMissing => Operation::StatMissing { name },
            Action::OpenMissing => Operation::OpenMissing { name },
            Action::MakeDirectoryExisting => Operation::MakeDirectoryExisting { name },
            Action::OpenClose => Operation::OpenClose { name },
            Action::ReadMapped => Operation::ReadMapped { name, bytes },
            Action::Lock => Operation::Lock { name },
            Action::LockFile => Operation::LockFile {
                name,
                content: LOCK_FILE,
            },
            Action::Rewrite => Operation::Rewrite { name, content },
            Action::Install => Operation::Install {
                name,
                content,
                mode: SET_MODES[1],
                times_ns: TIMES_NS,
            },
            Action::SetExtended | Action::GetExtended => extended(intent, name, &mut self.value),
            Action::SymbolicLink | Action::ReadLink => {
                symbolic_link(intent, name, (&mut self.second, &mut self.target), place)
            }
            action if action.is_on_tree() => on_tree(intent, name, &mut self.second, place),
            _ => {
                let place = match intent.other_place {
                    None => place,
                    Some(other) => self.naming.at(other, self.places),
                };
                second_name(intent, name, content, &mut self.second, place)
            }
        }
    }

    #[inline]
    fn listing(&mut self, intent: &Intent) -> Operation<'_> {
        let name = self.directory(intent.place);
        if intent.action == Action::List {
            Operation::List { name }
        } else {
            Operation::ListWithStat { name }
        }
    }
}

/// Builds an operation on a tree, which is in the directory that is or was copied.
fn on_tree<'a>(
    intent: &Intent,
    name: Name<'a>,
    second: &'a mut [PathBuffer],
    place: PlaceOfName<'_>,
) -> Operation<'a> {
    let PlaceOfName { naming, inner, .. } = place;
    let trees = naming.trees();
    let (levels, bytes) = (trees.levels_below, intent.bytes);
    let entries = Listing {
        entries: intent.other + trees.names_below.entries,
        digest: intent.names_digest.wrapping_add(trees.names_below.digest),
    };
    if intent.action == Action::RemoveTree {
        return Operation::RemoveTree {
            name,
            entries,
            levels,
        };
    }
    // A tree is in the directory that it copies.
    let from = second[place.location]
        .with_directory(|to| naming.write_directory(inner, NameKind::Tree, to));
    match intent.action {
        Action::CloneTree => Operation::CloneTree {
            name,
            from,
            entries,
            levels,
        },
        Action::LinkTree => Operation::LinkTree {
            name,
            from,
            entries,
            levels,
        },
        _ => Operation::CopyTree {
            name,
            from,
            entries,
            levels,
            bytes,
        },
    }
}

#[inline]
fn extended<'a>(intent: &Intent, name: Name<'a>, value: &'a mut [u8; 16]) -> Operation<'a> {
    value[9..].copy_from_slice(&intent.file.to_le_bytes()[..7]);
    let (key, value) = (EXTENDED, &*value);
    if intent.action == Action::SetExtended {
        Operation::SetExtended { name, key, value }
    } else {
        Operation::GetExtended { name, key, value }
    }
}

/// Builds the operation that creates or reads a symbolic link. The target of the link is a file in
/// the same directory.
#[inline]
fn symbolic_link<'a>(
    intent: &Intent,
    name: Name<'a>,
    (second, target): (&'a mut [PathBuffer], &'a mut PathBuffer),
    place: PlaceOfName<'_>,
) -> Operation<'a> {
    let is_new = intent.action == Action::SymbolicLink;
    let file = if is_new { intent.number } else { intent.other };
    let write = |to: &mut NameWriter<'_>| place.naming.write_name(NameKind::File, file, to);
    let target = target.with(write).path;
    if is_new {
        let name = place.write(second, NameKind::SymbolicLink, intent.other);
        Operation::SymbolicLink { name, target }
    } else {
        Operation::ReadLink { name, target }
    }
}

/// Builds an operation that has a second name.
#[inline]
fn second_name<'a>(
    intent: &Intent,
    name: Name<'a>,
    content: &'a [u8],
    second: &'a mut [PathBuffer],
    place: PlaceOfName<'_>,
) -> Operation<'a> {
    let kind = match intent.action {
        Action::Rename
        | Action::Copy
        | Action::Clone
        | Action::InstallCopy
        | Action::InstallClone => NameKind::File,
        Action::Link | Action::InstallLink => NameKind::Link,
        Action::Replace | Action::Deliver => NameKind::Temporary,
        other => unreachable!("{other:?} has one name, or is no operation"),
    };
    let number = match kind {
        NameKind::Temporary => intent.number,
        _ => intent.other,
    };
    let second = place.write(second, kind, number);
    match intent.action {
        Action::Rename => Operation::Rename { name, to: second },
        Action::Link => Operation::Link { name, to: second },
        Action::InstallLink => Operation::InstallLink { name, to: second },
        Action::Copy => Operation::Copy {
            name,
            from: second,
            bytes: intent.bytes,
        },
        Action::Clone => Operation::Clone {
            name,
            from: second,
            bytes: intent.bytes,
        },
        Action::InstallCopy => Operation::InstallCopy {
            name,
            from: second,
            bytes: intent.bytes,
            mode: SET_MODES[1],
            times_ns: TIMES_NS,
        },
        Action::InstallClone => Operation::InstallClone {
            name,
            from: second,
            bytes: intent.bytes,
            mode: SET_MODES[1],
            times_ns: TIMES_NS,
        },
        Action::Replace => Operation::Replace {
            name,
            temporary: second,
            content,
        },
        _ => Operation::Deliver {
            temporary: second,
            name,
            content,
        },
    }
}

/// The directory of a name: the index of its location, and the number of the pool directory within
/// that location.
#[derive(Clone, Copy)]
struct PlaceOfName<'a> {
    naming: &'a Naming,
    location: usize,
    inner: u32,
}

impl PlaceOfName<'_> {
    #[inline]
    fn write<'b>(&self, buffers: &'b mut [PathBuffer], kind: NameKind, number: u64) -> Name<'b> {
        buffers[self.location].with(|bytes| {
            self.naming.write_directory(self.inner, kind, bytes);
            self.naming.write_name(kind, number, bytes);
        })
    }
}
