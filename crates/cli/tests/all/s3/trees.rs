//! Copies and removals of trees on independent servers: runs, killed runs and acknowledgement logs.

use std::collections::BTreeSet;

use rustix::process::Signal;

use super::store::Store;
use super::{perform, requests, traffic};
use crate::support::wait_until_unchanged;

const MIX: &str = "--mix create=4,read=2,copy-tree=2,remove-tree=1";

/// The directory of a copied tree in a key: its own name ends with `.r`.
fn tree_of(key: &str) -> Option<&str> {
    let (directory, _) = key.rsplit_once('/')?;
    directory.ends_with(".r").then_some(directory)
}

fn trees(store: &Store) -> BTreeSet<String> {
    let keys = store.keys();
    let trees = keys.iter().filter_map(|key| tree_of(key));
    trees.map(str::to_owned).collect()
}

/// The listings of a verified run fail if a tree has another file than the run expects, and its
/// reads if a file has other contents.
#[test]
fn copied_trees_are_verified_and_removed_with_the_run() {
    for store in Store::all() {
        for options in [
            "--files 20 --workers 1 --depth 1",
            "--files 60 --dirs subdirs:5 --workers 2 --depth 8",
            "--files 30 --dirs tree:2x2 --tree-levels 1 --depth 4",
            "--files 30 --dirs tree:2x2 --tree-levels 2 --depth 1",
        ] {
            let ran = perform(
                &store,
                &format!("{MIX},list=1,stat=1 --size 1..4000 {options} --transactions 60 --verify"),
            );
            let made = requests(&traffic(&ran));
            let copies = made["CopyObject"];
            ran.assert(copies > 20, format_args!("{copies} files were copied"));
        }
        assert_eq!(store.keys(), [""; 0], "{}", store.name());
        assert_eq!(store.marks(), [""; 0], "{}", store.name());
    }
}

/// The files of copied trees are found after a run was killed. Then trees miss some of their files,
/// as they do if a copy or a removal was cut off, and `clean` removes the rest.
#[test]
fn files_of_trees_of_a_killed_run_are_found_and_cleaned() {
    for store in Store::all() {
        store.put("t/mine", "a user's object");
        let log = store.path().join("acknowledged");
        let log = log.to_str().unwrap();
        let options = format!(
            "{MIX},delete=1 --files 40 --dirs subdirs:5 --workers 2 --for 60s --ack-log {log}"
        );
        let mut running = store.start(&options);
        // Two trees may be in flight, one of each worker: their copies are not acknowledged.
        running.until("that copies are acknowledged", |_| trees(&store).len() > 3);
        running.kill().signal(Signal::KILL.as_raw());
        wait_until_unchanged(|| store.keys());
        let verified = store.postmark(&["verify-log", "--ack-log", log, &store.url()]);
        verified.code(0).shows("No loss");
        let keys = store.keys();
        let of_trees = keys.iter().filter(|key| tree_of(key).is_some());
        for lost in of_trees.step_by(2) {
            store.delete(lost);
        }
        let verified = store.postmark(&["verify-log", "--ack-log", log, &store.url()]);
        verified.code(1);
        store.postmark(&["clean", &store.url()]).code(0);
        assert_eq!(store.keys(), ["t/mine"], "{}", store.name());
    }
}
