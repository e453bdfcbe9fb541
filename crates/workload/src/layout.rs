//! The directories of a pool. A place is a directory that contains files, identified by its number
//! from 0.

use std::fmt;
use std::str::FromStr;

use engine::{Listing, NameWriter};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::WorkloadError;
use crate::names::parse_decimal;
use crate::quantity;

/// The largest number of directories for files in one target.
pub const PLACES_MAX: u32 = 1 << 24;
pub const DEPTH_MAX: u32 = 64;

/// The shape of the directory tree. Serialised as its text form, such as `tree:10x3`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(extend("pattern" = "^(flat|subdirs:[0-9]+|tree:[0-9]+x[0-9]+)$"))]
pub enum Shape {
    /// Files are created directly in the target.
    #[default]
    Flat,
    /// Files are created in subdirectories: `s0/`, `s1/` and so on. The value is the number of
    /// subdirectories.
    Subdirectories(u32),
    /// Files are created in the leaf directories of a tree, such as `s3/s0/s7/`.
    Tree {
        /// The number of subdirectories in every directory that is not a leaf.
        width: u32,
        /// The number of levels of directories above a file.
        depth: u32,
    },
}

/// The directories of a target: the tree, the limit of entries, and whether they are maildirs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Layout {
    /// The directory tree: `flat`, `subdirs:100` or `tree:10x3`.
    pub shape: Shape,
    /// The largest number of entries in a directory that contains files; null or absent without a
    /// limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entries_max: Option<u64>,
    /// Whether every directory for files contains `tmp/` for temporary files and `new/` for all
    /// other files.
    #[serde(default)]
    pub maildir: bool,
}

impl Shape {
    /// Returns the number of directories on a level of the tree. The target is level 0.
    fn on_level(self, level: u32) -> u64 {
        u64::from(self.width()).saturating_pow(level)
    }

    fn width(self) -> u32 {
        match self {
            Self::Flat => 1,
            Self::Subdirectories(width) | Self::Tree { width, .. } => width,
        }
    }

    /// The number of levels of directories above a file.
    pub fn depth(self) -> u32 {
        match self {
            Self::Flat => 0,
            Self::Subdirectories(_) => 1,
            Self::Tree { depth, .. } => depth,
        }
    }

    /// Writes the path of the directory with number `index` on level `to_level`, relative to the
    /// directory above it on level `from_level`. Every name is followed by a slash.
    fn write(self, (from_level, to_level): (u32, u32), index: u32, to: &mut NameWriter<'_>) {
        let (width, index) = (u64::from(self.width().max(1)), u64::from(index));
        let mut unit = self.on_level((to_level - from_level).saturating_sub(1));
        for _ in from_level..to_level {
            to.push(b's');
            to.push_decimal(index / unit % width, 1);
            to.push(b'/');
            unit = (unit / width).max(1);
        }
    }
}

impl Layout {
    /// Name of the subdirectory for files in a maildir.
    pub const NEW: &[u8] = b"new/";
    /// Name of the subdirectory for temporary files in a maildir.
    pub const TEMPORARY: &[u8] = b"tmp/";

    pub fn places(&self) -> u32 {
        u32::try_from(self.shape.on_level(self.shape.depth())).unwrap_or(u32::MAX)
    }

    /// Checks that the numbers of directories, levels and entries are within their limits.
    pub fn validate(&self) -> Result<(), WorkloadError> {
        let shape = self.shape;
        ensure!(
            shape.width() > 0 && (shape.depth() > 0 || shape == Shape::Flat),
            "invalid layout '{shape}': expected at least 1 directory and 1 level, or flat"
        );
        ensure!(
            shape.depth() <= DEPTH_MAX,
            "invalid layout '{shape}': too many levels (at most {DEPTH_MAX})"
        );
        ensure!(
            self.places() <= PLACES_MAX,
            "invalid layout '{shape}': too many directories (at most {PLACES_MAX})"
        );
        ensure!(
            self.entries_max != Some(0),
            "invalid value '0' for the maximum number of entries: expected at least 1"
        );
        Ok(())
    }

    /// Appends the path of the directory with number `place`, relative to the target and with a
    /// final slash. Appends nothing if this directory is the target itself.
    #[inline]
    pub fn write_place(&self, place: u32, to: &mut NameWriter<'_>) {
        // For a flat layout, the most common one, `write` would append nothing, so the call is
        // omitted.
        if self.shape != Shape::Flat {
            self.shape.write((0, self.shape.depth()), place, to);
        }
    }

    /// Appends the path of the directory that contains the files of directory number `place`. In a
    /// maildir layout, this is its subdirectory `new/`, otherwise the directory itself.
    #[inline]
    pub fn write_files_directory(&self, place: u32, to: &mut NameWriter<'_>) {
        self.write_place(place, to);
        if self.maildir {
            to.extend(Self::NEW);
        }
    }

    /// Appends the path of the directory that contains the temporary files of directory number
    /// `place`. In a maildir layout, this is its subdirectory `tmp/`, otherwise the directory
    /// itself.
    #[inline]
    pub fn write_temporary_directory(&self, place: u32, to: &mut NameWriter<'_>) {
        self.write_place(place, to);
        if self.maildir {
            to.extend(Self::TEMPORARY);
        }
    }

    /// The number of directories for files in a tree with `levels` levels of subdirectories.
    pub fn places_of_tree(&self, levels: u32) -> u32 {
        u32::try_from(self.shape.on_level(levels)).unwrap_or(u32::MAX)
    }

    /// Appends the path of the directory that is `levels` levels above the directory with number
    /// `place`. Without levels, this is the directory that contains its files.
    pub fn write_above(&self, place: u32, levels: u32, to: &mut NameWriter<'_>) {
        if levels == 0 {
            return self.write_files_directory(place, to);
        }
        let level = self.shape.depth() - levels;
        self.shape
            .write((0, level), place / self.places_of_tree(levels), to);
    }

    /// Appends the path of the directory that contains the files of directory number `place`,
    /// relative to the directory that [`write_above`](Self::write_above) names.
    pub fn write_below(&self, place: u32, levels: u32, to: &mut NameWriter<'_>) {
        if levels == 0 {
            return;
        }
        let depth = self.shape.depth();
        self.shape.write((depth - levels, depth), place, to);
        if self.maildir {
            to.extend(Self::NEW);
        }
    }

    /// The number of levels of subdirectories that a copy with `levels` levels of the tree's
    /// directories has. A maildir has one more.
    pub fn levels_below(&self, levels: u32) -> u32 {
        levels + u32::from(self.maildir && levels > 0)
    }

    /// The names of all subdirectories of a tree with `levels` levels.
    pub fn names_below(&self, levels: u32) -> Listing {
        let mut names = Listing::default();
        if levels == 0 {
            return names;
        }
        let mut add = |more: Listing, times: u64| {
            names.entries += more.entries * times;
            let digest = more.digest.wrapping_mul(times);
            names.digest = names.digest.wrapping_add(digest);
        };
        let mut inner = Listing::default();
        for index in 0..self.shape.width() {
            inner.add(format!("s{index}").as_bytes());
        }
        for level in 0..levels {
            add(inner, self.shape.on_level(level));
        }
        if self.maildir {
            let mut mail = Listing::default();
            mail.add(b"new");
            mail.add(b"tmp");
            add(mail, self.places_of_tree(levels).into());
        }
        names
    }

    /// Returns the paths of all directories, without a final slash. Each directory precedes its
    /// subdirectories.
    pub fn directories(&self) -> impl Iterator<Item = Vec<u8>> + use<> {
        let layout = *self;
        let shape = layout.shape;
        let levels = (1..=shape.depth()).flat_map(move |level| {
            let count = u32::try_from(shape.on_level(level)).unwrap_or(u32::MAX);
            (0..count).map(move |index| {
                let mut path = Vec::new();
                shape.write((0, level), index, &mut NameWriter::new(&mut path));
                path
            })
        });
        let mail_places = if layout.maildir { layout.places() } else { 0 };
        let mail = (0..mail_places).flat_map(move |place| {
            let mut paths = [Vec::new(), Vec::new()];
            layout.write_files_directory(place, &mut NameWriter::new(&mut paths[0]));
            layout.write_temporary_directory(place, &mut NameWriter::new(&mut paths[1]));
            paths
        });
        levels.chain(mail).map(|mut path| {
            path.pop();
            path
        })
    }

    /// Returns the number of directories without the target itself.
    pub fn directory_count(&self) -> u64 {
        let levels: u64 = (1..=self.shape.depth())
            .map(|level| self.shape.on_level(level))
            .fold(0, u64::saturating_add);
        levels.saturating_add(if self.maildir {
            2 * u64::from(self.places())
        } else {
            0
        })
    }

    /// Returns whether this layout may contain a directory with this name.
    pub fn is_directory_name(&self, name: &[u8]) -> bool {
        if self.maildir && (name == b"new" || name == b"tmp") {
            return true;
        }
        let Some(digits) = name.strip_prefix(b"s") else {
            return false;
        };
        let is_plain = digits == b"0" || !digits.starts_with(b"0");
        self.shape != Shape::Flat
            && is_plain
            && parse_decimal(digits).is_some_and(|number| number < u64::from(self.shape.width()))
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flat => f.write_str("flat"),
            Self::Subdirectories(count) => write!(f, "subdirs:{count}"),
            Self::Tree { width, depth } => write!(f, "tree:{width}x{depth}"),
        }
    }
}

impl FromStr for Shape {
    type Err = WorkloadError;

    /// Accepts `flat`, `subdirs:100`, and `tree:10x3`.
    fn from_str(text: &str) -> Result<Self, WorkloadError> {
        let text = text.trim();
        let number = |digits: &str| {
            quantity::count(digits)
                .ok()
                .and_then(|count| u32::try_from(count).ok())
        };
        let shape = if text == "flat" {
            Some(Self::Flat)
        } else if let Some(count) = text.strip_prefix("subdirs:") {
            number(count).map(Self::Subdirectories)
        } else {
            text.strip_prefix("tree:")
                .and_then(|sides| sides.split_once('x'))
                .and_then(|(width, depth)| Some((number(width)?, number(depth)?)))
                .map(|(width, depth)| Self::Tree { width, depth })
        };
        let shape = shape.ok_or_else(|| {
            invalid!("expected flat, subdirs:100 or tree:10x3 (10 subdirectories each, 3 levels)")
        })?;
        let layout = Layout {
            shape,
            ..Layout::default()
        };
        layout.validate()?;
        Ok(shape)
    }
}

text_form!(Shape);

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn layout(shape: &str, maildir: bool) -> Layout {
        Layout {
            shape: shape.parse().unwrap(),
            entries_max: None,
            maildir,
        }
    }

    fn place(shape: &str, place: u32) -> String {
        let mut path = Vec::new();
        layout(shape, false).write_place(place, &mut NameWriter::new(&mut path));
        String::from_utf8(path).unwrap()
    }

    #[test]
    fn directories_for_files_have_the_expected_paths() {
        assert_eq!(place("flat", 0), "");
        assert_eq!(place("subdirs:100", 12), "s12/");
        assert_eq!(place("tree:10x3", 307), "s3/s0/s7/");
        assert_eq!(place("tree:10x3", 0), "s0/s0/s0/");
        assert_eq!(place("tree:1x2", 0), "s0/s0/");
        assert_eq!(place("tree:256x3", (1 << 24) - 1), "s255/s255/s255/");
        let mut path = b"/mnt/".to_vec();
        let to = &mut NameWriter::new(&mut path);
        layout("subdirs:5", true).write_files_directory(4, to);
        layout("flat", true).write_temporary_directory(0, to);
        layout("flat", false).write_temporary_directory(0, to);
        assert_eq!(path, b"/mnt/s4/new/tmp/");
    }

    /// The directory that is copied and the path below it are together the path of the files.
    #[test]
    fn directories_of_trees_have_the_expected_paths_and_names() {
        for (shape, maildir, levels, expected) in [
            ("flat", false, 0, ("", "", 0)),
            ("subdirs:12", false, 0, ("s7/", "", 0)),
            ("subdirs:12", false, 1, ("", "s7/", 12)),
            ("tree:3x3", false, 1, ("s0/s2/", "s1/", 3)),
            ("tree:3x3", false, 2, ("s0/", "s2/s1/", 12)),
            ("tree:3x3", false, 3, ("", "s0/s2/s1/", 39)),
            ("subdirs:12", true, 0, ("s7/new/", "", 0)),
            ("subdirs:12", true, 1, ("", "s7/new/", 36)),
        ] {
            let layout = layout(shape, maildir);
            let written = |write: fn(&Layout, u32, u32, &mut NameWriter<'_>)| {
                let mut path = Vec::new();
                let place = layout.places().min(8) - 1;
                write(&layout, place, levels, &mut NameWriter::new(&mut path));
                String::from_utf8(path).unwrap()
            };
            let above = written(Layout::write_above);
            let below = written(Layout::write_below);
            let names = layout.names_below(levels);
            assert_eq!(
                (&*above, &*below, names.entries),
                expected,
                "{shape} {levels}"
            );
            // The names are those of all directories below the one that is copied.
            let mut listed = Listing::default();
            for directory in layout.directories() {
                let path = String::from_utf8(directory).unwrap();
                let is_below = path
                    .strip_prefix(&above)
                    .is_some_and(|rest| !rest.is_empty());
                if levels > 0 && is_below {
                    listed.add(path.rsplit('/').next().unwrap().as_bytes());
                }
            }
            assert_eq!(names, listed, "{shape} {levels}");
        }
    }

    #[test]
    fn list_of_directories_is_complete_and_starts_with_parents() {
        for shape in [
            "flat",
            "subdirs:1",
            "subdirs:12",
            "tree:3x3",
            "tree:1x5",
            "tree:7x1",
            "tree:2x10",
        ] {
            for maildir in [false, true] {
                let layout = layout(shape, maildir);
                let mut made: HashSet<Vec<u8>> = HashSet::from([Vec::new()]);
                for directory in layout.directories() {
                    let (parent, name) = match directory.iter().rposition(|byte| *byte == b'/') {
                        Some(slash) => (&directory[..slash], &directory[slash + 1..]),
                        None => (&[][..], &directory[..]),
                    };
                    assert!(
                        made.contains(parent),
                        "{shape}: {directory:?} before its parent"
                    );
                    assert!(layout.is_directory_name(name));
                    assert!(made.insert(directory.clone()), "{shape}: twice");
                }
                assert_eq!(made.len() as u64 - 1, layout.directory_count(), "{shape}");
                let mut places = HashSet::new();
                for place in 0..layout.places() {
                    for write in [
                        Layout::write_files_directory,
                        Layout::write_temporary_directory,
                    ] {
                        let mut path = Vec::new();
                        write(&layout, place, &mut NameWriter::new(&mut path));
                        path.pop();
                        assert!(made.contains(&path), "{shape}: no {path:?}");
                        places.insert(path);
                    }
                }
                assert_eq!(
                    places.len() as u32,
                    layout.places() * if maildir { 2 } else { 1 }
                );
            }
        }
    }

    #[test]
    fn only_names_of_the_layout_are_directory_names() {
        let tree = layout("tree:10x3", false);
        for name in ["s0", "s9"] {
            assert!(tree.is_directory_name(name.as_bytes()), "{name}");
        }
        for name in [
            "", "s", "s10", "s00", "s01", "s-1", "S1", "s1 ", "t1", "1", "new", "tmp",
        ] {
            assert!(!tree.is_directory_name(name.as_bytes()), "{name}");
        }
        let mail = layout("flat", true);
        assert!(mail.is_directory_name(b"new") && mail.is_directory_name(b"tmp"));
        assert!(!mail.is_directory_name(b"cur") && !mail.is_directory_name(b"s0"));
    }

    #[test]
    fn layout_shapes_parse_and_print() {
        for text in [
            "flat",
            "subdirs:1",
            "subdirs:16777216",
            "tree:10x3",
            "tree:1x64",
            "tree:2x24",
        ] {
            assert_eq!(text.parse::<Shape>().unwrap().to_string(), text);
        }
        assert_eq!("subdirs:1k".parse(), Ok(Shape::Subdirectories(1_000)));
        for (text, part) in [
            ("", "expected flat"),
            ("subdirs", "subdirs:100"),
            ("subdirs:x", "subdirs:100"),
            ("tree:10", "10 subdirectories each, 3 levels"),
            ("subdirs:0", "at least 1 directory"),
            ("tree:0x3", "at least 1 directory"),
            ("tree:3x0", "at least 1 directory"),
            ("tree:1x65", "at most 64"),
            ("tree:2x25", "at most 16777216"),
            ("tree:4000000000x60", "at most 16777216"),
            ("subdirs:16777217", "at most 16777216"),
        ] {
            let message = text.parse::<Shape>().unwrap_err().to_string();
            assert!(message.contains(part), "{text}: {message}");
        }
        let none = Layout {
            entries_max: Some(0),
            ..Layout::default()
        };
        assert!(none.validate().is_err());
    }
}
