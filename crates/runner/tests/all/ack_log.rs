//! Runs with an acknowledgement log on real directories. After a kill, all acknowledged files must
//! exist, and every loss that a test causes must be reported.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use engine::Durability;
use engines::kernel_namespace::KernelNamespace;
use engines::posix::Posix;
use record::{Outcome, Record};
use rundir::{Loss, LossKind, Verified, VerifyError};
use runner::{Control, NoEvents, Place, Refused, RunSpec, SystemClock};
use testkit::runs::{layout, private, shared, uniform, verifiable};
use testkit::{Assert, Shows};
use workload::layout::Shape;
use workload::{Action, Classic, Mix, Weights, Workers, Workload};

const ACK_LOGS: &str = "/dev/shm";
/// Size of the acknowledgement log at which the child process is killed.
const KILLED_AT_BYTES: u64 = 400_000;

/// A directory for files and a directory for acknowledgement logs, on different file systems.
struct Places {
    files: tempfile::TempDir,
    ack_logs: tempfile::TempDir,
}

impl Places {
    fn new() -> Option<Self> {
        let files = tempfile::tempdir().unwrap();
        let device = |path: &Path| fs::metadata(path).map(|facts| facts.dev());
        let ack_logs = device(Path::new(ACK_LOGS)).ok();
        if ack_logs.is_none() || ack_logs == device(files.path()).ok() {
            println!(
                "skipped: {ACK_LOGS} is no other file system than {}",
                files.path().display()
            );
            return None;
        }
        Some(Self {
            files,
            ack_logs: tempfile::tempdir_in(ACK_LOGS).unwrap(),
        })
    }

    fn ack_log(&self) -> PathBuf {
        self.ack_logs.path().join("ack_log")
    }
}

fn mix(transactions: u64) -> Mix {
    Mix {
        files: 60,
        transactions,
        weights: Action::operations()
            .filter(|action| action.is_asked_for())
            // Omits actions that not every file system supports: extended attributes, and clones
            // (files that share blocks).
            .filter(|action| {
                let lacks = [Action::SetExtended, Action::GetExtended];
                !lacks.contains(action) && !action.clones() && !action.is_on_tree()
            })
            .fold(Weights::default(), |weights, action| {
                weights.with(action, 1)
            })
            .with(Action::Create, 3),
        sizes: uniform(1, 9_000),
        append_sizes: uniform(1, 3_000),
        size_max_bytes: 12_000,
        layout: layout(Shape::Subdirectories(3), true),
        ..Mix::default()
    }
}

/// Returns the workload with this name: `private`, `shared`, `classic` or `one`.
fn workload(name: &str, transactions: u64) -> Workload {
    let workers = match name {
        "private" => private(3),
        "shared" => shared(3, 1),
        _ => Workers::ONE,
    };
    if name == "classic" {
        return Classic {
            files: 60,
            transactions,
            subdirectories: 2,
            ..Classic::default()
        }
        .into();
    }
    verifiable(workers, mix(transactions))
}

fn request(workload: Workload, files: &Path, ack_log: &Path) -> RunSpec {
    let location = files.to_owned();
    RunSpec {
        durability: Durability::None.into(),
        ack_log: Some(ack_log.to_owned()),
        ..RunSpec::classic(workload, vec![location], Place::OwnDirectory)
    }
}

fn run(request: &RunSpec, control: &Control) -> Result<Record, Refused> {
    runner::run(
        request,
        &Posix,
        &SystemClock,
        &mut || control.clone(),
        &mut NoEvents,
    )
}

const CHILD: &str = "POSTMARK_TEST_JOURNAL_CHILD";

fn verify_now(path: &Path, ack_log: &Path) -> Result<Verified, VerifyError> {
    rundir::verify_log(&KernelNamespace::default(), path, ack_log)
}

/// Not a test by itself: it performs the run that other tests start in a child process and kill.
#[test]
fn child() {
    let Some(words) = std::env::var_os(CHILD) else {
        return;
    };
    let words: Vec<String> = words
        .to_string_lossy()
        .split('|')
        .map(str::to_owned)
        .collect();
    let [name, durability, files, ack_log] = &words[..] else {
        panic!("{words:?}")
    };
    let endless = workload(name, 1_000_000);
    let request = RunSpec {
        room_check: false,
        durability: durability.parse().unwrap(),
        ..request(endless, Path::new(files), Path::new(ack_log))
    };
    let ended = run(&request, &Control::default());
    panic!("it ended: {ended:?}");
}

/// Starts a run in a child process and kills it while it works.
fn kill_run(places: &Places, name: &str) {
    let words = format!(
        "{name}|none|{}|{}",
        places.files.path().display(),
        places.ack_log().display()
    );
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "ack_log::child", "--nocapture"])
        .env(CHILD, words)
        .spawn()
        .unwrap();
    let since = Instant::now();
    while fs::metadata(places.ack_log()).map_or(0, |facts| facts.len()) < KILLED_AT_BYTES {
        assert!(child.try_wait().unwrap().is_none(), "the run has ended");
        assert!(
            since.elapsed() < Duration::from_secs(120),
            "the run comes to nothing"
        );
        thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    crate::heartbeats::remove_after_test(&child.id().to_string());
}

/// The operations that an acknowledgement log contains.
struct Said {
    done: Vec<[String; 3]>,
    /// Paths of operations that were started and not acknowledged.
    in_flight: HashSet<String>,
}

impl Said {
    fn read(ack_log: &Path) -> Self {
        let text = fs::read_to_string(ack_log).unwrap();
        let mut begun = std::collections::HashMap::new();
        let mut done = Vec::new();
        // The last line may be incomplete, because the process was killed while it wrote the line.
        let lines = text
            .split_inclusive('\n')
            .filter(|line| line.ends_with('\n'));
        for line in lines {
            let words: Vec<&str> = line.trim_end().split(' ').skip(1).collect();
            match words[0] {
                "B" => {
                    let entry = [words[3], words[5], words[6]].map(str::to_owned);
                    begun.insert(words[1].to_owned(), entry);
                }
                "A" => done.push(begun.remove(words[1]).unwrap()),
                _ => {}
            }
        }
        let in_flight = begun.into_values().flatten().collect();
        Self { done, in_flight }
    }

    /// Returns the last operation of this action as action, path and second path. Ignores
    /// operations whose paths were changed by a later operation or by an operation in flight.
    fn last(&self, action: &str) -> [String; 3] {
        let is_last = |at: &usize| {
            let [_, path, second] = &self.done[*at];
            let later = &self.done[*at + 1..];
            let touched = |name: &String| {
                name != "-"
                    && (self.in_flight.contains(name)
                        || later
                            .iter()
                            .any(|[_, path, second]| path == name || second == name))
            };
            !touched(path) && !touched(second)
        };
        let all = (0..self.done.len()).rev();
        let mut of_action = all.filter(|at| self.done[*at][0] == action);
        let at = of_action
            .find(is_last)
            .unwrap_or_else(|| panic!("no {action}"));
        self.done[at].clone()
    }
}

fn run_directory(files: &Path) -> PathBuf {
    let mut entries = fs::read_dir(files)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let is_own = |path: &PathBuf| {
        path.file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with("postmark-"))
    };
    entries.find(is_own).unwrap()
}

#[test]
fn killed_run_loses_no_acknowledged_operation() {
    for name in ["one", "private", "shared", "classic"] {
        let Some(places) = Places::new() else { return };
        kill_run(&places, name);
        let verified = verify_now(places.files.path(), &places.ack_log()).unwrap();
        assert_eq!(verified.lost, [], "{name}");
        assert!(verified.lost_counts.is_empty());
        assert!(!verified.ended && !verified.may_be_removed, "{name}");
        assert!(
            verified.acknowledged.total() > 1_000,
            "{name}: {:?}",
            verified.acknowledged
        );
        assert!(verified.in_flight <= u64::from(verified.workers), "{name}");
        assert!(verified.checked > 100, "{name}");
        assert_eq!(verified.contents_checked, name != "classic");
        assert_eq!(verified.policy, "none");
        assert_eq!(verified.directories.len(), 1);
        // Verification accepts not only the location, but also the run's directory, and another
        // directory to which the whole run directory was moved.
        let own = run_directory(places.files.path());
        assert_eq!(
            verify_now(&own, &places.ack_log()).unwrap().lost,
            [],
            "{name}"
        );
        let elsewhere = places.files.path().join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        fs::rename(&own, elsewhere.join(own.file_name().unwrap())).unwrap();
        let moved = verify_now(&elsewhere, &places.ack_log()).unwrap();
        assert_eq!(moved.lost, [], "{name}");
        assert_eq!(moved.checked, verified.checked);
        let said = verify_now(places.ack_logs.path(), &places.ack_log()).unwrap_err();
        said.assert(
            said.to_string()
                .starts_with("cannot find the run directory"),
        );
    }
}

/// A function that damages the result of an operation. It takes the first and the second path of
/// the operation, and returns the path that is now wrong.
type Spoil = fn(&Path, &Path) -> PathBuf;

fn remove(path: &Path, _: &Path) -> PathBuf {
    fs::remove_file(path).unwrap();
    path.to_owned()
}

fn remove_second(_: &Path, second: &Path) -> PathBuf {
    remove(second, second)
}

fn make_again(path: &Path, _: &Path) -> PathBuf {
    fs::write(path, "again").unwrap();
    path.to_owned()
}

fn shorten(path: &Path, _: &Path) -> PathBuf {
    let file = fs::OpenOptions::new().write(true).open(path).unwrap();
    file.set_len(file.metadata().unwrap().len() - 1).unwrap();
    path.to_owned()
}

fn flip(path: &Path, _: &Path) -> PathBuf {
    let mut bytes = fs::read(path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(path, bytes).unwrap();
    path.to_owned()
}

fn make_a_directory(path: &Path, _: &Path) -> PathBuf {
    fs::remove_file(path).unwrap();
    fs::create_dir(path).unwrap();
    path.to_owned()
}

fn lead_elsewhere(path: &Path, _: &Path) -> PathBuf {
    fs::remove_file(path).unwrap();
    std::os::unix::fs::symlink("elsewhere", path).unwrap();
    path.to_owned()
}

const SPOILINGS: [(&str, LossKind, Spoil); 11] = [
    ("deliver", LossKind::Missing, remove),
    ("rename", LossKind::Missing, remove_second),
    ("link", LossKind::Missing, remove_second),
    ("delete", LossKind::StillThere, make_again),
    ("remove-link", LossKind::StillThere, make_again),
    ("rmdir", LossKind::StillThere, make_again),
    ("append", LossKind::WrongSize, shorten),
    ("overwrite", LossKind::Torn, flip),
    ("replace", LossKind::Torn, flip),
    ("create", LossKind::Torn, make_a_directory),
    ("symlink", LossKind::Torn, lead_elsewhere),
];

#[test]
fn every_loss_in_a_killed_run_is_reported() {
    let Some(places) = Places::new() else { return };
    kill_run(&places, "one");
    let said = Said::read(&places.ack_log());
    let own = run_directory(places.files.path());
    let mut expected: Vec<(String, LossKind, String)> = SPOILINGS
        .into_iter()
        .map(|(action, kind, spoil)| {
            let [_, path, second] = said.last(action);
            let path = spoil(&own.join(path), &own.join(second));
            (action.to_owned(), kind, path.to_string_lossy().into_owned())
        })
        .collect();
    let verified = verify_now(places.files.path(), &places.ack_log()).unwrap();
    let mut found: Vec<(String, LossKind, String)> = verified
        .lost
        .iter()
        .map(|loss| (loss.what.name().to_owned(), loss.kind, loss.path.clone()))
        .collect();
    // A damaged file is also reported under the names of its links, which the expected losses do
    // not contain.
    found.retain(|(_, _, path)| {
        !path.ends_with(".l") || expected.iter().any(|(_, _, known)| known == path)
    });
    // The renamed file has no name at all, so the operation that made it is lost.
    let renamed = expected.iter_mut().find(|(what, ..)| what == "rename");
    let renamed = renamed.unwrap();
    let lost = found.iter().find(|(_, _, path)| *path == renamed.2);
    renamed.0.clone_from(&lost.unwrap().0);
    assert!(["create", "deliver", "replace"].contains(&renamed.0.as_str()));
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
    assert_eq!(verified.losses(), verified.lost.len() as u64);
    let mut lost = verified.lost.iter();
    let line = lost
        .find(|loss| loss.kind == LossKind::WrongSize)
        .unwrap()
        .to_string();
    line.begins_with("append wrong size: /");
    assert!(line.ends_with("bytes were acknowledged"), "{line}");
    assert!(
        serde_json::to_string(&verified)
            .unwrap()
            .contains("\"still-there\"")
    );
}

#[test]
fn losses_in_a_removed_directory_tree_are_counted() {
    let Some(places) = Places::new() else { return };
    kill_run(&places, "private");
    let own = run_directory(places.files.path());
    let before = verify_now(places.files.path(), &places.ack_log()).unwrap();
    fs::remove_dir_all(own.join("w1")).unwrap();
    let after = verify_now(places.files.path(), &places.ack_log()).unwrap();
    assert_eq!((before.losses(), after.checked), (0, before.checked));
    assert!(after.losses() > 20, "{:?}", after.lost_counts);
    let is_of_w1 = |loss: &Loss| loss.kind == LossKind::Missing && loss.path.contains("/w1/");
    assert!(after.lost.iter().all(is_of_w1), "{:?}", after.lost);
}

#[test]
fn log_with_torn_end_is_accepted_and_damaged_log_is_refused() {
    let Some(places) = Places::new() else { return };
    kill_run(&places, "shared");
    let ack_log = fs::read(places.ack_log()).unwrap();
    let ends: Vec<usize> = (0..ack_log.len())
        .filter(|at| ack_log[*at] == b'\n')
        .collect();
    let last = ends[ends.len() - 2] + 1;
    let copy = places.ack_logs.path().join("copy");
    let verify = |bytes: &[u8]| {
        fs::write(&copy, bytes).unwrap();
        verify_now(places.files.path(), &copy)
    };
    let torn = verify(&ack_log[..last + 20]).unwrap();
    assert!(!torn.complete_ack_log);
    assert!(verify(&ack_log[..last]).unwrap().complete_ack_log);
    let mut damaged = ack_log.clone();
    damaged[ends[100] - 3] ^= 4;
    let said = verify(&damaged).unwrap_err();
    said.assert(said.to_string().contains("is damaged in line 101"));
    assert!(said.to_string().contains("use an undamaged copy"), "{said}");
    let said = verify(b"not at all").unwrap_err();
    said.assert(
        said.to_string()
            .contains("is not an acknowledgement log of postmark"),
    );
    let said = verify_now(places.files.path(), Path::new("/nonexistent")).unwrap_err();
    said.assert(
        said.to_string()
            .starts_with("cannot read the acknowledgement log /nonexistent"),
    );
}

#[test]
fn completed_run_loses_no_acknowledged_operation() {
    for name in ["one", "private", "shared", "classic"] {
        let Some(places) = Places::new() else { return };
        let asked = RunSpec {
            durability: Durability::FsyncDirectory.into(),
            ..request(workload(name, 60), places.files.path(), &places.ack_log())
        };
        let record = run(&asked, &Control::default()).unwrap();
        assert_eq!(record.actual.outcome, Outcome::Complete, "{name}");
        let operations = record
            .actual
            .phases
            .iter()
            .flat_map(|phase| &phase.segments[0].operations);
        let changes: u64 = operations
            .filter(|operation| !operation.action.reads())
            .map(|operation| operation.meter.operations)
            .sum();
        let verified = verify_now(places.files.path(), &places.ack_log()).unwrap();
        assert_eq!(
            (verified.lost, verified.in_flight),
            (Vec::new(), 0),
            "{name}"
        );
        assert!(verified.ended && verified.complete_ack_log, "{name}");
        assert_eq!(verified.acknowledged.total(), changes, "{name}");
        assert_eq!(verified.policy, "fsync+dir");
        assert_eq!(verified.directories, [None], "{name}");
        assert_eq!(
            fs::read_dir(places.files.path()).unwrap().count(),
            0,
            "{name}"
        );
    }
}

#[test]
fn stopped_run_removes_its_files_and_reports_no_loss() {
    for name in ["one", "shared"] {
        let Some(places) = Places::new() else { return };
        let signal = Arc::new(AtomicUsize::new(0));
        let control = Control::stopped_by(Arc::clone(&signal));
        let ack_log = places.ack_log();
        let stopper = thread::spawn(move || {
            while fs::metadata(&ack_log).map_or(0, |facts| facts.len()) < KILLED_AT_BYTES / 10 {
                thread::sleep(Duration::from_millis(1));
            }
            signal.store(2, Ordering::Relaxed);
        });
        let asked = request(
            workload(name, 1_000_000),
            places.files.path(),
            &places.ack_log(),
        );
        let record = run(&asked, &control).unwrap();
        stopper.join().unwrap();
        assert_eq!(record.actual.outcome, Outcome::Interrupted { signal: 2 });
        let verified = verify_now(places.files.path(), &places.ack_log()).unwrap();
        assert_eq!(
            (verified.lost, verified.in_flight),
            (Vec::new(), 0),
            "{name}"
        );
        name.assert(verified.ended && verified.may_be_removed && verified.checked > 50);
    }
}

#[test]
fn log_on_target_file_system_or_existing_path_is_refused() {
    let Some(places) = Places::new() else { return };
    let beside = tempfile::tempdir().unwrap();
    let ack_log = beside.path().join("ack_log");
    let asked = request(workload("one", 10), places.files.path(), &ack_log);
    let said = run(&asked, &Control::default()).unwrap_err();
    assert!(matches!(said, Refused::AckLog(_)));
    said.assert(
        said.to_string()
            .contains("use a file on another file system"),
    );
    assert!(!ack_log.exists());
    fs::write(places.ack_log(), "mine").unwrap();
    let asked = request(workload("one", 10), places.files.path(), &places.ack_log());
    let said = run(&asked, &Control::default()).unwrap_err();
    assert!(said.to_string().contains("the file exists"), "{said}");
    assert_eq!(fs::read(places.ack_log()).unwrap(), b"mine");
}

/// With [`Place::Location`], files are created in the user's own directory. That directory may have
/// another path when the log is verified.
#[test]
fn moved_target_is_verified_at_its_new_path() {
    let Some(places) = Places::new() else { return };
    let here = places.files.path().join("here");
    fs::create_dir(&here).unwrap();
    let asked = RunSpec {
        place: Place::Location,
        ..request(workload("classic", 60), &here, &places.ack_log())
    };
    assert_eq!(
        run(&asked, &Control::default()).unwrap().actual.outcome,
        Outcome::Complete
    );
    let there = places.files.path().join("there");
    fs::rename(&here, &there).unwrap();
    let verified = verify_now(&there, &places.ack_log()).unwrap();
    assert_eq!(verified.lost, []);
    assert_eq!(
        verified.directories[0].as_deref().map(OsStr::new),
        Some(there.canonicalize().unwrap().as_os_str())
    );
    // The test creates a file that the run had deleted.
    let said = Said::read(&places.ack_log());
    let [_, path, _] = said.last("delete");
    fs::create_dir_all(there.join(&path).parent().unwrap()).unwrap();
    fs::write(there.join(&path), "back").unwrap();
    let verified = verify_now(&there, &places.ack_log()).unwrap();
    assert_eq!(verified.lost.len(), 1);
    assert_eq!(
        (verified.lost[0].what, verified.lost[0].kind),
        (Action::Delete, LossKind::StillThere)
    );
}
