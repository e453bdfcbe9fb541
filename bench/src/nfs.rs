//! Compares the engine `nfs` with a C program that makes the same calls through libnfs's raw
//! interface (`nfs_calls.c`). Both programs run in turns on NFS-Ganesha over loopback. Results are
//! user CPU and total CPU per call, and rates.

use crate::phases::{Cost, cost, numbers_of};
use crate::process::{command, output};
use crate::result::Result;
use crate::statistics::{interleaved, median, ratio_of_sums};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use tempfile::TempDir;

use crate::floor::compile;
use crate::mounts::touch_memory;
use crate::noise::Noise;

const SOURCE: &str = include_str!("../nfs_calls.c");
/// Starts the server with its portmapper and its exports in separate namespaces. The server ends
/// when its standard input is closed.
const SERVER: &str = include_str!("../../crates/cli/tests/all/nfs/serve.sh");
const NFS_PORT: &str = "12049";
const MOUNT_PORT: &str = "12050";
const FILE_BYTES: u64 = 4_096;

/// Maximum CPU relative to libnfs's. With one operation in flight, `USER_LIMIT` is for user CPU and
/// `CPU_LIMIT` for total CPU. With several operations in flight, `DEEP_LIMIT` is for user CPU and
/// for total CPU.
const USER_LIMIT: f64 = 0.6;
const CPU_LIMIT: f64 = 0.9;
const DEEP_LIMIT: f64 = 1.0;
/// Minimum of our call rate divided by libnfs's. It applies to the lower end of the ratio's
/// interval.
const RATE_LIMIT: f64 = 0.95;

#[derive(Clone, Debug, clap::Args)]
pub struct NfsOptions {
    /// Queue depths: numbers of operations in flight.
    #[arg(long, value_delimiter = ',', default_value = "1,8")]
    pub depths: Vec<u32>,
    /// Files of the pool.
    #[arg(long, default_value_t = 1_000)]
    pub files: u64,
    /// Operations of each run.
    #[arg(long, default_value_t = 20_000)]
    pub operations: u64,
    /// End with code 1 if a limit is missed.
    #[arg(long)]
    pub check: bool,
}

/// The workloads: the name for the C program, and the mix with which our program makes the same
/// calls.
pub const WORKS: [(&str, &str); 3] = [
    ("read", "read=1"),
    ("stat", "stat=1"),
    ("churn", "create=1,delete=1"),
];

/// A server in its own network namespace. It ends when this value is dropped.
struct Server {
    shell: Child,
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    directory: TempDir,
}

impl Server {
    fn start() -> Result<Self> {
        // The exported directory is in memory, so that the result does not depend on a disk.
        let directory = tempfile::Builder::new()
            .prefix("postmark-bench-")
            .tempdir_in("/dev/shm")?;
        let script = directory.path().join("serve.sh");
        std::fs::write(&script, SERVER)?;
        let mut shell = Command::new("unshare")
            .args(["--net", "--mount", "bash"])
            .arg(&script)
            .arg(directory.path())
            .arg("2048")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (input, output) = (shell.stdin.take(), shell.stdout.take());
        let mut server = Self {
            shell,
            orders: input,
            answers: BufReader::new(output.ok_or("the server's shell has no output")?),
            directory,
        };
        server.expect("ready")?;
        let orders = server.orders.as_mut();
        writeln!(orders.ok_or("the server's shell has no input")?, "start 1")?;
        server.expect("started")?;
        Ok(server)
    }

    fn expect(&mut self, word: &str) -> Result<()> {
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        if line.starts_with(word) {
            return Ok(());
        }
        let log = self.directory.path().join("ganesha.log");
        let log = std::fs::read_to_string(log).unwrap_or_default();
        Err(format!("the server does not start: {line}{log}").into())
    }

    /// A command in the server's network namespace.
    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--net=/proc/{}/ns/net", self.shell.id()));
        command.arg("--").arg(program);
        command
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.orders.take());
        let _ = self.shell.wait();
    }
}

/// A function that computes the compared number of a run, for example the user CPU per call.
type Measure = fn(&Measured) -> f64;

/// Results of a run. Preparation and deletion are excluded. The keys of `calls` are procedures.
pub struct Measured {
    cost: Cost,
    calls: BTreeMap<String, u64>,
}

impl Measured {
    pub fn parse(text: &str) -> Result<Self> {
        let numbers = numbers_of(text, "transactions ")?;
        let calls = text.lines().filter_map(|line| {
            let (procedure, count) = line.strip_prefix("call ")?.split_once(' ')?;
            Some((procedure.to_owned(), count.parse().ok()?))
        });
        Ok(Self {
            cost: cost(&mut numbers.split_whitespace())?,
            calls: calls.collect(),
        })
    }

    fn all_calls(&self) -> f64 {
        self.calls.values().sum::<u64>() as f64
    }

    fn rate(&self) -> f64 {
        self.all_calls() / self.cost.wall_s
    }

    fn user_us(&self) -> f64 {
        self.cost.user_s / self.all_calls() * 1e6
    }

    fn cpu_us(&self) -> f64 {
        (self.cost.user_s + self.cost.system_s) / self.all_calls() * 1e6
    }
}

/// PostMark and the libnfs program, with the NFS server that both use.
struct NfsRivals<'a> {
    server: Server,
    libnfs: PathBuf,
    ours: &'a Path,
    size: &'a NfsOptions,
    pairs: usize,
}

impl NfsRivals<'_> {
    /// The workload as JSON, for `--workload` of the benchmark `ours`.
    fn workload(&self, mix: &str) -> Result<String> {
        let words = format!(
            "plan --format json --names decimal --mix {mix} --size {FILE_BYTES} --contents text \
             --files {} --transactions {}",
            self.size.files, self.size.operations
        );
        let plan: serde_json::Value =
            serde_json::from_str(&output(&mut command(self.ours, &words))?)?;
        Ok(plan["spec"]["workload"].to_string())
    }

    fn ours(&self, workload: &str, depth: u32) -> Result<Measured> {
        let mut command = self.server.command(&std::env::current_exe()?);
        let url = format!("nfs://127.0.0.1:{NFS_PORT}/export?mountport={MOUNT_PORT}");
        command.args(["ours", "--prepared", "--workload", workload]);
        command.args(["--target", &url, "--engine", "nfs"]);
        command.args(["--depth", &depth.to_string()]);
        Measured::parse(&output(&mut command)?)
    }

    fn libnfs(&self, work: &str, depth: u32) -> Result<Measured> {
        let mut command = self.server.command(&self.libnfs);
        let (files, operations) = (self.size.files, self.size.operations);
        let words = format!(
            "{NFS_PORT} {MOUNT_PORT} /export libnfs {depth} {files} {FILE_BYTES} {operations} \
             {work}"
        );
        command.args(words.split(' '));
        Measured::parse(&output(&mut command)?)
    }

    fn pairs(&self, work: &str, mix: &str, depth: u32) -> Result<Vec<[Measured; 2]>> {
        let workload = self.workload(mix)?;
        let pairs = interleaved(
            self.pairs,
            || self.ours(&workload, depth),
            || self.libnfs(work, depth),
        )?;
        pairs.iter().try_for_each(same_calls)?;
        Ok(pairs)
    }
}

/// Some calls belong to no operation: PostMark looks up its directory when it connects, and checks
/// that directory every second. Allowance for such calls: `FURTHER_LEAST`, plus one call for each
/// `FURTHER_SHARE` calls of libnfs.
const FURTHER_SHARE: u64 = 500;
const FURTHER_LEAST: u64 = 8;

/// Fails if PostMark and the other program do not make the same calls. The operations of a mix are
/// drawn at random, so the numbers of calls of a procedure may differ by 5 %.
pub fn same_calls([ours, libnfs]: &[Measured; 2]) -> Result<()> {
    let further = FURTHER_LEAST + libnfs.calls.values().sum::<u64>() / FURTHER_SHARE;
    let mut names = ours.calls.keys().chain(libnfs.calls.keys());
    let near = |name: &String| {
        let calls = |measured: &Measured| measured.calls.get(name).copied().unwrap_or(0);
        calls(ours).abs_diff(calls(libnfs)) <= further.max(calls(libnfs) / 20)
    };
    if names.all(near) {
        return Ok(());
    }
    let (ours, libnfs) = (&ours.calls, &libnfs.calls);
    Err(format!("the calls differ: ours {ours:?}, theirs {libnfs:?}").into())
}

/// Prints the ratios of each workload at each depth. Returns whether all limits hold. If libnfs or
/// a server is missing, compares nothing and returns true.
pub fn compare(ours: &Path, pairs: usize, size: &NfsOptions) -> Result<bool> {
    let needs = [
        "/usr/include/nfsc/libnfs-raw.h",
        "/usr/bin/ganesha.nfsd",
        "/usr/sbin/rpcbind",
    ];
    if let Some(missing) = needs.into_iter().find(|need| !Path::new(need).exists()) {
        println!(
            "nothing is compared: {missing} is missing (libnfs-dev, nfs-ganesha, nfs-ganesha-vfs, \
             rpcbind)"
        );
        return Ok(true);
    }
    let server = Server::start()?;
    let program = server.directory.path().join("nfs_calls");
    let libnfs = compile(SOURCE, &program, &["-lnfs"])?;
    let rivals = NfsRivals {
        server,
        libnfs,
        ours,
        size,
        pairs,
    };
    println!(
        "the engine nfs with a prepared stream and latencies against the same calls by libnfs, \
         on NFS-Ganesha over loopback (ext4 in memory): {} files of {FILE_BYTES} bytes, {} \
         operations",
        size.files, size.operations
    );
    println!(
        "means of {} interleaved pairs; of CPU the ratio of sums, of rates the median of the \
         pairs' ratios [95 % interval]; CPU in microseconds a call",
        pairs
    );
    touch_memory();
    let mut holds = true;
    for depth in &size.depths {
        for (work, mix) in WORKS {
            let noise = Noise::begin();
            let pairs = rivals.pairs(work, mix, *depth)?;
            println!("{work}, depth {depth}; {}", noise.end());
            let (user, cpu) = match depth {
                1 => (USER_LIMIT, CPU_LIMIT),
                _ => (DEEP_LIMIT, DEEP_LIMIT),
            };
            holds &= print(&pairs, "libnfs", [user, cpu, RATE_LIMIT]);
        }
    }
    Ok(holds)
}

/// Prints the ratios of PostMark to another program, whose name is `rival`. Returns whether the
/// limits of user CPU, of total CPU and of the rate hold.
pub fn print(
    pairs: &[[Measured; 2]],
    rival: &str,
    [user_limit, cpu_limit, rate_limit]: [f64; 3],
) -> bool {
    let mut holds = true;
    let measures: [(&str, Measure, Option<f64>); 3] = [
        ("user CPU", Measured::user_us, Some(user_limit)),
        ("all CPU", Measured::cpu_us, Some(cpu_limit)),
        ("calls/s", Measured::rate, None),
    ];
    for (what, of, limit) in measures {
        let numbers: Vec<(f64, f64)> = pairs
            .iter()
            .map(|[ours, libnfs]| (of(ours), of(libnfs)))
            .collect();
        // The kernel counts processor time in ticks of 4 ms, which is too coarse for one pair, but
        // not for the sum of all pairs.
        let found = match limit {
            Some(_) => ratio_of_sums(&numbers).unwrap_or_default(),
            None => median(numbers.iter().map(|(ours, libnfs)| ours / libnfs)),
        };
        let (is_met, wanted) = match limit {
            Some(limit) => (
                found.value > 0.0 && found.value <= limit,
                format!("<= {limit}"),
            ),
            None => (
                found.low >= rate_limit,
                format!("lower end >= {rate_limit}"),
            ),
        };
        holds &= is_met;
        let mean = |side: fn(&(f64, f64)) -> f64| {
            numbers.iter().map(side).sum::<f64>() / numbers.len() as f64
        };
        let decimals = if limit.is_some() { 2 } else { 0 };
        println!(
            "  {what:9} ours {:.decimals$}, {rival} {:.decimals$}, ours / {rival} {} {}: {wanted}",
            mean(|(ours, _)| *ours),
            mean(|(_, libnfs)| *libnfs),
            found.show(3),
            if is_met { "holds" } else { "MISSES" }
        );
    }
    holds
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(calls: &str) -> Measured {
        Measured::parse(&format!("prepare 1 1 1\ntransactions 2 0.5 1.5\n{calls}")).unwrap()
    }

    #[test]
    fn output_of_both_nfs_benchmark_programs_is_parsed() {
        let read = measured("call LOOKUP 100\ncall READ 100\n");
        assert_eq!(
            (read.rate(), read.user_us(), read.cpu_us()),
            (100.0, 2_500.0, 10_000.0)
        );
        assert!(Measured::parse("prepare 1 1 1\n").is_err());
    }

    #[test]
    fn programs_with_different_calls_are_not_compared() {
        let read = || measured("call GETATTR 1\ncall LOOKUP 100\ncall READ 100\n");
        assert!(same_calls(&[read(), measured("call LOOKUP 95\ncall READ 100\n")]).is_ok());
        assert!(same_calls(&[read(), measured("call LOOKUP 90\ncall READ 100\n")]).is_err());
        assert!(same_calls(&[read(), measured("call LOOKUP 100\n")]).is_err());
    }
}
