//! From an intent to an operation on names: paths are written into buffers that are there already.

use std::ffi::CStr;

use engine::{Name, Operation};
use engines::PathBuffer;
use workload::layout::Layout;
use workload::names::{NameKind, Names, push_decimal};
use workload::{Action, Intent, Work};

/// The extended attribute that mixes set.
const EXTENDED: &CStr = c"user.postmark";
/// The modes that mixes set on files.
pub(crate) const SET_MODES: [u32; 2] = [0o600, 0o644];
/// Times that mixes set on files, in nanoseconds of the epoch: 2001-09-09.
const TIMES_NS: i64 = 1_000_000_000_000_000_000;

/// How a workload's files are called and where they lie.
#[derive(Clone, Debug)]
pub(crate) enum Naming {
    /// `17` or `s3/17`.
    Classic {
        /// Subdirectories of a location; 1 means none.
        subdirectories: u32,
    },
    /// As a mix says.
    Mix { layout: Layout, names: Names },
}

impl Naming {
    pub(crate) fn of(work: &Work) -> Self {
        match work {
            Work::Classic(classic) => Self::Classic {
                subdirectories: classic.subdirectories,
            },
            Work::Mix(mix) => Self::Mix {
                layout: mix.layout,
                names: mix.names,
            },
        }
    }

    /// Places of one location.
    pub(crate) fn places(&self) -> u32 {
        match self {
            Self::Classic { subdirectories } => *subdirectories,
            Self::Mix { layout, .. } => layout.places(),
        }
    }

    /// Whether locations have directories.
    pub(crate) fn has_directories(&self) -> bool {
        match self {
            Self::Classic { subdirectories } => *subdirectories > 1,
            Self::Mix { layout, .. } => layout.directory_count() > 0,
        }
    }

    /// The directories of a location, parents first.
    pub(crate) fn directories(&self) -> Vec<Vec<u8>> {
        match self {
            Self::Classic { subdirectories: 1 } => Vec::new(),
            Self::Classic { subdirectories } => (0..*subdirectories)
                .map(|number| format!("s{number}").into_bytes())
                .collect(),
            Self::Mix { layout, .. } => layout.directories().collect(),
        }
    }

    /// The directory that holds the files of a place, with its separator behind it; empty for the
    /// location itself.
    fn write_directory(&self, place: u32, kind: NameKind, to: &mut Vec<u8>) {
        match self {
            Self::Classic { subdirectories: 1 } => {}
            Self::Classic { .. } => {
                to.push(b's');
                push_decimal(place.into(), 1, to);
                to.push(b'/');
            }
            Self::Mix { layout, .. } if kind == NameKind::Temporary => {
                layout.write_temporary_directory(place, to)
            }
            Self::Mix { layout, .. } => layout.write_files_directory(place, to),
        }
    }

    /// A name without its directory.
    #[inline]
    pub(crate) fn write_name(&self, kind: NameKind, number: u64, to: &mut Vec<u8>) {
        match self {
            Self::Classic { .. } => push_decimal(number, 1, to),
            Self::Mix { names, .. } => names.write(kind, number, to),
        }
    }
}

/// Writes the names of one worker's operations.
#[derive(Clone, Debug)]
pub(crate) struct Namer {
    naming: Naming,
    places: u32,
    /// By location: for the name that an operation is done to, and for the second name that some
    /// have.
    first: Vec<PathBuffer>,
    second: Vec<PathBuffer>,
    /// What a symbolic link says, with a NUL.
    target: Vec<u8>,
    value: [u8; 16],
}

impl Namer {
    /// For the locations whose paths begin as these buffers do.
    pub(crate) fn new(naming: Naming, paths: Vec<PathBuffer>) -> Self {
        Self {
            places: naming.places(),
            naming,
            second: paths.clone(),
            first: paths,
            target: Vec::with_capacity(256),
            value: *b"postmark 0000000",
        }
    }

    pub(crate) fn naming(&self) -> &Naming {
        &self.naming
    }

    /// Places of all locations together.
    pub(crate) fn places(&self) -> u32 {
        self.places * self.first.len() as u32
    }

    /// The name of a thing in a place.
    #[inline]
    pub(crate) fn name(&mut self, place: u32, kind: NameKind, number: u64) -> Name<'_> {
        let (location, inner) = split(place, self.places);
        write(&mut self.first, &self.naming, location, inner, kind, number)
    }

    /// The directory that holds the files of a place.
    pub(crate) fn directory(&mut self, place: u32) -> Name<'_> {
        let (location, inner) = split(place, self.places);
        let naming = &self.naming;
        self.first[location].with(|bytes| {
            let before = bytes.len();
            naming.write_directory(inner, NameKind::File, bytes);
            if bytes.len() > before {
                bytes.pop();
            }
        })
    }

    /// A directory of a location.
    pub(crate) fn relative(&mut self, location: usize, directory: &[u8]) -> Name<'_> {
        self.first[location].with(|bytes| bytes.extend_from_slice(directory))
    }

    /// The operation that an intent is.
    #[inline]
    pub(crate) fn operation<'a>(&'a mut self, intent: &Intent, content: &'a [u8]) -> Operation<'a> {
        let (location, inner) = split(intent.place, self.places);
        let naming = &self.naming;
        let kind = intent.action.named();
        if let Action::List | Action::ListWithStat = intent.action {
            let name = self.directory(intent.place);
            return if intent.action == Action::List {
                Operation::List { name }
            } else {
                Operation::ListWithStat { name }
            };
        }
        let name = write(
            &mut self.first,
            naming,
            location,
            inner,
            kind,
            intent.number,
        );
        match intent.action {
            Action::Create => return Operation::Create { name, content },
            Action::Append => return Operation::Append { name, content },
            Action::Overwrite => return Operation::Overwrite { name, content },
            Action::Read => {
                return Operation::Read {
                    name,
                    bytes: intent.bytes,
                };
            }
            Action::ReadRange => {
                return Operation::ReadRange {
                    name,
                    offset: intent.offset_bytes,
                    bytes: intent.bytes,
                };
            }
            Action::Truncate => {
                return Operation::Truncate {
                    name,
                    bytes: intent.bytes,
                };
            }
            Action::Stat => {
                return Operation::Stat {
                    name,
                    bytes: Some(intent.size_bytes),
                };
            }
            Action::SetAttributes => {
                return Operation::SetAttributes {
                    name,
                    mode: SET_MODES[usize::from(intent.other != 0)],
                    times_ns: TIMES_NS,
                };
            }
            Action::MakeDirectory => return Operation::MakeDirectory { name },
            Action::RemoveDirectory => return Operation::RemoveDirectory { name },
            Action::SetExtended | Action::GetExtended => {
                self.value[9..].copy_from_slice(&intent.file.to_le_bytes()[..7]);
                let value = &self.value;
                return if intent.action == Action::SetExtended {
                    Operation::SetExtended {
                        name,
                        key: EXTENDED,
                        value,
                    }
                } else {
                    Operation::GetExtended {
                        name,
                        key: EXTENDED,
                        value,
                    }
                };
            }
            _ => {}
        }
        let second = &mut self.second;
        match intent.action {
            Action::Rename => Operation::Rename {
                name,
                to: write(
                    second,
                    naming,
                    location,
                    inner,
                    NameKind::File,
                    intent.other,
                ),
            },
            Action::Link => Operation::Link {
                name,
                to: write(
                    second,
                    naming,
                    location,
                    inner,
                    NameKind::Link,
                    intent.other,
                ),
            },
            Action::Replace => Operation::Replace {
                name,
                temporary: write(
                    second,
                    naming,
                    location,
                    inner,
                    NameKind::Temporary,
                    intent.number,
                ),
                content,
            },
            Action::Deliver => Operation::Deliver {
                temporary: write(
                    second,
                    naming,
                    location,
                    inner,
                    NameKind::Temporary,
                    intent.number,
                ),
                name,
                content,
            },
            Action::SymbolicLink => {
                let target = write_target(&mut self.target, naming, intent.number);
                let name = write(
                    second,
                    naming,
                    location,
                    inner,
                    NameKind::SymbolicLink,
                    intent.other,
                );
                Operation::SymbolicLink { name, target }
            }
            Action::ReadLink => {
                let target = write_target(&mut self.target, naming, intent.other);
                Operation::ReadLink { name, target }
            }
            Action::Delete | Action::RemoveLink | Action::RemoveSymbolicLink => {
                Operation::Delete { name }
            }
            other => unreachable!("{other:?} was answered above, or is no operation"),
        }
    }
}

/// A place's location and its number in it.
#[inline]
fn split(place: u32, places: u32) -> (usize, u32) {
    if places == 1 {
        (place as usize, 0)
    } else {
        ((place / places) as usize, place % places)
    }
}

#[inline]
fn write<'a>(
    buffers: &'a mut [PathBuffer],
    naming: &Naming,
    location: usize,
    inner: u32,
    kind: NameKind,
    number: u64,
) -> Name<'a> {
    buffers[location].with(|bytes| {
        naming.write_directory(inner, kind, bytes);
        naming.write_name(kind, number, bytes);
    })
}

/// A symbolic link says the name of a file in its own directory.
fn write_target<'a>(target: &'a mut Vec<u8>, naming: &Naming, number: u64) -> &'a CStr {
    target.clear();
    naming.write_name(NameKind::File, number, target);
    target.push(0);
    CStr::from_bytes_with_nul(target).expect("a name has no NUL in it")
}
