//! `--kill-server` with real servers: NFS-Ganesha, versitygw and bindfs are killed and started
//! again. What a server has written to its own file system survives its end, so nothing is lost.

use std::path::PathBuf;
use std::process::Command;

use super::Place;
use crate::hung::Bound;
use crate::nfs::ganesha::{EPOCH, Ganesha};
use crate::s3::store::Store;
use crate::support::{Ended, Running, TestDir};

const ROUNDS: &str = "3";
const NAMES: &str = "create=3,deliver=3,rename=2,delete=2";

/// The files by which the command asks the test to start the server again.
struct Restart<'a> {
    place: &'a Place,
}

impl Restart<'_> {
    fn process(&self) -> PathBuf {
        self.place.beside("server")
    }

    fn wanted(&self) -> PathBuf {
        self.place.beside("wanted")
    }

    /// Adds the options of the rounds to a command.
    fn add_to(&self, command: &mut Command, (mix, durability): (&str, &str), target: &str) {
        let wanted = self.wanted();
        let wanted = wanted.display();
        let restore = format!(": > {wanted}; while [ -e {wanted} ]; do sleep 0.02; done");
        command
            .args(["crash", "--files", "40", "--rounds", ROUNDS])
            .args(["--mix", mix, "--durability", durability])
            .args(["--crash-within", "100ms"])
            .args(["--restore", &restore, "--kill-server"])
            .arg(self.process())
            .arg("--ack-log")
            .arg(self.place.beside("ack"))
            .args(["--target", target]);
    }

    /// Performs the rounds. `start` starts the server again and returns its process number.
    fn rounds(&self, command: Command, first: u32, mut start: impl FnMut() -> u32) -> Ended {
        std::fs::write(self.process(), format!("{first}\n")).unwrap();
        let mut running = Running::start(command, self.place.beside.path());
        while running.meets("that a server is killed", |_| self.wanted().exists()) {
            let process = start();
            std::fs::write(self.process(), format!("{process}\n")).unwrap();
            std::fs::remove_file(self.wanted()).unwrap();
        }
        running.finish()
    }
}

fn nothing_is_lost(ended: &Ended) {
    ended.ends("0 | No loss in 3 rounds: fewer than | kill of the server of");
}

#[test]
fn killed_ganesha_loses_nothing_that_it_has_committed() {
    let Some(mut ganesha) = Ganesha::start() else {
        return;
    };
    let place = Place::new();
    let restart = Restart { place: &place };
    let mut command = ganesha.postmark();
    restart.add_to(&mut command, (NAMES, "fsync"), &ganesha.url("export"));
    let mut epoch = EPOCH;
    let first = ganesha.server();
    let ended = restart.rounds(command, first, || {
        ganesha.kill();
        epoch += 1;
        ganesha.restart(epoch);
        ganesha.server()
    });
    nothing_is_lost(&ended);
    assert!(ganesha.names().is_empty(), "{ended}");
}

#[test]
fn killed_versitygw_loses_no_acknowledged_object() {
    let Some(mut store) = Store::versitygw() else {
        return;
    };
    let place = Place::new();
    let restart = Restart { place: &place };
    let mut command = store.command();
    restart.add_to(&mut command, ("create=3,delete=2", "none"), &store.url());
    let first = store.process();
    let ended = restart.rounds(command, first, || {
        store.kill();
        store.restart();
        store.process()
    });
    nothing_is_lost(&ended);
    assert!(store.keys().is_empty(), "{ended}");
}

#[test]
fn killed_fuse_server_loses_nothing_that_it_has_synced() {
    let (place, test_dir) = (Place::new(), TestDir::new());
    let backing = test_dir.directory("backing");
    let at = place.target.path().canonicalize().unwrap();
    let Some(bound) = Bound::mount(&backing, &at, &[]) else {
        return;
    };
    let restart = Restart { place: &place };
    let mut command = Running::command(crate::support::interface::program());
    restart.add_to(&mut command, (NAMES, "fsync+dir"), at.to_str().unwrap());
    command.args(["--workers", "2", "--survivors", "continue"]);
    let first = bound.server() as u32;
    let mut bound = Some(bound);
    let ended = restart.rounds(command, first, || {
        drop(bound.take());
        let again = Bound::mount(&backing, &at, &[]).unwrap();
        let process = again.server() as u32;
        bound = Some(again);
        process
    });
    nothing_is_lost(&ended);
    ended.shows("In 2 rounds the run continued on the surviving pool");
    drop(bound);
    assert!(
        crate::support::names(&backing).unwrap().is_empty(),
        "{ended}"
    );
}
