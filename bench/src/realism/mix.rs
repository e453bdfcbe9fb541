//! The mix of calls with which a program uses a file system, from the logs of strace(1).
//!
//! Applications and presets are counted alike, by the calls that ask something of the file system.
//! These are not counted: close, fstat, lseek, flags of descriptors, advice, and reads that return
//! nothing. Consecutive reads of one descriptor count once, and so do consecutive writes and
//! listings; otherwise the mix would mainly show the size of buffers.

use std::collections::{BTreeMap, HashMap};
use std::path::{Component, Path, PathBuf};

use crate::strace::{Call, calls};

/// Number of calls of each kind.
pub type Mix = BTreeMap<String, u64>;

/// Adds to a mix those calls of a log that concern `target` or files below it.
pub fn add_calls(mix: &mut Mix, log: &str, target: &Path) {
    let target = target.to_string_lossy();
    for thread in calls(log).into_values() {
        // The last kind of transfer on each descriptor.
        let mut transfers: HashMap<String, &str> = HashMap::new();
        let mut working_directory = String::new();
        for call in &thread {
            working_directory = working_directory_after(call, working_directory);
            if !concerns(call, &target, &working_directory) {
                continue;
            }
            let descriptor = call.arguments.split(',').next().unwrap_or_default();
            if call.name == "close" {
                transfers.remove(descriptor);
            }
            let Some(kind) = kind(call) else { continue };
            let is_transfer = matches!(kind, "read" | "write" | "list");
            if is_transfer && transfers.insert(descriptor.to_owned(), kind) == Some(kind) {
                continue;
            }
            *mix.entry(kind.to_owned()).or_default() += 1;
        }
    }
}

/// The working directory of a thread during and after a call, which was `before` up to now. With
/// `-y`, strace shows its path where a call names it as a descriptor.
fn working_directory_after(call: &Call, before: String) -> String {
    let first = |open: &str, close: char| {
        let (_, rest) = call.arguments.split_once(open)?;
        rest.split(close).next().map(str::to_owned)
    };
    let changed = match call.name.as_str() {
        _ if call.error.is_some() => None,
        "fchdir" => first("<", '>'),
        "chdir" => first("\"", '"').map(|path| joined(&before, &path)),
        _ => None,
    };
    changed
        .or_else(|| first("AT_FDCWD<", '>'))
        .unwrap_or(before)
}

/// The path to which `path` leads from a directory.
fn joined(directory: &str, path: &str) -> String {
    let mut whole = PathBuf::from(directory);
    for component in Path::new(path).components() {
        match component {
            Component::ParentDir => drop(whole.pop()),
            Component::CurDir => {}
            _ => whole.push(component),
        }
    }
    whole.to_string_lossy().into_owned()
}

/// Whether a call concerns a file at `target` or below it. With `-y`, strace shows the path of each
/// descriptor in angle brackets.
fn concerns(call: &Call, target: &str, working_directory: &str) -> bool {
    let is_below = |path: &str| {
        let rest = path.strip_prefix(target);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let descriptors = call.arguments.split('<').skip(1);
    let mut descriptors = descriptors.filter_map(|rest| rest.split('>').next());
    let mut paths = call.arguments.split('"').skip(1).step_by(2);
    let is_by_path = call.arguments.contains('"') && !is_data(&call.name);
    if !is_by_path {
        return descriptors.any(is_below);
    }
    // A relative path starts in the directory of the first descriptor, which may be AT_FDCWD.
    // Calls such as mkdir(2) and rename(2) have none.
    let base = descriptors.next().unwrap_or(working_directory);
    paths.any(|path| is_below(if path.starts_with('/') { path } else { base }))
}

fn is_data(name: &str) -> bool {
    [
        "read",
        "write",
        "pread",
        "pwrite",
        "sendfile",
        "copy_file_range",
    ]
    .iter()
    .any(|data| name.starts_with(data) && !name.starts_with("readlink"))
}

/// The kind of a call; `None` if it is not counted.
fn kind(call: &Call) -> Option<&'static str> {
    let has = |flag: &str| call.arguments.contains(flag);
    let error = call.error.as_deref();
    let is_missing = error == Some("ENOENT");
    Some(match call.name.as_str() {
        "newfstatat" | "statx" if has("\"\"") => return None,
        "newfstatat" | "stat" | "lstat" | "statx" | "access" | "faccessat" | "faccessat2" => {
            if is_missing {
                "stat-missing"
            } else {
                "stat"
            }
        }
        "open" | "openat" | "openat2" | "creat" => match () {
            () if is_missing => "open-missing",
            () if has("O_CREAT") || call.name == "creat" => "create",
            () if has("O_DIRECTORY") => "open-directory",
            () if has("O_WRONLY") || has("O_RDWR") => "open-write",
            () => "open-read",
        },
        "read" | "pread64" | "readv" | "preadv" | "preadv2" => {
            return call.answer.filter(|bytes| *bytes > 0).map(|_| "read");
        }
        "write" | "pwrite64" | "writev" | "pwritev" | "pwritev2" => "write",
        "mmap" => "mmap",
        "sendfile" | "copy_file_range" => {
            return call.answer.filter(|bytes| *bytes > 0).map(|_| "copy");
        }
        "ioctl" if has("FICLONE") => "clone",
        "fsync" | "fdatasync" | "syncfs" | "sync_file_range" => "sync",
        "ftruncate" | "truncate" | "fallocate" => "resize",
        "getdents64" => "list",
        "unlinkat" if has("AT_REMOVEDIR") => "rmdir",
        "rmdir" => "rmdir",
        "unlink" | "unlinkat" => "unlink",
        "rename" | "renameat" | "renameat2" => "rename",
        "link" | "linkat" => "link",
        "symlink" | "symlinkat" => "symlink",
        "readlink" | "readlinkat" => "readlink",
        "mkdir" | "mkdirat" if error == Some("EEXIST") => "mkdir-existing",
        "mkdir" | "mkdirat" => "mkdir",
        "chmod" | "fchmod" | "fchmodat" | "chown" | "lchown" | "fchown" | "fchownat"
        | "utimensat" | "futimesat" | "utime" | "utimes" | "setxattr" | "lsetxattr"
        | "fsetxattr" => "set-attributes",
        "getxattr" | "lgetxattr" | "fgetxattr" | "listxattr" | "llistxattr" | "flistxattr" => {
            "get-attributes"
        }
        "flock" => "lock",
        "fcntl" if has("SETLK") => "lock",
        _ => return None,
    })
}

/// A mix without the calls of another one.
pub fn without(mix: &Mix, other: &Mix) -> Mix {
    let rest = mix.iter().map(|(kind, count)| {
        let others = other.get(kind).copied().unwrap_or_default();
        (kind.clone(), count.saturating_sub(others))
    });
    rest.filter(|(_, count)| *count > 0).collect()
}

/// The total variation distance of two mixes: half the sum of the differences of all shares, from 0
/// (equal) to 1 (no common kind). `None` if a mix is empty.
pub fn total_variation(one: &Mix, other: &Mix) -> Option<f64> {
    let total = |mix: &Mix| mix.values().sum::<u64>();
    let (all_of_one, all_of_other) = (total(one), total(other));
    if all_of_one == 0 || all_of_other == 0 {
        return None;
    }
    let share = |mix: &Mix, kind: &String, all: u64| {
        mix.get(kind).copied().unwrap_or_default() as f64 / all as f64
    };
    let mut kinds: Vec<&String> = one.keys().chain(other.keys()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let differences = kinds
        .into_iter()
        .map(|kind| (share(one, kind, all_of_one) - share(other, kind, all_of_other)).abs());
    Some(differences.sum::<f64>() / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = r#"7 openat(AT_FDCWD</t/a>, "x", O_WRONLY|O_CREAT|O_EXCL, 0644) = 3</t/a/x>
7 write(3</t/a/x>, ""..., 10) = 10
7 write(3</t/a/x>, ""..., 10) = 10
7 close(3</t/a/x>) = 0
7 newfstatat(AT_FDCWD</t/a>, "y", 0x7ff, 0) = -1 ENOENT (No such file or directory)
7 openat(AT_FDCWD</t/a>, "/t/a/x", O_RDONLY) = 3</t/a/x>
7 newfstatat(3</t/a/x>, "", {st_mode=S_IFREG|0644}, AT_EMPTY_PATH) = 0
7 read(3</t/a/x>, ""..., 4096) = 20
7 read(3</t/a/x>, "", 4096) = 0
7 close(3</t/a/x>) = 0
7 openat(AT_FDCWD</t/a>, "/lib/x", O_RDONLY) = 3</lib/x>
7 read(3</lib/x>, ""..., 4096) = 20
7 openat(AT_FDCWD</t/another>, "x", O_RDONLY) = 4</t/another/x>
7 mkdirat(AT_FDCWD</t/a>, "d", 0755) = -1 EEXIST (File exists)
7 unlinkat(AT_FDCWD</t/a>, "d", AT_REMOVEDIR) = 0
7 sendfile(5<socket:[1]>, 3</t/a/x>, [0] => [20], 20) = 20
7 fcntl(3</t/a/x>, F_OFD_SETLK, {l_type=F_WRLCK}) = 0
7 fcntl(3</t/a/x>, F_GETFL) = 0
7 rename("x", "z") = 0
7 chdir("..") = 0
7 rename("x", "z") = 0
7 chdir("/t/b") = -1 ENOENT (No such file or directory)
7 chdir("/t/a") = 0
7 chdir("d") = 0
7 mkdir("e", 0777) = 0
"#;

    #[test]
    fn calls_on_the_file_system_are_counted_and_buffers_do_not_matter() {
        let mut mix = Mix::new();
        add_calls(&mut mix, LOG, Path::new("/t/a"));
        let counts: Vec<(&str, u64)> = mix.iter().map(|(kind, n)| (kind.as_str(), *n)).collect();
        let kinds = [
            "copy",
            "create",
            "lock",
            "mkdir",
            "mkdir-existing",
            "open-read",
            "read",
            "rename",
            "rmdir",
            "stat-missing",
            "write",
        ];
        assert_eq!(counts, kinds.map(|kind| (kind, 1)));
    }

    fn mix(counts: &[(&str, u64)]) -> Mix {
        let counts = counts.iter();
        counts
            .map(|(kind, count)| ((*kind).to_owned(), *count))
            .collect()
    }

    #[test]
    fn calls_of_another_run_are_subtracted() {
        let rest = without(
            &mix(&[("a", 5), ("b", 1)]),
            &mix(&[("a", 2), ("b", 3), ("c", 1)]),
        );
        assert_eq!(rest, mix(&[("a", 3)]));
    }

    #[test]
    fn total_variation_is_half_the_sum_of_differences_of_shares() {
        let distance =
            |one: &[(&str, u64)], other: &[(&str, u64)]| total_variation(&mix(one), &mix(other));
        assert_eq!(
            distance(&[("a", 1), ("b", 3)], &[("a", 10), ("b", 30)]),
            Some(0.0)
        );
        assert_eq!(distance(&[("a", 1)], &[("b", 7)]), Some(1.0));
        // |0.5 - 0.25| + |0.5 - 0.25| + |0 - 0.5|, halved.
        let other = [("a", 1), ("b", 1), ("c", 2)];
        assert_eq!(distance(&[("a", 1), ("b", 1)], &other), Some(0.5));
        assert_eq!(distance(&[], &other), None);
    }
}
