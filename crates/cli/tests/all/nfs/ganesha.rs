//! An NFS-Ganesha server with a portmapper and a D-Bus system bus, in a network namespace with only
//! `lo`. It exports an ext4 file system in an image. The server, the portmapper and the bus end
//! with the test, even if the test is killed.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::support::interface::program;
use crate::support::{FileSystem, Running, TestDir, is_met, tool};

/// Port of the NFS server in its network namespace.
pub const NFS_PORT: u16 = 12049;
/// Port of the MOUNT protocol in the same namespace.
pub const MOUNT_PORT: u16 = 12050;
/// How long to wait until the loop devices of the images are detached, after the server has ended.
const TO_BE_GONE: Duration = Duration::from_secs(10);
/// Epoch of the first server. NFS-Ganesha derives its write verifier from the epoch.
pub const EPOCH: u32 = 0x5eed_0001;

#[derive(Debug)]
pub struct Ganesha {
    /// The shell that starts all programs of the server. It ends them when its input is closed.
    shell: Child,
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    /// Process of the server, if it runs.
    server: Option<Pid>,
    test_dir: TestDir,
}

impl Ganesha {
    /// Starts a server that exports half a GiB in memory. `None` if the machine cannot start one.
    pub fn start() -> Option<Self> {
        Self::with_room(512)
    }

    /// Starts a server that exports `mib` MiB.
    pub fn with_room(mib: u32) -> Option<Self> {
        let there = ["ganesha.nfsd", "rpcbind", "dbus-daemon", "ip"]
            .into_iter()
            .all(is_program);
        let possible = FileSystem::Ext4.is_available()
            && is_met(there, "nfs-ganesha, nfs-ganesha-vfs, rpcbind and dbus");
        possible.then(|| Self::made(mib))
    }

    fn made(mib: u32) -> Self {
        let test_dir = TestDir::in_memory();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/all/nfs/serve.sh");
        let mut shell = Command::new("unshare");
        shell.args(["--net", "--mount", "bash"]).arg(script);
        shell
            .arg(test_dir.path())
            .arg(mib.to_string())
            .arg("Enable_FULLV3_Stats = true;");
        shell.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut shell = shell.spawn().unwrap();
        let mut ganesha = Self {
            orders: shell.stdin.take(),
            answers: BufReader::new(shell.stdout.take().unwrap()),
            shell,
            server: None,
            test_dir,
        };
        ganesha.expect("ready");
        ganesha.restart(EPOCH);
        ganesha
    }

    fn expect(&mut self, word: &str) -> String {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        let rest = line.trim().strip_prefix(word);
        let log = || {
            std::fs::read_to_string(self.test_dir.path().join("ganesha.log")).unwrap_or_default()
        };
        rest.unwrap_or_else(|| panic!("'{word}' is expected, not '{line}'\n{}", log()))
            .trim()
            .to_owned()
    }

    fn order(&mut self, order: &str) {
        writeln!(self.orders.as_mut().unwrap(), "{order}").unwrap();
    }

    /// Starts a new server after the old one has ended. The epoch determines its write verifier.
    pub fn restart(&mut self, epoch: u32) {
        assert!(self.server.is_none(), "there is a server already");
        self.order(&format!("start {epoch}"));
        let process = self.expect("started");
        self.server = Pid::from_raw(process.parse().unwrap());
    }

    /// Process number of the server.
    pub fn server(&self) -> u32 {
        self.server.unwrap().as_raw_nonzero().get().unsigned_abs()
    }

    /// Kills the server, unless it was killed already.
    pub fn kill(&mut self) {
        self.order("end KILL");
        self.expect("ended");
        self.server = None;
    }

    /// Stops the server (SIGSTOP): the kernel still accepts connections for it, but no request is
    /// answered.
    pub fn stand_still(&self) {
        kill_process(self.server.unwrap(), Signal::STOP).unwrap();
    }

    /// Continues the server after [`Self::stand_still`].
    pub fn go_on(&self) {
        kill_process(self.server.unwrap(), Signal::CONT).unwrap();
    }

    /// The test directory with the images of the server.
    pub fn test_dir(&self) -> &TestDir {
        &self.test_dir
    }

    /// The path at which the test process sees `path` of the exported file system. `path` is, for
    /// example, `export/a` or `squashed/a`.
    pub fn served(&self, path: &str) -> PathBuf {
        self.seen("served").join(path)
    }

    /// The path at which the test process sees `path` of the small exported file system.
    pub fn small(&self, path: &str) -> PathBuf {
        self.seen("small").join(path)
    }

    fn seen(&self, folder: &str) -> PathBuf {
        let below = self.test_dir.path().join(folder);
        let root = PathBuf::from(format!("/proc/{}/root", self.shell.id()));
        root.join(below.strip_prefix("/").unwrap())
    }

    /// Process ID of the shell, which is in the network namespace of the server.
    pub fn process(&self) -> u32 {
        self.shell.id()
    }

    pub fn network(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}/ns/net", self.shell.id()))
    }

    /// A command that runs in the network namespace of the server.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Running::command(Path::new("nsenter"));
        command.arg(format!("--net={}", self.network().display()));
        command
            .arg("--")
            .arg(program)
            .current_dir(self.test_dir.path());
        command
    }

    pub fn postmark(&self) -> Command {
        self.command(program())
    }

    /// The URL of an exported path. `port` is the port of the server or of a proxy.
    pub fn url_at(&self, port: u16, path: &str) -> String {
        format!("nfs://127.0.0.1:{port}/{path}?mountport={MOUNT_PORT}")
    }

    pub fn url(&self, path: &str) -> String {
        self.url_at(NFS_PORT, path)
    }

    /// The names in the exported directory, sorted.
    pub fn names(&self) -> Vec<std::ffi::OsString> {
        crate::support::names(&self.served("export")).unwrap()
    }
}

impl Drop for Ganesha {
    fn drop(&mut self) {
        drop(self.orders.take());
        let ended = self.shell.wait();
        if std::thread::panicking() {
            return;
        }
        assert!(
            ended.is_ok_and(|status| status.success()),
            "the server's shell has failed"
        );
        // The kernel unmounts the file systems only some time after their mount namespace has
        // ended.
        let images = ["served.image", "small.image"].map(|image| self.test_dir.path().join(image));
        let attached = || {
            let of = |image: &PathBuf| tool("losetup", &["--associated", image.to_str().unwrap()]);
            images.iter().map(of).collect::<String>()
        };
        let began = Instant::now();
        while !attached().is_empty() {
            assert!(
                began.elapsed() < TO_BE_GONE,
                "a loop device is left: {}",
                attached()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

pub fn is_program(name: &str) -> bool {
    ["/usr/sbin", "/usr/bin", "/sbin", "/bin"]
        .iter()
        .any(|directory| Path::new(directory).join(name).exists())
}
