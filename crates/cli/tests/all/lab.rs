//! Tests in guests of the lab (`lab/README.md`), with the real binary, for features that this
//! machine's kernel lacks: other file systems; NFS and iSCSI, whose counts are compared with an
//! independent observer; power cuts that lose everything not flushed; failing writes.
//!
//! Booting takes long, so each test is one boot. A release uses `POSTMARK_LAB=all`: all file
//! systems, and 20 times for each power cut. Tests are skipped unless all tests must run and a
//! guest can be started.

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

/// The results of a boot.
struct Booted {
    test_dir: TestDir,
    /// Output of the script and the lab, for failure messages.
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
        // The disks are in memory: their contents need not survive, and a guest's flushes cost
        // nothing.
        let test_dir = TestDir::in_memory();
        let shared = test_dir.directory("shared");
        // Other tests have time limits, so they get priority.
        let mut command = Command::new("nice");
        command
            .args(["-n", "10"])
            .arg(lab)
            .env("TMPDIR", test_dir.path())
            .arg("run")
            .arg("--shared")
            .arg(&shared);
        // With a second processor, emulation takes more processor time and no less elapsed time.
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

/// Whether guests can be started; otherwise what is missing.
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

/// Whether all file systems and times are tested.
fn is_all() -> bool {
    std::env::var("POSTMARK_LAB").is_ok_and(|lab| lab == "all")
}

/// Prints a line even for a passing test, where `eprintln!` would be captured. It is one write,
/// because other tests print as well.
fn tell(what: &str) {
    let _ = std::io::stderr().write_all(format!("{what}\n").as_bytes());
}

/// Parses lines of a name and a number.
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
