//! Runs on a target whose server hangs. Whenever the server hangs, the program ends within 10 s
//! after a signal, or after the time limit for a call. It writes record and report, lists the
//! remaining files, and exits with status 1.
//!
//! The server is a FUSE file system of the test. A thread whose request this server has accepted
//! stays in the kernel, where not even SIGKILL ends it. So the process that did the work ends only
//! when the server ends.

use std::io::Write as _;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use faultfs::{Mounted, Options, Passthrough, RequestKind};
use record::{Outcome, Record};
use rustix::process::Signal;

use crate::support::interface::{has_ended, postmark, program};
use crate::support::{Ended, Running, TestDir, heartbeats, is_met, names};

/// Record and report must exist within this time after a signal.
const PROMISED: Duration = Duration::from_secs(10);

/// A program that uses the mount of the hung server. If a test fails, the server is ended first,
/// because a process that waits for the server cannot end before the server.
struct OnMount {
    running: Option<Running>,
    mounted: Arc<Mutex<Option<Mounted>>>,
}

impl Deref for OnMount {
    type Target = Running;

    fn deref(&self) -> &Running {
        self.running.as_ref().unwrap()
    }
}

impl DerefMut for OnMount {
    fn deref_mut(&mut self) -> &mut Running {
        self.running.as_mut().unwrap()
    }
}

impl OnMount {
    /// Waits until the program has ended while its server hangs. Then ends the server, which ends
    /// all processes that wait for it.
    fn ends_within(mut self, limit: Duration) -> Ended {
        let mut running = self.running.take().unwrap();
        let (began, workers) = (Instant::now(), running.children());
        let status = loop {
            if let Some(status) = running.status() {
                break status;
            }
            if began.elapsed() >= limit {
                self.running = Some(running);
                panic!("after {limit:?} it still runs\n{}", self.errors());
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        println!("it ended after {:?}", began.elapsed());
        drop(self.mounted.lock().unwrap().take());
        let ended = running.ended(status);
        for worker in workers {
            while Path::new("/proc").join(&worker).exists() {
                assert!(
                    began.elapsed() < 2 * limit,
                    "process {worker} is still there\n{ended}"
                );
                std::thread::sleep(Duration::from_millis(10));
            }
        }
        ended
    }
}

impl Drop for OnMount {
    fn drop(&mut self) {
        if self.running.is_some() {
            drop(self.mounted.lock().unwrap().take());
        }
    }
}

struct Hung {
    mounted: Arc<Mutex<Option<Mounted>>>,
    backing: PathBuf,
    at: PathBuf,
    report: PathBuf,
    test_dir: TestDir,
}

impl Hung {
    fn new() -> Option<Self> {
        let possible = faultfs::is_possible();
        if !is_met(possible.is_ok(), possible.err().unwrap_or_default()) {
            return None;
        }
        let test_dir = TestDir::new();
        let (backing, at) = (test_dir.directory("backing"), test_dir.directory("mount"));
        Some(Self {
            mounted: Arc::new(Mutex::new(Some(
                Passthrough::mount(&backing, &at, Options::default()).unwrap(),
            ))),
            backing,
            at,
            report: test_dir.path().join("report.json"),
            test_dir,
        })
    }

    fn stall(&self) {
        self.mounted.lock().unwrap().as_ref().unwrap().stall();
    }

    fn stall_at(&self, operation: RequestKind) {
        self.mounted
            .lock()
            .unwrap()
            .as_ref()
            .unwrap()
            .stall_at(operation);
    }

    fn run(&self, command: Command) -> OnMount {
        OnMount {
            running: Some(Running::start(command, &self.backing)),
            mounted: Arc::clone(&self.mounted),
        }
    }

    fn start(&self, words: &str) -> OnMount {
        let mut command = postmark("run --format json --target");
        command
            .arg(&self.at)
            .arg("--output")
            .arg(&self.report)
            .args(words.split_whitespace());
        self.run(command)
    }

    /// Waits until a request of the program has reached the hung server.
    fn wait_for_request(&self, running: &Running) {
        let waits = {
            let mounted = self.mounted.lock().unwrap();
            mounted
                .as_ref()
                .unwrap()
                .wait_for_request(Duration::from_secs(60))
        };
        assert!(waits, "nobody asks the server\n{}", running.errors());
        // The process that waits for the server ends only with the server, so it cannot remove its
        // heartbeat file.
        heartbeats::remove_after_test(&running.worker().to_string());
    }

    fn record(&self) -> Record {
        Record::from_json(&std::fs::read_to_string(&self.report).unwrap()).unwrap()
    }
}

fn transactions_began(running: &Running) -> bool {
    has_ended(&running.errors(), "prepare")
}

/// Asserts that the record reports a hung target and remaining files.
fn tells_of_a_hung_target(record: &Record, operation: &str) {
    let actual = &record.actual;
    let Outcome::Failed { why } = &actual.outcome else {
        panic!("the outcome is {:?}", actual.outcome);
    };
    let stalled: Vec<_> = actual
        .stalled
        .iter()
        .filter(|stalled| !stalled.came_back)
        .collect();
    assert!(
        stalled
            .iter()
            .any(|stalled| stalled.operation.contains(operation)),
        "{operation} is not named in {stalled:?}: {why}"
    );
    let left: Vec<_> = actual
        .clean_up
        .iter()
        .flat_map(|clean_up| &clean_up.left)
        .collect();
    assert!(
        left.len() == 1 && left[0].why.contains("postmark clean"),
        "it is not told what is left and what to do: {left:?}"
    );
}

/// A test case: the server hangs at the first request of kind `at`.
struct Case {
    words: &'static str,
    /// The server starts to hang when the program meets this condition; `None` means from the
    /// start.
    from: Option<fn(&Running) -> bool>,
    at: RequestKind,
    /// Operation that the record names as stalled; empty for any operation.
    named: &'static str,
    /// A signal that is sent before the request reaches the server. `None`: SIGTERM is sent
    /// afterwards.
    first: Option<Signal>,
}

const READS: &str = "--files 50 --transactions 100000000 --mix read=1";

/// Cases in which a signal ends a run on a hung server.
const CASES: [Case; 6] = [
    Case {
        words: READS,
        from: None,
        at: RequestKind::MakeDirectory,
        named: "make the run directory",
        first: None,
    },
    Case {
        // The program keeps the manifest open. When a thread closes its copy of this descriptor,
        // the kernel sends the server a flush.
        words: READS,
        from: None,
        at: RequestKind::Flush,
        named: "",
        first: None,
    },
    Case {
        words: "--files 50 --transactions 100000000 --mix append=1,read=1",
        from: Some(transactions_began),
        at: RequestKind::Flush,
        named: "",
        first: None,
    },
    Case {
        words: "--files 50 --transactions 1000 --mix read=1",
        from: Some(|running| running.errors().contains("transactions")),
        at: RequestKind::Unlink,
        named: "delete",
        first: None,
    },
    Case {
        words: READS,
        from: Some(transactions_began),
        at: RequestKind::Unlink,
        named: "remove what the run made",
        first: Some(Signal::INT),
    },
    Case {
        words: "--files 50 --transactions 100000000 --mix read=1 --keep",
        from: Some(transactions_began),
        at: RequestKind::Create,
        named: "write the manifest",
        first: Some(Signal::INT),
    },
];

#[test]
fn signal_ends_a_run_on_a_hung_target() {
    // The cases run in parallel, because each mostly waits.
    std::thread::scope(|scope| {
        for case in CASES {
            scope.spawn(move || ends(&case));
        }
    });
}

fn ends(case: &Case) {
    let Some(hung) = Hung::new() else { return };
    let told = format!("{} at {:?}", case.words, case.at);
    if case.from.is_none() {
        hung.stall_at(case.at);
    }
    let mut running = hung.start(case.words);
    if let Some(from) = case.from {
        running.until("that the stage begins", from);
        hung.stall_at(case.at);
    }
    if let Some(first) = case.first {
        running.send(first);
    }
    hung.wait_for_request(&running);
    if case.first.is_none() {
        running.send(Signal::TERM);
    }
    println!("{told}");
    running.ends_within(PROMISED).code(1);
    tells_of_a_hung_target(&hung.record(), case.named);
}

/// A server that is stopped by SIGSTOP does not even accept requests. The run must end all the
/// same.
#[test]
fn signal_ends_a_run_on_a_stopped_server() {
    let Some(hung) = Hung::new() else { return };
    let mut running = hung.start("--files 50 --transactions 100000000 --mix read=1 --workers 2");
    running.until("the transactions", transactions_began);
    hung.stall();
    std::thread::sleep(Duration::from_millis(500));
    running.send(Signal::TERM);
    running.ends_within(PROMISED).code(1);
    // The record may name a stalled operation of a worker, or the stalled check whether the target
    // still exists.
    tells_of_a_hung_target(&hung.record(), "");
}

#[test]
fn run_on_a_hung_target_ends_without_a_signal() {
    let cases = [
        (RequestKind::MakeDirectory, READS, "make the run directory"),
        (RequestKind::Write, READS, ""),
        // In this case the measurement is complete, but the run directory remains.
        (
            RequestKind::RemoveDirectory,
            "--files 50 --transactions 100 --mix read=1",
            "remove what the run made",
        ),
    ];
    std::thread::scope(|scope| {
        for (at, words, named) in cases {
            scope.spawn(move || {
                let Some(hung) = Hung::new() else { return };
                hung.stall_at(at);
                let running = hung.start(&format!("{words} --stall-timeout 1s"));
                hung.wait_for_request(&running);
                running
                    .ends_within(PROMISED)
                    .code(1)
                    .shows(" is stalled in '");
                tells_of_a_hung_target(&hung.record(), named);
            });
        }
    });
}

#[test]
fn report_goes_to_standard_output_if_its_file_is_on_the_hung_target() {
    let Some(mut hung) = Hung::new() else {
        return;
    };
    hung.report = hung.at.join("report.json");
    let mut running = hung.start("--files 50 --transactions 100000000 --mix stat=1");
    running.until("the transactions", transactions_began);
    hung.stall();
    std::thread::sleep(Duration::from_millis(500));
    running.send(Signal::TERM);
    let ended = running.ends_within(PROMISED);
    ended.code(1).shows("cannot write the report");
    tells_of_a_hung_target(&Record::from_json(&ended.output).unwrap(), "");
}

#[test]
fn signal_ends_clean_verify_log_and_starting_runs_on_a_hung_target() {
    for words in [
        "run --target MOUNT",
        "clean MOUNT",
        "verify-log --ack-log MOUNT/ack_log MOUNT",
    ] {
        let Some(hung) = Hung::new() else { return };
        std::fs::write(hung.at.join("ack_log"), "no acknowledgement log\n").unwrap();
        // The signal is SIGTERM and not SIGINT, because a shell may start the tests with SIGINT
        // ignored. Child processes inherit this.
        let mut command = Running::command(program());
        command.args(words.replace("MOUNT", hung.at.to_str().unwrap()).split(' '));
        hung.stall();
        let running = hung.run(command);
        std::thread::sleep(Duration::from_millis(500));
        running.send(Signal::TERM);
        running.ends_within(PROMISED).signal(Signal::TERM.as_raw());
        assert_eq!(names(&hung.backing).unwrap(), ["ack_log"]);
    }
}

#[test]
fn signal_ends_the_prompt_on_a_hung_target() {
    let Some(hung) = Hung::new() else { return };
    let mut command = Running::command(program());
    let mut running = {
        command.stdin(Stdio::piped());
        let script = format!(
            "set location {}\nset number 50\nset transactions 100000000\nrun\n",
            hung.at.display()
        );
        let file = hung.test_dir.path().join("script");
        std::fs::File::create(&file)
            .unwrap()
            .write_all(script.as_bytes())
            .unwrap();
        command.stdin(std::fs::File::open(&file).unwrap());
        hung.run(command)
    };
    running.until("the transactions", |running| {
        running.output().contains("Performing")
    });
    hung.stall();
    std::thread::sleep(Duration::from_millis(500));
    running.send(Signal::TERM);
    let ended = running.ends_within(PROMISED);
    ended.code(1).shows("not removed").shows("postmark clean");
}

/// Whether all threads of a process are stopped.
fn stands_still(process: &str) -> bool {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).unwrap();
    let facts = tasks
        .map(|task| std::fs::read_to_string(task.unwrap().path().join("stat")).unwrap_or_default());
    // In `stat`, the state of the thread follows its name, which is in parentheses.
    facts.into_iter().all(|facts| {
        facts
            .rsplit_once(") ")
            .is_none_or(|(_, facts)| facts.starts_with('T'))
    })
}

#[test]
fn second_process_is_stopped_continued_and_ended_with_the_first() {
    for last in [Signal::INT, Signal::KILL] {
        let Some(hung) = Hung::new() else { return };
        let mut running = hung.start("--files 50 --transactions 100000000 --mix stat=1");
        running.until("the transactions", transactions_began);
        let [worker] = &running.children()[..] else {
            panic!("{:?} do the work", running.children());
        };
        let started = running.process().to_string();
        running.send(Signal::TSTP);
        running.until("that both stand still", |_| {
            stands_still(&started) && stands_still(worker)
        });
        running.send(Signal::CONT);
        running.until("that both go on", |_| {
            !stands_still(&started) && !stands_still(worker)
        });
        if last == Signal::KILL {
            running
                .running
                .take()
                .unwrap()
                .kill()
                .signal(Signal::KILL.as_raw());
            let mut clean = Running::command(program());
            clean.arg("clean").arg(&hung.at);
            Running::run_to_end(clean, &hung.backing).code(0);
        } else {
            running.send(last);
            running
                .running
                .take()
                .unwrap()
                .finish()
                .code(128 + last.as_raw());
        }
        assert!(
            !Path::new("/proc").join(worker).exists(),
            "the worker goes on"
        );
        assert!(names(&hung.backing).unwrap().is_empty());
    }
}

/// A directory mounted through bindfs. Its libfuse server does not remove a file that is still
/// open, but renames it.
pub struct Bound {
    server: std::process::Child,
    at: PathBuf,
}

impl Bound {
    /// `None` if bindfs is not installed.
    pub fn mount(backing: &Path, at: &Path, options: &[&str]) -> Option<Self> {
        let mut command = Command::new("bindfs");
        command.arg("-f").args(options).args([backing, at]);
        let started = command.stdin(Stdio::null()).spawn();
        if !is_met(started.is_ok(), "bindfs") {
            return None;
        }
        let bound = Self {
            server: started.unwrap(),
            at: at.to_owned(),
        };
        let is_mounted = || {
            std::fs::read_to_string("/proc/self/mounts")
                .unwrap()
                .contains(at.to_str().unwrap())
        };
        let began = Instant::now();
        while !is_mounted() {
            assert!(began.elapsed() < PROMISED, "bindfs does not mount");
            std::thread::sleep(Duration::from_millis(10));
        }
        Some(bound)
    }
}

impl Bound {
    pub fn server(&self) -> i32 {
        i32::try_from(self.server.id()).unwrap()
    }
}

impl Drop for Bound {
    fn drop(&mut self) {
        let _ = rustix::mount::unmount(&self.at, rustix::mount::UnmountFlags::DETACH);
        let _ = self.server.wait();
    }
}

#[test]
fn no_files_remain_if_fuse_renames_removed_open_files() {
    let test_dir = TestDir::new();
    let (backing, at) = (test_dir.directory("backing"), test_dir.directory("mount"));
    let Some(_bound) = Bound::mount(&backing, &at, &[]) else {
        return;
    };
    let run = |transactions: &str| {
        let mut command =
            postmark("run --files 50 --workers 2 --mix create=1,delete=1,read=1,link=1");
        command
            .args([
                "--no-space-check",
                "--transactions",
                transactions,
                "--target",
            ])
            .arg(&at);
        command
    };
    Running::run_to_end(run("1000"), &backing).code(0);
    assert!(names(&backing).unwrap().is_empty(), "after a run");

    let mut killed = Running::start(run("100000000"), &backing);
    killed.until("the transactions", transactions_began);
    let [directory] = &names(&backing).unwrap()[..] else {
        panic!("the run has no directory");
    };
    let its_names = names(&backing.join(directory)).unwrap();
    assert_eq!(its_names, [".postmark-manifest.json", "w0", "w1"]);
    killed.kill();
    // The file system records no creation times, and chmod changes the change time of each file. So
    // no file time identifies the files of the run.
    let changed = Command::new("chmod")
        .args(["-R", "--", "u+r"])
        .arg(backing.join(directory))
        .status()
        .unwrap();
    assert!(changed.success());
    let mut clean = Running::command(program());
    clean.arg("clean").arg(&at);
    Running::run_to_end(clean, &backing).code(0);
    assert!(
        names(&backing).unwrap().is_empty(),
        "after a kill and clean"
    );

    let times = |path: &Path| std::fs::metadata(path).unwrap().modified().unwrap();
    let before = times(&backing);
    let script = test_dir.path().join("script");
    std::fs::write(
        &script,
        format!("set location {}\nset number 50\nrun\n", at.display()),
    )
    .unwrap();
    let mut prompt = Running::command(program());
    prompt.stdin(std::fs::File::open(&script).unwrap());
    Running::run_to_end(prompt, &backing).code(0);
    assert!(names(&backing).unwrap().is_empty(), "after the prompt");
    assert_eq!(
        times(&backing),
        before,
        "the directory's time is not as it was"
    );
}

/// On this file system all files have the same owner and mode, which differ from the owner and mode
/// of the run. `clean` recognizes the files of the run by their other attributes.
#[test]
fn clean_leaves_foreign_files_with_the_same_owner_and_mode() {
    let test_dir = TestDir::new();
    let (backing, at) = (test_dir.directory("backing"), test_dir.directory("mount"));
    let options = [
        "--force-user=65534",
        "--force-group=65534",
        "--perms=u=rwX,g=,o=",
    ];
    let Some(_bound) = Bound::mount(&backing, &at, &options) else {
        return;
    };
    let run = |transactions: &str| {
        let mut command =
            postmark("run --files 50 --workers 2 --mix create=1,delete=1,read=1,link=1,mkdir=1");
        command
            .args([
                "--allow-unsafe-target",
                "--no-space-check",
                "--transactions",
                transactions,
                "--target",
            ])
            .arg(&at);
        command
    };
    Running::run_to_end(run("1000"), &backing).code(0);
    assert!(names(&backing).unwrap().is_empty(), "after a run");

    let mut killed = Running::start(run("100000000"), &backing);
    killed.until("the transactions", transactions_began);
    let [directory] = &names(&backing).unwrap()[..] else {
        panic!("the run has no directory");
    };
    killed.kill();
    let letter = backing.join(directory).join("w0/123456");
    std::fs::write(&letter, "a letter\n").unwrap();
    let clean = || {
        let mut clean = Running::command(program());
        clean.arg("clean").arg(&at);
        Running::run_to_end(clean, &backing)
    };
    clean().code(1).shows("123456: ");
    assert_eq!(std::fs::read_to_string(&letter).unwrap(), "a letter\n");
    std::fs::remove_file(&letter).unwrap();
    clean().code(0);
    assert!(
        names(&backing).unwrap().is_empty(),
        "after a kill and clean"
    );
}
