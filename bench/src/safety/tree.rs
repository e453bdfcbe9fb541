//! Helpers that list the contents of directories.

use std::fs;
use std::path::{Path, PathBuf};

pub fn is_file(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|facts| facts.is_file())
}

pub fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// The sorted paths in a directory; empty if the directory does not exist.
pub fn entries(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(directory) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    paths.sort();
    paths
}

/// All paths below a directory, each with whether it is a directory. A directory follows its
/// contents. Contents of directories for which `is_left_out` is true are not included.
pub fn below(directory: &Path, is_left_out: &dyn Fn(&Path) -> bool) -> Vec<(PathBuf, bool)> {
    let mut found = Vec::new();
    for path in entries(directory) {
        let is_directory = fs::symlink_metadata(&path).is_ok_and(|facts| facts.is_dir());
        if is_directory && !is_left_out(&path) {
            found.extend(below(&path, is_left_out));
        }
        found.push((path, is_directory));
    }
    found
}

/// The last 12 lines of a text that are not empty.
pub fn last_of(text: &str) -> String {
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    lines[lines.len().saturating_sub(12)..].join("\n")
}

/// Describes the files of a directory tree, one per line, in at most 100 lines.
pub fn listed(directory: &Path) -> String {
    let mut lines = Vec::new();
    let mut waiting = vec![directory.to_owned()];
    while let (Some(path), true) = (waiting.pop(), lines.len() < 100) {
        for path in entries(&path) {
            let facts = fs::symlink_metadata(&path);
            lines.push(format!(
                "{} {}",
                path.strip_prefix(directory).unwrap_or(&path).display(),
                facts.as_ref().map_or_else(
                    |error| error.to_string(),
                    |facts| {
                        use std::os::unix::fs::MetadataExt;
                        format!(
                            "mode {:o}, owner {}, {} bytes, modified {}.{:09}",
                            facts.mode(),
                            facts.uid(),
                            facts.len(),
                            facts.mtime(),
                            facts.mtime_nsec()
                        )
                    }
                )
            ));
            if facts.is_ok_and(|facts| facts.is_dir()) {
                waiting.push(path);
            }
        }
    }
    lines.truncate(100);
    lines.join("\n")
}
