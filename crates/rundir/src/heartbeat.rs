//! The heartbeat of a run: a record of what the run is doing, in memory that outlives the process.
//! After a run was killed, `clean` reads from this record when the run was last alive and which
//! files the run was writing. Without this record, an empty file of the run could not be
//! distinguished from one that a user made later.
//!
//! The heartbeat is a file in `/dev/shm` that only the run's user can access, so nothing is written
//! to the target. The file is lost when the machine restarts. `clean` then lists, but does not
//! remove, files that it cannot attribute to the run without the heartbeat.

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{
    AtFlags, CWD, FileType, FlockOperation, Mode, OFlags, flock, fstat, openat, unlinkat,
};
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use rustix::time::{ClockId, clock_gettime};
use system::Lines;
use system::shared::LINE_WORDS;

use crate::worker_status::{PartlyWritten, Slot};

const DIRECTORY: &str = "/dev/shm";
const PREFIX: &str = "postmark-";
/// Identifies a heartbeat file with this layout.
const MAGIC: u64 = 0x706f_7374_6d61_726b;
/// A heartbeat file is an array of lines. Each line has `LINE_WORDS` integers of 64 bits, which are
/// called words. The first line describes the whole run; the constants below are indices of its
/// words. Each further line is the status of one operation in flight
/// (`crate::worker_status::Slot`).
const WORD_MAGIC: usize = 0;
/// Number of times that the clocks were read.
const WORD_TICKS: usize = 1;
/// The run's clock and the wall clock, as last read, in nanoseconds. Readings alternate between the
/// two pairs, so that a kill between two stores leaves the earlier pair intact.
const WORD_PAIRS: [[usize; 2]; 2] = [[2, 3], [4, 5]];
/// Wall-clock time in nanoseconds: at the beginning of the run, and its lowest value since then.
const WORD_BEGAN: usize = 6;
const WORD_EARLIEST: usize = 7;
/// Number of directories that contain a manifest of the run. The heartbeat file is needed until the
/// last of these directories is cleaned. The number is 0 until the directories are prepared, which
/// is before the run makes its first file.
const WORD_DIRECTORIES: usize = 8;
/// Highest wall-clock time since the run began. If the clock was set back, files made earlier can
/// have later times than the clock's last value.
const WORD_LATEST: usize = 9;
/// Number of lines of each worker: the maximum number of its operations in flight.
const WORD_DEPTH: usize = 10;
/// Maximum size in bytes of a heartbeat file that is read, larger than that of any run.
const BYTES_MAX: u64 = 1 << 26;
/// Maximum time, in nanoseconds, that a killed run continued after it last read its clocks. Used if
/// operations are not timed.
const TICK_LATE_NS: i64 = 1_000_000_000;
/// The heartbeat of an active run.
#[derive(Clone, Debug)]
pub struct Life {
    lines: Arc<Lines>,
    /// Number of lines of each worker, which is its maximum number of operations in flight.
    depth: usize,
    /// File name in `/dev/shm`; `None` if the heartbeat is in private memory.
    name: Option<String>,
    /// The file, locked while the run is alive. Unlike a process number, the lock is also seen by a
    /// `clean` in another PID namespace.
    _locked: Option<Arc<File>>,
}

/// The last state of an ended run, according to its heartbeat file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LastSigns {
    /// By how much the wall clock was set back during the run, in nanoseconds.
    pub set_back_ns: i64,
    /// Time at which the run was last active, in nanoseconds since the epoch. This is the later of
    /// two times: the end of its last completed operation, and the highest wall-clock time that the
    /// run recorded.
    pub last_ns: i64,
    /// Names that operations in flight or failed operations were writing.
    pub partly_written: PartlyWritten,
}

pub(crate) fn wall_ns() -> i64 {
    let now = clock_gettime(ClockId::Realtime);
    now.tv_sec
        .saturating_mul(1_000_000_000)
        .saturating_add(now.tv_nsec)
}

impl Life {
    /// Creates the heartbeat of a run, in private memory if shared memory is not available. `depth`
    /// is the maximum number of operations in flight of each worker. `now_ns` is the present time
    /// of the run's clock.
    pub fn begin(workers: u32, depth: usize, began_unix_ns: u64, now_ns: u64) -> Self {
        let count = 1 + workers as usize * depth;
        let name = format!(
            "{PREFIX}{}-{}-{began_unix_ns}",
            rustix::process::geteuid().as_raw(),
            rustix::process::getpid().as_raw_nonzero()
        );
        let life = match Lines::create(&path(&name), count) {
            Ok((lines, locked)) => Self {
                lines,
                depth,
                _locked: Some(Arc::new(locked)),
                name: Some(name),
            },
            Err(_) => Self::private(workers, depth),
        };
        let first = &life.lines[0].0;
        first[WORD_DEPTH].store(depth as u64, Ordering::Relaxed);
        let now = wall_ns() as u64;
        first[WORD_BEGAN].store(now, Ordering::Relaxed);
        first[WORD_EARLIEST].store(now, Ordering::Relaxed);
        life.tick(now_ns);
        first[WORD_MAGIC].store(MAGIC, Ordering::Release);
        life
    }

    /// Creates a heartbeat in private memory, for a run that touches no file system.
    pub fn private(workers: u32, depth: usize) -> Self {
        Self {
            lines: Lines::private(1 + workers as usize * depth),
            depth,
            name: None,
            _locked: None,
        }
    }

    /// Records the number of directories that contain a manifest of the run.
    pub(crate) fn lies_in(&self, directories: usize) {
        self.lines[0].0[WORD_DIRECTORIES].store(directories as u64, Ordering::Relaxed);
    }

    /// Returns the file name, which manifests record; `None` if the heartbeat is in private memory.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns the slots of each worker, one for each of its operations in flight.
    pub fn slots(&self) -> Vec<Vec<Arc<Slot>>> {
        let lines: Vec<_> = (1..self.lines.len())
            .map(|index| Arc::new(Slot::new(self.lines.line(index))))
            .collect();
        lines.chunks(self.depth).map(<[_]>::to_vec).collect()
    }

    /// Records that the run is active. `now_ns` is the present time of the run's clock.
    pub fn tick(&self, now_ns: u64) {
        let first = &self.lines[0].0;
        let wall = wall_ns() as u64;
        let ticks = first[WORD_TICKS].load(Ordering::Relaxed) + 1;
        let [of_run, of_wall] = WORD_PAIRS[(ticks % 2) as usize];
        first[of_run].store(now_ns, Ordering::Relaxed);
        first[of_wall].store(wall, Ordering::Relaxed);
        first[WORD_EARLIEST].fetch_min(wall, Ordering::Relaxed);
        first[WORD_LATEST].fetch_max(wall, Ordering::Relaxed);
        first[WORD_TICKS].store(ticks, Ordering::Release);
    }

    /// Records that the run is removing files. Removals are not operations, so they update no slot.
    pub(crate) fn removes(&self) {
        self.lines[0].0[WORD_LATEST].fetch_max(wall_ns() as u64, Ordering::Relaxed);
    }

    /// Returns by how much the wall clock was set back since the run began, in nanoseconds.
    pub fn set_back_ns(&self) -> i64 {
        set_back_ns(
            &self.lines[0]
                .0
                .each_ref()
                .map(|word: &AtomicU64| word.load(Ordering::Relaxed)),
        )
    }

    /// Returns an upper bound for the times of the run's files, in nanoseconds since the epoch.
    pub fn latest_ns(&self) -> i64 {
        (self.lines[0].0[WORD_LATEST].load(Ordering::Relaxed) as i64).max(wall_ns())
    }

    /// Removes the heartbeat file of a run that has ended and left nothing on the target.
    pub fn end(&self) {
        if let Some(name) = &self.name {
            remove(name);
        }
    }
}

fn path(name: &str) -> PathBuf {
    PathBuf::from(DIRECTORY).join(name)
}

/// Converts the bytes of a line to integers of 64 bits.
fn line(bytes: &[u8]) -> [u64; LINE_WORDS] {
    std::array::from_fn(|word| {
        let mut value = [0; 8];
        value.copy_from_slice(&bytes[8 * word..8 * (word + 1)]);
        u64::from_ne_bytes(value)
    })
}

fn set_back_ns(first: &[u64; LINE_WORDS]) -> i64 {
    i64::try_from(first[WORD_BEGAN].saturating_sub(first[WORD_EARLIEST])).unwrap_or(0)
}

/// Whether the name has the form of a heartbeat file's name. A manifest may be forged, so a file
/// with any other name is not opened.
fn is_name(name: &str) -> bool {
    name.strip_prefix(PREFIX).is_some_and(|rest| {
        rest.split('-').count() == 3
            && rest
                .split('-')
                .all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
    })
}

/// Opens the heartbeat file with this name if the file belongs to this user and no other user can
/// access it. The owner of the manifest is not checked, because some targets assign one owner to
/// all files.
fn open(name: &str, how: OFlags) -> Option<File> {
    if !is_name(name) {
        return None;
    }
    let flags = how | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(openat(CWD, path(name), flags, Mode::empty()).ok()?);
    let facts = fstat(&file).ok()?;
    let is_file = FileType::from_raw_mode(facts.st_mode) == FileType::RegularFile;
    let is_owners =
        facts.st_uid == rustix::process::geteuid().as_raw() && facts.st_mode & 0o077 == 0;
    (is_file && is_owners && facts.st_size as u64 <= BYTES_MAX).then_some(file)
}

/// Reads the heartbeat file of a run that has ended. Returns `None` if the file does not exist or
/// is not trusted.
pub(crate) fn read(name: &str) -> Option<LastSigns> {
    let mut file = open(name, OFlags::RDONLY)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).ok()?;
    let lines: Vec<[u64; LINE_WORDS]> = bytes.chunks_exact(8 * LINE_WORDS).map(line).collect();
    let (first, workers) = lines.split_first()?;
    if first[WORD_MAGIC] != MAGIC {
        return None;
    }
    let [of_run, of_wall] = WORD_PAIRS[(first[WORD_TICKS] % 2) as usize];
    let (run_ns, wall_ns) = (first[of_run], first[of_wall]);
    let since = match workers.iter().map(Slot::last_stamp_ns).max() {
        None | Some(0) => TICK_LATE_NS,
        Some(stamp) => i64::try_from(stamp.saturating_sub(run_ns)).unwrap_or(0),
    };
    // No other process writes to this file, but it may have been truncated. A depth of 0 is
    // replaced by 1, because `chunks` panics for 0.
    let depth = usize::try_from(first[WORD_DEPTH])
        .unwrap_or(usize::MAX)
        .max(1);
    Some(LastSigns {
        set_back_ns: set_back_ns(first),
        last_ns: (wall_ns as i64)
            .saturating_add(since)
            .max(first[WORD_LATEST] as i64),
        partly_written: (0..)
            .zip(workers.chunks(depth))
            .flat_map(|(worker, lines)| {
                let names = lines.iter().flat_map(Slot::partly_written);
                names.map(move |name| (name, worker)).collect::<Vec<_>>()
            })
            .collect(),
    })
}

/// Records that one more directory of the run was cleaned. After the last directory, removes the
/// heartbeat file.
pub(crate) fn cleaned(name: &str) {
    let Some(file) = open(name, OFlags::RDWR) else {
        return;
    };
    let at = 8 * WORD_DIRECTORIES as u64;
    let mut word = [0; 8];
    // Errors are ignored, because a restart of the machine removes the file in any case.
    if let Ok(8) = rustix::io::pread(&file, &mut word, at) {
        let left = u64::from_ne_bytes(word).saturating_sub(1);
        if left > 0 {
            let _ = rustix::io::pwrite(&file, &left.to_ne_bytes(), at);
            return;
        }
    }
    remove(name);
}

/// Locks the file, unless another process has locked it. Returns whether this process locked it.
fn is_locked(file: &File) -> bool {
    flock(file, FlockOperation::NonBlockingLockExclusive).is_ok()
}

/// Removes the heartbeat files of killed runs of this user that had created no file. Such a run may
/// have left no manifest, so [`cleaned`] is not called for its heartbeat file.
pub(crate) fn remove_unneeded() {
    let own = format!("{PREFIX}{}-", rustix::process::geteuid().as_raw());
    for entry in std::fs::read_dir(DIRECTORY).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if let Some(name) = name.to_str().filter(|name| name.starts_with(&own))
            && !process_exists(name)
            && directories(name) == Some(0)
        {
            remove(name);
        }
    }
}

/// Removes the heartbeat files of a killed run of this user whose directories or manifests a crash
/// has lost. Without a manifest, `cleaned` is not called for them.
pub fn remove_lost(process: u32) {
    let own = format!("{PREFIX}{}-{process}-", rustix::process::geteuid().as_raw());
    for entry in std::fs::read_dir(DIRECTORY).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if let Some(name) = name.to_str().filter(|name| name.starts_with(&own))
            && !process_exists(name)
            && directories(name).is_some()
        {
            remove(name);
        }
    }
}

/// Whether the process whose ID is in the name exists. Also `true` if the name contains no ID.
fn process_exists(name: &str) -> bool {
    let pid = name.split('-').nth(2).and_then(|pid| pid.parse().ok());
    pid.and_then(Pid::from_raw)
        .is_none_or(|pid| test_kill_process(pid) != Err(Errno::SRCH))
}

/// Returns the number of directories with a manifest of a run that has ended; 0 if the process was
/// killed before it stored this number. `None` if the run is alive, or if the file is not trusted
/// as a heartbeat file of this user.
fn directories(name: &str) -> Option<u64> {
    let file = open(name, OFlags::RDONLY).filter(is_locked)?;
    let mut word = [0; 8];
    rustix::io::pread(&file, &mut word, 8 * WORD_DIRECTORIES as u64).ok()?;
    Some(u64::from_ne_bytes(word))
}

fn remove(name: &str) {
    let _ = unlinkat(CWD, path(name), AtFlags::empty());
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use workload::names::NameKind;
    use workload::{Action, Intent};

    use super::*;

    #[test]
    fn heartbeat_is_read_as_written() {
        let life = Life::begin(2, 2, 17, 1_000);
        let name = life.name().unwrap().to_owned();
        let before = wall_ns();
        let slots = life.slots();
        let intent = Intent {
            action: Action::Deliver,
            number: 12,
            ..Intent::NOTHING
        };
        let [first, second] = &slots[..] else {
            panic!("{} workers", slots.len());
        };
        second[1].issue(&intent);
        first[0].issue(&intent);
        first[0].failed(&[(NameKind::Temporary, 7)]);
        first[0].complete(5_001_000);
        first[1].issue(&Intent {
            action: Action::Append,
            number: 13,
            ..Intent::NOTHING
        });
        let signs = read(&name).unwrap();
        assert_eq!(signs.set_back_ns, 0);
        assert!((signs.last_ns - before - 5_000_000).abs() < 1_000_000_000);
        let expected = [
            ((NameKind::File, 12), 1),
            ((NameKind::File, 13), 0),
            ((NameKind::Temporary, 12), 1),
            ((NameKind::Temporary, 7), 0),
        ];
        assert_eq!(signs.partly_written, expected.into());
        let all_may_write = std::fs::Permissions::from_mode(0o666);
        let private = std::fs::metadata(path(&name)).unwrap().permissions();
        std::fs::set_permissions(path(&name), all_may_write).unwrap();
        assert_eq!(
            read(&name),
            None,
            "what others may have written is not believed"
        );
        std::fs::set_permissions(path(&name), private).unwrap();
        life.lies_in(2);
        cleaned(&name);
        assert!(
            read(&name).is_some(),
            "there is another directory to be cleaned"
        );
        cleaned(&name);
        assert_eq!(read(&name), None);
    }

    #[test]
    fn heartbeat_file_of_a_run_killed_before_its_first_file_is_removed() {
        // The names of the test's heartbeat files contain the ID of this process. While the process
        // exists, no `clean` of another test removes these files.
        let mut process = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        let own = rustix::process::geteuid().as_raw();
        let of_killed = |began| format!("{PREFIX}{own}-{}-{began}", process.id());
        let [none_made, files_made] = [of_killed(1), of_killed(2)];
        for (name, directories) in [(&none_made, 0), (&files_made, 1)] {
            let (lines, _) = Lines::create(&path(name), 1).unwrap();
            lines[0].0[WORD_DIRECTORIES].store(directories, Ordering::Relaxed);
        }
        let of_active = Life::begin(1, 1, 3, 1_000);
        process.kill().unwrap();
        process.wait().unwrap();
        remove_unneeded();
        assert!(!path(&none_made).exists());
        assert!(path(&files_made).exists());
        // `clean` may run in another PID namespace, in which the process of the run is not visible.
        // The lock on the heartbeat file is visible there.
        let name = of_active.name().unwrap();
        assert_eq!(directories(name), None);
        assert!(read(name).is_some());
        remove(&files_made);
        of_active.end();
    }

    #[test]
    fn only_names_of_heartbeat_files_are_accepted() {
        assert!(is_name("postmark-0-12-345"));
        for name in [
            "postmark-0-12",
            "postmark-0-1-2-3",
            "../postmark-0-1-2",
            "postmark-0-1-x",
            "postmark-0--2",
            "",
        ] {
            assert!(!is_name(name), "{name}");
        }
    }
}
