//! Runs whose ranks are on simulated hosts. `hosts.sh` creates and removes these hosts, which are
//! network and mount namespaces.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use record::{Fact, Outcome, Record};
use rustix::process::Signal;

use super::delay::Delay;
use super::{Job, MARK};
use crate::nfs::ganesha::is_program;
use crate::support::{Ended, Running, is_met, is_root};

/// Nanoseconds by which the monotonic clock of each host is ahead of the clock of the previous
/// host. `hosts.sh` sets the clocks.
pub(super) const AHEAD_NS: i64 = 1_000_000_000_000;

/// Simulated hosts, and a job whose ranks a launcher starts on these hosts.
pub(super) struct Hosts {
    /// The shell that has created the hosts. It removes them when its input is closed.
    shell: Child,
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    pub(super) job: Job,
}

impl Hosts {
    pub(super) fn start(count: u32) -> Option<Self> {
        let possible = is_root() && is_met(["ip", "tc"].into_iter().all(is_program), "iproute2");
        let job = possible.then(Job::new).flatten()?;
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/all/ranks/hosts.sh");
        let mut shell = Command::new("unshare");
        shell.args(["--net", "--mount", "bash"]).arg(script);
        shell.arg(job.test_dir.path()).arg(count.to_string());
        shell.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut shell = shell.spawn().unwrap();
        let mut hosts = Self {
            orders: shell.stdin.take(),
            answers: BufReader::new(shell.stdout.take().unwrap()),
            shell,
            job,
        };
        hosts.expect("ready");
        Some(hosts)
    }

    fn expect(&mut self, word: &str) {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        assert_eq!(line.trim(), word);
    }

    pub(super) fn order(&mut self, order: &str, answer: &str) {
        writeln!(self.orders.as_mut().unwrap(), "{order}").unwrap();
        self.expect(answer);
    }

    /// `postmark run` with one rank on each host.
    pub(super) fn run(&self, ranks: u32, options: &str) -> Command {
        self.run_at(ranks, self.job.target().as_os_str(), options)
    }

    /// `postmark run` on the given target, with one rank on each host.
    pub(super) fn run_at(&self, ranks: u32, target: &OsStr, options: &str) -> Command {
        let folder = self.job.test_dir.path();
        let mut command = Running::command(Path::new("nsenter"));
        for namespace in ["net", "mount"] {
            let file = namespace.replace("mount", "mnt");
            command.arg(format!("--{namespace}=/proc/{}/ns/{file}", self.shell.id()));
        }
        command.args([
            "--",
            "mpirun",
            "--allow-run-as-root",
            "--bind-to",
            "none",
            "--map-by",
            "node",
            "-n",
        ]);
        command
            .arg(ranks.to_string())
            .arg("--hostfile")
            .arg(folder.join("hostfile"));
        command
            .args(["--mca", "plm_rsh_agent"])
            .arg(folder.join("agent"));
        for (name, value) in [
            ("pml", "ob1"),
            ("btl", "tcp,self"),
            ("btl_tcp_if_include", "10.77.0.0/24"),
            ("oob_tcp_if_include", "10.77.0.0/24"),
            ("btl_tcp_port_min_v4", &*super::delay::PORT.to_string()),
            // Without these settings, mpirun notices only after five minutes that a link is down.
            ("oob_tcp_keepalive_time", "3"),
            ("oob_tcp_keepalive_intvl", "1"),
            ("oob_tcp_keepalive_probes", "3"),
        ] {
            command.args(["--mca", name, value]);
        }
        for name in [MARK, "XDG_DATA_HOME", "POSTMARK_ARCHIVE"] {
            command.args(["-x", name]);
        }
        command.args(["--mca", "orte_tmpdir_base"]).arg(folder);
        command.arg(&self.job.program);
        self.job.asked(&mut command, target, options);
        command.env("POSTMARK_ARCHIVE", "none");
        command
    }

    fn start_run(&self, options: &str) -> Running {
        Running::start(self.run(4, options), &self.job.target())
    }

    /// The network namespace of the bridge that connects the hosts.
    fn network(&self) -> File {
        File::open(format!("/proc/{}/ns/net", self.shell.id())).unwrap()
    }

    pub(super) fn finish_run(&self, ranks: u32, options: &str) -> Ended {
        Running::run_to_end(self.run(ranks, options), &self.job.target())
    }

    pub(super) fn is_empty(&self) -> bool {
        crate::support::names(&self.job.target())
            .unwrap()
            .is_empty()
    }

    /// Sends a signal to one rank. Asserts that the run ends early because this rank is lost, and
    /// that `clean` removes the files.
    pub(super) fn loses(&self, ranks: u32, options: &str, rank: u32, signal: Signal) {
        let parts = self.job.parts();
        let options = format!("{options} --parts {}", parts.display());
        let mut running = Running::start(self.run(ranks, &options), &self.job.target());
        self.job.until_completed(&mut running, 0, 1);
        self.job.send(rank, signal);
        self.job.ends_early(running, ranks);
        self.job.is_cleaned();
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        drop(self.orders.take());
        let _ = self.shell.wait();
    }
}

/// Parses the record that a successful job has printed.
pub(super) fn record(output: &str) -> Record {
    Record::from_json(output)
        .unwrap_or_else(|error| panic!("there is no record: {error}\n{output}"))
}

/// Asserts that the measured clock offset of each rank differs from the true one by at most its
/// stated error.
fn clocks_hold(record: &Record, ended: &Ended) {
    let cluster = record.cluster.as_ref().unwrap();
    for (rank, known) in cluster.ranks.iter().zip(0..) {
        for found in [&rank.clock.begin, &rank.clock.end] {
            let Fact::Known(found) = found else {
                panic!("the clock of rank {known} is not known: {found:?}\n{ended}");
            };
            // Clock plus offset is the time on rank 0. So a clock that is ahead has a negative
            // offset, and the sum below is the error.
            let is_off_ns = (found.offset_ns + known * AHEAD_NS).unsigned_abs();
            assert!(
                is_off_ns <= found.error_ns,
                "rank {known}: {is_off_ns} ns off, {found:?}"
            );
            assert!(found.error_ns < 500_000_000, "rank {known}: {found:?}");
        }
    }
}

#[test]
fn four_hosts_perform_one_run_on_one_clock() {
    let Some(hosts) = Hosts::start(4) else { return };
    let ended = hosts
        .start_run("--preset mail --workers 1 --files 300 --transactions 2000")
        .finish();
    let record = record(&ended.code(0).output);
    assert_eq!(record.actual.outcome, Outcome::Complete);
    let cluster = record.cluster.as_ref().unwrap();
    let names: Vec<&str> = cluster
        .hosts
        .iter()
        .map(|host| &*host.host.hostname)
        .collect();
    assert_eq!(names, ["host-1", "host-2", "host-3", "host-4"], "{ended}");
    clocks_hold(&record, &ended);
    // All times in the record are converted to the clock of rank 0. Only then do the times of the
    // workers on all hosts overlap.
    let phase = record.actual.phases.first().unwrap();
    let (first, last) = (phase.segments[0].began_ns, phase.segments[0].ended_ns);
    assert_eq!(phase.workers.len(), 4);
    for worker in &phase.workers {
        let margin_ns = 100_000_000;
        let is_within = worker.began_ns + margin_ns >= first && worker.ended_ns <= last + margin_ns;
        assert!(is_within, "{worker:?} is not within {first}..{last}");
    }
    assert!(
        crate::support::names(&hosts.job.target())
            .unwrap()
            .is_empty()
    );
}

#[test]
fn run_completes_over_a_slow_link() {
    let Some(mut hosts) = Hosts::start(4) else {
        return;
    };
    hosts.order("slow 2 1", "slow");
    let ended = hosts
        .start_run("--preset mail --workers 1 --files 100 --transactions 500")
        .finish();
    let record = record(&ended.code(0).output);
    assert_eq!(record.actual.outcome, Outcome::Complete);
    clocks_hold(&record, &ended);
    assert_eq!(
        record.actual.transactions().next().unwrap().issued(),
        4 * 500
    );
}

/// Delay of messages to the distant host, and delay of messages from the distant host.
const FAR: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(20));
/// Maximum additional delay that the machine itself may cause.
const SLACK: Duration = Duration::from_millis(500);

/// Rank 2 is on the distant host. Messages of rank 3 to the other ranks pass through rank 2.
#[test]
fn clock_offset_error_covers_asymmetric_delays() {
    let Some(mut hosts) = Hosts::start(4) else {
        return;
    };
    hosts.order("delay 3", "delay");
    let _delay = Delay::before(hosts.network(), Ipv4Addr::new(10, 77, 0, 3), FAR);
    // On a busy machine, messages take longer than their delays and `SLACK`.
    let is_quick = (0..10).any(|_| offsets_have_errors_of_delays(&mut hosts));
    assert!(is_quick, "the added times were never below {SLACK:?}");
}

/// Performs a run. Returns whether the errors of clock offsets, and the time of barriers, exceed
/// those of the delays by less than `SLACK`. They must never be below those of the delays.
fn offsets_have_errors_of_delays(hosts: &mut Hosts) -> bool {
    let ended = hosts
        .start_run("--preset mail --workers 1 --files 100 --transactions 500")
        .finish();
    // A busy machine can leave a rank without processor time for longer than the others wait.
    if ended.errors.contains("gave no sign of life") {
        return false;
    }
    let record = record(&ended.code(0).output);
    assert_eq!(record.actual.outcome, Outcome::Complete);
    clocks_hold(&record, &ended);
    // The measured offset deviates from the true offset by half the difference of the two delays in
    // `FAR`. The stated error is half the sum of the two delays, plus at most `SLACK`.
    let [to_ns, from_ns, slack_ns] = [FAR.0, FAR.1, SLACK].map(|time| time.as_nanos() as i64);
    let clock = &record.cluster.as_ref().unwrap().ranks[2].clock;
    let mut is_quick = true;
    for found in [&clock.begin, &clock.end] {
        let found = found.known().unwrap();
        let off_ns = found.offset_ns + 2 * AHEAD_NS - (from_ns - to_ns) / 2;
        let added_ns = found.error_ns as i64 - (from_ns + to_ns) / 2;
        assert!(off_ns.abs() <= added_ns, "{found:?}\n{ended}");
        is_quick &= added_ns < slack_ns;
    }
    let reasons = verdict::Verdict::of(&record).reasons;
    let is_told = |reason: &verdict::Reason| matches!(reason, verdict::Reason::ClocksNotAligned(_));
    assert!(reasons.iter().any(is_told), "{reasons:?}\n{ended}");
    // A sync between two phases has a barrier before it and one after it. For each barrier,
    // messages of rank 3 travel two hops in both directions.
    for phases in record.actual.phases.windows(2) {
        let gap_ns = phases[1].workers[3].began_ns as i64 - phases[0].workers[3].ended_ns as i64;
        let of_delays_ns = 2 * 2 * (to_ns + from_ns);
        assert!(gap_ns >= of_delays_ns, "{gap_ns} ns\n{ended}");
        is_quick &= gap_ns < of_delays_ns + slack_ns;
    }
    is_quick
}

/// Options of a run that is long enough for the fault to occur during it.
const LONG: &str = "--preset mail --workers 1 --files 20000 --for 60s";

#[test]
fn job_ends_when_a_link_goes_down() {
    let Some(mut hosts) = Hosts::start(4) else {
        return;
    };
    let parts = hosts.job.parts();
    let mut running = hosts.start_run(&format!("{LONG} --parts {}", parts.display()));
    for rank in 0..4 {
        hosts.job.until_completed(&mut running, rank, 1);
    }
    hosts.order("down 3", "down");
    let ended = hosts.job.ends_early(running, 4);
    let collected = hosts.job.collect();
    collected.code(1).shows("rank 2 (host-3)");
    let record = record(&collected.output);
    assert_eq!(record.cluster.as_ref().unwrap().ranks.len(), 4, "{ended}");
    assert_eq!(record.actual.phases.len(), 1, "{ended}\n{collected}");
    hosts.job.is_cleaned();
}

#[test]
fn run_completes_if_parts_of_one_host_cannot_be_written() {
    let Some(hosts) = Hosts::start(4) else { return };
    let parts = hosts.job.test_dir.directory("parts");
    let keeper =
        std::fs::read_to_string(hosts.job.test_dir.path().join("keeper.10.77.0.2")).unwrap();
    let mounted = Command::new("nsenter")
        .args([
            "--target",
            keeper.trim(),
            "--mount",
            "--",
            "mount",
            "-t",
            "tmpfs",
            "-o",
            "size=8k",
            "tmpfs",
        ])
        .arg(&parts)
        .status();
    assert!(mounted.unwrap().success());
    let ended = hosts
        .start_run(&format!(
            "--preset mail --workers 1 --files 300 --transactions 2000 --parts {}",
            parts.display()
        ))
        .finish();
    ended.ends("0 | rank 1 (host-2): warning: cannot write | No space left on device");
    assert_eq!(record(&ended.output).actual.outcome, Outcome::Complete);
    let found: Vec<PathBuf> = crate::support::names(&parts)
        .unwrap()
        .into_iter()
        .map(PathBuf::from)
        .collect();
    let expected = [
        "merged.json",
        "rank-00000.jsonl",
        "rank-00002.jsonl",
        "rank-00003.jsonl",
    ];
    assert_eq!(found, expected.map(PathBuf::from));
}
