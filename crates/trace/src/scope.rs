//! Which directory of a trace is learned, and how its names are shown.

use std::collections::HashMap;

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::done::{Path, is_below, parent};

/// The number of directories whose changes are counted one by one; changes in further directories
/// count for the nearest directory above them.
const DIRECTORIES_MAX: usize = 1 << 16;
/// Changes in deeper directories count for the directory at this depth.
const DEPTH_MAX: usize = 64;
/// The learned directory contains at least this share of all changes, in percent. A program that
/// changes many files also writes a few others, such as its log.
const SHARE_MIN_PERCENT: u64 = 95;
/// Paths below these directories are devices and facts of the system.
const SYSTEM: [&[u8]; 3] = [b"/dev/", b"/proc", b"/sys"];
/// POSIX shared memory, which is a file system, is below `/dev`.
const SHARED_MEMORY: &[u8] = b"/dev/shm";

/// Whether the path is a device or a fact of the system.
pub fn is_of_system(path: &[u8]) -> bool {
    SYSTEM.iter().any(|system| path.starts_with(system)) && !is_below(path, SHARED_MEMORY)
}

/// Counts changes by directory, and finds the one that contains most of them.
#[derive(Debug, Default)]
pub struct Changes(HashMap<Path, u64>);

impl Changes {
    /// Counts a change of a name in `directory`.
    pub fn add(&mut self, directory: &[u8]) {
        let mut slashes = (1..directory.len()).filter(|at| directory[*at] == b'/');
        let end = slashes.nth(DEPTH_MAX - 1);
        let mut directory = &directory[..end.unwrap_or(directory.len())];
        loop {
            if let Some(count) = self.0.get_mut(directory) {
                *count += 1;
                return;
            }
            if self.0.len() < DIRECTORIES_MAX || directory == b"/" {
                self.0.insert(directory.into(), 1);
                return;
            }
            directory = parent(directory);
        }
    }

    /// Returns the deepest directory that contains at least 95 % of all changes; `None` without
    /// changes.
    pub fn common(&self) -> Option<Path> {
        let total: u64 = self.0.values().sum();
        let mut below: HashMap<&[u8], u64> = HashMap::new();
        for (directory, count) in &self.0 {
            let mut directory: &[u8] = directory;
            loop {
                *below.entry(directory).or_default() += count;
                if directory == b"/" {
                    break;
                }
                directory = parent(directory);
            }
        }
        let enough = below.into_iter().filter(|(_, count)| {
            u128::from(*count) * 100 >= u128::from(total) * u128::from(SHARE_MIN_PERCENT)
        });
        enough
            .map(|(directory, _)| directory)
            .max_by_key(|directory| (directory.len(), *directory))
            .map(Into::into)
    }
}

/// How names of a trace are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// As hashes with this key.
    Hashed(u64),
    /// As in the trace.
    Plain,
}

impl Names {
    /// Returns a path for a report. With hashes, each name is a number of eight hexadecimal digits.
    pub fn show(self, path: &[u8]) -> String {
        let Self::Hashed(key) = self else {
            return String::from_utf8_lossy(path).into_owned();
        };
        let names = path.split(|byte| *byte == b'/').map(|name| match name {
            b"" => String::new(),
            name => format!("{:08x}", xxh3_64_with_seed(name, key) as u32),
        });
        names.collect::<Vec<_>>().join("/")
    }
}

/// Identifies a path in tables.
pub fn identify(path: &[u8]) -> u64 {
    xxh3_64(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_directory_ignores_a_few_other_changes() {
        let mut changes = Changes::default();
        assert_eq!(changes.common(), None);
        (0..500).for_each(|index: u32| changes.add(format!("/t/a/{}", index % 7).as_bytes()));
        assert_eq!(changes.common().as_deref(), Some(&b"/t/a"[..]));
        changes.add(b"/var/log");
        assert_eq!(changes.common().as_deref(), Some(&b"/t/a"[..]));
        (0..100).for_each(|_| changes.add(b"/t/b"));
        assert_eq!(changes.common().as_deref(), Some(&b"/t"[..]));
    }

    #[test]
    fn a_million_directories_take_bounded_memory() {
        let mut changes = Changes::default();
        for index in 0..1_000_000 {
            changes.add(format!("/t/{index}").as_bytes());
        }
        assert!(changes.0.len() <= DIRECTORIES_MAX + 1);
        assert_eq!(changes.0.values().sum::<u64>(), 1_000_000);
    }

    #[test]
    fn hashed_names_contain_no_name() {
        let shown = Names::Hashed(7).show(b"/secret/name");
        assert!(
            !shown.contains("secret") && !shown.contains("name"),
            "{shown}"
        );
        assert_ne!(shown, Names::Hashed(8).show(b"/secret/name"));
        assert_eq!(Names::Plain.show(b"/a"), "/a");
    }
}
