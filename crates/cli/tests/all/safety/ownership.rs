//! Before `clean` or a run removes a file, it checks whether the run has created the file. Each
//! check in `docs/reference/security.md` has its own test. Files of other programs, with names that
//! the run uses, are created during the run or after it was killed.

use std::io::Read as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::Signal;

use crate::support::Engine::{Posix, Raw, Stdio};
use crate::support::Interface::{Prompt, Run};
use crate::support::interface::{clean, own_directories, postmark, program};
use crate::support::test_dir::{create_user_files, set_mode, write};
use crate::support::{
    Ended, FileSystem, INTERFACES, Interface, Phase, Running, Snapshot, TestDir, Volume, Work,
    is_root,
};

mod kept_pools;
mod manifests;
mod starting_runs;

const NOT_OUR_CONTENTS: &str = "it does not begin like the files of this run";
const TOO_LATE: &str = "it was created after the run had ended";
const MANIFEST: &str = ".postmark-manifest.json";

/// A killed run in its own location, with files of other programs among its files.
struct Visited {
    test_dir: TestDir,
    location: PathBuf,
    files: PathBuf,
    process: u32,
}

/// Kills a run while it creates files of several sizes, none of them empty. During the run,
/// `guests` creates foreign files. The names of these files are numbers above 190,000, because on a
/// busy machine the run creates tens of thousands of files before it is stopped.
fn visited(interface: Interface, guests: impl FnOnce(&Path)) -> Visited {
    let test_dir = TestDir::in_memory();
    let location = test_dir.directory("location");
    let work = Work {
        files: 200_000,
        sizes: (100, 2_000),
        ..Work::long(&location, Phase::Prepare)
    };
    let mut running = interface.begin(&work, &test_dir, Phase::Prepare);
    running.stop();
    let files = match interface {
        Prompt(_) => location.clone(),
        Run(_) => own_directories(&location).remove(0),
    };
    guests(&files);
    running.send(Signal::CONT);
    std::thread::sleep(Duration::from_millis(30));
    let process = running.worker();
    running.kill();
    // File times come from a clock that advances only every few milliseconds. After this wait,
    // new file times differ from those of the run.
    std::thread::sleep(Duration::from_millis(30));
    Visited {
        test_dir,
        location,
        files,
        process,
    }
}

impl Visited {
    fn at(&self, name: &str) -> PathBuf {
        self.files.join(name)
    }

    /// Removes the heartbeat file of the run, as a restart of the machine does.
    fn forget_signs_of_life(&self) {
        let heartbeats = signs_of_life(self.process);
        assert_eq!(heartbeats.len(), 1, "{heartbeats:?}");
        std::fs::remove_file(&heartbeats[0]).unwrap();
    }

    /// Runs `clean`. Asserts that each file in `kept` is unchanged and printed with its reason. No
    /// other files remain, except the manifest if `is_marked`.
    fn leaves(&self, kept: &[(&str, &str)], is_marked: bool) -> Ended {
        let snapshots: Vec<(PathBuf, Snapshot)> = kept
            .iter()
            .map(|(name, _)| (self.at(name), Snapshot::of(&self.at(name))))
            .collect();
        let cleaned = clean(&self.location);
        cleaned.code(1);
        for ((path, before), (_, why)) in snapshots.iter().zip(kept) {
            cleaned.shows(&format!("Left: {}: {why}", path.display()));
            before.assert_kept(path, &cleaned);
        }
        let names = std::fs::read_dir(&self.files).unwrap();
        let mut left: Vec<PathBuf> = names.map(|entry| entry.unwrap().path()).collect();
        left.sort();
        let mut expected: Vec<PathBuf> = snapshots.into_iter().map(|(path, _)| path).collect();
        expected.extend(is_marked.then(|| self.at(MANIFEST)));
        expected.sort();
        assert_eq!(left, expected, "{cleaned}");
        cleaned
    }
}

/// The heartbeat files of a process, whose names contain its number.
fn signs_of_life(process: u32) -> Vec<PathBuf> {
    let names = std::fs::read_dir("/dev/shm").unwrap();
    let of_process = format!("-{process}-");
    let is_of_process = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name.starts_with("postmark-") && name.contains(&of_process) && path.is_file()
    };
    names
        .map(|entry| entry.unwrap().path())
        .filter(is_of_process)
        .collect()
}

/// Performs a run with the same seed in another directory, and returns the contents of its first
/// file.
fn contents_of_the_run(test_dir: &TestDir) -> Vec<u8> {
    let location = test_dir.directory("another");
    let work = Work {
        sizes: (100, 2_000),
        ..Work::long(&location, Phase::Prepare)
    };
    Prompt(Raw).begin(&work, test_dir, Phase::Prepare).kill();
    let contents = std::fs::read(location.join("1")).unwrap();
    clean(&location).code(0);
    contents
}

/// Creates files of another program: an image of 64 MiB, an unreadable file, an empty one, one of
/// zeros, and one with text. An earlier version of `clean` removed such files.
fn furnish_with_images(directory: &Path) {
    let image = std::fs::File::create(directory.join("190001")).unwrap();
    image.set_len(64 << 20).unwrap();
    std::fs::write(directory.join("190002"), "secret\n").unwrap();
    set_mode(&directory.join("190002"), 0);
    std::fs::write(directory.join("190003"), "").unwrap();
    std::fs::write(directory.join("190004"), [0; 500]).unwrap();
    std::fs::write(directory.join("190005"), "a letter\n").unwrap();
}

/// The reason that `clean` prints for a file that its owner may not read.
fn secret() -> &'static str {
    match rustix::process::geteuid().is_root() {
        true => NOT_OUR_CONTENTS,
        false => "its contents cannot be read: Permission denied",
    }
}

/// Foreign files that `clean` always recognizes as foreign, each with the printed reason.
fn certain() -> [(&'static str, &'static str); 3] {
    [
        ("190001", "it is larger than any file of this run"),
        ("190002", secret()),
        ("190005", NOT_OUR_CONTENTS),
    ]
}

/// Foreign files that `clean` cannot distinguish from files of the run in two cases: they were
/// created during the run, or the heartbeat of the run is missing. Each has the printed reason.
const UNCLEAR: [(&str, &str); 2] = [
    (
        "190003",
        "it is empty, and no trace shows that this run was writing it",
    ),
    (
        "190004",
        "it begins with zeros, and no trace shows that this run was writing it",
    ),
];

#[test]
fn files_created_after_the_run_stay() {
    for interface in INTERFACES {
        let visited = visited(interface, |_| ());
        furnish_with_images(&visited.files);
        // A copy of a file of the run, which differs from the original only in its creation time.
        std::fs::copy(visited.at("1"), visited.at("190006")).unwrap();
        let unclear = ["190003", "190004", "190006"].map(|name| (name, TOO_LATE));
        visited.leaves(&[&certain()[..], &unclear].concat(), true);
        for (name, _) in unclear {
            std::fs::remove_file(visited.at(name)).unwrap();
        }
        visited.leaves(&certain(), false);
        assert_eq!(signs_of_life(visited.process), [] as [PathBuf; 0]);
    }
}

/// Without a heartbeat the time at which the run ended is not known. Then files that could be
/// foreign stay, and so does the manifest. After the user removes these files, `clean` removes the
/// remaining files of the run.
#[test]
fn files_possibly_created_after_the_run_stay() {
    for interface in INTERFACES {
        let visited = visited(interface, |_| ());
        visited.forget_signs_of_life();
        // The file that the run was writing when it was killed is empty, so it stays as well.
        let unknown: Vec<PathBuf> = std::fs::read_dir(&visited.files)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.symlink_metadata().unwrap().len() == 0)
            .collect();
        for path in unknown {
            std::fs::remove_file(path).unwrap();
        }
        furnish_with_images(&visited.files);
        let cleaned = visited.leaves(&[&certain()[..], &UNCLEAR].concat(), true);
        cleaned.shows("its manifest stays, since the run may have made some of these");
        for name in ["190002", "190003", "190004"] {
            std::fs::remove_file(visited.at(name)).unwrap();
        }
        let [larger, _, other] = certain();
        visited.leaves(&[larger, other], false);
    }
}

/// Files that another program created during the run are recognized by their contents, if possible.
#[test]
fn files_created_during_the_run_stay() {
    for interface in [Prompt(Stdio), Prompt(Raw)] {
        let visited = visited(interface, furnish_with_images);
        visited.leaves(&[&certain()[..], &UNCLEAR].concat(), true);
    }
}

/// Before an interrupted run removes its files, it checks them in the same way as `clean`. If it
/// cannot identify a file, the manifest stays.
#[test]
fn interrupted_run_removes_only_its_own_files() {
    for interface in [Prompt(Stdio), Prompt(Raw)] {
        let test_dir = TestDir::in_memory();
        let location = test_dir.directory("location");
        let work = Work {
            sizes: (100, 2_000),
            ..Work::long(&location, Phase::Prepare)
        };
        let mut running = interface.begin(&work, &test_dir, Phase::Prepare);
        running.stop();
        let numbers: Vec<u64> = std::fs::read_dir(&location)
            .unwrap()
            .filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok())
            .collect();
        // Two files of the run are replaced by files of the user.
        let [exchanged, emptied] =
            [numbers[0], numbers[1]].map(|number| location.join(number.to_string()));
        for (path, text) in [(&exchanged, "a letter\n"), (&emptied, "")] {
            std::fs::remove_file(path).unwrap();
            std::fs::write(path, text).unwrap();
        }
        running.send(Signal::INT);
        running.send(Signal::CONT);
        let ended = running.finish();
        ended
            .code(130)
            .shows(&format!("{}: {NOT_OUR_CONTENTS}", exchanged.display()))
            .shows(&format!("{}: it is empty", emptied.display()))
            .shows("its manifest stays");
        assert_eq!(std::fs::read(&exchanged).unwrap(), b"a letter\n");
        assert!(emptied.exists() && location.join(MANIFEST).exists());
        std::fs::remove_file(&emptied).unwrap();
        let cleaned = clean(&location);
        cleaned.code(1).shows(NOT_OUR_CONTENTS);
        assert_eq!(
            std::fs::read_dir(&location).unwrap().count(),
            1,
            "{cleaned}"
        );
    }
}

/// Each file of the user differs from the files of the run in a single attribute.
#[test]
fn files_that_differ_in_one_attribute_stay() {
    if !is_root() {
        return;
    }
    for interface in [Prompt(Stdio), Run(Posix)] {
        let test_dir = TestDir::in_memory();
        let contents = contents_of_the_run(&test_dir);
        let old = test_dir.path().join("old");
        std::fs::write(&old, &contents).unwrap();
        let visited = visited(interface, |files| {
            std::fs::rename(&old, files.join("190001")).unwrap();
            for number in 190_002..=190_004 {
                std::fs::write(files.join(number.to_string()), &contents).unwrap();
            }
            std::os::unix::fs::chown(files.join("190002"), Some(65_534), Some(65_534)).unwrap();
            set_mode(&files.join("190003"), 0o640);
            std::fs::hard_link(files.join("190004"), files.join("190005")).unwrap();
        });
        let other_names = "it has other hard links, which this run does not create";
        let unclear = [
            ("190001", "it is older than the run"),
            ("190002", "it belongs to another owner (user 65534)"),
            ("190003", "its mode is 0640, which this run does not use"),
            ("190004", other_names),
            ("190005", other_names),
        ];
        visited.leaves(&unclear, true);
        // After the user removes the unclear files, `clean` removes the files of the run.
        for (name, _) in unclear {
            std::fs::remove_file(visited.at(name)).unwrap();
        }
        clean(&visited.location).code(0);
        assert!(!visited.at(MANIFEST).exists());
    }
}

/// The mode of a subdirectory is checked before its removal: if the mode has changed, the
/// subdirectory and the manifest stay.
#[test]
fn subdirectory_with_a_changed_mode_stays() {
    let test_dir = TestDir::in_memory();
    let location = test_dir.directory("location");
    let work = Work::long(&location, Phase::Prepare).in_subdirectories(3);
    Prompt(Raw).begin(&work, &test_dir, Phase::Prepare).kill();
    let changed = location.join("s1");
    let given = changed.metadata().unwrap().permissions().mode();
    for mode in [0o770, 0o711] {
        set_mode(&changed, mode);
        let before = Snapshot::of(&changed);
        let cleaned = clean(&location);
        cleaned
            .code(1)
            .shows(&format!(
                "Left: {}: its mode is {mode:04o}, which this run does not use",
                changed.display()
            ))
            .shows("its manifest stays");
        before.assert_kept(&changed, &cleaned);
    }
    set_mode(&changed, given & 0o777);
    clean(&location).code(0);
    assert_eq!(std::fs::read_dir(&location).unwrap().count(), 0);
}

/// `clean` removes the hard and symbolic links that a mix creates. A symbolic link that points
/// elsewhere is foreign, even with a name of the run.
#[test]
fn links_of_a_mix_are_removed() {
    let test_dir = TestDir::in_memory();
    let location = test_dir.directory("location");
    let mut command = postmark("run --engine posix --files 500 --transactions 1000000");
    command
        .args([
            "--mix",
            "create=1,delete=1,link=1,symlink=1,mkdir=1",
            "--target",
        ])
        .arg(&location);
    let mut running = Running::start(command, &location);
    let all_names = |location: &Path| -> Vec<PathBuf> {
        let own = own_directories(location);
        let entries = own.first().and_then(|own| std::fs::read_dir(own).ok());
        entries
            .into_iter()
            .flatten()
            .map(|entry| entry.unwrap().path())
            .collect()
    };
    running.until("links of both kinds, and directories", |_| {
        let all = all_names(&location);
        ["l", "y", "d"].iter().all(|end| {
            all.iter()
                .any(|name| name.extension().is_some_and(|found| found == *end))
        })
    });
    running.kill();
    let link = all_names(&location)
        .into_iter()
        .find(|name| name.extension().is_some_and(|end| end == "y"))
        .unwrap();
    std::fs::remove_file(&link).unwrap();
    symlink("/etc/passwd", &link).unwrap();
    let cleaned = clean(&location);
    cleaned.code(1).shows(&format!(
        "Left: {}: it is a symbolic link, but not to a file of this run",
        link.display()
    ));
    assert_eq!(all_names(&location), [link], "{cleaned}");
}

/// In an earlier version, the manifests of a run in 400 locations with long paths exceeded the size
/// limit for reading. `clean` then took the manifests for unfinished ones and removed them. So the
/// files of the run remained.
#[test]
fn run_in_hundreds_of_locations_is_cleaned() {
    let test_dir = TestDir::in_memory();
    let deep = (0..11).fold(test_dir.path().to_owned(), |path, _| {
        path.join("d".repeat(240))
    });
    std::fs::create_dir_all(&deep).unwrap();
    let locations: Vec<PathBuf> = (0..400)
        .map(|number| deep.join(format!("{number:0200}")))
        .collect();
    for location in &locations {
        std::fs::create_dir(location).unwrap();
    }
    let work = Work {
        files: 20_000,
        sizes: (100, 2_000),
        locations: locations.clone(),
        ..Work::small(&locations[0])
    };
    let mut running = Running::start(Prompt(Raw).command(&work, &test_dir), &deep);
    running.until("files in a location", |_| {
        std::fs::read_dir(&locations[0]).unwrap().count() > 3
    });
    let process = running.worker();
    running.kill();
    let sizes = locations
        .iter()
        .map(|location| location.join(MANIFEST).metadata().unwrap().len());
    assert!(
        sizes.sum::<u64>() < 400 * 64 * 1024,
        "manifests do not grow with the locations"
    );
    let mut command = Running::command(program());
    command.arg("clean").args(&locations);
    Running::run_to_end(command, &deep).code(0).shows("more");
    for location in &locations {
        assert_eq!(
            std::fs::read_dir(location).unwrap().count(),
            0,
            "{}",
            location.display()
        );
    }
    assert_eq!(signs_of_life(process), [] as [PathBuf; 0]);
}

/// During the run, its directory is exchanged for another one. The other directory contains links
/// to files of root, and old files with names of the run.
#[test]
fn links_in_an_exchanged_run_directory_are_not_followed() {
    if !is_root() {
        return;
    }
    for engine in [Stdio, Raw, Posix] {
        let test_dir = TestDir::in_memory();
        let location = test_dir.directory("theirs");
        std::os::unix::fs::chown(&location, Some(65_534), Some(65_534)).unwrap();
        let roots = test_dir.directory("roots");
        for number in 1..=50 {
            write(&roots.join(number.to_string()), "precious\n", 0o600);
        }
        let before = Snapshot::of(&roots);
        let work = Work {
            files: 3_000,
            transactions: 60_000,
            sizes: (100, 9_000),
            ..Work::long(&location, Phase::Transactions)
        };
        let mut command = Run(engine).command(&work, &test_dir);
        command.args(["--on-error", "100%", "--allow-unsafe-target"]);
        let mut running = Running::start(command, &location);
        Run(engine).wait_for(&mut running, &work, Phase::Transactions);
        let own = own_directories(&location).remove(0);
        std::fs::rename(&own, test_dir.path().join("away")).unwrap();
        std::fs::create_dir(&own).unwrap();
        for number in 1..=work.files {
            let name = own.join(number.to_string());
            if number % 2 == 0 {
                symlink(roots.join((number % 50 + 1).to_string()), name).unwrap();
            } else {
                std::fs::write(name, "aged\n").unwrap();
            }
        }
        let theirs = Snapshot::of(&own);
        let ended = running.finish();
        ended.code(1).shows("it was moved");
        before.assert_kept(&roots, &ended);
        theirs.assert_kept(&own, &ended);
    }
}

/// If a user or group other than root can exchange the target directory, a run of root does not use
/// the rights of root. With --allow-unsafe-target, the run keeps the rights of root. If users of an
/// access control list can exchange the directory, the run is refused.
#[test]
fn root_rights_are_not_used_in_directories_that_others_can_exchange() {
    if !is_root() {
        return;
    }
    for interface in INTERFACES {
        let test_dir = TestDir::in_memory();
        let theirs = test_dir.directory("theirs");
        let group = test_dir.directory("group");
        let sticky = test_dir.directory("sticky");
        let listed = test_dir.directory("listed");
        let_write(&listed, 65_534);
        std::os::unix::fs::chown(&theirs, Some(65_534), None).unwrap();
        std::os::unix::fs::chown(&group, None, Some(65_534)).unwrap();
        for (path, mode) in [(&group, 0o775), (&sticky, 0o1777)] {
            set_mode(path, mode);
        }
        for (place, who) in [(&theirs, "user 65534, its owner,"), (&group, "group 65534")] {
            let ended = interface.perform(&Work::small(place), &test_dir);
            ended.code(0).shows("as user 65534, since").shows(who);
        }
        let before = Snapshot::of(&listed);
        let ended = interface.perform(&Work::small(&listed), &test_dir);
        ended
            .code(if interface.is_prompt() { 1 } else { 2 })
            .shows("refuse to run as root")
            .shows("somebody in its access control list")
            .shows("--allow-unsafe-target");
        before.assert_kept(&listed, &ended);
        for place in [&theirs, &group, &listed] {
            let mut command = interface.command(&Work::small(place), &test_dir);
            command.arg("--allow-unsafe-target");
            let ended = Running::run_to_end(command, place);
            ended.code(0).does_not_show("as user");
        }
        let ended = interface.perform(&Work::small(&sticky), &test_dir);
        ended.code(0).does_not_show("as user");
        // At the prompt, a run with subdirectories in a location of the user is refused, even with
        // --allow-unsafe-target.
        if interface.is_prompt() {
            let work = Work::small(&theirs).in_subdirectories(3);
            let mut command = interface.command(&work, &test_dir);
            command.arg("--allow-unsafe-target");
            Running::run_to_end(command, &theirs)
                .code(1)
                .shows("no subdirectories (--allow-unsafe-target does not cover them)");
        }
    }
}

/// Adds write permission for a user to a directory's access control list (acl(5),
/// linux/posix_acl_xattr.h).
fn let_write(directory: &Path, user: u32) {
    const NOBODY: u32 = u32::MAX;
    let entries: [(u16, u16, u32); 5] = [
        (0x01, 7, NOBODY),
        (0x02, 7, user),
        (0x04, 5, NOBODY),
        (0x10, 7, NOBODY),
        (0x20, 5, NOBODY),
    ];
    let mut list = 2_u32.to_le_bytes().to_vec();
    for (whose, may, who) in entries {
        list.extend(whose.to_le_bytes());
        list.extend(may.to_le_bytes());
        list.extend(who.to_le_bytes());
    }
    let name = "system.posix_acl_access";
    rustix::fs::setxattr(directory, name, &list, rustix::fs::XattrFlags::empty()).unwrap();
}

/// During a run, the user replaces a file in the same location by renaming. At its end, the run may
/// reset the modification time of the directory, but not to a time before the user's change.
#[test]
fn directory_changed_by_the_user_keeps_its_time() {
    // In a directory of more than 10,000 entries, the run compares only the number of entries
    // before and after. The user in this test leaves this number unchanged.
    for (interface, more) in [(Prompt(Raw), 0), (Run(Posix), 0), (Run(Posix), 10_001)] {
        let test_dir = TestDir::in_memory();
        let location = test_dir.directory("location");
        create_user_files(&location);
        for number in 0..more {
            std::fs::write(location.join(format!("mine-{number}")), "").unwrap();
        }
        let work = Work {
            files: 15_000,
            transactions: 10_000,
            ..Work::long(&location, Phase::Prepare)
        };
        let before = location.metadata().unwrap().modified().unwrap();
        interface
            .begin(&work, &test_dir, Phase::Prepare)
            .finish()
            .code(0);
        assert_eq!(location.metadata().unwrap().modified().unwrap(), before);
        let running = interface.begin(&work, &test_dir, Phase::Prepare);
        std::fs::write(location.join("notes.txt.new"), "a new version\n").unwrap();
        let saved = std::time::SystemTime::now();
        std::fs::rename(location.join("notes.txt.new"), location.join("notes.txt")).unwrap();
        running.finish().code(0);
        let modified = location.metadata().unwrap().modified().unwrap();
        assert!(
            modified >= saved - Duration::from_millis(20),
            "{interface:?}: the directory's time was set back by {:?}",
            saved.duration_since(modified)
        );
    }
}

/// Files that the run cannot remove are listed on standard error, whatever the report format is.
/// The exit status then is 1.
#[test]
fn remaining_files_are_reported_in_every_format() {
    if !FileSystem::Ext4.is_available() {
        return;
    }
    for format in ["classic", "terse", "text", "json"] {
        for more in [&[][..], &["--no-check"]] {
            let test_dir = TestDir::in_memory();
            let location = test_dir.directory("location");
            let _volume = Volume::new(FileSystem::Ext4, &test_dir, &location);
            let work = Work {
                files: 5_000,
                transactions: 1_000,
                ..Work::long(&location, Phase::Prepare)
            };
            let mut command = Run(Raw).command(&work, &test_dir);
            command
                .args(["--on-error", "100%", "--format", format])
                .args(more);
            let mut running = Running::start(command, &location);
            Run(Raw).wait_for(&mut running, &work, Phase::Prepare);
            running.stop();
            let own = own_directories(&location).remove(0);
            let names = std::fs::read_dir(&own)
                .unwrap()
                .map(|entry| entry.unwrap().path());
            let mut numbered = names.filter(|path| {
                path.file_name()
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .parse::<u64>()
                    .is_ok()
            });
            let file = numbered.next().unwrap();
            chattr("+i", &file);
            running.send(Signal::CONT);
            let ended = running.finish();
            chattr("-i", &file);
            ended.code(1).does_not_show("its number is higher");
            assert!(
                ended.errors.contains(&format!(
                    "not removed: {}: cannot be removed",
                    file.display()
                )),
                "{ended}"
            );
            clean(&location).code(0);
            assert_eq!(own_directories(&location), [] as [PathBuf; 0]);
        }
    }
}

fn chattr(change: &str, file: &Path) {
    let status = std::process::Command::new("chattr")
        .arg(change)
        .arg(file)
        .status()
        .unwrap();
    assert!(status.success(), "chattr {change} {}", file.display());
}

/// A file is foreign if only a part of its contents equals that of a file of the run.
#[test]
fn contents_are_compared_completely() {
    let test_dir = TestDir::in_memory();
    let mut contents = contents_of_the_run(&test_dir);
    let visited = visited(Prompt(Stdio), |files| {
        contents[40] ^= 1;
        std::fs::write(files.join("190001"), &contents).unwrap();
        std::fs::write(files.join("190002"), &contents[..3]).unwrap();
    });
    // The second file contains the first three bytes of a file of the run. All files that the run
    // creates are longer.
    visited.leaves(
        &[
            ("190001", NOT_OUR_CONTENTS),
            ("190002", "it is shorter than any file of this run"),
        ],
        true,
    );
}

/// `clean` reads the contents of a foreign file without changing its access time.
#[test]
fn reading_a_foreign_file_keeps_its_times() {
    let visited = visited(Prompt(Stdio), |files| {
        write(&files.join("190001"), "a letter\n", 0o644);
    });
    let guest = visited.at("190001");
    let times = |path: &Path| {
        let facts = path.metadata().unwrap();
        (
            facts.atime(),
            facts.atime_nsec(),
            facts.mtime(),
            facts.ctime(),
            facts.permissions().mode(),
        )
    };
    let before = times(&guest);
    clean(&visited.location).code(1);
    assert_eq!(times(&guest), before);
    let mut text = String::new();
    std::fs::File::open(&guest)
        .unwrap()
        .read_to_string(&mut text)
        .unwrap();
    assert_eq!(text, "a letter\n");
}
