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

/// A run is killed while it copies and removes trees. One of its trees then misses files, as a tree
/// does whose copy or removal was cut off.
#[test]
fn incomplete_trees_of_a_killed_run_are_cleaned() {
    for store in Store::all() {
        store.put("t/mine", "a user's object");
        let options = format!("{MIX} --size 1..4000 --files 40 --workers 2 --depth 4 --for 60s");
        let mut running = store.start(&options);
        running.until("that it has copied a tree", |_| !trees(&store).is_empty());
        running.kill().signal(Signal::KILL.as_raw());
        wait_until_unchanged(|| store.keys());
        let tree = trees(&store).pop_first();
        let keys = store.keys();
        let files = keys.iter().filter(|key| tree_of(key) == tree.as_deref());
        for file in files.skip(1).step_by(2) {
            store.delete(file);
        }
        store.postmark(&["clean", &store.url()]).code(0);
        assert_eq!(store.keys(), ["t/mine"], "{}", store.name());
    }
}

#[test]
fn acknowledged_files_of_trees_are_found() {
    for store in Store::all() {
        let log = store.path().join("acknowledged");
        let log = log.to_str().unwrap();
        let options = format!(
            "{MIX},delete=1 --files 40 --dirs subdirs:5 --workers 2 --for 60s \
             --ack-log {log}"
        );
        let mut running = store.start(&options);
        // Two trees may be in flight, one of each worker: their copies are not acknowledged.
        running.until("that copies are acknowledged", |_| trees(&store).len() > 3);
        running.kill().signal(Signal::KILL.as_raw());
        wait_until_unchanged(|| store.keys());
        let verified = store.postmark(&["verify-log", "--ack-log", log, &store.url()]);
        verified.code(0).shows("No loss");
        for lost in store.keys().iter().filter(|key| tree_of(key).is_some()) {
            store.delete(lost);
        }
        let verified = store.postmark(&["verify-log", "--ack-log", log, &store.url()]);
        verified.code(1);
        store.postmark(&["clean", &store.url()]).code(0);
        assert_eq!(store.keys(), [""; 0], "{}", store.name());
    }
}
