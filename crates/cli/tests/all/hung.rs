//! A target whose server hangs: whatever the run was about, its record and its report are there 10 s after a signal, or when the
//! time is over after which a call is given up; what is left is told, and the exit status is 1.
//!
//! The server is a FUSE file system of the test's own. A request that it has taken keeps the thread that made it in the
//! kernel, where not even SIGKILL ends it: then the process goes when the server is gone, after all is told.

use std::ffi::OsStr;
use std::io::Write as _;
use std::ops::{Deref, DerefMut};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use passthrough::{Mounted, Operation, Options, Passthrough};
use record::{Outcome, Record};
use rustix::process::Signal;

use crate::support::faces::{has_ended, program};
use crate::support::{Ended, Running, Scene, is_met, names};

/// What is to be there when a signal came, is there after this.
const PROMISED: Duration = Duration::from_secs(10);

/// A program on the mount. Where a test fails, the mount goes first: what waits for it can only end with it.
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
    /// Waits for its end, which does not need the mount's.
    fn ends(mut self, limit: Duration) -> Ended {
        let began = Instant::now();
        while !self.has_ended() {
            assert!(
                began.elapsed() < limit,
                "after {limit:?} it still runs\n{}",
                self.errors()
            );
            std::thread::sleep(Duration::from_millis(10));
        }
        self.running.take().unwrap().finish()
    }

    /// Whether only its parent is to hear of its end.
    fn has_ended(&self) -> bool {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.process()));
        let Ok(mut tasks) = tasks else {
            return true;
        };
        tasks.all(|task| {
            let facts = task.and_then(|task| std::fs::read_to_string(task.path().join("stat")));
            facts.is_ok_and(|facts| facts.rsplit_once(") ").is_some_and(|(_, facts)| facts.starts_with('Z')))
        })
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
    scene: Scene,
}

impl Hung {
    fn new() -> Option<Self> {
        let possible = passthrough::is_possible();
        if !is_met(possible.is_ok(), possible.err().unwrap_or_default()) {
            return None;
        }
        let scene = Scene::new();
        let (backing, at) = (scene.directory("backing"), scene.directory("mount"));
        Some(Self {
            mounted: Arc::new(Mutex::new(Some(
                Passthrough::mount(&backing, &at, Options::default()).unwrap(),
            ))),
            backing,
            at,
            report: scene.path().join("report.json"),
            scene,
        })
    }

    fn stall(&self) {
        self.mounted.lock().unwrap().as_ref().unwrap().stall();
    }

    fn stall_at(&self, operation: Operation) {
        self.mounted.lock().unwrap().as_ref().unwrap().stall_at(operation);
    }

    fn run(&self, command: Command) -> OnMount {
        OnMount {
            running: Some(Running::start(command, &self.backing)),
            mounted: Arc::clone(&self.mounted),
        }
    }

    fn start(&self, words: &str) -> OnMount {
        let mut command = Running::command(program());
        command
            .args(["run", "--format", "json", "--at"])
            .arg(&self.at)
            .arg("--output")
            .arg(&self.report)
            .args(words.split_whitespace());
        self.run(command)
    }

    /// Waits until somebody waits for the server.
    fn wait_for_request(&self, running: &Running) {
        let waits = {
            let mounted = self.mounted.lock().unwrap();
            mounted.as_ref().unwrap().wait_for_request(Duration::from_secs(60))
        };
        assert!(waits, "nobody asks the server\n{}", running.errors());
    }

    /// The record, which is there within so long. The process is not waited for.
    fn record_within(&self, limit: Duration, running: &Running) -> Record {
        let began = Instant::now();
        loop {
            let text = std::fs::read_to_string(&self.report).unwrap_or_default();
            if text.ends_with('\n') {
                return Record::from_json(&text).unwrap();
            }
            assert!(
                began.elapsed() < limit,
                "after {limit:?} there is no record\n{}",
                running.errors()
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// The server is gone, and with it all that waits for it.
    fn ends_with_server(self, mut running: OnMount) -> Ended {
        drop(self.mounted.lock().unwrap().take());
        running.running.take().unwrap().finish()
    }
}

fn transactions_began(running: &Running) -> bool {
    has_ended(&running.errors(), "prepare")
}

/// The record of a run whose target hung, and was left alone.
fn tells_of_a_hung_target(record: &Record, operation: &str) {
    let actual = &record.actual;
    let Outcome::Failed { why } = &actual.outcome else {
        panic!("the outcome is {:?}", actual.outcome);
    };
    let stuck = actual.stuck.iter().find(|stuck| !stuck.came_back);
    let stuck = stuck.unwrap_or_else(|| panic!("nobody is named: {why}"));
    assert!(
        stuck.operation.contains(operation),
        "{} is named in the place of {operation}: {why}",
        stuck.operation
    );
    let left: Vec<_> = actual.clean_up.iter().flat_map(|clean_up| &clean_up.left).collect();
    assert!(
        left.len() == 1 && left[0].why.contains("postmark clean"),
        "it is not told what is left and what to do: {left:?}"
    );
}

/// A stage in which the server hangs from a request on.
struct Case {
    words: &'static str,
    /// Nothing: from the beginning.
    from: Option<fn(&Running) -> bool>,
    at: Operation,
    /// What is named.
    named: &'static str,
    /// A signal that comes before the one that is timed.
    first: Option<Signal>,
}

const READS: &str = "--files 50 --transactions 100000000 --mix read=1";

/// Each where a signal comes while the server hangs.
const CASES: [Case; 6] = [
    Case {
        words: READS,
        from: None,
        at: Operation::MakeDirectory,
        named: "make the run directory",
        first: None,
    },
    Case {
        // The manifest is open, and not every thread keeps it.
        words: READS,
        from: None,
        at: Operation::Flush,
        named: "",
        first: None,
    },
    Case {
        words: "--files 50 --transactions 100000000 --mix append=1,read=1",
        from: Some(transactions_began),
        at: Operation::Flush,
        named: "",
        first: None,
    },
    Case {
        words: "--files 50 --transactions 1000 --mix read=1",
        from: Some(|running| running.errors().contains("transactions")),
        at: Operation::Unlink,
        named: "delete",
        first: None,
    },
    Case {
        words: READS,
        from: Some(transactions_began),
        at: Operation::Unlink,
        named: "remove what the run made",
        first: Some(Signal::INT),
    },
    Case {
        words: "--files 50 --transactions 100000000 --mix read=1 --keep",
        from: Some(transactions_began),
        at: Operation::Create,
        named: "write the manifest",
        first: Some(Signal::INT),
    },
];

#[test]
fn a_signal_ends_a_run_whose_target_hangs() {
    for case in CASES {
        let Some(hung) = Hung::new() else {
            return;
        };
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
        let began = Instant::now();
        let record = hung.record_within(PROMISED, &running);
        println!("{told}: {:?}", began.elapsed());
        tells_of_a_hung_target(&record, case.named);
        hung.ends_with_server(running).code(1);
    }
}

/// A server that was stopped has taken no request. The kernel keeps the process until the manifest, which is open, is closed;
/// everything is told before.
#[test]
fn the_program_ends_when_the_kernel_lets_it() {
    let Some(hung) = Hung::new() else {
        return;
    };
    let mut running = hung.start("--files 50 --transactions 100000000 --mix stat=1 --workers 2");
    running.until("the transactions", transactions_began);
    hung.stall();
    std::thread::sleep(Duration::from_millis(500));
    running.send(Signal::TERM);
    let record = hung.record_within(PROMISED, &running);
    tells_of_a_hung_target(&record, "stat");
    hung.ends_with_server(running).code(1);
}

#[test]
fn without_a_signal_the_run_is_given_up() {
    for (at, words, named) in [
        (Operation::MakeDirectory, READS, "make the run directory"),
        (Operation::Write, READS, ""),
        // The run is complete, and its directory stays.
        (
            Operation::RemoveDirectory,
            "--files 50 --transactions 100 --mix read=1",
            "remove what the run made",
        ),
    ] {
        let Some(hung) = Hung::new() else {
            return;
        };
        hung.stall_at(at);
        let running = hung.start(&format!("{words} --stuck-after 1s"));
        hung.wait_for_request(&running);
        let record = hung.record_within(PROMISED, &running);
        tells_of_a_hung_target(&record, named);
        let ended = hung.ends_with_server(running);
        ended.code(1).says(" has been in '");
    }
}

#[test]
fn a_report_on_the_hung_target_goes_to_standard_output() {
    let Some(mut hung) = Hung::new() else {
        return;
    };
    hung.report = hung.at.join("report.json");
    let mut running = hung.start("--files 50 --transactions 100000000 --mix stat=1");
    running.until("the transactions", transactions_began);
    hung.stall();
    std::thread::sleep(Duration::from_millis(500));
    running.send(Signal::TERM);
    let began = Instant::now();
    while Record::from_json(&running.output()).is_err() {
        assert!(
            began.elapsed() < PROMISED,
            "no report after {PROMISED:?}\n{}",
            running.errors()
        );
        std::thread::sleep(Duration::from_millis(10));
    }
    let ended = hung.ends_with_server(running);
    ended.code(1).says("cannot write the report");
    tells_of_a_hung_target(&Record::from_json(&ended.output).unwrap(), "");
}

#[test]
fn before_a_run_and_in_other_commands_a_signal_ends_the_program() {
    let Some(hung) = Hung::new() else {
        return;
    };
    let journal = hung.at.join("journal");
    std::fs::write(&journal, "no journal\n").unwrap();
    hung.stall();
    let at = hung.at.as_os_str();
    let commands: [&[&OsStr]; 3] = [
        &[OsStr::new("run"), OsStr::new("--at"), at],
        &[OsStr::new("clean"), at],
        &[
            OsStr::new("verify-after"),
            OsStr::new("--journal"),
            journal.as_os_str(),
            at,
        ],
    ];
    for words in commands {
        // SIGINT may be ignored by who runs the tests, and is then by what they start.
        let mut command = Running::command(program());
        command.args(words);
        let running = hung.run(command);
        std::thread::sleep(Duration::from_millis(500));
        running.send(Signal::TERM);
        let ended = running.ends(PROMISED);
        ended.signal(Signal::TERM.as_raw());
    }
    hung.mounted.lock().unwrap().as_ref().unwrap().resume();
    assert_eq!(names(&hung.backing).unwrap(), ["journal"]);
}

#[test]
fn the_prompt_ends_too() {
    let Some(hung) = Hung::new() else {
        return;
    };
    let mut command = Running::command(program());
    let mut running = {
        command.stdin(Stdio::piped());
        let script = format!(
            "set location {}\nset number 50\nset transactions 100000000\nrun\n",
            hung.at.display()
        );
        let file = hung.scene.path().join("script");
        std::fs::File::create(&file)
            .unwrap()
            .write_all(script.as_bytes())
            .unwrap();
        command.stdin(std::fs::File::open(&file).unwrap());
        hung.run(command)
    };
    running.until("the transactions", |running| running.output().contains("Performing"));
    hung.stall();
    std::thread::sleep(Duration::from_millis(500));
    running.send(Signal::TERM);
    let began = Instant::now();
    let mut told = false;
    while began.elapsed() < PROMISED && !told {
        told = running.errors().contains("not removed") && running.errors().contains("postmark clean");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(told, "{}", running.errors());
    let _ = hung.ends_with_server(running);
}
