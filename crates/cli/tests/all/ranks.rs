//! Runs whose ranks a launcher starts, with the real program: on this machine, and on hosts in
//! separate namespaces (`ranks/hosts.rs`). The crates `ranks` and `runner` test the protocol
//! between ranks without MPI.
//!
//! `POSTMARK_MPI` names the binary built with the feature `mpi` (default: `target/mpi/postmark`).
//! `POSTMARK_HYDRA` names the launcher of MPICH. If this variable is set, tests on this machine use
//! that launcher and not the one of Open MPI. The binary must be built with the same MPI library.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use faultfs::Passthrough;
use rustix::process::{Pid, Signal, kill_process};

use crate::nfs::ganesha::is_program;
use crate::support::{Ended, Running, TestDir, is_met};

mod delay;
mod faults;
mod hosts;
mod launched;
mod objects;
mod observers;
mod same;
mod served;
mod studied;

/// Environment variable that marks the processes of all ranks of a test.
const MARK: &str = "POSTMARK_TEST_RANKS";
/// How long the ranks may take to end after a rank or the launcher is lost: 8 s without a
/// heartbeat, and time for the launcher to exit.
const ENDS_WITHIN: Duration = Duration::from_secs(14);
/// How long removing the files of killed ranks may take. A rank that is killed in a system call
/// ends only when the call ends.
const REMOVED_WITHIN: Duration = Duration::from_secs(10);

/// The program built with MPI. `None` if the program or a launcher is missing.
pub fn program() -> Option<PathBuf> {
    let named = std::env::var_os("POSTMARK_MPI").map(PathBuf::from);
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/mpi/postmark");
    let program = named.unwrap_or(built);
    let there = program.is_file() && is_program("mpirun");
    let need = "mpirun and a postmark that was built with the feature mpi (POSTMARK_MPI, or \
                target/mpi/postmark)";
    is_met(there, need).then(|| program.canonicalize().unwrap())
}

/// A job of a launcher on this machine, with a test directory.
struct Job {
    test_dir: TestDir,
    program: PathBuf,
}

impl Job {
    fn new() -> Option<Self> {
        Some(Self {
            program: program()?,
            test_dir: TestDir::in_memory(),
        })
    }

    fn target(&self) -> PathBuf {
        self.test_dir.directory("target")
    }

    /// Mounts a FUSE file system, which no test uses. While it is mounted, each rank starts a
    /// second process: a rank does not know its target at its start, and the target could be on
    /// this file system.
    fn served(&self) -> Option<faultfs::Mounted> {
        let possible = faultfs::is_possible();
        if !is_met(possible.is_ok(), possible.err().unwrap_or_default()) {
            return None;
        }
        let [backing, at] = ["backing", "served"].map(|name| self.test_dir.directory(name));
        Some(Passthrough::mount(&backing, &at, faultfs::Options::default()).unwrap())
    }

    /// Directory for the parts of the record, which each rank writes to its own file.
    fn parts(&self) -> PathBuf {
        self.test_dir.path().join("parts")
    }

    fn run(&self, ranks: u32, options: &str) -> Command {
        let mut command = self.launch(ranks);
        self.asked(&mut command, self.target().as_os_str(), options);
        command
    }

    /// A command that launches the program on `ranks` ranks. The caller adds the arguments of the
    /// program.
    fn launch(&self, ranks: u32) -> Command {
        let hydra = std::env::var_os("POSTMARK_HYDRA");
        let mut command =
            Running::command(Path::new(hydra.as_deref().unwrap_or(OsStr::new("mpirun"))));
        command.arg("-n").arg(ranks.to_string());
        if hydra.is_none() {
            command.args([
                "--allow-run-as-root",
                "--oversubscribe",
                "--bind-to",
                "none",
            ]);
            // The launcher of a killed job leaves files. These options put them into the test
            // directory, which is removed after the test.
            for directory in ["orte_tmpdir_base", "btl_vader_backing_directory"] {
                command.args(["--mca", directory]).arg(self.test_dir.path());
            }
        }
        command.arg(&self.program).env(MARK, self.test_dir.path());
        command
    }

    /// Adds the arguments and the environment of a run.
    fn asked(&self, command: &mut Command, target: &OsStr, options: &str) {
        command
            .args(["run", "--quiet", "--format", "json", "--target"])
            .arg(target);
        command.args(options.split_whitespace());
        command
            .env(MARK, self.test_dir.path())
            .env("XDG_DATA_HOME", self.test_dir.path().join("data"));
    }

    fn perform(&self, ranks: u32, options: &str) -> Ended {
        Running::run_to_end(self.run(ranks, options), &self.target())
    }

    fn start(&self, ranks: u32, options: &str) -> Running {
        Running::start(self.run(ranks, options), &self.target())
    }

    /// Runs another command of the program, without a launcher.
    fn postmark(&self, words: &[&str]) -> Ended {
        let mut command = Running::command(&self.program);
        command.args(words);
        Running::run_to_end(command, self.test_dir.path())
    }

    /// The processes of a rank: two if a mounted file system has a server, otherwise one.
    fn processes(&self, rank: u32) -> Vec<Pid> {
        let mark = format!("{MARK}={}", self.test_dir.path().display());
        let ranks = ["OMPI_COMM_WORLD_RANK", "PMI_RANK"].map(|name| format!("{name}={rank}"));
        let is_of_rank = |environment: &[u8]| {
            let variables: Vec<&[u8]> = environment.split(|byte| *byte == 0).collect();
            let has = |wanted: &String| variables.contains(&wanted.as_bytes());
            has(&mark) && ranks.iter().any(has)
        };
        let numbers = std::fs::read_dir("/proc").unwrap().flatten();
        let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        let found = numbers.filter(|number| {
            std::fs::read(format!("/proc/{number}/environ")).is_ok_and(|text| is_of_rank(&text))
        });
        found.filter_map(Pid::from_raw).collect()
    }

    fn send(&self, rank: u32, signal: Signal) {
        let processes = self.processes(rank);
        assert!(!processes.is_empty(), "there is no rank {rank}");
        let is_second = |process: &Pid| {
            let status = format!("/proc/{}/status", process.as_raw_nonzero());
            let status = std::fs::read_to_string(status).unwrap_or_default();
            let mut lines = status.lines();
            let parent = lines.find_map(|line| line.strip_prefix("PPid:")?.trim().parse().ok());
            let parent = parent.and_then(Pid::from_raw);
            parent.is_some_and(|parent| processes.contains(&parent))
        };
        // If a rank has two processes, the first one forwards these signals. A second signal would
        // end the other process at once.
        let is_forwarded = [Signal::TERM, Signal::INT].contains(&signal);
        for process in &processes {
            if !is_forwarded || !is_second(process) {
                // The signal to the first process may have ended the second.
                let _ = kill_process(*process, signal);
            }
        }
    }

    /// Waits until a rank has written `count` complete parts to its file.
    fn until_completed(&self, running: &mut Running, rank: u32, count: usize) {
        let file = self.parts().join(format!("rank-{rank:05}.jsonl"));
        let lines = || {
            std::fs::read_to_string(&file)
                .unwrap_or_default()
                .lines()
                .count()
        };
        // Before the parts, the file contains two lines with the rank and the run spec.
        running.until("that parts are complete", |_| lines() >= 2 + count);
    }

    /// Waits for a job that a test has broken. Asserts that the job ends in time with a failure,
    /// and that no rank still runs.
    fn ends_early(&self, mut running: Running, ranks: u32) -> Ended {
        let began = Instant::now();
        let status = loop {
            if let Some(status) = running.status() {
                break status;
            }
            assert!(
                began.elapsed() < ENDS_WITHIN,
                "it hangs\n{}",
                running.kill()
            );
            std::thread::sleep(Duration::from_millis(5));
        };
        let ended = running.ended(status);
        ended.assert(!status.success(), "the exit status is 0");
        while (0..ranks).any(|rank| !self.processes(rank).is_empty()) {
            assert!(began.elapsed() < ENDS_WITHIN, "a rank is left\n{ended}");
            std::thread::sleep(Duration::from_millis(5));
        }
        ended
    }

    /// Runs `postmark collect` on the parts that the ranks left.
    fn collect(&self) -> Ended {
        let parts = self.parts();
        self.postmark(&["collect", parts.to_str().unwrap(), "--format", "json"])
    }

    /// Runs `postmark clean`, and asserts that no files of the run remain.
    fn is_cleaned(&self) {
        let (target, began) = (self.target(), Instant::now());
        loop {
            let cleaned = self.postmark(&["clean", target.to_str().unwrap()]);
            if crate::support::names(&target).unwrap().is_empty() {
                return;
            }
            assert!(
                began.elapsed() < REMOVED_WITHIN,
                "something is left\n{cleaned}"
            );
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}
