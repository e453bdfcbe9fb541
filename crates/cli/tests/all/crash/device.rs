//! `--crash flakey:NAME`: the calls of dmsetup, which a stand-in records, because most machines
//! have no device mapper. `lab.rs` uses the real one.

use std::path::Path;

use super::Place;
use crate::support::{Running, TestDir, is_root, tool};

/// A stand-in that writes its arguments to a file. `table` prints the table that was loaded last.
const DMSETUP: &str = r#"#!/bin/sh
echo "$*" >>"$DMSETUP_CALLS"
case $1 in
table) cat "$DMSETUP_CALLS.table" ;;
load) echo "$4" >"$DMSETUP_CALLS.table" ;;
esac
"#;

fn command(place: &Place, tools: &TestDir) -> std::process::Command {
    let script = tools.path().join("dmsetup");
    crate::support::test_dir::write(&script, DMSETUP, 0o755);
    let calls = tools.path().join("calls");
    std::fs::write(
        tools.path().join("calls.table"),
        "0 2048 flakey 254:1 0 600 0\n",
    )
    .unwrap();
    let mut command = place.command(&["--rounds", "1", "--crash", "flakey:stand-in"]);
    let path = std::env::var("PATH").unwrap_or_default();
    command
        .args(["--crash-within", "50ms"])
        .env("PATH", format!("{}:{path}", tools.path().display()))
        .env("DMSETUP_CALLS", calls);
    command
}

/// A tmpfs whose source has the name of a device.
struct Mounted<'a>(&'a Path);

impl<'a> Mounted<'a> {
    fn new(at: &'a Path) -> Self {
        let at_text = at.to_str().unwrap();
        tool("mount", &["-t", "tmpfs", "/dev/mapper/stand-in", at_text]);
        Self(at)
    }
}

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        let _ = rustix::mount::unmount(self.0, rustix::mount::UnmountFlags::DETACH);
    }
}

#[test]
fn flakey_device_loses_writes_and_is_mounted_again() {
    if !is_root() {
        return;
    }
    let (place, tools) = (Place::new(), TestDir::new());
    let at = place.target.path().canonicalize().unwrap();
    let mounted = Mounted::new(&at);
    let ended = Running::run_to_end(command(&place, &tools), place.beside.path());
    // A new tmpfs is empty, so the run directory is lost.
    ended.ends("1 | LOST: 1 of 1 round | lost writes of the device stand-in");
    drop(mounted);
    let calls = std::fs::read_to_string(tools.path().join("calls")).unwrap();
    let calls: Vec<&str> = calls.lines().collect();
    let switched = |features: &str| {
        [
            "table stand-in".to_owned(),
            "suspend --nolockfs --noflush stand-in".to_owned(),
            format!("load stand-in --table 0 2048 flakey 254:1 0 {features}"),
            "resume stand-in".to_owned(),
        ]
    };
    let drops = switched("0 600 1 drop_writes");
    let restores = switched("600 0");
    let expected: Vec<&str> = ["table stand-in"]
        .into_iter()
        .chain(drops.iter().chain(&restores).map(String::as_str))
        .collect();
    assert_eq!(calls, expected);
}

#[test]
fn target_that_is_not_the_mount_of_the_device_is_refused() {
    let (place, tools) = (Place::new(), TestDir::new());
    let ended = Running::run_to_end(command(&place, &tools), place.beside.path());
    ended.ends("2 | is not the mount point of /dev/mapper/stand-in");
    let mut without = place.command(&["--crash", "flakey:stand-in"]);
    without.env("PATH", tools.directory("empty"));
    let ended = Running::run_to_end(without, place.beside.path());
    ended.ends("2 | dmsetup cannot be started");
    place.nothing_remains_on_the_target();
}
