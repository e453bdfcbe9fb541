//! A file system that dies while a run goes on in it: every call is answered with an error from
//! then on. The run says which and leaves; when the file system is back, `postmark clean` does the
//! rest.

use crate::support::Engine::{Posix, Raw, Stdio};
use crate::support::Face::{Prompt, Run};
use crate::support::faces::clean;
use crate::support::scene::furnish;
use crate::support::{Ended, Face, FileSystem, Moment, Scene, Snapshot, Volume, Work};

fn dies(cases: [(Face, Moment, u32); 2]) {
    if !FileSystem::Xfs.is_at_hand() {
        return;
    }
    let scene = Scene::in_memory();
    let location = scene.directory("location");
    let mut volume = Volume::new(FileSystem::Xfs, &scene, &location);
    furnish(&location);
    // This one alone: others may have gigabytes to write.
    rustix::fs::syncfs(std::fs::File::open(&location).unwrap()).unwrap();
    let before = Snapshot::of(&location);
    for (face, moment, subdirectories) in cases {
        let work = Work::long_on_disk(&location).in_subdirectories(subdirectories);
        let running = face.begin(&work, &scene, moment);
        volume.kill();
        let ended = running.finish();
        ended.ends("1 | Input/output error | dmesg | PARTIAL | postmark clean");
        volume.unmount();
        volume.mount();
        let mut cleaned = clean(&location);
        // Contents that were not on the device are lost. Beside the user's files nobody can tell
        // such a file: it is for the user to remove.
        while face.is_prompt() && cleaned.status.code() == Some(1) {
            remove_what_was_cut_short(&cleaned);
            cleaned = clean(&location);
        }
        cleaned.code(0);
        before.assert_kept(&location, &format!("{ended}\n{cleaned}"));
    }
}

/// Removes the files that were named as cut short; nothing else is named.
fn remove_what_was_cut_short(cleaned: &Ended) {
    let mut removed = 0;
    for line in cleaned
        .output
        .lines()
        .filter_map(|line| line.trim().strip_prefix("Left: "))
    {
        let Some((path, why)) = line.split_once(": ") else {
            continue;
        };
        if ["it is empty", "it begins with zeros", "it is shorter"]
            .iter()
            .any(|cut| why.starts_with(cut))
        {
            std::fs::remove_file(path).unwrap();
            removed += 1;
        } else {
            let is_told = why.starts_with("it contains")
                || why.starts_with("its manifest stays")
                || why.starts_with("for the same reasons");
            cleaned.assert(is_told, why);
        }
    }
    cleaned.assert(removed > 0, "nothing that was cut short was named");
}

#[test]
fn in_prepare() {
    dies([
        (Prompt(Stdio), Moment::Prepare, 1),
        (Run(Posix), Moment::Prepare, 5),
    ]);
}

#[test]
fn in_transactions() {
    dies([
        (Prompt(Raw), Moment::Transactions, 5),
        (Run(Stdio), Moment::Transactions, 1),
    ]);
}

#[test]
fn in_delete() {
    dies([
        (Prompt(Stdio), Moment::Delete, 1),
        (Run(Raw), Moment::Delete, 5),
    ]);
}
