//! Copies and removals of trees with subdirectories, which are many files in one operation.

use std::ffi::OsStr;
use std::path::Path;

use record::{Action, Role};

use crate::runs::{Run, postmark};
use crate::support::interface::own_directories;
use crate::support::{TestDir, names};

const WORK: &str = "--mix copy-tree=2,link-tree=1,remove-tree=2,create=5,read=2,delete=5,append=1,\
                    rename=1,link=1,symlink=1,mkdir=1,list=1 --files 150";

#[test]
fn trees_with_subdirectories_are_verified_on_each_engine() {
    let test_dir = TestDir::in_memory();
    let at = test_dir.directory("location");
    let other = test_dir.directory("other");
    for options in [
        "--engine posix --dirs tree:3x2 --tree-levels 2",
        "--engine raw --dirs subdirs:7 --tree-levels 1 --workers 2",
        "--engine uring --dirs tree:2x3 --tree-levels 1 --durability fsync+dir",
    ] {
        let work = Run::new(&at, WORK).and(options);
        for run in [work.clone(), work.with("--target", &other)] {
            let ran = run.and("--transactions 300 --verify").perform();
            ran.is_complete().leaves_nothing();
            for action in [Action::CopyTree, Action::LinkTree, Action::RemoveTree] {
                let count = ran.count(Role::Worker, action);
                ran.assert(count > 0, format_args!("no {} by {options}", action.name()));
            }
        }
    }
}

/// Whether a run has made a copy of the whole pool.
fn has_tree(at: &Path) -> bool {
    own_directories(at).iter().any(|own| {
        let names = names(own).unwrap_or_default();
        names
            .iter()
            .any(|name| name.to_string_lossy().ends_with(".r"))
    })
}

#[test]
fn killed_run_with_trees_has_lost_nothing_and_is_removed() {
    let test_dir = TestDir::in_memory();
    let at = test_dir.directory("location");
    // The log is on another file system than the target.
    let beside = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let log = beside.path().join("ack_log");
    let mut running = Run::new(&at, WORK)
        .and("--dirs tree:3x2 --tree-levels 2 --for 10m")
        .with("--ack-log", &log)
        .start();
    running.until("a tree", |_| has_tree(&at));
    running.kill();
    let words = ["verify-log", "--ack-log"].map(OsStr::new);
    let path = at.as_os_str();
    let verified = postmark(&at, &[words[0], words[1], log.as_os_str(), path]);
    verified.code(0).shows("No loss");
    let cleaned = postmark(&at, &[OsStr::new("clean"), path]);
    cleaned.code(0).shows("Removed the files of the run");
    assert_eq!(names(&at).unwrap(), [] as [&str; 0], "{cleaned}");
}
