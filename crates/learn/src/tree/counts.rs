//! Counts what a walk finds.

use document::units::shortened;
use rustix::fs::Statx;
use rustix::io::Errno;

use super::equal_sizes::EqualSizes;
use super::open::Identity;
use super::reservoir::Reservoir;
use crate::contents::ContentSample;
use crate::distribution::Distribution;
use crate::profile::{LeftOut, Profile, Source};

/// Bytes of a part of a file in the sample.
pub(super) const PART_BYTES: u64 = 1 << 16;
/// Parts in the sample, which has at most 64 MiB.
const PARTS_MAX: usize = 1 << 10;
/// Files with longer paths are not in the sample, so that it has at most 4 MiB of paths.
const PATH_MAX: usize = 1 << 12;
/// Characters of a path as an example.
const EXAMPLE_MAX: usize = 60;
/// `stx_blocks` counts blocks of this number of bytes.
const BLOCK_BYTES: u64 = 512;

/// Why something is not a part of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Skipped {
    /// A directory that cannot be opened, or of which only a part can be read.
    Unreadable,
    /// A name whose metadata cannot be read.
    Unexamined,
    /// A name that was removed before it was examined.
    Vanished,
    /// A socket, pipe or device.
    Special,
    /// A directory on which another file system is mounted.
    Mount,
    /// A directory that was visited already, under another path.
    Loop,
    /// A directory below too many others.
    TooDeep,
}

impl Skipped {
    const ALL: [(Self, &'static str); 7] = [
        (
            Self::Unreadable,
            "directories that could not be read (completely)",
        ),
        (Self::Unexamined, "names whose metadata could not be read"),
        (Self::Vanished, "names that were removed meanwhile"),
        (Self::Special, "sockets, pipes and devices"),
        (
            Self::Mount,
            "directories of other mounts (--cross-mounts includes them)",
        ),
        (Self::Loop, "directories that another path contains as well"),
        (Self::TooDeep, "directories below 511 levels of directories"),
    ];
}

/// A regular file.
pub(super) struct Found<'a> {
    /// The path of its directory from the root, with a slash at the end unless it is empty.
    pub directory: &'a [u8],
    pub name: &'a [u8],
    /// The number of directories between the root and the file.
    pub depth: u64,
    pub facts: &'a Statx,
}

/// A part of a file in the sample of contents.
pub(super) struct Part {
    /// The path of the file from the root.
    pub path: Vec<u8>,
    pub identity: Identity,
    /// The first byte of the part; at most [`PART_BYTES`] follow.
    pub offset: u64,
}

/// What a walk has found.
pub(super) struct Counts {
    sizes: Distribution,
    depths: Distribution,
    entries: Distribution,
    name_lengths: Distribution,
    bytes: u64,
    /// The sum over all names of files: the share of the name in the additional names of its file.
    links: f64,
    symlinks: u64,
    sparse: u64,
    directories: u64,
    parts: Reservoir<Part>,
    equal_sizes: EqualSizes<Part>,
    skipped: [(u64, Option<String>); Skipped::ALL.len()],
}

impl Default for Counts {
    fn default() -> Self {
        Self {
            sizes: Distribution::default(),
            depths: Distribution::default(),
            entries: Distribution::default(),
            name_lengths: Distribution::default(),
            bytes: 0,
            links: 0.0,
            symlinks: 0,
            sparse: 0,
            directories: 0,
            parts: Reservoir::new(PARTS_MAX),
            equal_sizes: EqualSizes::default(),
            skipped: Default::default(),
        }
    }
}

impl Counts {
    pub(super) fn file(&mut self, found: &Found<'_>) {
        let (facts, name) = (found.facts, found.name);
        let size = facts.stx_size;
        self.sizes.add(size);
        self.depths.add(found.depth);
        self.name_lengths.add(name.len() as u64);
        self.bytes = self.bytes.saturating_add(size);
        // All names of a file together are one file, and one less additional names.
        let names = f64::from(facts.stx_nlink.max(1));
        self.links += (names - 1.0) / names;
        let allocated = facts.stx_blocks.saturating_mul(BLOCK_BYTES);
        self.sparse += u64::from(allocated < size);
        if found.directory.len() + name.len() <= PATH_MAX {
            let part = |index: u64| Part {
                path: [found.directory, name].concat(),
                identity: Identity::of(facts),
                offset: index * PART_BYTES,
            };
            self.parts.add(size.div_ceil(PART_BYTES), part);
            self.equal_sizes.add(size, || part(0));
        }
    }

    pub(super) fn symlink(&mut self) {
        self.symlinks += 1;
    }

    /// Counts a directory with this number of regular files.
    pub(super) fn directory(&mut self, files: u64) {
        self.directories += 1;
        if files > 0 {
            self.entries.add(files);
        }
    }

    /// Counts something that is left out, with the path from the root and the system's answer.
    pub(super) fn skip(&mut self, why: Skipped, path: &[u8], errno: Option<Errno>) {
        let place = Skipped::ALL.iter().position(|(known, _)| *known == why);
        let Some((count, example)) = place.and_then(|place| self.skipped.get_mut(place)) else {
            return;
        };
        *count += 1;
        if example.is_none() {
            let path = shortened(&String::from_utf8_lossy(path), EXAMPLE_MAX);
            let path = if path.is_empty() { "." } else { &path };
            let answer = errno.map(std::io::Error::from);
            *example = Some(match answer {
                Some(answer) => format!("{path}: {answer}"),
                None => path.to_owned(),
            });
        }
    }

    pub(super) fn files(&self) -> u64 {
        self.sizes.count()
    }

    /// What was left out first, in the order of the list, for a tree without files.
    pub(super) fn first_problem(&self) -> Option<String> {
        let mut all = Skipped::ALL.iter().zip(&self.skipped);
        let ((_, what), (count, example)) = all.find(|(_, (count, _))| *count > 0)?;
        let example = example.as_deref().map(document::sanitize::sanitize);
        Some(format!(
            "{count} {what}, such as {}",
            example.unwrap_or_default()
        ))
    }

    pub(super) fn sampled(&self) -> &[Part] {
        self.parts.kept()
    }

    /// Files of some sizes, each size with the first parts of its files.
    pub(super) fn equal_sizes(&self) -> impl Iterator<Item = (u64, &[Part])> {
        self.equal_sizes.groups()
    }

    pub(super) fn into_profile(self, contents: ContentSample) -> Profile {
        let files = self.files();
        let mut left_out = Vec::new();
        for ((_, what), (count, example)) in Skipped::ALL.iter().zip(self.skipped) {
            if count > 0 {
                left_out.push(LeftOut::new(*what, count, 0).with_example(example));
            }
        }
        let empty = self.directories - self.entries.count();
        for (what, count, all) in [
            ("directories without files", empty, self.directories),
            (
                "holes or compression: files with fewer blocks than bytes",
                self.sparse,
                files,
            ),
            (
                "parts of the sample of contents that could not be read",
                contents.unreadable,
                self.parts.kept().len() as u64,
            ),
        ] {
            if count > 0 {
                left_out.push(LeftOut::new(what, count, all));
            }
        }
        Profile {
            source: Source::Tree,
            files: Some(files),
            directories: Some(self.entries.count()),
            bytes: Some(self.bytes),
            sizes: Some(self.sizes),
            depths: Some(self.depths),
            entries: Some(self.entries),
            name_lengths: Some(self.name_lengths),
            links: Some(self.links.round() as u64),
            symlinks: Some(self.symlinks),
            contents: Some(contents),
            left_out,
            ..Profile::default()
        }
    }
}
