//! A file system that is unmounted lazily while a run goes on in it: calls by path then find what lies beneath the
//! mount point. The run ends as failed and says so; what lies beneath is as before; what the run had made is
//! removed, beneath and on the file system that went away.

use std::path::Path;

use crate::support::Face::Prompt;
use crate::support::Storage::{Raw, Stdio};
use crate::support::scene::{furnish, furnish_with_our_names, set_age, write};
use crate::support::{Ended, FACES, Face, FileSystem, Moment, Scene, Snapshot, Volume, Work};

/// Everything about one run whose file system goes away.
fn goes_away(face: Face, moment: Moment, subdirectories: u32, beneath_it: impl Fn(&Path)) -> Ended {
    let scene = Scene::new();
    let location = scene.directory("location");
    beneath_it(&location);
    let beneath = Snapshot::of(&location);
    let mut volume = Volume::new(FileSystem::Ext4, &scene, &location);
    furnish(&location);
    let before = Snapshot::of(&location);
    let work = Work::long_on_disk(&location).in_subdirectories(subdirectories);
    let running = face.begin(&work, &scene, moment);
    volume.unmount_lazily();
    let ended = running.finish();
    ended
        .code(1)
        .says("unmounted")
        .says("PARTIAL")
        .does_not_say("not removed")
        .does_not_say("Left:");
    // A run may have made and removed files there, which changes the directory's own times.
    beneath.assert_kept_but_for_own_times(&location, &ended);
    volume.mount();
    before.assert_kept(&location, &ended);
    ended
}

fn goes_away_in(moment: Moment) {
    if !FileSystem::Ext4.is_at_hand() {
        return;
    }
    for face in FACES {
        for subdirectories in [1, 5] {
            goes_away(face, moment, subdirectories, furnish_with_our_names);
        }
    }
}

#[test]
fn in_prepare() {
    goes_away_in(Moment::Prepare);
}

#[test]
fn in_transactions() {
    goes_away_in(Moment::Transactions);
}

#[test]
fn in_delete() {
    goes_away_in(Moment::Delete);
}

/// Where nothing lies in the way beneath, creations go on there until the change is seen: they are counted, said
/// and removed.
#[test]
fn what_was_made_beneath_is_removed() {
    if !FileSystem::Ext4.is_at_hand() {
        return;
    }
    for face in [Prompt(Stdio), Prompt(Raw)] {
        let ended = goes_away(face, Moment::Prepare, 1, |location| {
            write(&location.join("own"), "mine\n", 0o600);
            set_age(location, 1_000);
        });
        ended.does_not_say("cannot create");
    }
}
