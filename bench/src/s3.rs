//! Compares the engine `s3` with a C program that makes the same requests through libcurl
//! (`s3_calls.c`). Both programs run in turns on versitygw, which serves a directory in memory over
//! loopback. Results are user CPU and total CPU per request, and rates.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use crate::floor::compile;
use crate::mounts::touch_memory;
use crate::nfs::{Measured, WORKS, print, same_calls};
use crate::noise::Noise;
use crate::process::{command, output};
use crate::result::Result;
use crate::statistics::interleaved;

const SOURCE: &str = include_str!("../s3_calls.c");
const FILE_BYTES: u64 = 4_096;
const KEY: &str = "postmark-bench";
const SECRET: &str = "postmark-bench-secret";
/// Number of checks whether the server answers, 50 ms apart.
const CHECKS: u32 = 400;

/// Maximum user CPU and total CPU relative to libcurl's, and minimum of our rate of requests
/// divided by libcurl's. The last one applies to the lower end of the ratio's interval.
const LIMITS: [f64; 3] = [0.6, 1.0, 0.97];

#[derive(Clone, Debug, clap::Args)]
pub struct S3Options {
    /// Queue depths: numbers of operations in flight.
    #[arg(long, value_delimiter = ',', default_value = "1,8")]
    pub depths: Vec<u32>,
    /// Files of the pool.
    #[arg(long, default_value_t = 500)]
    pub files: u64,
    /// Operations of each run.
    #[arg(long, default_value_t = 10_000)]
    pub operations: u64,
    /// End with code 1 if a limit is missed.
    #[arg(long)]
    pub check: bool,
}

/// A server with an empty bucket. It ends when this value is dropped.
struct Server {
    process: Child,
    port: u16,
    directory: TempDir,
}

impl Server {
    fn start(program: &Path) -> Result<Self> {
        let directory = tempfile::Builder::new()
            .prefix("postmark-bench-")
            .tempdir_in("/dev/shm")?;
        let data = directory.path().join("data");
        std::fs::create_dir_all(data.join("bucket"))?;
        let port = std::net::TcpListener::bind(("127.0.0.1", 0))?
            .local_addr()?
            .port();
        let process = Command::new(program)
            .args([
                "--access",
                KEY,
                "--secret",
                SECRET,
                "--keep-alive",
                "--quiet",
            ])
            .args(["--port", &format!("127.0.0.1:{port}"), "posix"])
            .arg(&data)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let server = Self {
            process,
            port,
            directory,
        };
        for _ in 0..CHECKS {
            if std::net::TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return Ok(server);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Err("the server does not start".into())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// PostMark and the libcurl program, with the server that both use.
struct S3Rivals<'a> {
    server: Server,
    libcurl: PathBuf,
    ours: &'a Path,
    size: &'a S3Options,
    pairs: usize,
}

impl S3Rivals<'_> {
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
        let mut command = Command::new(std::env::current_exe()?);
        let port = self.server.port;
        let url = format!("s3://bucket/ours?endpoint=http://127.0.0.1:{port}");
        command.args(["ours", "--prepared", "--workload", workload]);
        command.args([
            "--target",
            &url,
            "--engine",
            "s3",
            "--depth",
            &depth.to_string(),
        ]);
        command.env("AWS_ACCESS_KEY_ID", KEY);
        command.env("AWS_SECRET_ACCESS_KEY", SECRET);
        Measured::parse(&output(&mut command)?)
    }

    fn libcurl(&self, work: &str, depth: u32) -> Result<Measured> {
        let (files, operations) = (self.size.files, self.size.operations);
        let port = self.server.port;
        let words = format!(
            "http://127.0.0.1:{port}/bucket/libcurl {KEY}:{SECRET} {depth} {files} {FILE_BYTES} \
             {operations} {work}"
        );
        Measured::parse(&output(Command::new(&self.libcurl).args(words.split(' ')))?)
    }

    fn pairs(&self, work: &str, mix: &str, depth: u32) -> Result<Vec<[Measured; 2]>> {
        let workload = self.workload(mix)?;
        let pairs = interleaved(
            self.pairs,
            || self.ours(&workload, depth),
            || self.libcurl(work, depth),
        )?;
        pairs.iter().try_for_each(same_calls)?;
        Ok(pairs)
    }
}

fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let mut found = std::env::split_paths(&path).map(|directory| directory.join(program));
    found.find(|file| file.is_file())
}

/// Prints the ratios of each workload at each depth. Returns whether all limits hold. If libcurl or
/// the server is missing, compares nothing and returns true.
pub fn compare(ours: &Path, pairs: usize, size: &S3Options) -> Result<bool> {
    let headers = ["/usr/include/x86_64-linux-gnu/curl", "/usr/include/curl"];
    let has_headers = headers.iter().any(|path| Path::new(path).exists());
    let (Some(versitygw), true) = (find("versitygw"), has_headers) else {
        println!("nothing is compared: it needs versitygw and libcurl4-openssl-dev");
        return Ok(true);
    };
    let server = Server::start(&versitygw)?;
    let program = server.directory.path().join("s3_calls");
    let libcurl = compile(SOURCE, &program, &["-lcurl"])?;
    let rivals = S3Rivals {
        server,
        libcurl,
        ours,
        size,
        pairs,
    };
    println!(
        "the engine s3 with a prepared stream and latencies against the same requests by libcurl, \
         on versitygw over loopback (tmpfs), unsigned payload: {} objects of {FILE_BYTES} bytes, \
         {} operations",
        size.files, size.operations
    );
    println!(
        "means of {pairs} interleaved pairs; of CPU the ratio of sums, of rates the median of the \
         pairs' ratios [95 % interval]; CPU in microseconds a request"
    );
    touch_memory();
    let mut holds = true;
    for depth in &size.depths {
        for (work, mix) in WORKS {
            let noise = Noise::begin();
            let pairs = rivals.pairs(work, mix, *depth)?;
            println!("{work}, depth {depth}; {}", noise.end());
            holds &= print(&pairs, "libcurl", LIMITS);
        }
    }
    Ok(holds)
}
