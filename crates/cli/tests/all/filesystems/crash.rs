//! Crashes in the middle of a run: the file system is shut down without flushing its log, and
//! mounted again. Writes that were acknowledged as durable must exist. Without a durability policy,
//! `verify-log` must find losses. It must also report damaged files. `POSTMARK_CRASHES` sets the
//! number of crashes for each policy.
//!
//! Two kinds of crashes alternate. In the first kind, the program is stopped before the shutdown
//! and then killed, as by a power failure. In the second kind, the program continues after the
//! shutdown, and ends because all its calls fail.
//!
//! In this second kind, a race in xfs can lose the last acknowledged operation of each worker. The
//! fsync of a directory checks whether the directory is pinned in the log (`xfs_dir_fsync`). A
//! shutdown unpins the directory, so an fsync at that moment wrongly reports success. The fsync of
//! a file first checks for a shutdown.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;
use testkit::number_of;

use crate::mounted::{Mounted, on};
use crate::runs::{Run, postmark};
use crate::support::interface::{clean, own_directories};
use crate::support::{Ended, Running, names};

/// A mix of operations on names: file systems write changes of names to their journals.
const MIX: &str = "deliver=4,rename=2,delete=3,create=2";

/// The result of `verify-log`: its exit status and output, and the output parsed as JSON.
struct Verified {
    ended: Ended,
    said: Value,
}

impl Verified {
    fn of(at: &Path, ack_log: &Path) -> Self {
        let word = OsStr::new;
        let ended = postmark(
            at,
            &[
                word("verify-log"),
                at.as_os_str(),
                word("--ack-log"),
                ack_log.as_os_str(),
                word("--format"),
                word("json"),
            ],
        );
        let said = serde_json::from_str(&ended.output).unwrap_or_else(|error| {
            panic!("verify-log does not say what it has found: {error}\n{ended}")
        });
        Self { ended, said }
    }

    /// Number of losses of the given kinds, or of all kinds if `kinds` is empty.
    fn lost(&self, kinds: &[&str]) -> u64 {
        let counts = self.said["lost_counts"].as_array().unwrap().iter();
        counts
            .filter(|count| kinds.is_empty() || kinds.iter().any(|kind| count["kind"] == *kind))
            .map(|count| count["count"].as_u64().unwrap())
            .sum()
    }

    fn nothing_is_lost(&self) -> &Self {
        self.ended.code(0);
        self.ended
            .assert(self.lost(&[]) == 0, "it ends with 0 and names losses");
        let checked = self.said["checked"].as_u64().unwrap();
        self.ended.assert(checked > 0, "nothing was checked");
        self
    }

    /// The losses of files in `names`. These losses are no errors: an fsync during the shutdown may
    /// have wrongly reported success.
    fn excused(&self, names: &[String]) -> Vec<&Value> {
        let is_excused = |loss: &&Value| {
            let path = Path::new(loss["path"].as_str().unwrap());
            names.iter().any(|name| path.ends_with(name))
        };
        let lost = self.said["lost"].as_array().unwrap();
        let excused: Vec<&Value> = lost.iter().filter(is_excused).collect();
        if !excused.is_empty() {
            tell(&format!(
                "acknowledged by a file system that was gone: {excused:?}"
            ));
        }
        excused
    }

    /// Asserts that no files other than those in `names` are lost, and returns the number of
    /// losses.
    fn nothing_is_lost_but(&self, names: &[String]) -> usize {
        let excused = self.excused(names).len();
        if excused == 0 {
            self.nothing_is_lost();
            return excused;
        }
        self.ended.code(1);
        let what = format!("more is lost than what was acknowledged last, {names:?}");
        self.ended.assert(self.lost(&[]) == excused as u64, &what);
        excused
    }
}

/// How the program ends at a crash of its file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Goes {
    /// The program is stopped before the shutdown and then killed, as by a power failure. No write
    /// is acknowledged after the shutdown.
    WithThePower,
    /// The program continues, and ends because its calls fail.
    Alone,
}

#[derive(Clone, Copy, Debug)]
struct Crash {
    goes: Goes,
    /// The crash happens when the acknowledgement log has grown by this many bytes since the
    /// preparation phase.
    bytes: u64,
}

/// Crashes of both kinds, each at a different size of the acknowledgement log.
fn crashes() -> impl Iterator<Item = Crash> {
    let crashes = number_of("POSTMARK_CRASHES", 3);
    (0..crashes).map(|round| Crash {
        goes: if round % 2 == 0 {
            Goes::WithThePower
        } else {
            Goes::Alone
        },
        bytes: 20_000 + round * 777_777 % 4_000_000,
    })
}

/// The names of the files in the last acknowledged operation of each worker.
fn last_acknowledged(ack_log: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(ack_log).unwrap();
    let mut begun: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut last: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in text.lines() {
        // A line is `checksum B worker sequence operation location name other-name` when an
        // operation begins. It is `checksum A worker sequence` when the operation is acknowledged.
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            [_, "B", worker, _, _, _, name, other, ..] => {
                drop(begun.insert(worker, vec![name, other]))
            }
            [_, "A", worker, _] => drop(last.insert(worker, begun[worker].clone())),
            _ => {}
        }
    }
    last.into_values().flatten().map(str::to_owned).collect()
}

/// The only run directory below the target.
fn own(at: &Path) -> PathBuf {
    let own = own_directories(at);
    assert_eq!(
        own.len(),
        1,
        "{} should have one run's directory: {own:?}",
        at.display()
    );
    own[0].clone()
}

/// Starts a run, crashes its file system, mounts the file system again, and runs `verify-log`.
fn crash(
    mounted: &mut Mounted,
    policy: &str,
    Crash { goes, bytes }: Crash,
    ack_log: &Path,
) -> Verified {
    let mut running: Running = Run::new(
        &mounted.at,
        "--files 200 --transactions 100000000 --workers 2 --no-space-check",
    )
    .with("--mix", MIX)
    .with("--durability", policy)
    .with("--ack-log", ack_log)
    .start();
    let length = || std::fs::metadata(ack_log).map_or(0, |facts| facts.len());
    running.until("that the pool is there", |running| {
        crate::support::interface::has_ended(&running.errors(), "prepare")
    });
    let prepared = length();
    running.until("that the acknowledgement log has grown", |_| {
        length() >= prepared + bytes
    });
    // After any mount on the system, the run checks that its own directories still exist. The run
    // may thus notice the crash before one of its operations fails.
    let is_noticed_first = match goes {
        Goes::WithThePower => {
            running.stop();
            mounted.crashes();
            running.kill().signal(9);
            false
        }
        Goes::Alone => {
            mounted.crashes();
            let ended = running.finish();
            ended.ends("1 | Input/output error | postmark clean");
            let said = [&*ended.output, &*ended.errors].join(" ");
            let said: Vec<&str> = said.split_whitespace().collect();
            said.join(" ").contains("can no longer be examined")
        }
    };
    mounted.comes_back();
    let verified = Verified::of(&mounted.at, ack_log);
    verified.ended.assert(
        verified.said["may_be_removed"] == false,
        "a run that could remove nothing may have removed what is missing, it says, so that \
         nothing is proved",
    );
    verified.ended.assert(
        verified.said["ended"] == (goes == Goes::Alone),
        "it does not know whether the run has ended by itself",
    );
    let in_flight = verified.said["in_flight"].as_u64().unwrap();
    verified.ended.assert(
        goes == Goes::WithThePower || is_noticed_first || in_flight > 0,
        "what failed when the file system was gone was acknowledged",
    );
    verified
}

/// Removes all files after a crash. `clean` leaves a torn file that does not match the manifest, so
/// the test removes that file. Such a file is permitted only after an excused loss
/// ([`Verified::excused`]).
fn tidy(mounted: &Mounted, ack_log: &Path, excused: usize) {
    let cleaned = clean(&mounted.at);
    let left = own_directories(&mounted.at);
    cleaned.code(i32::from(!left.is_empty()));
    assert!(left.is_empty() || excused > 0, "{left:?} is left");
    left.iter()
        .for_each(|own| std::fs::remove_dir_all(own).unwrap());
    let left = names(&mounted.at).unwrap();
    assert!(
        left.iter().all(|name| name == "lost+found"),
        "{} should be empty: {left:?}",
        mounted.at.display()
    );
    std::fs::remove_file(ack_log).unwrap();
}

fn policy_fsync_dir_loses_no_acknowledged_operation_and_damage_is_reported(mut mounted: Mounted) {
    let ack_log = mounted.elsewhere("ack_log");
    for (round, each) in crashes().enumerate() {
        let verified = crash(&mut mounted, "fsync+dir", each, &ack_log);
        let excused = match each.goes {
            Goes::Alone => verified.nothing_is_lost_but(&last_acknowledged(&ack_log)),
            Goes::WithThePower => {
                verified.nothing_is_lost();
                0
            }
        };
        if round == 0 {
            damage(&mounted, &ack_log);
        }
        tidy(&mounted, &ack_log, excused);
    }
}
on!(policy_fsync_dir_loses_no_acknowledged_operation_and_damage_is_reported: ext4, xfs);

fn losses_without_a_durability_policy_are_found(mut mounted: Mounted) {
    let ack_log = mounted.elsewhere("ack_log");
    for each in crashes() {
        let verified = crash(&mut mounted, "none", each, &ack_log);
        verified.ended.code(1);
        for kind in ["missing", "still-there"] {
            let what = format!("nothing was synced, and no loss is called '{kind}'");
            verified.ended.assert(verified.lost(&[kind]) > 0, &what);
        }
        tidy(&mounted, &ack_log, 0);
    }
}
on!(losses_without_a_durability_policy_are_found: ext4, xfs);

/// The fsync of a file guarantees its contents, but not its name. After the crash, a new name may
/// be missing, or a removed name may exist again. Every file that exists must be complete.
fn contents_survive_a_crash_with_policy_fsync(mut mounted: Mounted) {
    let ack_log = mounted.elsewhere("ack_log");
    for each in crashes() {
        let verified = crash(&mut mounted, "fsync", each, &ack_log);
        tell(&format!(
            "{:?} with fsync, {each:?}: {} of {} paths are not as acknowledged: {}",
            mounted.kind,
            verified.lost(&[]),
            verified.said["checked"],
            verified.said["lost_counts"]
        ));
        verified.ended.code(i32::from(verified.lost(&[]) > 0));
        let is_of_contents =
            |loss: &&&Value| loss["kind"] == "torn" || loss["kind"] == "wrong-size";
        let excused = match each.goes {
            Goes::WithThePower => 0,
            Goes::Alone => {
                let excused = verified.excused(&last_acknowledged(&ack_log));
                excused.iter().filter(is_of_contents).count()
            }
        };
        verified.ended.assert(
            verified.lost(&["torn", "wrong-size"]) == excused as u64,
            "contents that were synced are not whole",
        );
        tidy(&mounted, &ack_log, excused);
    }
}
on!(contents_survive_a_crash_with_policy_fsync: ext4, xfs);

/// Prints a line directly: the test framework would hide `println!` for a test that passes.
fn tell(what: &str) {
    let _ = writeln!(std::io::stderr(), "{what}");
}

/// Damages one file at a time. Each damage is reported with the path of the file, and no other file
/// is reported.
fn damage(mounted: &Mounted, ack_log: &Path) {
    let mut delivered = 0;
    let mut directories: Vec<PathBuf> = vec![own(&mounted.at)];
    let mut files: Vec<PathBuf> = Vec::new();
    while let Some(directory) = directories.pop() {
        for name in names(&directory).unwrap() {
            let path = directory.join(&name);
            let is_hidden = name.as_encoded_bytes().starts_with(b".");
            let is_temporary = directory.ends_with("tmp");
            match path.symlink_metadata().unwrap() {
                facts if facts.is_dir() => directories.push(path),
                facts if facts.len() > 0 && !is_hidden && !is_temporary => files.push(path),
                _ => {}
            }
        }
    }
    files.sort();
    for path in files.iter().rev() {
        let content = std::fs::read(path).unwrap();
        let mut other = content.clone();
        let middle = other.len() / 2;
        other[middle] ^= 0x20;
        std::fs::write(path, other).unwrap();
        let verified = Verified::of(&mounted.at, ack_log);
        let lost = verified.said["lost"].as_array().unwrap().clone();
        std::fs::write(path, &content).unwrap();
        // No loss is found if an operation on this file was in flight at the crash, because the
        // expected contents of the file are then unknown.
        if lost.is_empty() {
            verified.nothing_is_lost();
            continue;
        }
        is_named(&verified, path, "torn");
        if lost[0]["what"] == "deliver" {
            delivered += 1;
        }
        if delivered == 2 {
            let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
            file.set_len(content.len() as u64 / 2).unwrap();
            is_named(&Verified::of(&mounted.at, ack_log), path, "wrong-size");
            std::fs::write(path, &content).unwrap();
            // The file is renamed and later renamed back. If it were removed and created a second
            // time, it would not belong to the run.
            let away = mounted.at.join("away");
            std::fs::rename(path, &away).unwrap();
            is_named(&Verified::of(&mounted.at, ack_log), path, "missing");
            std::fs::rename(away, path).unwrap();
            Verified::of(&mounted.at, ack_log).nothing_is_lost();
            return;
        }
    }
    panic!(
        "there were not two delivered files to damage among {}",
        files.len()
    );
}

fn is_named(verified: &Verified, path: &Path, kind: &str) {
    let lost = verified.said["lost"].as_array().unwrap();
    verified.ended.code(1);
    verified.ended.assert(
        lost.len() == 1
            && lost[0]["kind"] == kind
            && lost[0]["path"]
                .as_str()
                .is_some_and(|said| path.ends_with(said)),
        &format!(
            "{} is damaged, and it does not say '{kind}' of it alone",
            path.display()
        ),
    );
}
