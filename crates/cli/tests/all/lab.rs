//! Tests in virtual machines of the lab (`lab/README.md`), for what the kernel of this machine
//! lacks. They cover other file systems, failing writes, and power cuts that lose everything not
//! flushed. They also cover NFS and iSCSI, whose counts are compared with those of an independent
//! observer.
//!
//! Booting takes long, so all scripts run in one guest. Before a release, `POSTMARK_LAB=all` tests
//! all file systems, repeats each power cut 20 times, and boots a guest for each script. The test
//! is skipped unless all tests must run and a virtual machine can be started.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use serde_json::Value;

use crate::support::interface::program;
use crate::support::{TestDir, everything, names};

mod crash_rounds;
mod flakey;
mod nfs;
mod power_cut;
mod protocols;
mod studies;
mod two_clients;

/// A script of `tests/all/lab`, which runs in a guest.
struct Script {
    /// Name of the script, without `.sh`.
    name: &'static str,
    /// Sizes of the disks that the script uses, for example `64M`.
    disks: Vec<&'static str>,
    /// Arguments after the first one, which is the program under test.
    arguments: Vec<String>,
    check: fn(&Results),
}

#[test]
fn what_this_kernel_lacks_works_in_a_guest() {
    let mut scripts = vec![
        protocols::script(),
        studies::script(),
        power_cut::script(),
        flakey::script(),
    ];
    if is_all() {
        scripts.push(nfs::script());
        scripts.push(crash_rounds::script());
    }
    let guests = if is_all() { 1 } else { scripts.len() };
    for scripts in scripts.chunks(guests) {
        let Some(guest) = Guest::run(scripts) else {
            return;
        };
        for script in scripts {
            (script.check)(&Results {
                guest: &guest,
                script: script.name,
            });
        }
    }
}

/// Exit status of `lab run` if the time was up.
const TIMED_OUT: i32 = 124;

/// A guest that has run its scripts.
struct Guest {
    test_dir: TestDir,
    /// Output of the scripts and of the lab, for failure messages.
    said: String,
}

impl Guest {
    /// Boots a guest and runs scripts in it. Returns `None` if the lab cannot be used. If the time
    /// is up, a second guest is started, because a disk of the emulator sometimes stops replying on
    /// a busy machine (`lab/README.md`, "Limits").
    ///
    /// # Panics
    /// Panics if a script fails.
    fn run(scripts: &[Script]) -> Option<Self> {
        let lab = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab/lab");
        if let Err(need) = is_ready(&lab) {
            tell(&format!("skipped: a guest of the lab needs {need}"));
            return None;
        }
        let (mut guest, mut status) = Self::attempt(&lab, scripts);
        if status.code() == Some(TIMED_OUT) {
            tell(&format!("the first guest did not end\n{}", guest.said));
            (guest, status) = Self::attempt(&lab, scripts);
        }
        let said = &guest.said;
        assert!(status.success(), "the lab ended with {status}\n{said}");
        Some(guest)
    }

    fn attempt(lab: &Path, scripts: &[Script]) -> (Self, ExitStatus) {
        // The disks of the guest are files in memory, so its flushes cost nothing. Their contents
        // need not survive the test.
        let test_dir = TestDir::in_memory();
        let mut command = Command::new(lab);
        command
            .env("TMPDIR", test_dir.path())
            .arg("run")
            .arg("--shared")
            .arg(test_dir.directory("shared"))
            .arg("--timeout")
            .arg(if is_all() { "3600" } else { "900" });
        for disk in scripts.iter().flat_map(|script| &script.disks) {
            command.args(["--disk", disk]);
        }
        command
            .args(["--", "bash"])
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/all/lab/scripts.sh"))
            .arg(program());
        for script in scripts {
            let counts =
                [script.disks.len(), script.arguments.len()].map(|count| count.to_string());
            command
                .arg(script.name)
                .args(counts)
                .args(&script.arguments);
        }
        let output = command.output().unwrap();
        let streams =
            [&output.stdout, &output.stderr].map(|stream| String::from_utf8_lossy(stream));
        let said = streams.concat();
        let left = names(test_dir.path()).unwrap();
        assert!(
            left == ["shared"],
            "the lab has left something: {left:?}\n{said}"
        );
        (Self { test_dir, said }, output.status)
    }
}

struct Results<'guest> {
    guest: &'guest Guest,
    script: &'static str,
}

impl Results<'_> {
    fn path(&self, name: &str) -> PathBuf {
        let shared = self.guest.test_dir.path().join("shared");
        shared.join(self.script).join(name)
    }

    fn text(&self, name: &str) -> String {
        let text = std::fs::read_to_string(self.path(name));
        text.unwrap_or_else(|error| panic!("{name}: {error}\n{}", self.guest.said))
    }

    fn json(&self, name: &str) -> Value {
        let text = self.text(name);
        serde_json::from_str(&text)
            .unwrap_or_else(|error| panic!("{name} is no JSON: {error}\n{text}"))
    }

    fn assert(&self, is_so: bool, what: &str) {
        let script = self.script;
        assert!(is_so, "{script}: {what}\n{}", self.guest.said);
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
