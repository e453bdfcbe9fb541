//! `clean` beside runs that start.

use std::path::Path;

use crate::support::Engine::{Posix, Raw};
use crate::support::Interface::{Prompt, Run};
use crate::support::interface::{clean, program};
use crate::support::{Running, TestDir, Work};

/// `clean` in a directory in which runs start must not disturb these runs.
#[test]
fn cleaning_does_not_affect_starting_runs() {
    let test_dir = TestDir::in_memory();
    let location = test_dir.directory("location");
    beside_starting_runs(&test_dir, &location, || {
        clean(&location);
    });
}

/// `clean` runs several times at once in a container, from which the processes of the runs are not
/// visible. A run directory is empty when a run starts and ends, so it looks abandoned.
#[test]
fn cleaning_from_another_process_namespace_does_not_affect_starting_runs() {
    let Some(test_dir) = TestDir::rooted() else {
        return;
    };
    let location = test_dir.directory("location");
    beside_starting_runs(&test_dir, &location, || {
        let mut command = Running::command(Path::new("unshare"));
        command
            .args(["--pid", "--fork", "--mount-proc", "sh", "-c"])
            .arg(
                "for time in $(seq 20); do \"$0\" clean \"$1\" & \"$0\" clean \"$1\" & \"$0\" \
                 clean \"$1\"; wait; done",
            )
            .arg(program())
            .arg(&location);
        Running::run_to_end(command, &location);
    });
}

/// Performs runs one after another while `cleaning` is repeated. Asserts that all runs succeed and
/// that no files remain.
fn beside_starting_runs(test_dir: &TestDir, location: &Path, cleaning: impl Fn()) {
    std::thread::scope(|scope| {
        let runs = scope.spawn(|| {
            for _ in 0..25 {
                let work = Work {
                    files: 5,
                    transactions: 5,
                    ..Work::small(location)
                };
                for interface in [Run(Posix), Prompt(Raw)] {
                    interface.perform(&work, test_dir).code(0);
                }
            }
        });
        while !runs.is_finished() {
            cleaning();
        }
        runs.join().unwrap();
    });
    assert_eq!(std::fs::read_dir(location).unwrap().count(), 0);
}
