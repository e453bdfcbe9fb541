//! Tests in virtual machines of the lab (`lab/README.md`), for what the kernel of this machine
//! lacks. They cover other file systems, failing writes, and power cuts that lose everything not
//! flushed. They also cover NFS and iSCSI, whose counts are compared with those of an independent
//! observer.
//!
//! Booting takes long, so each test boots once. Before a release, `POSTMARK_LAB=all` tests all file
//! systems and repeats each power cut 20 times. The tests are skipped unless all tests must run and
//! a virtual machine can be started.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::interface::program;
use crate::support::{TestDir, everything, names};

mod flakey;
mod nfs;
mod power_cut;
mod protocols;
mod studies;
mod two_clients;

/// The results of a script in a virtual machine.
struct Booted {
    test_dir: TestDir,
    /// Output of the script and of the lab, for failure messages.
    said: String,
}

impl Booted {
    /// Runs a script of `tests/all/lab` in a guest, with the program under test as its first
    /// argument. Returns `None` if the lab cannot be used.
    ///
    /// # Panics
    /// Panics if the script fails.
    fn run(script: &str, disks: &[&str], arguments: &[String]) -> Option<Self> {
        let lab = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab/lab");
        if let Err(need) = is_ready(&lab) {
            let name = std::thread::current().name().unwrap_or_default().to_owned();
            tell(&format!("skipped: {name}: a guest of the lab needs {need}"));
            return None;
        }
        // The disks of the guest are files in memory, so its flushes cost nothing. Their contents
        // need not survive the test.
        let test_dir = TestDir::in_memory();
        let shared = test_dir.directory("shared");
        // A guest gets a low priority, because other tests have time limits.
        let mut command = Command::new("nice");
        command
            .args(["-n", "10"])
            .arg(lab)
            .env("TMPDIR", test_dir.path())
            .arg("run")
            .arg("--shared")
            .arg(&shared);
        // The guest has one processor: with a second one, emulation uses more processor time and is
        // not faster.
        command.args([
            "--cpus",
            "1",
            "--timeout",
            if is_all() { "3600" } else { "600" },
        ]);
        for disk in disks {
            command.args(["--disk", disk]);
        }
        let script = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/all/lab")
            .join(script);
        command
            .args(["--", "bash"])
            .arg(script)
            .arg(program())
            .args(arguments);
        let output = command.output().unwrap();
        let streams =
            [&output.stdout, &output.stderr].map(|stream| String::from_utf8_lossy(stream));
        let booted = Self {
            test_dir,
            said: streams.concat(),
        };
        let left = names(booted.test_dir.path()).unwrap();
        booted.assert(
            left == ["shared"],
            &format!("the lab has left something: {left:?}"),
        );
        booted.assert(
            output.status.success(),
            &format!("{command:?} ended with {}", output.status),
        );
        Some(booted)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.test_dir.path().join("shared").join(name)
    }

    fn text(&self, name: &str) -> String {
        let text = std::fs::read_to_string(self.path(name));
        text.unwrap_or_else(|error| panic!("{name}: {error}\n{}", self.said))
    }

    fn json(&self, name: &str) -> Value {
        let text = self.text(name);
        serde_json::from_str(&text)
            .unwrap_or_else(|error| panic!("{name} is no JSON: {error}\n{text}"))
    }

    fn assert(&self, is_so: bool, what: &str) {
        assert!(is_so, "{what}\n{}", self.said);
    }
}

/// Returns an error that names what is missing if no guest can be started.
fn is_ready(lab: &Path) -> Result<(), String> {
    if !everything() {
        return Err("POSTMARK_TEST_ALL=1".to_owned());
    }
    let output = Command::new(lab).arg("ready").output().unwrap();
    let need = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if output.status.success() {
        Ok(())
    } else {
        Err(need)
    }
}

/// Whether to test all file systems and to repeat power cuts.
fn is_all() -> bool {
    std::env::var("POSTMARK_LAB").is_ok_and(|lab| lab == "all")
}

/// Prints a line even for a test that passes, for which `eprintln!` would be captured. A single
/// write keeps the line together, because other tests print at the same time.
fn tell(what: &str) {
    let _ = std::io::stderr().write_all(format!("{what}\n").as_bytes());
}

/// Parses lines that consist of a name and a number.
fn counts(text: &str) -> Vec<(&str, u64)> {
    let line = |line| {
        let (name, count) = str::split_once(line, ' ')?;
        Some((name, count.parse().ok()?))
    };
    text.lines().filter_map(line).collect()
}

fn shown(counts: &[(&str, u64)]) -> String {
    let mut shown = String::new();
    for (name, count) in counts {
        let _ = write!(shown, "{name} {count}, ");
    }
    shown
}
