//! A file system fails during a run: from then on every call on it returns an error. The run
//! reports the error and ends. When the file system is mounted again, `postmark clean` removes the
//! remaining files.

use crate::support::Engine::{Posix, Raw, Stdio};
use crate::support::Interface::{Prompt, Run};
use crate::support::interface::clean;
use crate::support::test_dir::create_user_files;
use crate::support::{Ended, FileSystem, Interface, Phase, Snapshot, TestDir, Volume, Work};

fn dies(cases: [(Interface, Phase, u32); 2]) {
    if !FileSystem::Xfs.is_available() {
        return;
    }
    let test_dir = TestDir::in_memory();
    let location = test_dir.directory("location");
    let mut volume = Volume::new(FileSystem::Xfs, &test_dir, &location);
    create_user_files(&location);
    // Only this file system is synced: other file systems may have gigabytes to write.
    rustix::fs::syncfs(std::fs::File::open(&location).unwrap()).unwrap();
    let before = Snapshot::of(&location);
    for (interface, phase, subdirectories) in cases {
        let work = Work::long_on_disk(&location, phase).in_subdirectories(subdirectories);
        let running = interface.begin(&work, &test_dir, phase);
        volume.kill();
        let ended = running.finish();
        ended.ends("1 | Input/output error | dmesg | PARTIAL | postmark clean");
        volume.unmount();
        volume.mount();
        let mut cleaned = clean(&location);
        // File contents that were not on the device are lost. In a location with files of the user,
        // `clean` cannot identify a truncated file as a file of the run. So the user must remove
        // it.
        while interface.is_prompt() && cleaned.status.code() == Some(1) {
            remove_what_was_cut_short(&cleaned);
            cleaned = clean(&location);
        }
        cleaned.code(0);
        before.assert_kept(&location, &format!("{ended}\n{cleaned}"));
    }
}

/// Removes the files that `clean` reports as truncated, and asserts that it reports no other files.
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
fn run_on_a_failed_file_system_is_cleaned_in_prepare() {
    dies([
        (Prompt(Stdio), Phase::Prepare, 1),
        (Run(Posix), Phase::Prepare, 5),
    ]);
}

#[test]
fn run_on_a_failed_file_system_is_cleaned_in_transactions() {
    dies([
        (Prompt(Raw), Phase::Transactions, 5),
        (Run(Stdio), Phase::Transactions, 1),
    ]);
}

#[test]
fn run_on_a_failed_file_system_is_cleaned_in_delete() {
    dies([
        (Prompt(Stdio), Phase::Delete, 1),
        (Run(Raw), Phase::Delete, 5),
    ]);
}
