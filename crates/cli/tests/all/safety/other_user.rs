//! Root starts runs in directories of other users. A run uses the rights of the owner, so that the
//! owner cannot redirect its operations to files of root.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::process::{Gid, Uid};
use rustix::thread::{set_thread_groups, set_thread_res_gid, set_thread_res_uid};

use crate::support::Engine::{Posix, Raw, Stdio as Streams, Uring};
use crate::support::Interface::{Prompt, Run};
use crate::support::interface::{clean, own_directories, program, program_for_all};
use crate::support::test_dir::set_mode;
use crate::support::{Ended, INTERFACES, Interface, Phase, Running, TestDir, Work, is_root, names};

const THEM: u32 = 12_345;
const NOBODY: u32 = 65_534;
const WARNING: &str = "files are made and removed there as user";

fn give(path: &Path, user: u32) {
    chown(path, Some(user), None).unwrap();
}

/// Asserts that the program printed exactly one warning, which names the user.
fn warned(ended: &Ended, user: u32) {
    let warnings = ended.errors.matches(WARNING).count();
    ended.assert(warnings == 1, "there is not one warning");
    ended.shows(&format!("{WARNING} {user}, since"));
}

fn assert_empty(place: &Path, said: &Ended) {
    said.assert(
        names(place).unwrap() == [] as [OsString; 0],
        "something is left behind",
    );
}

/// Known wrapper scripts change the owner of a directory to another user and run the program as
/// root.
#[test]
fn run_of_root_uses_the_rights_of_the_directory_owner() {
    let Some(test_dir) = TestDir::rooted() else {
        return;
    };
    // As after `sudo chown user DIR`: root runs in a directory of the user.
    let given = test_dir.directory("given");
    give(&given, THEM);
    // As with `sudo postmark FILE`, where FILE sets a location in the home directory of the user.
    let home = test_dir.directory("home");
    let location = home.join("location");
    std::fs::create_dir(&location).unwrap();
    [&home, &location]
        .into_iter()
        .for_each(|path| give(path, THEM));
    set_mode(&home, 0o700);
    // As after `chmod -R 777 DIR`: every user can change the directory.
    let everybody = test_dir.directory("everybody");
    std::fs::create_dir(everybody.join("more")).unwrap();
    [&everybody, &everybody.join("more")]
        .into_iter()
        .for_each(|path| set_mode(path, 0o777));
    for (place, user) in [(&given, THEM), (&location, THEM), (&everybody, NOBODY)] {
        for interface in INTERFACES {
            for subdirectories in [1, 3] {
                let work = Work::small(place).in_subdirectories(subdirectories);
                let ended = interface.perform(&work, &test_dir);
                warned(ended.code(0), user);
                let more = usize::from(place == &everybody);
                ended.assert(
                    names(place).unwrap().len() == more,
                    "something is left behind",
                );
            }
        }
        // Starts a session of several runs in the directory of the user, with commands from
        // standard input.
        let mut session = Command::new(program());
        session.current_dir(place).stdin(Stdio::piped());
        session.stdout(Stdio::piped()).stderr(Stdio::piped());
        session.env("POSTMARK_ARCHIVE", "none");
        let mut session = session.spawn().unwrap();
        let mut commands = session.stdin.take().unwrap();
        commands
            .write_all(b"set number 20\nset transactions 50\nrun\nrun\nquit\n")
            .unwrap();
        drop(commands);
        let output = session.wait_with_output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{errors}");
        assert_eq!(errors.matches(WARNING).count(), 1, "{errors}");
        assert_eq!(
            String::from_utf8_lossy(&output.stdout)
                .matches("seconds of transactions")
                .count(),
            2
        );
    }
}

/// A directory that only root can change is used with the rights of root, even in the home of a
/// user. The user may rename the directory, but the program holds the directory open from the
/// start.
#[test]
fn directory_of_root_in_a_users_home_is_used_with_root_rights() {
    let Some(test_dir) = TestDir::rooted() else {
        return;
    };
    let home = test_dir.directory("home");
    let roots = home.join("roots");
    std::fs::create_dir(&roots).unwrap();
    give(&home, THEM);
    for interface in INTERFACES {
        let work = Work::small(&roots).in_subdirectories(3);
        let ended = interface.perform(&work, &test_dir);
        ended.code(0).does_not_show(WARNING);
        assert_empty(&roots, &ended);
    }
    // A run does not follow a symbolic link that the user has created.
    symlink(&roots, home.join("link")).unwrap();
    for interface in [Prompt(Raw), Run(Posix), Run(Uring)] {
        let ended = interface.perform(&Work::small(&home.join("link")), &test_dir);
        ended
            .code(if interface.is_prompt() { 1 } else { 2 })
            .shows("may replace a symbolic link on the way")
            .shows("use the path without symbolic links");
        assert_empty(&roots, &ended);
    }
}

/// A thread can have the rights of one user only, so targets of several users are refused.
#[test]
fn targets_of_several_users_are_refused() {
    let Some(test_dir) = TestDir::rooted() else {
        return;
    };
    let (theirs, roots) = (test_dir.directory("theirs"), test_dir.directory("roots"));
    give(&theirs, THEM);
    let mut work = Work::small(&theirs);
    work.locations.push(roots.clone());
    for interface in [Prompt(Raw), Run(Posix), Run(Uring)] {
        let ended = interface.perform(&work, &test_dir);
        ended
            .code(if interface.is_prompt() { 1 } else { 2 })
            .shows("use targets of one user");
        assert_empty(&theirs, &ended);
        assert_empty(&roots, &ended);
    }
}

/// During the run, its files belong to the user. After the run was killed, root and the user can
/// both remove the files.
#[test]
fn files_of_a_killed_run_are_removed_by_root_and_by_the_user() {
    if !is_root() {
        return;
    }
    for interface in INTERFACES {
        for by_root in [true, false] {
            let test_dir = TestDir::in_memory();
            let place = test_dir.directory("theirs");
            give(&place, THEM);
            let running = interface.begin(
                &Work::long(&place, Phase::Prepare).in_subdirectories(2),
                &test_dir,
                Phase::Prepare,
            );
            let own = own_directories(&place).pop().unwrap_or(place.clone());
            for path in [own.join("s0"), own.join(".postmark-manifest.json")] {
                assert_eq!(path.symlink_metadata().unwrap().uid(), THEM, "{path:?}");
            }
            running.kill();
            // File times come from a clock that advances only every few milliseconds. After this
            // wait, new file times differ from those of the run.
            std::thread::sleep(Duration::from_millis(30));
            let cleaned = match by_root {
                true => clean(&place),
                false => {
                    let mut command = Running::command(Path::new("setpriv"));
                    let them = THEM.to_string();
                    command.args(["--reuid", &them, "--regid", &them, "--clear-groups"]);
                    command
                        .arg(program_for_all(&test_dir))
                        .arg("clean")
                        .arg(&place);
                    Running::run_to_end(command, &place)
                }
            };
            if by_root {
                cleaned.code(0);
                assert_empty(&place, &cleaned);
                continue;
            }
            // `clean` needs the heartbeat of the run to identify truncated files. Only root can
            // read the heartbeat of a process of root. So if the user runs `clean`, truncated files
            // stay and are listed.
            cleaned.shows("Removed the files of the run");
            clean(&place).code(0);
            assert_empty(&place, &cleaned);
        }
    }
}

#[test]
fn files_of_a_killed_run_with_root_rights_are_removed() {
    if !is_root() {
        return;
    }
    for interface in [Prompt(Raw), Run(Posix), Run(Uring)] {
        let test_dir = TestDir::in_memory();
        let place = test_dir.directory("theirs");
        give(&place, THEM);
        let work = Work::long(&place, Phase::Prepare);
        let mut command = interface.command(&work, &test_dir);
        command.arg("--allow-unsafe-target");
        let mut running = Running::start(command, &place);
        interface.wait_for(&mut running, &work, Phase::Prepare);
        running.kill();
        std::thread::sleep(Duration::from_millis(30));
        let cleaned = clean(&place);
        assert_empty(&place, cleaned.code(0));
    }
}

/// In some containers, root lacks the capability to act as another user.
#[test]
fn root_that_cannot_act_as_the_user_is_refused() {
    let Some(test_dir) = TestDir::rooted() else {
        return;
    };
    let place = test_dir.directory("theirs");
    give(&place, THEM);
    for (lacks, interface) in [("-setgid", Prompt(Raw)), ("-setuid", Run(Posix))] {
        let plain = interface.command(&Work::small(&place), &test_dir);
        let mut command = Running::command(Path::new("setpriv"));
        command
            .args(["--bounding-set", lacks, "--inh-caps", lacks])
            .arg(plain.get_program())
            .args(plain.get_args());
        command.current_dir(test_dir.path());
        let ended = Running::run_to_end(command, &place);
        ended
            .code(if interface.is_prompt() { 1 } else { 2 })
            .shows("refuse to run as root")
            .shows("--allow-unsafe-target");
        assert_empty(&place, &ended);
    }
}

/// Files of root, which must not change in any test. Only hard links to these files, in directories
/// of the user, may be created and removed.
struct Roots {
    directory: PathBuf,
    before: BTreeMap<PathBuf, (u32, u32, i64, i64, Vec<u8>)>,
}

impl Roots {
    fn new(directory: PathBuf) -> Self {
        for number in 1..=30 {
            let path = directory.join(number.to_string());
            std::fs::write(&path, "precious\n").unwrap();
            set_mode(&path, if number % 2 == 0 { 0o600 } else { 0o644 });
        }
        std::fs::create_dir(directory.join("inner")).unwrap();
        let before = Self::look(&directory);
        Self { directory, before }
    }

    fn look(directory: &Path) -> BTreeMap<PathBuf, (u32, u32, i64, i64, Vec<u8>)> {
        let mut found = BTreeMap::new();
        let mut directories = vec![directory.to_owned()];
        while let Some(directory) = directories.pop() {
            for name in names(&directory).unwrap() {
                let path = directory.join(name);
                let facts = path.symlink_metadata().unwrap();
                let contents = match facts.is_dir() {
                    true => Vec::new(),
                    false => std::fs::read(&path).unwrap(),
                };
                if facts.is_dir() {
                    directories.push(path.clone());
                }
                let facts = (
                    facts.mode(),
                    facts.uid(),
                    facts.mtime(),
                    facts.mtime_nsec(),
                    contents,
                );
                found.insert(path, facts);
            }
        }
        found
    }

    fn assert_kept(&self, said: &dyn std::fmt::Display) {
        assert!(
            Self::look(&self.directory) == self.before,
            "something of root's has changed\n{said}"
        );
    }
}

/// A thread with the rights of the user, which exchanges entries of the run's directory as fast as
/// possible.
struct Attacker {
    ends: Arc<AtomicBool>,
    done: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

impl Attacker {
    /// `links` is a directory of the user that is full of hard links to files of root. Machines
    /// without `fs.protected_hardlinks` permit this.
    fn begin(place: &Path, links: &Path, roots: &Path) -> Self {
        let (ends, done) = (Arc::<AtomicBool>::default(), Arc::<AtomicU64>::default());
        let (place, links, roots) = (place.to_owned(), links.to_owned(), roots.to_owned());
        let (until, count) = (Arc::clone(&ends), Arc::clone(&done));
        let thread = std::thread::spawn(move || {
            set_thread_groups(&[]).unwrap();
            let (user, group) = (Uid::from_raw(THEM), Gid::from_raw(THEM));
            set_thread_res_gid(group, group, group).unwrap();
            set_thread_res_uid(user, user, user).unwrap();
            let mut random = 42_u64;
            while !until.load(Ordering::Relaxed) {
                count.fetch_add(
                    u64::from(attack(&place, &links, &roots, &mut random)),
                    Ordering::Relaxed,
                );
            }
        });
        Self {
            ends,
            done,
            thread: Some(thread),
        }
    }

    fn exchanged(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    fn end(mut self) -> u64 {
        self.ends.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap();
        self.exchanged()
    }
}

impl Drop for Attacker {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
    }
}

/// Replaces a random entry of the directory by a symbolic or hard link to a file or directory of
/// root. Returns whether that succeeded.
fn attack(place: &Path, links: &Path, roots: &Path, random: &mut u64) -> bool {
    let mut draw = |n: usize| {
        *random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((*random >> 33) % n as u64) as usize
    };
    let own = own_directories(place);
    let directory = match own.is_empty() {
        true => place.to_owned(),
        false => own[draw(own.len())].clone(),
    };
    let Ok(found) = names(&directory) else {
        return false;
    };
    if found.is_empty() {
        return false;
    }
    let path = directory.join(&found[draw(found.len())]);
    let aside = links.join(format!("aside-{}", draw(1_000)));
    match (path.is_dir(), draw(4)) {
        (true, 0) => std::fs::rename(&path, &aside)
            .and_then(|()| symlink(roots, &path))
            .is_ok(),
        (true, 1) => std::fs::rename(&path, &aside)
            .and_then(|()| symlink(roots.join("inner"), &path))
            .is_ok(),
        (true, _) => false,
        (false, 0) => std::fs::rename(&path, &aside)
            .and_then(|()| symlink(roots.join("1"), &path))
            .is_ok(),
        (false, 1 | 2) => {
            let link = links.join(format!("link-{}", draw(2_000)));
            renameat_with(CWD, &link, CWD, &path, RenameFlags::EXCHANGE).is_ok()
        }
        // Creating the hard link succeeds only if the system permits hard links to files of other
        // users.
        (false, _) => {
            let _ = std::fs::remove_file(&path);
            std::fs::hard_link(roots.join("1"), &path).is_ok()
        }
    }
}

/// Minimum number of names that the owner must exchange with each interface.
const EXCHANGED_MIN: u64 = 20;
const ROUNDS_MIN: u32 = 3;
const ROUNDS_MAX: u32 = 20;

/// The owner exchanges entries of the directory while a run works, while it removes its files, and
/// during `clean`. No file of root is written, truncated, given to the user or removed.
#[test]
fn owner_who_exchanges_entries_cannot_harm_root() {
    if !is_root() {
        return;
    }
    for (interface, subdirectories, is_killed) in [
        (Prompt(Streams), 1, false),
        (Prompt(Raw), 4, true),
        (Prompt(Raw), 1, true),
        (Run(Posix), 1, false),
        (Run(Raw), 4, true),
    ] {
        let exchanged = under_attack(interface, subdirectories, is_killed);
        assert!(
            exchanged >= EXCHANGED_MIN,
            "{interface:?}: only {exchanged} names were exchanged"
        );
    }
}

fn under_attack(interface: Interface, subdirectories: u32, is_killed: bool) -> u64 {
    let test_dir = TestDir::in_memory();
    let (place, links) = (test_dir.directory("theirs"), test_dir.directory("links"));
    let roots = Roots::new(test_dir.directory("roots"));
    for number in 0..2_000 {
        let target = roots.directory.join((number % 30 + 1).to_string());
        std::fs::hard_link(target, links.join(format!("link-{number}"))).unwrap();
    }
    [&place, &links]
        .into_iter()
        .for_each(|path| give(path, THEM));
    let attacker = Attacker::begin(&place, &links, &roots.directory);
    // On a busy machine the owner exchanges few names during a run.
    for round in 0..ROUNDS_MAX {
        if round >= ROUNDS_MIN && attacker.exchanged() >= EXCHANGED_MIN {
            break;
        }
        let work = Work {
            files: 2_000,
            transactions: 6_000,
            sizes: (100, 9_000),
            // With these biases, many operations are appends and deletions. These operations use
            // the entries that the owner exchanges.
            biases: (2, 5),
            ..Work::long(&place, Phase::Prepare)
        }
        .in_subdirectories(subdirectories);
        let mut command = interface.command(&work, &test_dir);
        if !interface.is_prompt() {
            command.args(["--on-error", "100%"]);
        }
        let mut running = Running::start(command, &place);
        let ended = match is_killed
            && running.meets("some files", |_| !names(&place).unwrap().is_empty())
        {
            true => {
                std::thread::sleep(Duration::from_millis(300));
                running.kill()
            }
            false => running.finish(),
        };
        roots.assert_kept(&ended);
        let cleaned = clean(&place);
        roots.assert_kept(&cleaned);
        // Files that the owner has put into the directory would conflict with the next run, so they
        // are moved away.
        for name in names(&place).unwrap() {
            let _ = std::fs::rename(
                place.join(&name),
                test_dir
                    .path()
                    .join(format!("old-{:?}", std::time::Instant::now())),
            );
        }
    }
    attacker.end()
}
